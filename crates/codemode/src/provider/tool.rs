//! One tool: a name, a closure and what is checked around it.

use std::{fmt, sync::Arc};

use bytes::Bytes;
use drydock_contract::{BoxFuture, FailureCode, ToolFailure};
use serde_json::Value;

use super::ToolContext;
use crate::protocol::Json;

/// Why a tool has no result.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ToolError {
    /// It failed, and says how: the program sees `tool_error` with this message.
    Message(String),
    /// It failed with a code of its own choosing, which the program sees.
    Failure(ToolFailure),
    /// It failed without a word.
    Silent,
}

impl From<String> for ToolError {
    fn from(message: String) -> Self {
        Self::Message(message)
    }
}

impl From<&str> for ToolError {
    fn from(message: &str) -> Self {
        Self::Message(message.to_owned())
    }
}

impl From<std::io::Error> for ToolError {
    fn from(error: std::io::Error) -> Self {
        Self::Message(error.to_string())
    }
}

impl ToolError {
    /// A failure with this code.
    pub fn with_code(code: FailureCode, message: impl Into<String>) -> Self {
        Self::Failure(ToolFailure::new(code, message))
    }
}

/// A result: a value, or text that claims to be JSON.
pub(super) enum Produced {
    Value(Value),
    Text(Bytes),
}

/// An input: the text, and the value if somebody needed it already.
pub(super) struct Given {
    pub(super) text: Option<Json>,
    pub(super) value: Option<Value>,
}

pub(super) type Body =
    Arc<dyn Fn(Given, ToolContext) -> BoxFuture<'static, Result<Produced, ToolError>> + Send + Sync>;

/// The answer of a tool, on its way.
pub type Answering = BoxFuture<'static, Result<Bytes, ToolError>>;

/// One tool of a provider.
#[derive(Clone)]
pub struct Tool {
    pub(super) original_name: Arc<str>,
    pub(super) description: Option<Arc<str>>,
    pub(super) input: Option<Arc<Value>>,
    pub(super) output: Option<Arc<Value>>,
    pub(super) running_max: Option<usize>,
    pub(super) body: Body,
}

impl Tool {
    /// A tool that takes and gives values. `undefined` arrives as null. Its first steps may run on the guest's own
    /// stack, of which a megabyte is left for the host: what recurses deeply belongs on a thread of its own.
    pub fn new<F, R>(name: &str, body: F) -> Self
    where
        F: Fn(Value, ToolContext) -> R + Send + Sync + 'static,
        R: Future<Output = Result<Value, ToolError>> + Send + 'static,
    {
        let body = Arc::new(body);
        Self::with_body(
            name,
            Arc::new(move |given: Given, context| {
                let body = Arc::clone(&body);
                Box::pin(async move {
                    let value = match given.value {
                        Some(value) => value,
                        None => read(given.text.as_ref(), &context.original_tool_name)?,
                    };
                    body(value, context).await.map(Produced::Value)
                })
            }),
        )
    }

    /// A tool that takes and gives JSON as text, for whoever passes it on. What it gives is checked.
    pub fn raw<F, R>(name: &str, body: F) -> Self
    where
        F: Fn(Option<Json>, ToolContext) -> R + Send + Sync + 'static,
        R: Future<Output = Result<Bytes, ToolError>> + Send + 'static,
    {
        let body = Arc::new(body);
        Self::with_body(
            name,
            Arc::new(move |given: Given, context| {
                let body = Arc::clone(&body);
                Box::pin(async move { body(given.text, context).await.map(Produced::Text) })
            }),
        )
    }

    fn with_body(name: &str, body: Body) -> Self {
        Self {
            original_name: name.into(),
            description: None,
            input: None,
            output: None,
            running_max: None,
            body,
        }
    }

    /// The same tool with somebody around each call, who is told its name and its input, and lets the call go on.
    #[must_use]
    pub fn around<F>(self, around: F) -> Self
    where
        F: Fn(Arc<str>, Option<Bytes>, Answering) -> Answering + Send + Sync + 'static,
    {
        let body = Arc::clone(&self.body);
        let around = Arc::new(around);
        let body: Body = Arc::new(move |given: Given, context: ToolContext| {
            let (name, input) = (Arc::clone(&context.original_tool_name), input(&given));
            let work = body(given, context);
            let answer = around(name, input, Box::pin(async move { work.await.map(text) }));
            Box::pin(async move { answer.await.map(Produced::Text) })
        });
        Self { body, ..self }
    }

    /// The tool's name and schemas with somebody else to answer; its own body is gone.
    #[must_use]
    pub fn instead<F>(self, answer: F) -> Self
    where
        F: Fn(&str, Option<Bytes>) -> Answering + Send + Sync + 'static,
    {
        let body: Body = Arc::new(move |given: Given, context: ToolContext| {
            let answer = answer(&context.original_tool_name, input(&given));
            Box::pin(async move { answer.await.map(Produced::Text) })
        });
        Self { body, ..self }
    }

    /// What it is for, in words.
    #[must_use]
    pub fn describe(self, text: &str) -> Self {
        Self { description: Some(text.into()), ..self }
    }

    /// What its input must look like.
    #[must_use]
    pub fn input(self, schema: Value) -> Self {
        Self { input: Some(Arc::new(schema)), ..self }
    }

    /// What its result must look like.
    #[must_use]
    pub fn output(self, schema: Value) -> Self {
        Self { output: Some(Arc::new(schema)), ..self }
    }

    /// How many of its calls run at once; more wait.
    #[must_use]
    pub fn at_most(self, running: usize) -> Self {
        Self { running_max: Some(running.max(1)), ..self }
    }
}

fn input(given: &Given) -> Option<Bytes> {
    let value = || given.value.as_ref().map(|it| it.to_string().into());
    given.text.as_ref().map(|it| it.bytes().clone()).or_else(value)
}

fn text(produced: Produced) -> Bytes {
    match produced {
        Produced::Value(value) => value.to_string().into(),
        Produced::Text(text) => text,
    }
}

/// The value of an input; null for `undefined`.
pub(super) fn read(input: Option<&Json>, tool: &str) -> Result<Value, ToolFailure> {
    let value = input.map_or(Ok(Value::Null), Json::to_value);
    value.map_err(|error| {
        let text = format!("Invalid input for tool {tool}: data is {error}");
        ToolFailure::new(FailureCode::ValidationError, text)
    })
}

impl From<ToolFailure> for ToolError {
    fn from(failure: ToolFailure) -> Self {
        Self::Failure(failure)
    }
}

impl fmt::Debug for Tool {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Tool").field("name", &self.original_name).finish_non_exhaustive()
    }
}

//! One call of one tool: input check, tool, JSON safety, output check, in this order.

use std::{panic::AssertUnwindSafe, sync::Arc};

use bytes::Bytes;
use drydock_contract::{FailureCode, Switch, ToolAnswer, ToolFailure, ToolRequest};
use futures_util::FutureExt as _;
use serde_json::Value;

use super::{
    Abandoned, ProviderLimits, ToolContext, ToolError,
    context::TripOnDrop,
    schema::{Phase, Schema},
    set::Ready,
    tool::{Given, Produced, read},
};
use crate::protocol::{Json, dismantle};

impl Ready {
    pub(super) async fn call(
        &self,
        provider: &Arc<str>,
        request: ToolRequest,
        limits: ProviderLimits,
    ) -> ToolAnswer {
        let given = self.check_input(request.input)?;
        // The signal is armed before the wait for a turn: a call that is given up there never begins.
        let signal = Arc::new(Switch::default());
        let guard = TripOnDrop::new(Arc::clone(&signal));
        let _turn = match &self.turns {
            Some(turns) => Some(turns.take().await),
            None => None,
        };
        let context = ToolContext {
            provider_name: Arc::clone(provider),
            safe_tool_name: Arc::clone(&self.safe_name),
            original_tool_name: Arc::clone(&self.tool.original_name),
            span: request.span,
            depth: request.depth,
            signal: Abandoned(signal),
        };
        // Also the closure itself may panic, before there is a future.
        let body = Arc::clone(&self.tool.body);
        let work = AssertUnwindSafe(async move { body(given, context).await }).catch_unwind();
        let ended = work.await;
        guard.disarm();
        let produced = ended.unwrap_or(Err(ToolError::Silent)).map_err(|error| self.failure(error))?;
        self.check_output(produced, limits)
    }

    fn check_input(&self, input: Option<Bytes>) -> Result<Given, ToolFailure> {
        let name = &self.tool.original_name;
        if let (Some(schema), Some((json, value))) = (&self.input, input.as_ref().and_then(Json::read)) {
            self.conforms(schema, &value, Phase::Input)?;
            return Ok(Given { text: Some(json), value: Some(value) });
        }
        let text = input.map(Json::parse).transpose().map_err(|error| {
            let text = format!("Invalid input for tool {name}: data is {error}");
            ToolFailure::new(FailureCode::ValidationError, text)
        })?;
        let Some(schema) = &self.input else { return Ok(Given { text, value: None }) };
        let value = read(text.as_ref(), name)?;
        self.conforms(schema, &value, Phase::Input)?;
        Ok(Given { text, value: Some(value) })
    }

    fn check_output(&self, produced: Produced, limits: ProviderLimits) -> ToolAnswer {
        let (json, value) = match produced {
            Produced::Value(value) => {
                if let Err(failure) = self.shallow(value_depth(&value), limits) {
                    dismantle(value);
                    return Err(failure);
                }
                (Json::of(&value), Some(value))
            }
            Produced::Text(text) => {
                let json = Json::parse(text).map_err(|_| {
                    self.unserializable(format!(
                        "Tool {} returned a non-serializable value",
                        self.tool.original_name
                    ))
                })?;
                self.shallow(json.depth(), limits)?;
                (json, None)
            }
        };
        let (bytes, max) = (json.byte_count(), limits.result_bytes_max);
        if bytes > max {
            let name = &self.tool.original_name;
            let text = format!("Tool {name} returned a value of {bytes} bytes; the limit is {max}");
            return Err(self.unserializable(text));
        }
        if let Some(schema) = &self.output {
            let value = match value {
                Some(value) => value,
                None => json.to_value().map_err(|error| {
                    let name = &self.tool.original_name;
                    self.unserializable(format!("Tool {name} returned a value that is {error}"))
                })?,
            };
            self.conforms(schema, &value, Phase::Output)?;
        }
        Ok(json.into_bytes())
    }

    fn conforms(&self, schema: &Schema, value: &Value, phase: Phase) -> Result<(), ToolFailure> {
        let Some(faults) = schema.faults(value) else { return Ok(()) };
        let text = format!("Invalid {} for tool {}: {faults}", phase.as_str(), self.tool.original_name);
        Err(ToolFailure::new(FailureCode::ValidationError, text))
    }

    fn shallow(&self, depth: usize, limits: ProviderLimits) -> Result<(), ToolFailure> {
        let max = limits.result_depth_max;
        if depth > max {
            let name = &self.tool.original_name;
            let text = format!("Tool {name} returned a value nested {depth} levels deep; the limit is {max}");
            return Err(self.unserializable(text));
        }
        Ok(())
    }

    fn unserializable(&self, text: String) -> ToolFailure {
        ToolFailure::new(FailureCode::SerializationError, text)
    }

    fn failure(&self, error: ToolError) -> ToolFailure {
        match error {
            ToolError::Failure(failure) => failure,
            ToolError::Message(text) => ToolFailure::new(FailureCode::ToolError, text),
            ToolError::Silent => {
                ToolFailure::new(FailureCode::ToolError, format!("Tool {} failed", self.tool.original_name))
            }
        }
    }
}

/// How deep a value is nested, without recursion.
fn value_depth(value: &Value) -> usize {
    let flat = |value: &Value| !matches!(value, Value::Array(_) | Value::Object(_));
    match value {
        Value::Array(items) if items.iter().all(flat) => return 1,
        Value::Object(members) if members.values().all(flat) => return 1,
        value if flat(value) => return 0,
        _ => {}
    }
    let mut deepest = 0;
    let mut rest = vec![(value, 0_usize)];
    while let Some((value, depth)) = rest.pop() {
        deepest = deepest.max(depth);
        match value {
            Value::Array(items) => {
                deepest = deepest.max(depth + 1);
                rest.extend(items.iter().map(|it| (it, depth + 1)));
            }
            Value::Object(members) => {
                deepest = deepest.max(depth + 1);
                rest.extend(members.values().map(|it| (it, depth + 1)));
            }
            _ => {}
        }
    }
    deepest
}

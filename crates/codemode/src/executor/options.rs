//! What is asked of an executor.

use std::sync::{
    Arc,
    atomic::{AtomicU64, Ordering},
};

use drydock_contract::{BoxFuture, Switch, ToolAnswer, ToolRequest, Tools};

use crate::{
    ExecuteResult,
    host::HostLimits,
    protocol::{Execute, Json, Manifest, RuntimeOptions},
    provider::{Providers, unknown_tool},
    result::timed_out,
    rules::program_fits,
    runner::Console,
};

/// Limits that are said where they differ from what holds otherwise.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct ExecuteOptions {
    /// Milliseconds until `timeout`.
    pub timeout_ms: Option<f64>,
    /// Bytes of guest memory.
    pub memory_limit_bytes: Option<f64>,
    /// Lines of log.
    pub max_log_lines: Option<f64>,
    /// UTF-16 units of log.
    pub max_log_chars: Option<f64>,
}

impl ExecuteOptions {
    /// These limits, and where they say nothing, `otherwise`.
    pub fn over(&self, otherwise: RuntimeOptions) -> RuntimeOptions {
        // What is no number limits nothing, so it is not taken for one.
        let pick = |said: Option<f64>, other| said.filter(|it| it.is_finite()).unwrap_or(other);
        RuntimeOptions {
            timeout_ms: pick(self.timeout_ms, otherwise.timeout_ms),
            memory_limit_bytes: pick(self.memory_limit_bytes, otherwise.memory_limit_bytes),
            max_log_lines: pick(self.max_log_lines, otherwise.max_log_lines),
            max_log_chars: pick(self.max_log_chars, otherwise.max_log_chars),
        }
    }
}

/// A program, its tools and its limits.
#[derive(Clone)]
pub struct ExecuteRequest {
    /// The program.
    pub code: Arc<str>,
    /// The namespaces it sees.
    pub providers: Arc<[Manifest]>,
    /// Who answers its calls.
    pub tools: Arc<dyn Tools>,
    /// Limits of this one execution.
    pub options: ExecuteOptions,
    /// What it sees as `args`.
    pub args: Option<Json>,
    /// Tripped when nobody wants the result any more.
    pub signal: Option<Arc<Switch>>,
    /// Who hears console lines: as they are written, or at the end where the program runs elsewhere, as
    /// messages carry them only then.
    pub console: Option<Console>,
    /// The program's own path, for what it imports. Only a program in this process has one: a runner's has the
    /// protocol's globals, and no import.
    pub file: Option<Arc<str>>,
}

impl ExecuteRequest {
    /// A program without tools.
    pub fn new(code: impl Into<Arc<str>>) -> Self {
        Self {
            code: code.into(),
            providers: Arc::default(),
            tools: Arc::new(NoTools),
            options: ExecuteOptions::default(),
            args: None,
            signal: None,
            console: None,
            file: None,
        }
    }

    /// With these tools, called directly. A session's tools are called [`through`](Self::through) its gate.
    #[must_use]
    pub fn with(self, providers: &Arc<Providers>) -> Self {
        Self { providers: Arc::clone(providers.manifests()), tools: Arc::clone(providers) as _, ..self }
    }

    /// With calls answered by somebody else than the providers themselves.
    #[must_use]
    pub fn through(self, tools: Arc<dyn Tools>) -> Self {
        Self { tools, ..self }
    }

    /// The limits that hold, or why it is not even begun.
    pub(super) fn admit(
        &self,
        otherwise: RuntimeOptions,
        code_bytes_max: usize,
    ) -> Result<RuntimeOptions, ExecuteResult> {
        if self.signal.as_ref().is_some_and(|signal| signal.is_tripped()) {
            return Err(ExecuteResult::failed(timed_out(), 0.0));
        }
        program_fits(&self.code, code_bytes_max).map_err(|failure| ExecuteResult::failed(failure, 0.0))?;
        Ok(self.options.over(otherwise))
    }

    /// The first message of a session, or why there will be none.
    pub(super) fn open(
        &self,
        otherwise: RuntimeOptions,
        limits: &HostLimits,
    ) -> Result<Execute, ExecuteResult> {
        Ok(Execute {
            options: self.admit(otherwise, limits.code_bytes_max)?,
            id: next_id(),
            code: Arc::clone(&self.code),
            providers: Arc::clone(&self.providers),
            args: self.args.clone(),
        })
    }
}

/// An id no other execution of this process has.
fn next_id() -> Arc<str> {
    static NEXT: AtomicU64 = AtomicU64::new(1);
    format!("exec-{}", NEXT.fetch_add(1, Ordering::Relaxed)).into()
}

struct NoTools;

impl Tools for NoTools {
    fn call(&self, request: ToolRequest) -> BoxFuture<'_, ToolAnswer> {
        Box::pin(async move { Err(unknown_tool(&request)) })
    }
}

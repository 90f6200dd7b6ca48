//! What a caller is told when there is no answer: `{"error":{"code","message","retryable"}}`. The one place where codes
//! become statuses of HTTP.

use axum::{
    body::Body,
    http::{HeaderValue, Response, StatusCode, header},
};
use drydock_contract::CallError;
use drydock_embed::{
    InstallError, OpenTreeError, SandboxError,
    agent::AgentError,
    extension::runner::{Code, Failure, FailureKind},
    store::{OpenWorkspaceError, TokensError, VaultError},
};
use serde_json::json;

/// Why there is no answer.
#[derive(Debug, Clone, thiserror::Error)]
#[error("{message}")]
pub(crate) struct ApiError {
    pub(crate) status: StatusCode,
    /// Stable, for machines.
    pub(crate) code: String,
    /// A sentence.
    pub(crate) message: String,
    /// Whether the same request may have an answer later.
    pub(crate) retryable: bool,
    /// After how many seconds it is worth trying.
    pub(crate) retry_after: Option<u64>,
    /// Of a guest that has no answer: what kind of failure.
    pub(crate) failure: Option<&'static str>,
}

impl ApiError {
    pub(crate) fn new(status: StatusCode, code: &str, message: impl Into<String>) -> Self {
        let retryable = matches!(status, StatusCode::TOO_MANY_REQUESTS | StatusCode::SERVICE_UNAVAILABLE);
        let retry_after = retryable.then_some(1);
        Self { status, code: code.to_owned(), message: message.into(), retryable, retry_after, failure: None }
    }

    pub(crate) fn bad(code: &str, message: impl Into<String>) -> Self {
        Self::new(StatusCode::BAD_REQUEST, code, message)
    }

    /// There is no such thing, or it is another tenant's: nobody can tell which.
    pub(crate) fn absent(what: &str) -> Self {
        Self::new(StatusCode::NOT_FOUND, "not_found", format!("there is no such {what}"))
    }

    pub(crate) fn forbidden(code: &str, message: impl Into<String>) -> Self {
        Self::new(StatusCode::FORBIDDEN, code, message)
    }

    /// What a broker could not have, or a bound of its own.
    pub(crate) fn of_broker(code: &str, message: String) -> Self {
        of_code(code, message)
    }

    /// Something of ours broke. What exactly is for our own eyes.
    pub(crate) fn internal(cause: &dyn std::fmt::Display) -> Self {
        tracing::error!(target: "drydock::serve", "a request failed: {cause}");
        Self::new(
            StatusCode::INTERNAL_SERVER_ERROR,
            "internal_error",
            "something of ours broke; the log has more",
        )
    }

    pub(crate) fn into_response(self) -> Response<Body> {
        let told =
            json!({ "error": { "code": self.code, "message": self.message, "retryable": self.retryable } });
        let mut response = crate::json::response(self.status, &told);
        let headers = response.headers_mut();
        if let Some(seconds) = self.retry_after {
            headers.insert(header::RETRY_AFTER, HeaderValue::from(seconds));
        }
        if self.status == StatusCode::UNAUTHORIZED {
            headers.insert(header::WWW_AUTHENTICATE, HeaderValue::from_static("Bearer"));
        }
        if let Some(kind) = self.failure {
            headers.insert(FAILURE, HeaderValue::from_static(kind));
        }
        response
    }
}

/// What kind of failure a guest's is.
pub(crate) const FAILURE: &str = "x-drydock-failure";

/// What a code of the gate, or of what is behind it, is to HTTP.
fn status_of(code: &str) -> StatusCode {
    match code {
        "rate_limited" | "too_many_processes" | "budget_exceeded" | "saturated" => {
            StatusCode::TOO_MANY_REQUESTS
        }
        "denied"
        | "command_not_granted"
        | "tool_not_granted"
        | "review_needed"
        | "revoked"
        | "cancelled"
        | "max_depth"
        | "host_denied" => StatusCode::FORBIDDEN,
        "unknown_command" | "not_found" | "empty" => StatusCode::NOT_FOUND,
        "too_large" | "artifact_too_large" | "value_too_large" | "message_too_large" => {
            StatusCode::PAYLOAD_TOO_LARGE
        }
        "timed_out" => StatusCode::GATEWAY_TIMEOUT,
        "exists" | "conflict" => StatusCode::CONFLICT,
        "bad_input" | "malformed" | "bad_path" | "is_a_directory" | "not_a_directory" | "not_executable"
        | "invalid_key" | "invalid_topic" => StatusCode::BAD_REQUEST,
        "no_space" | "read_only" | "quota_exceeded" | "queue_full" | "tenant_full" => {
            StatusCode::INSUFFICIENT_STORAGE
        }
        _ => StatusCode::INTERNAL_SERVER_ERROR,
    }
}

fn of_code(code: &str, message: String) -> ApiError {
    match status_of(code) {
        StatusCode::INTERNAL_SERVER_ERROR => ApiError::internal(&format!("{code}: {message}")),
        status => ApiError::new(status, code, message),
    }
}

impl From<SandboxError> for ApiError {
    fn from(error: SandboxError) -> Self {
        match error.code.as_str() {
            // What was sent is no script, no program, or asks for what is not there: words for its author.
            "syntax" | "not_installed" | "no_such_program" => {
                Self::new(StatusCode::UNPROCESSABLE_ENTITY, &error.code, error.message)
            }
            code => of_code(code, error.message.clone()),
        }
    }
}

impl From<CallError> for ApiError {
    fn from(error: CallError) -> Self {
        of_code(error.code(), error.to_string())
    }
}

impl From<AgentError> for ApiError {
    fn from(error: AgentError) -> Self {
        let (code, text) = (error.code(), error.to_string());
        match code {
            "not_found" => Self::absent("run or review"),
            "run_held" | "run_not_over" | "run_diverged" | "replay_diverged" | "review_answered"
            | "review_expired" => Self::new(StatusCode::CONFLICT, code, text),
            "too_many_runs" | "no_room" => Self::new(StatusCode::INSUFFICIENT_STORAGE, code, text),
            "bad_change" | "no_such_step" | "bad_setup" | "bad_workspace" | "unknown_tool"
            | "bad_options" => Self::new(StatusCode::UNPROCESSABLE_ENTITY, code, text),
            code => match error {
                AgentError::Grants(_) => Self::bad(code, text),
                AgentError::Call(error) => error.into(),
                error => of_code(code, error.to_string()),
            },
        }
    }
}

impl From<VaultError> for ApiError {
    fn from(error: VaultError) -> Self {
        let (code, text) = (error.code(), error.to_string());
        match error {
            VaultError::Size => Self::bad(code, text),
            VaultError::TooMany => Self::new(StatusCode::UNPROCESSABLE_ENTITY, code, text),
            VaultError::Conflict(_) => Self::new(StatusCode::CONFLICT, code, text),
            error => Self::internal(&error),
        }
    }
}

impl From<InstallError> for ApiError {
    fn from(error: InstallError) -> Self {
        let (code, text) = (error.code(), error.to_string());
        match &error {
            InstallError::Name(_) => Self::bad(code, text),
            InstallError::Unknown(_) => Self::absent("extension"),
            InstallError::Conflict(_) => Self::new(StatusCode::CONFLICT, code, text),
            InstallError::TooMany
            | InstallError::TooManyEntries(_)
            | InstallError::NotWasm
            | InstallError::Script => Self::new(StatusCode::UNPROCESSABLE_ENTITY, code, text),
            InstallError::SecretHeader(_, why) => {
                Self::new(StatusCode::UNPROCESSABLE_ENTITY, code, format!("{text}: {why}"))
            }
            InstallError::Module(fault) => match code {
                "bad_module" | "bad_exports" | "import_not_granted" => {
                    Self::new(StatusCode::UNPROCESSABLE_ENTITY, code, format!("{text}: {fault}"))
                }
                "saturated" => Self::new(StatusCode::TOO_MANY_REQUESTS, code, fault.to_string()),
                _ => Self::internal(&format!("{text}: {fault}")),
            },
            InstallError::Put(_) => of_code(code, text),
            _ => Self::internal(&text),
        }
    }
}

impl From<OpenWorkspaceError> for ApiError {
    fn from(error: OpenWorkspaceError) -> Self {
        match &error {
            OpenWorkspaceError::Name(_) => Self::bad("bad_name", error.to_string()),
            OpenWorkspaceError::Missing(_) => Self::absent("workspace"),
            OpenWorkspaceError::Exists(_) => Self::new(StatusCode::CONFLICT, "exists", error.to_string()),
            _ => Self::internal(&error),
        }
    }
}

impl From<OpenTreeError> for ApiError {
    fn from(error: OpenTreeError) -> Self {
        match error {
            OpenTreeError::Workspace(error) => error.into(),
            other => Self::internal(&other),
        }
    }
}

impl From<TokensError> for ApiError {
    fn from(error: TokensError) -> Self {
        Self::internal(&error)
    }
}

/// What `/x/` answers for a guest that has no answer.
pub(crate) fn of_failure(failure: &Failure) -> ApiError {
    let (code, status) = match (failure.kind, &failure.code) {
        (FailureKind::Timeout, _) => ("timed_out", StatusCode::GATEWAY_TIMEOUT),
        (FailureKind::TooLarge, _) => ("too_large", StatusCode::PAYLOAD_TOO_LARGE),
        (FailureKind::Saturated, _) => ("saturated", StatusCode::TOO_MANY_REQUESTS),
        (FailureKind::Denied, Code::Name(name)) => match status_of(name) {
            StatusCode::INTERNAL_SERVER_ERROR => ("denied", StatusCode::FORBIDDEN),
            status => (name.as_str(), status),
        },
        (FailureKind::Internal, _) => return ApiError::internal(&failure.message),
        _ => ("execute_failed", StatusCode::INTERNAL_SERVER_ERROR),
    };
    let failed = Some(kind_name(failure.kind));
    ApiError { failure: failed, ..ApiError::new(status, code, failure.message.clone()) }
}

/// The kind as the envelope spells it.
pub(crate) const fn kind_name(kind: FailureKind) -> &'static str {
    match kind {
        FailureKind::Link => "link",
        FailureKind::Abi => "abi",
        FailureKind::App => "app",
        FailureKind::Trap => "trap",
        FailureKind::Timeout => "timeout",
        FailureKind::Memory => "memory",
        FailureKind::Egress => "egress",
        FailureKind::TooLarge => "too_large",
        FailureKind::Denied => "denied",
        FailureKind::Saturated => "saturated",
        FailureKind::Internal => "internal",
    }
}

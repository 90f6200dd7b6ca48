//! What requests for values and messages have in common.

use drydock_contract::CallError;
use drydock_embed::{DockSession, broker::Answer};
use serde::Serialize;

use super::off_thread;
use crate::{
    ask::{self, Ask},
    error::ApiError,
    json,
};

/// A session of whoever asks, for all that the tenant's guests keep.
pub(super) fn kept(ask: &Ask) -> Result<DockSession, ApiError> {
    ask.caller.state.dock.kept(&ask.caller.principal).map_err(|error| match error {
        drydock_embed::BadSetup::Denied(denial) => CallError::from(denial).into(),
        other => ApiError::internal(&other),
    })
}

/// The answer, or why there is none.
pub(super) fn asked<T>(answered: Result<Answer<T>, CallError>) -> Result<T, ApiError> {
    answered?.map_err(|failure| ApiError::of_broker(&failure.code, failure.message))
}

/// An answer of many rows or messages, which takes a while to spell.
pub(super) async fn long(value: impl Serialize + Send + 'static) -> ask::Answer {
    off_thread::<_, ApiError>(move || Ok(json::ok(&value))).await
}

/// A whole number of the query, as far as it may go.
pub(super) fn whole(name: &str, given: Option<String>, most: u64) -> Result<Option<u64>, ApiError> {
    let Some(text) = given else { return Ok(None) };
    let number = text.parse::<u64>().ok().filter(|it| *it <= most);
    let bad = || ApiError::bad("bad_parameter", format!("`{name}` is a whole number of {most} at most"));
    number.map(Some).ok_or_else(bad)
}

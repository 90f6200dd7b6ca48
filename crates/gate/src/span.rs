//! Each call as a span of `tracing` (`drydock::gate`), for whoever watches where time goes: what a record of the audit has,
//! and no more, so neither a request nor a reply nor a subject is in it. Where nobody watches, a call costs a look at a
//! flag.

use drydock_contract::{BoxFuture, CallError, CallId, Reply};
use tracing::{Instrument as _, Span, field::Empty};

use crate::Session;

/// The span of one call. An operation that nobody offers is a guest's word, and not told.
pub(crate) fn of_call(
    session: &Session,
    (call, parent): (CallId, CallId),
    operation: Option<&'static str>,
) -> Span {
    let spec = session.spec();
    tracing::info_span!(
        target: "drydock::gate",
        "call",
        operation = operation.unwrap_or("unknown"),
        tenant = %spec.tenant,
        principal = %spec.principal,
        trace = %session.lineage().trace,
        call = %call,
        parent_call = %parent,
        result = Empty,
    )
}

/// The call within its span, which is told how it ended. Where nobody watches it is not even wrapped.
pub(crate) fn around<'a>(
    span: Span,
    answering: BoxFuture<'a, Result<Reply, CallError>>,
) -> BoxFuture<'a, Result<Reply, CallError>> {
    if span.is_disabled() {
        return answering;
    }
    let watched = async move {
        let done = answering.await;
        let result = done.as_ref().map_or_else(CallError::code, |_| "done");
        Span::current().record("result", result);
        done
    };
    Box::pin(watched.instrument(span))
}

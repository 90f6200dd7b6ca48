//! The extension door: one HTTP request for one guest of the Runner ABI (seed 001).
//!
//! A spelling, and no power: it asks at the door it was given for `handler.invoke`, and whatever comes of it, an answer, a
//! denial or a fault of ours, is an envelope. It neither listens nor dials, and never sees the guest.
//!
//! Reading a request and reading an answer take as long as they are large. Both are steps of their own, so that whoever
//! has a thread that may wait does them there.

use drydock_abi::runner::{
    Answered, Code, ContextFrom, Envelope, Failure, FailureKind, HttpAnswer, INVOKE, Invoke, Invoked,
    LogLine, SentRequest, parse_http_response, parse_response,
};
use drydock_contract::{Call, CallError, Denial, Digest, Dispatch, Fault, Streams};

pub use drydock_abi::runner;

/// One request for one module.
#[derive(Debug, Clone, Copy)]
pub struct Invocation<'a> {
    /// The module, which was handed over before.
    pub module: Digest,
    /// Which extension it is: what a grant names.
    pub extension: &'a str,
    /// Who says what the guest is shown of tenant and extension.
    pub context_from: ContextFrom,
}

impl Invocation<'_> {
    /// Asks at the door. What has no answer has an envelope already.
    pub async fn send(&self, sent: SentRequest, door: &dyn Dispatch) -> Answered {
        let Self { module, extension, context_from } = *self;
        let bytes = sent.bytes;
        let invoke = Invoke { module, extension: extension.to_owned(), context_from, sent };
        match door.dispatch(Call::typed(INVOKE, invoke, bytes, Streams::default())).await {
            Ok(mut reply) => reply.value().unwrap_or_else(|| {
                alone(FailureKind::Internal, "internal_error", "the gate answered in another form".into())
            }),
            Err(error) => refused(&error),
        }
    }
}

/// Reads what a guest answered: whatever came of the call is an envelope.
pub fn envelope_of(answered: Answered) -> Invoked {
    let envelope = match answered.response {
        Ok(bytes) => parse_response(&bytes).unwrap_or_else(|malformed| {
            Envelope::failed(FailureKind::Abi, "malformed_response".into(), malformed.to_string())
        }),
        Err(failed) => failed,
    };
    Invoked { envelope, log: answered.log }
}

/// The same for whoever sends the answer on by HTTP.
pub fn http_answer_of(answered: Answered) -> (Result<HttpAnswer, Failure>, Vec<LogLine>) {
    let failed = |envelope: Envelope| {
        envelope.error.unwrap_or_else(|| Failure {
            kind: FailureKind::Internal,
            code: "internal_error".into(),
            message: "a failure without a reason".into(),
        })
    };
    let answer = match answered.response {
        Ok(bytes) => parse_http_response(&bytes).map_err(|malformed| Failure {
            kind: FailureKind::Abi,
            code: "malformed_response".into(),
            message: malformed.to_string(),
        }),
        Err(envelope) => Err(failed(envelope)),
    };
    (answer, answered.log)
}

fn refused(error: &CallError) -> Answered {
    let kind = match error {
        CallError::Denied(Denial::TooLarge { .. }) => FailureKind::TooLarge,
        CallError::Denied(_) => FailureKind::Denied,
        CallError::Failed(Fault::Saturated(_)) => FailureKind::Saturated,
        CallError::Failed(_) => FailureKind::Internal,
    };
    alone(kind, error.code(), error.to_string())
}

/// A call that no guest saw.
fn alone(kind: FailureKind, code: &str, message: String) -> Answered {
    Answered { response: Err(Envelope::failed(kind, Code::from(code), message)), log: Vec::new() }
}

#[cfg(test)]
mod tests {
    use drydock_abi::runner::{LogLine, REQUEST_BYTES_MAX};
    use drydock_contract::{BoxFuture, LogLevel, Reply};
    use drydock_testkit::block_on;

    use super::*;

    type Answer = Result<Reply, CallError>;

    /// Answers as it was told to.
    struct Door(fn(Call<'_>) -> Answer);

    impl Dispatch for Door {
        fn dispatch<'a>(&'a self, call: Call<'a>) -> BoxFuture<'a, Answer> {
            let answer = (self.0)(call);
            Box::pin(async { answer })
        }
    }

    fn send(request: &[u8], door: fn(Call<'_>) -> Answer) -> Invoked {
        let (module, context_from) = (Digest::of(b"m"), ContextFrom::Host);
        let invocation = Invocation { module, extension: "shop", context_from };
        envelope_of(block_on(invocation.send(SentRequest::read(request), &Door(door))))
    }

    fn answered(response: &'static [u8]) -> Answer {
        let log = vec![LogLine { level: LogLevel::Info, text: "hi".into() }];
        Ok(Reply::of_value(Answered { response: Ok(response.into()), log }, Streams::default()))
    }

    #[test]
    fn a_request_reaches_the_gate_as_it_was_sent_and_the_answer_comes_back() {
        let invoked = send(br#"{"http":{"path":"/x"}}"#, |call| {
            let typed = call.typed.unwrap();
            let invoke = typed.value.downcast::<Invoke>().unwrap();
            assert_eq!((call.operation, typed.bytes, invoke.extension.as_str()), (INVOKE, 22, "shop"));
            assert_eq!(invoke.sent.digest, Digest::of(br#"{"http":{"path":"/x"}}"#));
            answered(br#"{"status":201}"#)
        });
        assert_eq!((invoked.envelope.status, invoked.log.len()), (201, 1));
    }

    #[test]
    fn whatever_goes_wrong_is_an_envelope_with_a_kind() {
        let kind = |invoked: Invoked| invoked.envelope.error.unwrap().kind;
        let denied = |_: Call<'_>| Err(Denial::Revoked.into());
        assert_eq!(kind(send(b"{}", denied)), FailureKind::Denied);
        assert_eq!(kind(send(b"{}", |_| Err(Fault::Internal("x".into()).into()))), FailureKind::Internal);
        let full = |_: Call<'_>| Err(Fault::Saturated("512 wait".into()).into());
        assert_eq!(kind(send(b"{}", full)), FailureKind::Saturated);
        assert_eq!(kind(send(b"{}", |_| Ok(Reply::default()))), FailureKind::Internal);
        assert_eq!(kind(send(b"{}", |_| answered(br#"{"status":7}"#))), FailureKind::Abi);
        let huge = vec![b' '; usize::try_from(REQUEST_BYTES_MAX).unwrap() + 1];
        let large = send(&huge, |call| {
            let bytes = call.typed.unwrap().bytes;
            assert_eq!(bytes, REQUEST_BYTES_MAX + 1);
            Err(Denial::TooLarge { what: "request", bytes, max: REQUEST_BYTES_MAX }.into())
        });
        assert_eq!(kind(large), FailureKind::TooLarge);
    }
}

//! The extension door: one HTTP request for one guest of the Runner ABI (seed 001).
//!
//! A spelling, and no power: it asks at the door it was given for `handler.invoke`, and whatever comes of it, an answer, a
//! denial or a fault of ours, is an envelope. It neither listens nor dials, and never sees the guest.

use drydock_abi::runner::{Code, Envelope, FailureKind, INVOKE, Invoked, REQUEST_BYTES_MAX, encode_invoke};
use drydock_contract::{Call, CallError, Denial, Digest, Dispatch, Fault, Streams, Tenant};

pub use drydock_abi::runner;

/// One request for one module.
#[derive(Debug, Clone, Copy)]
pub struct Invocation<'a> {
    /// The module, which was handed over before.
    pub module: Digest,
    /// Whose extension it is, where the request does not say.
    pub tenant: &'a Tenant,
    /// Its id, where the request does not say.
    pub extension: &'a str,
    /// The request as JSON: `context`, `http`, `limits`, each of which may be left out.
    pub request: &'a [u8],
}

impl Invocation<'_> {
    /// Asks at the door, and puts whatever comes of it into an envelope.
    pub async fn send(&self, door: &dyn Dispatch) -> Invoked {
        let bytes = self.request.len() as u64;
        let answer = if bytes > REQUEST_BYTES_MAX {
            // It can only be refused, and is recorded like any other refusal.
            door.dispatch(Call::oversized(INVOKE, bytes)).await
        } else {
            let payload = encode_invoke(self.module, self.tenant.as_str(), self.extension, self.request);
            door.dispatch(Call::new(INVOKE, &payload, Streams::default())).await
        };
        let broken = |text: String| alone(FailureKind::Internal, "internal_error", text);
        match answer {
            Ok(reply) => {
                serde_json::from_slice(&reply.payload).unwrap_or_else(|error| broken(error.to_string()))
            }
            Err(error) => refused(&error),
        }
    }
}

fn refused(error: &CallError) -> Invoked {
    let kind = match error {
        CallError::Denied(Denial::TooLarge { .. }) => FailureKind::TooLarge,
        CallError::Denied(_) => FailureKind::Denied,
        CallError::Failed(Fault::Saturated(_)) => FailureKind::Saturated,
        CallError::Failed(_) => FailureKind::Internal,
    };
    alone(kind, error.code(), error.to_string())
}

/// An envelope of a call that no guest saw.
fn alone(kind: FailureKind, code: &str, message: String) -> Invoked {
    Invoked { envelope: Envelope::failed(kind, Code::from(code), message), log: Vec::new() }
}

#[cfg(test)]
mod tests {
    use drydock_abi::runner::{LogLine, decode_invoke};
    use drydock_contract::{BoxFuture, LogLevel, Reply};
    use drydock_testkit::block_on;

    use super::*;

    /// Answers as it was told to.
    struct Door(fn(Call<'_>) -> Result<Vec<u8>, CallError>);

    impl Dispatch for Door {
        fn dispatch<'a>(&'a self, call: Call<'a>) -> BoxFuture<'a, Result<Reply, CallError>> {
            let answer = (self.0)(call);
            Box::pin(async { answer.map(|payload| Reply { payload, ..Reply::default() }) })
        }
    }

    fn send(request: &[u8], door: fn(Call<'_>) -> Result<Vec<u8>, CallError>) -> Invoked {
        let tenant = Tenant::default();
        let invocation = Invocation { module: Digest::of(b"m"), tenant: &tenant, extension: "shop", request };
        block_on(invocation.send(&Door(door)))
    }

    #[test]
    fn a_request_reaches_the_gate_as_it_was_sent_and_the_answer_comes_back() {
        let invoked = send(br#"{"http":{"path":"/x"}}"#, |call| {
            let invoke = decode_invoke(call.payload).unwrap();
            assert_eq!((call.operation, invoke.tenant.as_str()), (INVOKE, "dev"));
            assert_eq!((invoke.extension.as_str(), invoke.request.http.path.as_str()), ("shop", "/x"));
            let envelope = Envelope { status: 201, headers: [].into(), body_b64: None, error: None };
            let log = vec![LogLine { level: LogLevel::Info, text: "hi".into() }];
            Ok(serde_json::to_vec(&Invoked { envelope, log }).unwrap())
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
        assert_eq!(kind(send(b"{}", |_| Ok(b"nonsense".to_vec()))), FailureKind::Internal);
        let huge = vec![b' '; usize::try_from(REQUEST_BYTES_MAX).unwrap() + 1];
        let large = send(&huge, |call| {
            assert_eq!(call.unread_bytes, REQUEST_BYTES_MAX + 1);
            Err(Denial::TooLarge { what: "request", bytes: call.unread_bytes, max: REQUEST_BYTES_MAX }.into())
        });
        assert_eq!(kind(large), FailureKind::TooLarge);
    }
}

//! What is asked: one request for a handler, a kernel, a call of one, or its end.

use bytes::Bytes;
use drydock_abi::{
    kernel::{self, CALL, CLOSE, Open},
    runner::{BadRequest, INVOKE, Invoke, REQUEST_BODY_BYTES_MAX, decode_invoke},
};
use drydock_contract::Denial;

/// A request, and the name that it is about: the extension's id, the module's hash, or the kernel's number.
pub struct Request {
    subject: String,
    pub(super) asked: Asked,
}

pub(super) enum Asked {
    Invoke(Box<Invoke>),
    Open(Open),
    Call { id: u64, wall_ms: u64, input: Bytes },
    Close(u64),
}

impl Request {
    pub(super) fn subject(&self) -> &str {
        &self.subject
    }
}

pub(super) fn decode(operation: &str, payload: &[u8]) -> Result<Request, Denial> {
    let malformed = |bad: kernel::BadKernelRequest| Denial::Malformed(bad.to_string());
    match operation {
        INVOKE => {
            let invoke = decode_invoke(payload).map_err(|bad| match bad {
                BadRequest::BodyTooLarge(bytes) => {
                    Denial::TooLarge { what: "request body", bytes, max: REQUEST_BODY_BYTES_MAX }
                }
                BadRequest::Malformed(_) => Denial::Malformed(bad.to_string()),
            })?;
            let subject = invoke.request.context.extension_id.as_ref().unwrap_or(&invoke.extension).clone();
            Ok(Request { subject, asked: Asked::Invoke(Box::new(invoke)) })
        }
        CALL => {
            let (id, wall_ms, input) = kernel::decode_call(payload).map_err(malformed)?;
            let input = Bytes::copy_from_slice(input);
            Ok(Request { subject: id.to_string(), asked: Asked::Call { id, wall_ms, input } })
        }
        CLOSE => {
            let id = kernel::decode_close(payload).map_err(malformed)?;
            Ok(Request { subject: id.to_string(), asked: Asked::Close(id) })
        }
        _ => {
            let open = kernel::decode_open(payload).map_err(malformed)?;
            Ok(Request { subject: open.module.to_string(), asked: Asked::Open(open) })
        }
    }
}

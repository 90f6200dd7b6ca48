//! What is asked: one request for a handler, a kernel, a call of one, or its end.
//!
//! What it is about is the host's word: the extension's name and the module's hash. What a request itself says of them is
//! no part of a decision.

use bytes::Bytes;
use drydock_abi::{
    kernel::{self, CALL, CLOSE, Open},
    lembeh::run::{RUN, RunGuest},
    runner::{INVOKE, Invoke},
};
use drydock_contract::{Denial, Digest};

/// A request, and the names that it is about.
pub struct Request {
    /// The extension, for a handler; else the module.
    subject: String,
    /// The module of a handler: a grant for an extension says which modules it may be.
    module: Option<String>,
    pub(super) asked: Asked,
}

pub(super) enum Asked {
    Invoke(Box<Invoke>),
    Run(Box<RunGuest>),
    Open(Open),
    Call { id: u64, module: Digest, wall_ms: u64, input: Bytes },
    Close { id: u64, module: Digest },
}

/// What a grant calls a module: `sha256:*` is any.
fn named(module: Digest) -> String {
    // Once for each request of an extension: two look-ups a byte, and no formatting.
    const DIGITS: &[u8; 16] = b"0123456789abcdef";
    let mut name = String::with_capacity(71);
    name.push_str("sha256:");
    for byte in module.as_bytes() {
        name.push(DIGITS[usize::from(byte >> 4)].into());
        name.push(DIGITS[usize::from(byte & 15)].into());
    }
    name
}

#[test]
fn a_module_is_called_by_its_hash_in_hex() {
    let module = Digest::of(b"m");
    assert_eq!(named(module), format!("sha256:{module}"));
}

impl Request {
    pub(super) fn subject(&self) -> &str {
        &self.subject
    }

    pub(super) fn module(&self) -> Option<&str> {
        self.module.as_deref()
    }

    /// The module and what was sent, by their hashes: bytes as many as a body has are hashed before the call.
    pub(super) fn digested(&self) -> Option<[&[u8]; 2]> {
        match &self.asked {
            Asked::Invoke(invoke) => Some([invoke.module.as_bytes(), invoke.sent.digest.as_bytes()]),
            Asked::Run(guest) => Some([guest.module.as_bytes(), &[]]),
            _ => None,
        }
    }

    pub(super) fn of_guest(guest: Box<RunGuest>) -> Self {
        Self { subject: named(guest.module), module: None, asked: Asked::Run(guest) }
    }

    pub(super) fn of_handler(invoke: Box<Invoke>) -> Self {
        let (subject, module) = (invoke.extension.clone(), Some(named(invoke.module)));
        Self { subject, module, asked: Asked::Invoke(invoke) }
    }
}

pub(super) fn decode(operation: &str, payload: &[u8]) -> Result<Request, Denial> {
    let malformed = |bad: kernel::BadKernelRequest| Denial::Malformed(bad.to_string());
    match operation {
        INVOKE => Err(Denial::Malformed("a handler is asked by its host, and not in bytes".into())),
        RUN => Err(Denial::Malformed("a lembeh guest is run by its host, and not in bytes".into())),
        CALL => {
            let kernel::CallKernel { id, module, wall_ms, input } =
                kernel::decode_call(payload).map_err(malformed)?;
            let asked = Asked::Call { id, module, wall_ms, input: Bytes::copy_from_slice(input) };
            Ok(Request { subject: named(module), module: None, asked })
        }
        CLOSE => {
            let (id, module) = kernel::decode_close(payload).map_err(malformed)?;
            Ok(Request { subject: named(module), module: None, asked: Asked::Close { id, module } })
        }
        _ => {
            let open = kernel::decode_open(payload).map_err(malformed)?;
            Ok(Request { subject: named(open.module), module: None, asked: Asked::Open(open) })
        }
    }
}

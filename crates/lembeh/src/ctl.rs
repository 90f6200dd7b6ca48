//! Answers `_ctl`. Never blocks, holds nothing, and says what is wrong in the order of the specification.
//!
//! Opening takes two steps, because handles belong to whoever runs the guest: [`judge`] says that the hub may be
//! opened, and the caller then answers with the handle or with a refusal.

use drydock_abi::lembeh::{
    Envelope, HFLAG_ENDABLE, HFLAG_READABLE, HFLAG_WRITABLE, Opened, Trace,
    ctl::{
        self, BadRequest, CAP_CAN_OPEN, Capability, Description, Operation, PAYLOAD_BYTES_MAX, Request,
        decode_hub_params, decode_operation, decode_request,
    },
};

use crate::HubLimits;

/// The kind of the hub.
pub const HUB_KIND: &str = "async";
/// The name of the hub.
pub const HUB_NAME: &str = "default";
/// The only mode in which it opens.
const HUB_MODE: u32 = 1;

/// A capability that the session has.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Listed {
    /// Its kind.
    pub kind: String,
    /// Its name.
    pub name: String,
    /// What it can do; only what has [`CAP_CAN_OPEN`] is opened.
    pub cap_flags: u32,
    /// What CAPS_DESCRIBE says.
    pub schema: Vec<u8>,
}

/// What becomes of a request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Answer {
    /// `_ctl` returns -1 and writes nothing.
    None,
    /// `_ctl` writes this, if it fits.
    Response(Vec<u8>),
    /// The hub is to be opened; the answer is [`opened`] or [`refused`].
    OpenHub {
        /// The number to echo.
        rid: u32,
        /// The guest's name for the session.
        session_id: Vec<u8>,
        /// Of no meaning here.
        flags: u32,
    },
}

/// Judges a request of a session that has these capabilities; what is not among them is missing.
pub fn judge(request: &[u8], listed: &[Listed]) -> Answer {
    let request = match decode_request(request, PAYLOAD_BYTES_MAX) {
        Ok(request) => request,
        Err(BadRequest::Unanswerable(_)) => return Answer::None,
        Err(BadRequest::Refused { op, rid, trace }) => return refused(op, rid, trace),
    };
    judge_operation(&request, listed).unwrap_or_else(|trace| refused(request.op, request.rid, trace))
}

fn judge_operation(request: &Request<'_>, listed: &[Listed]) -> Result<Answer, Trace> {
    match decode_operation(request)? {
        Operation::List => success(request, list(listed)),
        Operation::Describe { kind, name } => {
            let row = find(listed, kind, name)?;
            let description = Description { cap_flags: row.cap_flags, schema: &row.schema };
            success(request, ctl::encode_description(&description).ok())
        }
        Operation::Open { kind, name, mode, params } => {
            let row = find(listed, kind, name)?;
            if row.cap_flags & CAP_CAN_OPEN == 0 || (kind, name) != (HUB_KIND, HUB_NAME) {
                return Err(Trace::CapDenied);
            }
            if mode != HUB_MODE {
                return Err(Trace::CtlBadParams);
            }
            let (session_id, flags) = decode_hub_params(params).map_err(|_| Trace::CtlBadParams)?;
            Ok(Answer::OpenHub { rid: request.rid, session_id: session_id.to_vec(), flags })
        }
    }
}

/// The answer to a hub that was opened.
pub fn opened(rid: u32, handle: u32, limits: &HubLimits) -> Answer {
    let meta = limits.meta().encode();
    let hflags = HFLAG_READABLE | HFLAG_WRITABLE | HFLAG_ENDABLE;
    let mut body = Vec::new();
    let written = Opened { handle, hflags, meta: &meta }.put(&mut body).is_ok();
    let response = written.then(|| ctl::encode_success(ctl::CAPS_OPEN, rid, &body).ok()).flatten();
    response.map_or(Answer::None, Answer::Response)
}

/// A request that is not granted.
pub fn refused(op: u16, rid: u32, trace: Trace) -> Answer {
    let envelope = Envelope { trace: trace.code(), msg: trace.message(), cause: &[] };
    ctl::encode_refused(op, rid, &envelope).map_or(Answer::None, Answer::Response)
}

fn success(request: &Request<'_>, body: Option<Vec<u8>>) -> Result<Answer, Trace> {
    let response = body.and_then(|body| ctl::encode_success(request.op, request.rid, &body).ok());
    response.map(Answer::Response).ok_or(Trace::CtlOverflow)
}

fn list(listed: &[Listed]) -> Option<Vec<u8>> {
    let mut caps: Vec<Capability<'_>> = Vec::with_capacity(listed.len());
    for Listed { kind, name, cap_flags, .. } in listed {
        caps.push(Capability { kind, name, cap_flags: *cap_flags, meta: &[] });
    }
    ctl::encode_caps(&caps).ok()
}

fn find<'a>(listed: &'a [Listed], kind: &str, name: &str) -> Result<&'a Listed, Trace> {
    listed.iter().find(|it| it.kind == kind && it.name == name).ok_or(Trace::CapMissing)
}

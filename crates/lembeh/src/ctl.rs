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

impl Answer {
    /// The bytes that `_ctl` writes into a buffer of this length; none where it returns -1, because there is no
    /// answer or because it does not fit whole.
    pub fn fitting(&self, buffer_bytes: usize) -> Option<&[u8]> {
        match self {
            Self::Response(bytes) if bytes.len() <= buffer_bytes => Some(bytes),
            _ => None,
        }
    }
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

#[cfg(test)]
mod tests {
    use drydock_abi::lembeh::ctl::{decode_caps, decode_hub_opened, decode_response, encode_request};

    use super::*;

    fn listed() -> Vec<Listed> {
        let row = |kind: &str, name: &str, cap_flags| {
            let (kind, name) = (kind.to_owned(), name.to_owned());
            Listed { kind, name, cap_flags, schema: b"{}".to_vec() }
        };
        vec![row("exec", "default", 0x0c), row(HUB_KIND, HUB_NAME, 0x0d)]
    }

    fn trace(operation: &Operation<'_>) -> String {
        let answer = judge(&encode_request(9, 0, operation).unwrap(), &listed());
        let Answer::Response(bytes) = answer else { return format!("{answer:?}") };
        let response = decode_response(&bytes).unwrap();
        assert_eq!(response.rid, 9);
        response.result.map_or_else(|it| it.trace.to_owned(), |_| "ok".to_owned())
    }

    #[test]
    fn only_what_the_session_has_is_listed_described_and_opened() {
        let open = |kind, mode, params| Operation::Open { kind, name: "default", mode, params };
        let cases = [
            (Operation::Describe { kind: "exec", name: "default" }, "ok"),
            (Operation::Describe { kind: "exec", name: "other" }, "t_cap_missing"),
            (Operation::Describe { kind: "net", name: "tcp" }, "t_cap_missing"),
            (open("net", 1, b""), "t_cap_missing"),
            (open("exec", 1, b""), "t_cap_denied"),
            (open("exec", 9, b"x"), "t_cap_denied"),
            (open("async", 2, b""), "t_ctl_bad_params"),
            (open("async", 1, b"x"), "t_ctl_bad_params"),
            (open("async", 1, b""), "OpenHub { rid: 9, session_id: [], flags: 0 }"),
        ];
        for (operation, want) in &cases {
            assert_eq!(trace(operation), *want, "{operation:?}");
        }
        let Answer::Response(bytes) = judge(&encode_request(1, 0, &Operation::List).unwrap(), &listed())
        else {
            panic!("a list is answered");
        };
        let caps = decode_caps(decode_response(&bytes).unwrap().result.unwrap()).unwrap();
        assert_eq!(caps.iter().map(|it| it.kind).collect::<Vec<_>>(), ["async", "exec"]);
    }

    #[test]
    fn an_answer_is_written_whole_or_not_at_all() {
        let answer = opened(3, 3, &HubLimits::default());
        let bytes = answer.fitting(52).unwrap();
        let (hub, meta) = decode_hub_opened(decode_response(bytes).unwrap().result.unwrap()).unwrap();
        assert_eq!((hub.handle, hub.hflags), (3, 7));
        assert_eq!(meta, Some(HubLimits::default().meta()));
        assert_eq!(answer.fitting(51), None);
        assert_eq!(judge(b"ZCL1", &[]).fitting(1000), None);
    }
}

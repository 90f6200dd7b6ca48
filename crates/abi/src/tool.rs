//! The tool wire: what a code-mode guest and its host say about one call of a tool.
//!
//! Request, from the guest: `{"provider":…,"tool":…,"input":…}`, with no `input` for undefined. Reply of
//! the operation: the result as JSON, or [`FAILURE_MARK`] and `{"code":…,"message":…}`. No JSON text
//! begins with that byte, so a tool's result can never be taken for a failure. Answer to the guest:
//! `{"call":n,"ok":true,"result":…}` or `{"call":n,"ok":false,"code":…,"message":…}`.

mod frame;
mod reply;
mod request;
#[cfg(test)]
#[path = "tool/tests.rs"]
mod wire_tests;

pub use frame::{FrameEvent, FrameReader, answer_head, encode_frame};
pub use reply::{BadToolReply, decode_reply, encode_reply};
pub use request::{BadToolRequest, decode_request, encode_request, request_bytes};

/// The operation that calls a tool.
pub const CALL: &str = "tool.call";
/// The longest request.
pub const REQUEST_BYTES_MAX: u64 = 8 << 20;
/// The longest reply.
pub const REPLY_BYTES_MAX: u64 = 32 << 20;
/// Calls of one run that may be open at once.
pub const PENDING_MAX: usize = 10_000;

/// The first byte of a reply that is a failure.
pub const FAILURE_MARK: u8 = 0x15;

/// What `env.tool_start` answers instead of a number: as many calls are open as may be.
pub const TOO_MANY: i32 = -1;
/// The request is longer than [`REQUEST_BYTES_MAX`].
pub const TOO_LARGE: i32 = -2;
/// The request is not in the guest's memory.
pub const BAD_POINTER: i32 = -3;

/// The reply payload for a tool that failed with this classification.
pub fn encode_failure(code: &str, message: &str) -> Vec<u8> {
    let mut reply = vec![FAILURE_MARK];
    reply.extend_from_slice(format!("{{{}}}", failure_fields(code, message)).as_bytes());
    reply
}

/// The answer to the guest for a reply payload.
pub fn encode_answer(call: u32, reply: &[u8]) -> Vec<u8> {
    let (head, rest): (&[u8], _) = match reply {
        [FAILURE_MARK, b'{', rest @ ..] => (b",\"ok\":false,", rest),
        [FAILURE_MARK, ..] => return encode_refusal(call, "internal_error", "the tool's answer is broken"),
        whole => (b",\"ok\":true,\"result\":", whole),
    };
    let mut answer = Vec::with_capacity(40 + rest.len());
    answer.extend_from_slice(b"{\"call\":");
    push_number(&mut answer, call);
    answer.extend_from_slice(head);
    answer.extend_from_slice(rest);
    if reply.first() != Some(&FAILURE_MARK) {
        answer.push(b'}');
    }
    answer
}

/// By hand: it happens for every call.
fn push_number(out: &mut Vec<u8>, mut number: u32) {
    let mut digits = [0; 10];
    let mut at = digits.len();
    loop {
        at -= 1;
        digits[at] = b'0' + (number % 10) as u8;
        number /= 10;
        if number == 0 {
            return out.extend_from_slice(&digits[at..]);
        }
    }
}

/// The answer to the guest for a call that has no reply.
pub fn encode_refusal(call: u32, code: &str, message: &str) -> Vec<u8> {
    format!("{{\"call\":{call},\"ok\":false,{}}}", failure_fields(code, message)).into_bytes()
}

/// `"code":…,"message":…`
fn failure_fields(code: &str, message: &str) -> String {
    format!("\"code\":{},\"message\":{}", quoted(code), quoted(message))
}

/// As a JSON string.
fn quoted(text: &str) -> String {
    let mut out = String::with_capacity(text.len() + 2);
    out.push('"');
    for sign in text.chars() {
        match sign {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            control if control < ' ' => out.push_str(&format!("\\u{:04x}", u32::from(control))),
            other => out.push(other),
        }
    }
    out.push('"');
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(bytes: Vec<u8>) -> String {
        String::from_utf8(bytes).unwrap_or_default()
    }

    #[test]
    fn a_result_travels_as_it_is() {
        assert_eq!(text(encode_answer(7, b"[1]")), r#"{"call":7,"ok":true,"result":[1]}"#);
        assert_eq!(text(encode_answer(u32::MAX, b"1")), r#"{"call":4294967295,"ok":true,"result":1}"#);
    }

    #[test]
    fn a_failure_keeps_its_classification_and_a_result_cannot_pretend_to_be_one() {
        let reply = encode_failure("validation_error", "not \"x\"\n");
        let want = r#"{"call":0,"ok":false,"code":"validation_error","message":"not \"x\"\u000a"}"#;
        assert_eq!(text(encode_answer(0, &reply)), want);
        let lie = br#"{"code":"timeout","message":""}"#;
        assert!(text(encode_answer(0, lie)).starts_with(r#"{"call":0,"ok":true,"result":{"code""#));
    }

    #[test]
    fn a_broken_failure_and_a_refusal_are_answers_too() {
        assert!(text(encode_answer(1, &[FAILURE_MARK])).contains("internal_error"));
        let refusal = encode_refusal(1, "tool_error", "no");
        assert_eq!(text(refusal), r#"{"call":1,"ok":false,"code":"tool_error","message":"no"}"#);
    }
}

//! Proofs for requests and replies.

use bytes::Bytes;
use drydock_contract::{FailureCode, ToolFailure, ToolRequest};

use super::{decode_reply, decode_request, encode_reply, encode_request};

fn request(input: Option<&'static str>) -> ToolRequest {
    ToolRequest {
        provider: "files".into(),
        tool: "read".into(),
        input: input.map(|text| Bytes::from_static(text.as_bytes())),
        span: 0,
        depth: 0,
    }
}

#[test]
fn a_request_reads_as_it_was_written() {
    for input in [None, Some("null"), Some(r#"{"__proto__":[1,2.50,"\ud83d\ude00"]}"#)] {
        let wire = encode_request(&request(input));
        assert_eq!(decode_request(&wire), Ok(request(input)), "{input:?}");
    }
    let wire = br#" {"more":[{}],"tool":"read","input": {"a":"\ud800"} ,"provider":"files"} "#;
    assert_eq!(decode_request(wire), Ok(request(Some(r#"{"a":"\ufffd"}"#))));
}

#[test]
fn what_is_no_request_is_said_to_be_none() {
    for wire in [
        &b""[..],
        b"[]",
        b"{}",
        b"\xff",
        br#"{"provider":"a"}"#,
        br#"{"provider":"a","tool":1}"#,
        br#"{"provider":"a","tool":"b"} x"#,
        br#"{"provider":"a","tool":"b","input":}"#,
    ] {
        assert!(decode_request(wire).is_err(), "{:?}", String::from_utf8_lossy(wire));
    }
}

#[test]
fn a_reply_is_a_result_or_a_failure_and_no_result_pretends_to_be_one() {
    let fine = Ok(Bytes::from_static(br#"{"code":"timeout","message":""}"#));
    let failed = Err(ToolFailure::new(FailureCode::ToolError, "no such \"file\"\n"));
    for answer in [fine, failed] {
        assert_eq!(decode_reply(encode_reply(answer.clone()).into()), Ok(answer));
    }
    assert!(decode_reply(Bytes::from_static(b"\x15{}")).is_err());
    let odd = decode_reply(Bytes::from_static(b"\x15{\"code\":\"root\",\"message\":\"m\"}"));
    assert_eq!(odd, Ok(Err(ToolFailure::new(FailureCode::RuntimeError, "m"))));
}

//! The bytes of the Runner ABI and of kernels: never panics; a request that reads is shown as one that reads again; an
//! answer is one of the envelope's shapes.
#![no_main]

use drydock_abi::{
    fetch::FetchRequest,
    kernel::{decode_call, decode_open, decode_opened, decode_output},
    runner::{EffectiveLimits, ExecuteRequest, SentRequest, parse_http_response, parse_response},
};

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    if let Ok(request) = FetchRequest::parse(bytes) {
        assert!(request.body.len() <= bytes.len() && request.headers.len() <= 128);
    }
    let _ = (decode_open(bytes), decode_call(bytes), decode_opened(bytes), decode_output(bytes));
    if let Ok(answer) = parse_response(bytes) {
        assert!((100..=599).contains(&answer.status) && answer.error.is_none());
        // Only JSON is taken at its word, and JSON is text.
        assert!(std::str::from_utf8(bytes).is_ok() || answer.status == 200);
    }
    // By whichever way it goes on, it is an answer or it is not.
    assert_eq!(parse_http_response(&bytes.to_vec().into()).is_ok(), parse_response(bytes).is_ok());
    let sent = SentRequest::read(bytes);
    assert_eq!(sent.bytes, bytes.len() as u64);
    let Ok(request) = ExecuteRequest::parse(bytes) else { return assert!(sent.request.is_err()) };
    let limits = EffectiveLimits { timeout_ms: 1, memory_mb: 1, fuel: None };
    let shown = sent.request.expect("it parses").shown("dev", "x", limits);
    let again = ExecuteRequest::parse(&shown).expect("what is shown reads");
    assert_eq!(again.http, request.http);
    assert_eq!(again.context.request_id, request.context.request_id);
});

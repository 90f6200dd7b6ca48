//! What a serving guest answers: whatever it is, it is a response, and its body is the end of it.
#![no_main]

use drydock_abi::serve::decode_response;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    let response = decode_response(bytes.to_vec().into());
    assert!((200..=599).contains(&response.status));
    assert!(bytes.ends_with(&response.body));
    for (name, value) in response.headers {
        assert!(!name.is_empty() && !name.contains(['\n', '\r', ':', ' ']));
        assert!(!value.iter().any(|it| matches!(it, b'\n' | b'\r' | 0)));
    }
});

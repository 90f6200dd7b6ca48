//! The request of a tool: never panics, the short way of reading says what the long one does, and what it
//! reads it can write again.
#![no_main]

use drydock_abi::tool::{decode_request, encode_request};

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    let request = decode_request(bytes);
    // No request that we write begins with a space, so this is read the long way.
    let spaced = decode_request(&[b" ", bytes].concat());
    assert_eq!(request.as_ref().ok(), spaced.as_ref().ok());
    let Ok(request) = request else { return };
    assert_eq!(decode_request(&encode_request(&request)), Ok(request));
});

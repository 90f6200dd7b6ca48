//! The exec wire: never panics, never reads past the end, and what it reads it can write again.
#![no_main]

use drydock_abi::exec::{decode_request, encode_request};

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    let Ok(request) = decode_request(bytes) else { return };
    let again = encode_request(request.name, &request.args.iter().collect::<Vec<_>>(), request.stdin)
        .expect("it came from a wire");
    assert_eq!(again, bytes[..again.len()], "only trailing bytes may be dropped");
    assert_eq!(decode_request(&again).as_ref(), Ok(&request));
});

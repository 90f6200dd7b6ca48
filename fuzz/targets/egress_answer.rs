//! Bodies of strangers: unpacked within the cap, whatever they are and however they are cut; and a secret that comes back is
//! gone from what is handed on, however it is cut.
#![no_main]

use drydock_egress::foreign::{redact, unpack};

const CAP: u64 = 64 << 10;

libfuzzer_sys::fuzz_target!(|input: (bool, u8, Vec<u8>, Vec<u8>)| {
    let (gzip, size, secret, body) = input;
    let size = usize::from(size).max(1);
    let whole = unpack(gzip, std::iter::once(&body[..]), CAP);
    let pieces = unpack(gzip, body.chunks(size), CAP);
    match (&whole, &pieces) {
        (Ok(one), Ok(other)) => assert_eq!(one, other),
        (Err(_), Err(_)) => {}
        other => panic!("how a body is cut decides what it is: {other:?}"),
    }
    assert!(whole.is_ok_and(|it| it.len() as u64 <= CAP) || pieces.is_err());

    let Some(cleared) = redact(&secret, std::iter::once(&body[..])) else { return };
    assert_eq!(Some(&cleared), redact(&secret, body.chunks(size)).as_ref());
    // What stands in its place is not to make a new one with its neighbours.
    if !b"[redacted]".iter().any(|it| secret.contains(it)) {
        assert!(!cleared.windows(secret.len()).any(|it| it == secret), "it came through");
    }
});

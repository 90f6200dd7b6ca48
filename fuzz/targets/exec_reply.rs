//! The reply of a run: never panics, and what it reads it can write again.
#![no_main]

use drydock_abi::exec::{decode_report, encode_report};

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    let Ok(report) = decode_report(bytes) else { return };
    let again = decode_report(&encode_report(&report)).expect("it was just written");
    assert_eq!(again.outcome.code(), report.outcome.code());
    assert_eq!(again.fuel, report.fuel);
});

//! A line of the journal, perhaps torn.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    let _ = drydock_store::foreign::audit_line(bytes);
});

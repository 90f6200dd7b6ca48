//! `registry.json`: a file somebody else may have written.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    let _ = drydock_store::foreign::registry_file(bytes);
});

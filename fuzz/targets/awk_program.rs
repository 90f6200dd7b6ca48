//! The guest awk's parser: whatever the program, the outcome is a program or a message.
#![no_main]

libfuzzer_sys::fuzz_target!(|program: &[u8]| {
    let _ = awk::parse(program);
});

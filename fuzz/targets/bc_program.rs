//! Programs of the guest bc: whatever is typed, the parser gives items or says what is wrong.
#![no_main]

use guest_bc::parser::Parser;

libfuzzer_sys::fuzz_target!(|source: &str| {
    let mut parser = Parser::new(source);
    while parser.item().is_some() {}
});

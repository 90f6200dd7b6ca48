//! The guest sed's parser: whatever the script, the outcome is a script or a message.
#![no_main]

use sed::{Dialect, Part, parse};

libfuzzer_sys::fuzz_target!(|script: &[u8]| {
    for extended in [false, true] {
        let dialect = Dialect { extended, ..Dialect::default() };
        let _ = parse(&[Part::expression(1, script.to_vec())], dialect);
    }
});

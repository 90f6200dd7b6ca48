//! The guest grep's translator: whatever it lets through, the regex parser takes as well.
#![no_main]

#[allow(dead_code)]
#[path = "../../guests/grep/src/syntax/mod.rs"]
mod syntax;

use syntax::{Flavor, translate};

libfuzzer_sys::fuzz_target!(|pattern: &str| {
    for flavor in [Flavor::Basic, Flavor::Extended] {
        if let Ok(regex) = translate(pattern, flavor) {
            let parsed = regex_syntax::ParserBuilder::new().nest_limit(1000).build().parse(&regex);
            if let Err(error) = parsed {
                let text = error.to_string();
                let too_big = text.contains("nest limit") || text.contains("exceeds") || text.contains("too big");
                assert!(too_big, "{pattern:?} became {regex:?}: {text}");
            }
        }
    }
});

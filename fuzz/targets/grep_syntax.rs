//! The guests' translator of POSIX patterns: whatever it lets through, the regex parser takes as well.
#![no_main]

use posix_regex::{Flavor, parse, translate};

libfuzzer_sys::fuzz_target!(|pattern: &[u8]| {
    for flavor in [Flavor::Basic, Flavor::Extended, Flavor::Egrep, Flavor::Awk] {
        let Ok(parsed) = parse(pattern, flavor) else { continue };
        let Some(regex) = translate(&parsed) else { continue };
        let read = regex_syntax::ParserBuilder::new().utf8(false).nest_limit(1000).build().parse(&regex);
        if let Err(error) = read {
            let text = error.to_string();
            let too_big = text.contains("nest limit") || text.contains("exceeds") || text.contains("too big");
            assert!(too_big, "{pattern:?} became {regex:?}: {text}");
        }
    }
});

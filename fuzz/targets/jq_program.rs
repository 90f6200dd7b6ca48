//! The guest jq: whatever the program and its input, the outcome is values or a message.
#![no_main]

use guest_jq::compile::compile;
use guest_jq::read::parse_one;
use guest_jq::run::{Exit, Run, World};
use guest_jq::value::Value;

/// A program may go on for ever; so many outputs are enough.
const OUTPUTS_MAX: usize = 50;
/// What would run or grow without an output is left out: there is nobody to stop it here.
const ENDLESS: [&str; 9] = ["repeat", "range", "until", "while", "recurse", "def", "*", "setpath", "="];

struct Nothing;

impl World for Nothing {
    fn input(&self) -> Option<Result<Value, String>> {
        None
    }

    fn file(&self) -> Option<String> {
        None
    }

    fn line(&self) -> usize {
        0
    }

    fn complain(&self, _: &[u8]) {}
}

libfuzzer_sys::fuzz_target!(|text: &str| {
    let (program, input) = text.split_once('\u{1}').unwrap_or((text, "null"));
    let Ok(compiled) = compile(program, Vec::new(), &[]) else { return };
    if program.contains("import")
        || program.contains("include")
        || ENDLESS.iter().any(|word| program.contains(word))
    {
        return;
    }
    let Ok(input) = parse_one(input.as_bytes().to_vec()) else { return };
    let mut count = 0;
    let _ = Run::new(&compiled, &Nothing).run(input, &mut |_| {
        count += 1;
        if count < OUTPUTS_MAX { Ok(()) } else { Err(Exit::Enough) }
    });
});

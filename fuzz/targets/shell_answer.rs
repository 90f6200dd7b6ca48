//! The answer of a shell's guest, which the host reads: never panics, is no larger there than its limits say, and what it
//! reads it can write again.
#![no_main]

use drydock_abi::shell::{ANSWER_LOST_MAX, ANSWER_NAMES_MAX, ANSWER_RECORDS_MAX, Answer};

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    let Ok((answer, at)) = Answer::decode(bytes) else { return };
    if let Answer::Line(line) = &answer {
        assert!(line.names.len() <= ANSWER_NAMES_MAX);
        assert!(line.report.stages.len() <= ANSWER_RECORDS_MAX);
        assert!(line.report.lost.len() <= ANSWER_LOST_MAX);
        assert_eq!(line.saved_bytes.unwrap_or(0), (bytes.len() - at) as u64);
    }
    let again = [&answer.encode()[..], &bytes[at..]].concat();
    assert_eq!(Answer::decode(&again).expect("it was just written").0, answer);
});

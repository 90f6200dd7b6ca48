//! Lines of the message protocol: never panics, reads what it writes, and splitting a stream elsewhere
//! changes nothing.
#![no_main]

use drydock_codemode::protocol::{Head, Line, Lines, host_line, host_message, runner_line, runner_message};

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    let _ = Head::of(bytes);
    if let Some(message) = host_message(bytes) {
        // Compared as lines: white space inside a payload may change once, and then never again.
        let line = host_line(&message);
        assert_eq!(host_message(&line).map(|it| host_line(&it)), Some(line));
    }
    if let Some(message) = runner_message(bytes) {
        let line = runner_line(&message);
        assert_eq!(runner_message(&line).map(|it| runner_line(&it)), Some(line));
    }
    let (at, rest) = bytes.split_first().map_or((0, bytes), |(first, rest)| (usize::from(*first), rest));
    let at = at.min(rest.len());
    assert_eq!(lines(&[rest]), lines(&[&rest[..at], &rest[at..]]));
});

/// What is read, with the heads of long lines left out: how much of one is there depends on the split.
fn lines(chunks: &[&[u8]]) -> Vec<Option<Vec<u8>>> {
    let mut lines = Lines::at_most(64);
    let mut seen = Vec::new();
    for chunk in chunks {
        lines.push(chunk);
        while let Some(line) = lines.next_line() {
            seen.push(line);
        }
    }
    seen.extend(lines.finish());
    let whole = |line| match line {
        Line::Whole(line) => Some(line.to_vec()),
        Line::TooLong(_) => None,
    };
    seen.into_iter().map(whole).collect()
}

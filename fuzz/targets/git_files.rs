//! Files of a repository that somebody else made: never a panic, and no name that leads out of the tree or into
//! `.git` is called safe.
#![no_main]

use guest_git::odb::{loose, pack};
use guest_git::person::Person;
use guest_git::repo::{config, reflog, refs};
use guest_git::work::checkout::is_safe;
use guest_git::{date, index};

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    let _ = loose::inflate(bytes);
    let _ = pack::check_index(bytes);
    let _ = refs::parse_packed(bytes);
    let _ = reflog::parse(bytes);
    let _ = Person::parse(bytes);
    if let Ok(found) = index::parse(bytes) {
        for entry in &found.entries {
            let outside = entry
                .path
                .split(|it| *it == b'/')
                .any(|part| part.is_empty() || part == b".." || part.eq_ignore_ascii_case(b".git"));
            assert!(!(outside && is_safe(&entry.path, entry.mode)), "{}", entry.path);
        }
    }
    if let Ok(text) = std::str::from_utf8(bytes) {
        let _ = config::parse(text);
        let _ = date::parse(text);
    }
});

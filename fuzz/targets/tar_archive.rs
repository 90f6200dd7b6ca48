//! Archives the guest tar is given: never a panic, and no name that leads out of the folder.
#![no_main]

use guest_archive::tar::{name, reader::Reader};

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    let mut reader = Reader::new(bytes);
    while let Ok(Some(header)) = reader.next() {
        if let Some(safe) = name::harmless(&String::from_utf8_lossy(&header.name)) {
            assert!(!safe.starts_with('/') && safe.split('/').all(|part| part != ".."), "{safe:?}");
        }
    }
});

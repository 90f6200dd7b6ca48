//! What is asked of full text search: whatever the text is, FTS5 understands what becomes of it, or it is refused before.
#![no_main]

libfuzzer_sys::fuzz_target!(|text: &str| {
    assert!(drydock_store::foreign::search_query(text));
});

//! What `curl` reads: frames of the host, cookies and names of servers, and its own command line. Never panics; frames mean
//! the same however they are cut; cookies survive their file; and no server chooses where a file lies.
#![no_main]

use guest_curl::foreign::{answer, cookies, line};

libfuzzer_sys::fuzz_target!(|input: (u8, Vec<u8>, String, Vec<String>)| {
    let (size, bytes, text, words) = input;
    let whole = answer(&bytes, usize::MAX);
    assert_eq!(whole, answer(&bytes, usize::from(size)));
    assert!(whole.0 <= bytes.len() as u64);
    assert!(cookies("http://www.a.test/x/y", &text), "a cookie was lost in its file: {text:?}");
    line(&words, &text);
});

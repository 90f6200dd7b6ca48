//! Programs whose types are stripped: any text loses its types or is refused with a place inside it, and what is
//! left has the lines it had and no types more to lose.
#![no_main]

libfuzzer_sys::fuzz_target!(|text: &str| {
    // The parser is recursive. As a guest it ends with its stack; here that would be the end of the fuzzer.
    if text.len() > 1_024 {
        return;
    }
    match ts::strip(text) {
        Ok(stripped) => {
            assert_eq!(stripped.matches('\n').count(), text.matches('\n').count(), "{text:?}");
            assert_eq!(ts::strip(&stripped).as_ref(), Ok(&stripped), "{text:?}");
        }
        Err(wrong) => {
            assert!((1..=text.matches('\n').count() + 1).contains(&wrong.line), "{text:?}: {wrong:?}");
            assert!(wrong.column >= 1 && !wrong.message.is_empty(), "{text:?}: {wrong:?}");
        }
    }
});

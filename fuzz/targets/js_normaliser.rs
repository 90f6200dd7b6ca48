//! The guest js's reader of programs: any text is either a function or an exception with words, and
//! neither leaves anything behind that the next one could meet.
#![no_main]

use js::{
    engine, program,
    value::{Kind, Value},
};

libfuzzer_sys::fuzz_target!(|text: &str| {
    assert!(engine::create());
    engine::open(Some(1), 440 << 10);
    let source = program::unfence(text);
    let function = program::compile(&source);
    match function.kind() {
        Kind::Exception => {
            let error = Value::take_exception();
            assert!(error.is_error());
            if let Some(place) = error.error_stack().to_string_lossy().as_deref().and_then(js::place::first) {
                let lines = text.split(['\n', '\r', '\u{2028}', '\u{2029}']).count();
                assert!(place.line as usize <= lines + 1, "line {} of {lines}", place.line);
                let _ = js::place::in_characters(place, text);
            }
        }
        kind => assert!(kind == Kind::Object && function.is_function()),
    }
    assert!(!engine::memory_ran_out());
});

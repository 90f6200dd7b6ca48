//! What a provider of searches sends: results, never more than are wanted, or an error.
#![no_main]

use drydock_caps::search::{RESULTS_MAX, foreign_answer};

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    assert!(foreign_answer(bytes) <= RESULTS_MAX as usize);
});

//! The guest patch's reader: no bytes make it panic, and a hunk turned twice is the hunk it was.
#![no_main]

#[allow(dead_code)]
#[path = "../../guests/diff/src/patch/script/mod.rs"]
mod script;

use script::{Op, parse};

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    let Ok(patches) = parse(bytes) else { return };
    for hunk in patches.iter().flat_map(|it| &it.hunks) {
        let twice = hunk.reversed().reversed();
        for without in [Op::Insert, Op::Delete] {
            assert!(hunk.side(without).eq(twice.side(without)), "{hunk:?}");
        }
    }
});

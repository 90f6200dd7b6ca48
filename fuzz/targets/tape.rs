//! A tape that nobody vouches for: compressed frames, frames, and the answers in them.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    let _ = drydock_store::foreign::tape(bytes);
    let _ = drydock_store::foreign::tape_frames(bytes);
    let _ = drydock_embed::tape::foreign_answer(bytes);
    let _ = drydock_embed::tape::is_net_piece(bytes);
});

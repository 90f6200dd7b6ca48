//! Requests of `/dev/drydock`: never panics, keeps no more than it was given, and reads the same however the
//! bytes are cut.
#![no_main]

use drydock_abi::tool::{FrameEvent, FrameReader};

fn events(bytes: &[u8], piece: usize) -> Vec<FrameEvent> {
    let mut reader = FrameReader::default();
    let mut all = Vec::new();
    for mut rest in bytes.chunks(piece.max(1)) {
        while !rest.is_empty() {
            let (count, event) = reader.take(rest);
            rest = &rest[count..];
            all.extend(event);
        }
        all.extend(reader.take(&[]).1);
    }
    all
}

libfuzzer_sys::fuzz_target!(|input: (u8, &[u8])| {
    let (piece, bytes) = input;
    let whole = events(bytes, usize::MAX);
    assert_eq!(events(bytes, piece.into()), whole);
    let kept: usize = whole
        .iter()
        .map(|it| match it {
            FrameEvent::Request { payload, .. } => payload.len() + 8,
            _ => 0,
        })
        .sum();
    assert!(kept <= bytes.len());
});

//! Characters cut anywhere, bytes that are no characters, and the ones that grow.

extern crate std;
use super::*;
use std::{vec, vec::Vec};

struct Collected(Vec<u8>);

impl Sink for Collected {
    fn write(&mut self, bytes: &[u8]) -> bool {
        self.0.extend_from_slice(bytes);
        true
    }
}

/// Feeds `input` in reads of `size` bytes, as the guest's loop does.
fn run(input: &[u8], size: usize) -> Vec<u8> {
    let (mut out, mut room, mut kept) = (Collected(vec![]), [0; GROWTH_BYTES_MAX], vec![]);
    for read in input.chunks(size) {
        let mut chunk: Vec<u8> = kept.iter().chain(read).copied().collect();
        let Step::Kept(count) = upper(&mut chunk, &mut room, &mut out) else {
            unreachable!("the sink takes all")
        };
        kept = chunk[chunk.len() - count..].to_vec();
    }
    out.0.extend(kept);
    out.0
}

#[test]
fn letters_grow_and_everything_else_stays_however_it_is_read() {
    let cases: [(&[u8], &[u8]); 8] = [
        (b"", b""),
        (b" Hello, World 1!\n\n", b" HELLO, WORLD 1!\n\n"),
        ("straße".as_bytes(), "STRASSE".as_bytes()),
        ("ŉﬁﬃ".as_bytes(), "ʼNFIFFI".as_bytes()),
        ("žluťoučký 🦀 кінь".as_bytes(), "ŽLUŤOUČKÝ 🦀 КІНЬ".as_bytes()),
        (b"a\xff\xfeb\xc3", b"A\xff\xfeB\xc3"),
        (b"\xf0\x9f\xa6", b"\xf0\x9f\xa6"),
        (b"x\xe2\x82y\x80z", b"X\xe2\x82Y\x80Z"),
    ];
    for (input, want) in cases {
        for size in 1..=input.len().max(1) {
            assert_eq!(run(input, size), want, "{input:?} in reads of {size}");
        }
    }
}

#[test]
fn a_closed_sink_stops_the_work() {
    struct Shut;
    impl Sink for Shut {
        fn write(&mut self, _bytes: &[u8]) -> bool {
            false
        }
    }
    for text in ["plain", "größer"] {
        let mut chunk = text.as_bytes().to_vec();
        assert_eq!(upper(&mut chunk, &mut [0; 64], &mut Shut), Step::Closed, "{text}");
    }
}

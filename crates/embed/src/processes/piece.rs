//! A piece of an output as JSON has it: text where it is text, base64 where it is none, between two cursors.

use base64::{Engine as _, engine::general_purpose::STANDARD};
use drydock_store::SpoolChunk;
use serde::Serialize;

/// Some of an output.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct ProcessPiece {
    /// The cursor before it.
    pub from: u64,
    /// The cursor behind it: where to read on.
    pub next: u64,
    /// Whether nothing will ever follow.
    pub end: bool,
    /// It, if it is UTF-8.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub text: Option<String>,
    /// It, if it is not.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub base64: Option<String>,
}

impl ProcessPiece {
    /// What was read from that cursor on, without a character that is cut at its end: that is told with its rest, or alone
    /// when nothing else is left.
    pub fn of(chunk: SpoolChunk, from: u64) -> Self {
        let SpoolChunk { mut bytes, mut next, is_end: mut end } = chunk;
        if let Err(error) = std::str::from_utf8(&bytes)
            && error.error_len().is_none()
            && error.valid_up_to() > 0
        {
            bytes.truncate(error.valid_up_to());
            (next, end) = (from + bytes.len() as u64, false);
        }
        match String::from_utf8(bytes) {
            Ok(text) => Self { from, next, end, text: Some(text), base64: None },
            Err(binary) => {
                let base64 = Some(STANDARD.encode(binary.as_bytes()));
                Self { from, next, end, text: None, base64 }
            }
        }
    }

    /// Whether there is anything in it.
    pub fn is_empty(&self) -> bool {
        self.from == self.next
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_character_that_is_cut_waits_for_its_rest_and_no_byte_is_told_twice_or_lost() {
        let text = "a\u{e9}\u{20ac}b\u{1f600}\u{e9}".as_bytes();
        // The last character never comes whole.
        let text = &text[..text.len() - 1];
        for cut in 1..=text.len() {
            let mut told = Vec::new();
            let mut from = 0_usize;
            let mut end = false;
            while !end {
                let to = (from + cut).min(text.len());
                let chunk =
                    SpoolChunk { bytes: text[from..to].to_vec(), next: to as u64, is_end: to == text.len() };
                let piece = ProcessPiece::of(chunk, from as u64);
                match (piece.text, piece.base64) {
                    (Some(text), None) => told.extend_from_slice(text.as_bytes()),
                    (None, Some(base64)) => told.extend(STANDARD.decode(base64).unwrap()),
                    other => panic!("{other:?}"),
                }
                assert!(piece.next > from as u64, "it gets on");
                (from, end) = (usize::try_from(piece.next).unwrap(), piece.end);
            }
            assert_eq!(told, text, "{cut}");
        }
    }
}

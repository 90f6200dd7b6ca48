//! An answer as it comes: frames of a letter, a length (little endian) and so many bytes.
//!
//! First a head (`H`, JSON), then pieces of the body (`B`), then the end (`E`, empty). A failure (`F`, JSON) stands in the
//! place of the head or of the end, and is the last one.

use serde::Serialize;

/// Status and headers.
pub const HEAD: u8 = b'H';
/// A piece of the body.
pub const BODY: u8 = b'B';
/// All of the body was there.
pub const END: u8 = b'E';
/// Why there is no head, or no more.
pub const FAILURE: u8 = b'F';
/// A letter and a length.
pub const FRAME_HEAD_BYTES: usize = 5;

/// What stands before so many bytes.
pub fn frame_head(kind: u8, bytes: u32) -> [u8; FRAME_HEAD_BYTES] {
    let [a, b, c, d] = bytes.to_le_bytes();
    [kind, a, b, c, d]
}

/// A whole frame. What is longer than a length can say does not come from here.
pub fn frame_of(kind: u8, bytes: &[u8]) -> Vec<u8> {
    let length = u32::try_from(bytes.len()).unwrap_or(u32::MAX);
    let mut frame = frame_head(kind, length).to_vec();
    frame.extend_from_slice(&bytes[..bytes.len().min(length as usize)]);
    frame
}

/// The head's JSON: headers as pairs, in their order.
pub fn head_json(status: u16, headers: &[(String, String)]) -> Vec<u8> {
    #[derive(Serialize)]
    struct Head<'a> {
        status: u16,
        headers: &'a [(String, String)],
    }
    // Numbers and strings: there is nothing in it that JSON cannot say.
    serde_json::to_vec(&Head { status, headers }).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_frame_is_a_letter_a_length_and_bytes() {
        assert_eq!(frame_of(BODY, b"abc"), b"B\x03\0\0\0abc");
        assert_eq!(frame_of(END, b""), b"E\0\0\0\0");
        let head = head_json(200, &[("a".into(), "b".into())]);
        assert_eq!(head, br#"{"status":200,"headers":[["a","b"]]}"#);
    }
}

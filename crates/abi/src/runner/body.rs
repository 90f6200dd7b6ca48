//! Base64 that is measured and checked without being kept: a body travels as its text.

use base64::{DecodeError, DecodeSliceError, Engine as _, engine::general_purpose::STANDARD};

/// Characters that are looked at together: whole groups of four.
const CHUNK: usize = 4096;

/// How many bytes the text stands for, if it is base64.
pub(super) fn decoded_bytes(text: &str) -> Result<u64, DecodeError> {
    let bytes = text.as_bytes();
    // Padding ends a text; between two chunks it would pass unseen.
    let body = bytes.len().saturating_sub(2);
    if let Some(at) = memchr::memchr(b'=', &bytes[..body]) {
        return Err(DecodeError::InvalidByte(at, b'='));
    }
    let mut room = [0; CHUNK / 4 * 3];
    let mut decoded = 0;
    for chunk in bytes.chunks(CHUNK) {
        decoded += match STANDARD.decode_slice(chunk, &mut room) {
            Ok(count) => count as u64,
            Err(DecodeSliceError::DecodeError(error)) => return Err(error),
            // The room is as large as a whole chunk stands for.
            Err(DecodeSliceError::OutputSliceTooSmall) => {
                return Err(DecodeError::InvalidLength(chunk.len()));
            }
        };
    }
    Ok(decoded)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn a_text_is_base64_if_and_only_if_it_decodes_as_a_whole(text in "[A-Za-z0-9+/=%]{0,12}", long in 0usize..9000) {
            for text in [text.clone(), format!("{}{text}", "A".repeat(long / 4 * 4))] {
                let whole = STANDARD.decode(&text).map(|it| it.len() as u64);
                prop_assert_eq!(decoded_bytes(&text).ok(), whole.ok(), "{}", text);
            }
        }
    }
}

//! Bytes as letters, and back: base64, base32, percent signs.

const LETTERS64: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
const LETTERS32: &[u8; 32] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZ234567";

pub(super) fn to_base64(out: &mut String, bytes: &[u8]) {
    for chunk in bytes.chunks(3) {
        let code =
            chunk.iter().fold(0u32, |code, byte| code << 8 | u32::from(*byte)) << (8 * (3 - chunk.len()));
        for at in 0..4 {
            let letter = LETTERS64[(code >> (18 - 6 * at) & 63) as usize];
            out.push(if at <= chunk.len() { char::from(letter) } else { '=' });
        }
    }
}

/// Decodes up to the first `=`, with padding or without.
pub(super) fn from_base64(text: &str) -> Result<Vec<u8>, &'static str> {
    let mut out = Vec::with_capacity(text.len() * 3 / 4);
    let (mut code, mut count) = (0u32, 0);
    for byte in text.bytes().take_while(|byte| *byte != b'=') {
        let Some(place) = LETTERS64.iter().position(|letter| *letter == byte) else {
            return Err("is not valid base64 data");
        };
        code = code << 6 | place as u32;
        count += 1;
        if count == 4 {
            out.extend_from_slice(&code.to_be_bytes()[1..]);
            (code, count) = (0, 0);
        }
    }
    match count {
        1 => return Err("trailing base64 byte found"),
        2 => out.push((code >> 4) as u8),
        3 => out.extend_from_slice(&[(code >> 10) as u8, (code >> 2) as u8]),
        _ => {}
    }
    Ok(out)
}

pub(super) fn to_base32(out: &mut String, bytes: &[u8]) {
    for chunk in bytes.chunks(5) {
        let code =
            chunk.iter().fold(0u64, |code, byte| code << 8 | u64::from(*byte)) << (8 * (5 - chunk.len()));
        let letters = (chunk.len() * 8).div_ceil(5);
        for at in 0..8 {
            let letter = LETTERS32[(code >> (35 - 5 * at) & 31) as usize];
            out.push(if at < letters { char::from(letter) } else { '=' });
        }
    }
}

pub(super) fn from_base32(text: &str) -> Option<Vec<u8>> {
    let (mut out, mut code, mut bits) = (Vec::new(), 0u64, 0);
    for byte in text.trim_end_matches('=').bytes() {
        let place = LETTERS32.iter().position(|letter| *letter == byte.to_ascii_uppercase())?;
        code = (code << 5 | place as u64) & 0xffff;
        bits += 5;
        if bits >= 8 {
            bits -= 8;
            out.push((code >> bits) as u8);
        }
    }
    Some(out)
}

pub(super) fn to_uri(out: &mut String, text: &str) {
    for byte in text.bytes() {
        if byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_' | b'.' | b'~') {
            out.push(char::from(byte));
        } else {
            out.push('%');
            for digit in [byte >> 4, byte & 15] {
                out.push(char::from(b"0123456789ABCDEF"[usize::from(digit)]));
            }
        }
    }
}

pub(super) fn from_uri(text: &str) -> Option<Vec<u8>> {
    let (mut out, mut bytes) = (Vec::with_capacity(text.len()), text.bytes());
    let digit = |bytes: &mut std::str::Bytes<'_>| char::from(bytes.next()?).to_digit(16);
    while let Some(byte) = bytes.next() {
        out.push(if byte == b'%' { (digit(&mut bytes)? << 4 | digit(&mut bytes)?) as u8 } else { byte });
    }
    Some(out)
}

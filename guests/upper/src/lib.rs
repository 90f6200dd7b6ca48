//! Upper-cases a stream of bytes that is mostly, but not surely, UTF-8.
//!
//! Pure: bytes in, bytes out through [`Sink`], no memory of its own beyond the caller's buffers, so
//! that the guest touches few pages. What is not UTF-8 passes unchanged, and nothing is trimmed.
#![no_std]

/// Takes the finished bytes; `false` means it can take no more.
pub trait Sink {
    /// Writes all of `bytes`.
    fn write(&mut self, bytes: &[u8]) -> bool;
}

/// How [`upper`] ended.
#[derive(Debug, PartialEq, Eq)]
pub enum Step {
    /// All was written except this many bytes at the end: the start of a character whose rest
    /// has not been read yet.
    Kept(usize),
    /// The sink refused.
    Closed,
}

/// Upper-cases `chunk`, in place as far as it is ASCII, the rest by way of `room`.
///
/// A character may grow to three times its bytes (`ΐ`), so `room` is emptied whenever the next
/// one might not fit; it must hold at least [`GROWTH_BYTES_MAX`].
pub fn upper(chunk: &mut [u8], room: &mut [u8], sink: &mut impl Sink) -> Step {
    let plain = upper_ascii(chunk);
    if plain == chunk.len() {
        return if sink.write(chunk) { Step::Kept(0) } else { Step::Closed };
    }
    let mut out = Room { room, used: 0, sink };
    let mut rest: &[u8] = chunk;
    loop {
        let (valid, wrong) = match core::str::from_utf8(rest) {
            Ok(text) => (text, None),
            Err(error) => {
                // `valid_up_to` says that this part is UTF-8.
                let (head, _) = rest.split_at(error.valid_up_to());
                let text = core::str::from_utf8(head).unwrap_or("");
                (text, Some(error.error_len()))
            }
        };
        if !valid.chars().all(|sign| out.upper(sign)) {
            return Step::Closed;
        }
        rest = rest.get(valid.len()..).unwrap_or(&[]);
        let passed = match wrong {
            None => rest.len(),
            Some(Some(bytes)) => bytes,
            Some(None) => return if out.flush() { Step::Kept(rest.len()) } else { Step::Closed },
        };
        if !rest.iter().take(passed).all(|byte| out.byte(*byte)) {
            return Step::Closed;
        }
        rest = rest.get(passed..).unwrap_or(&[]);
        if rest.is_empty() {
            return if out.flush() { Step::Kept(0) } else { Step::Closed };
        }
    }
}

/// The most bytes one character can become: three of two bytes each, or one of four.
pub const GROWTH_BYTES_MAX: usize = 12;

/// Upper-cases the ASCII letters of `bytes`; how many bytes stand before the first other one.
fn upper_ascii(bytes: &mut [u8]) -> usize {
    let high = bytes.iter().fold(0, |seen, byte| seen | byte) & 0x80;
    let plain = if high == 0 { bytes.len() } else { bytes.iter().take_while(|byte| byte.is_ascii()).count() };
    for byte in bytes.iter_mut().take(plain) {
        *byte ^= u8::from(byte.is_ascii_lowercase()) << 5;
    }
    plain
}

struct Room<'a, S> {
    room: &'a mut [u8],
    used: usize,
    sink: &'a mut S,
}

impl<S: Sink> Room<'_, S> {
    fn upper(&mut self, sign: char) -> bool {
        if sign.is_ascii() {
            return self.byte(sign.to_ascii_uppercase() as u8);
        }
        let mut utf8 = [0; 4];
        sign.to_uppercase().all(|it| it.encode_utf8(&mut utf8).bytes().all(|byte| self.byte(byte)))
    }

    fn byte(&mut self, byte: u8) -> bool {
        if self.used == self.room.len() && !self.flush() {
            return false;
        }
        if let Some(place) = self.room.get_mut(self.used) {
            *place = byte;
            self.used += 1;
        }
        true
    }

    fn flush(&mut self) -> bool {
        let used = core::mem::take(&mut self.used);
        used == 0 || self.sink.write(self.room.get(..used).unwrap_or(&[]))
    }
}

#[cfg(test)]
mod tests;

//! What a refused call leaves: the host's code.

use std::fmt;

use crate::raw;

/// The longest code.
const CODE_BYTES_MAX: usize = 128;

/// The host takes more room than this for none: its numbers are signed.
const ROOM_BYTES_MAX: usize = i32::MAX as usize;

/// A call was refused, or could not be done.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Error {
    code: String,
}

impl Error {
    /// The host's stable code, such as `not_found`, `reply_too_large`, `denied` or `quota_exceeded`.
    pub fn code(&self) -> &str {
        &self.code
    }

    /// That of the last call.
    pub(crate) fn last() -> Self {
        let mut code = vec![0; CODE_BYTES_MAX];
        // SAFETY: the host writes no more than there is room for.
        let count = unsafe { raw::host_error(code.as_mut_ptr(), CODE_BYTES_MAX as u32) };
        code.truncate(usize::try_from(count).unwrap_or(0));
        let code = String::from_utf8(code).unwrap_or_default();
        Self { code: if code.is_empty() { "refused".into() } else { code } }
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "the host refused: {}", self.code)
    }
}

impl std::error::Error for Error {}

/// An answer of 0, or why not.
pub(crate) fn done(answer: i32) -> Result<(), Error> {
    if answer < 0 { Err(Error::last()) } else { Ok(()) }
}

/// What the host writes to a buffer. One that is too small is made larger and the call made again, so only a call that may
/// be made twice has a `largest` above its `first`.
pub(crate) fn filled(
    first: usize,
    largest: usize,
    mut call: impl FnMut(*mut u8, u32) -> i32,
) -> Result<Vec<u8>, Error> {
    let mut room = first;
    loop {
        let mut bytes = vec![0; room];
        let count = call(bytes.as_mut_ptr(), room.min(ROOM_BYTES_MAX) as u32);
        if let Ok(count) = usize::try_from(count) {
            bytes.truncate(count);
            return Ok(bytes);
        }
        let error = Error::last();
        if error.code() != "reply_too_large" || room >= largest {
            return Err(error);
        }
        room = (room * 4).min(largest);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn without_a_host_everything_is_refused() {
        assert_eq!(done(-1).map_err(|it| it.code().to_owned()), Err("refused".into()));
        assert_eq!(done(0), Ok(()));
        let filled = filled(4, 64, |out, cap| {
            assert_eq!(cap, 4);
            // SAFETY: there is room for four.
            unsafe { out.write_bytes(b'x', 3) };
            3
        });
        assert_eq!(filled, Ok(b"xxx".to_vec()));
    }
}

//! What an opened handle is told as: its number, what may be done with it, and opaque words beside.
//!
//! The same layout answers CAPS_OPEN, `files.open.v1` and `net.tcp.connect.v1`; each has its own rule about
//! the flags.

use super::hopper::{Hopper, Malformed, TooLong, put_h4, put_hbytes};

/// The guest may read.
pub const HFLAG_READABLE: u32 = 1;
/// The guest may write.
pub const HFLAG_WRITABLE: u32 = 1 << 1;
/// The guest may end it.
pub const HFLAG_ENDABLE: u32 = 1 << 2;
/// Reserved for streams that can seek.
pub const HFLAG_SEEKABLE: u32 = 1 << 3;
/// Backed by `_ctl`; for debugging.
pub const HFLAG_CTL_BACKED: u32 = 1 << 4;

const HFLAGS_KNOWN: u32 = (1 << 5) - 1;

/// The first number that is not a standard stream.
const DYNAMIC_MIN: u32 = 3;

/// A handle that was opened.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Opened<'a> {
    /// Its number, from 3 upwards.
    pub handle: u32,
    /// What may be done with it.
    pub hflags: u32,
    /// Informational.
    pub meta: &'a [u8],
}

impl<'a> Opened<'a> {
    /// Reads the answer and checks that `needed` flags are set.
    pub fn decode(bytes: &'a [u8], needed: u32) -> Result<Self, Malformed> {
        let mut hopper = Hopper::new(bytes);
        let handle = dynamic("handle", hopper.h4("handle")?)?;
        let hflags = hopper.h4("handle flags")?;
        if hflags & needed != needed || hflags & !HFLAGS_KNOWN != 0 {
            return Err(Malformed::Value { what: "handle flags", value: hflags.into() });
        }
        let meta = hopper.hbytes("meta")?;
        hopper.end()?;
        Ok(Self { handle, hflags, meta })
    }

    /// Writes the answer.
    pub fn put(&self, out: &mut Vec<u8>) -> Result<(), TooLong> {
        put_h4(out, self.handle);
        put_h4(out, self.hflags);
        put_hbytes(out, self.meta)
    }
}

/// A number that a dynamic handle may have: not a standard stream, and not negative as an i32.
pub(super) fn dynamic(what: &'static str, handle: u32) -> Result<u32, Malformed> {
    if handle < DYNAMIC_MIN || i32::try_from(handle).is_err() {
        return Err(Malformed::Value { what, value: handle.into() });
    }
    Ok(handle)
}

//! The header of a frame. Any 48 bytes are one; [`Header::check`] says whether a frame can begin so.

use super::PAYLOAD_BYTES_MAX;
use crate::lembeh::hopper::TooLong;

/// `ZAX1`.
pub const MAGIC: [u8; 4] = *b"ZAX1";
/// The only version there is.
pub const VERSION: u16 = 1;
/// From guest to host.
pub const KIND_COMMAND: u16 = 1;
/// From host to guest.
pub const KIND_EVENT: u16 = 2;
/// How long a header is.
pub const HEADER_BYTES: usize = 48;

/// The fields of a header, in their order on the wire.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Header {
    /// `ZAX1`.
    pub magic: [u8; 4],
    /// 1.
    pub version: u16,
    /// Command or event.
    pub kind: u16,
    /// Which one.
    pub op: u16,
    /// In commands the timeout in milliseconds, where 0 is none; in events 0.
    pub flags: u16,
    /// What the answer to a command is known by; 0 wants none.
    pub req_id: u64,
    /// The group that a join waits for.
    pub scope_id: u64,
    /// The task that a detach is about.
    pub task_id: u64,
    /// The future that the frame is about.
    pub future_id: u64,
    /// The bytes that follow.
    pub payload_len: u32,
}

/// What is wrong with a header, in the order in which it is looked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum HeadFault {
    /// Magic, version or kind: nobody can say where the next frame begins.
    #[error("this is not the header of a frame")]
    NoFrame,
    /// A payload above the maximum. The frame's end is known.
    #[error("a payload of {0} bytes is too long")]
    TooLarge(u32),
}

impl HeadFault {
    /// The stable code that logs and tests match on.
    pub const fn code(&self) -> &'static str {
        match self {
            Self::NoFrame => "zax_no_frame",
            Self::TooLarge(_) => "zax_too_large",
        }
    }
}

impl Header {
    /// A header without ids and payload.
    pub const fn new(kind: u16, op: u16) -> Self {
        Self {
            magic: MAGIC,
            version: VERSION,
            kind,
            op,
            flags: 0,
            req_id: 0,
            scope_id: 0,
            task_id: 0,
            future_id: 0,
            payload_len: 0,
        }
    }

    /// Reads the fields, whatever they say; nothing if there are fewer than 48 bytes.
    pub fn decode(bytes: &[u8]) -> Option<Self> {
        let bytes = bytes.first_chunk::<HEADER_BYTES>()?;
        let two = |at: usize| u16::from_le_bytes([bytes[at], bytes[at + 1]]);
        let four = |at: usize| [bytes[at], bytes[at + 1], bytes[at + 2], bytes[at + 3]];
        let eight = |at: usize| {
            u64::from(u32::from_le_bytes(four(at))) | u64::from(u32::from_le_bytes(four(at + 4))) << 32
        };
        Some(Self {
            magic: four(0),
            version: two(4),
            kind: two(6),
            op: two(8),
            flags: two(10),
            req_id: eight(12),
            scope_id: eight(20),
            task_id: eight(28),
            future_id: eight(36),
            payload_len: u32::from_le_bytes(four(44)),
        })
    }

    /// Whether a frame with a payload of at most `payload_bytes_max` can begin so.
    pub fn check(&self, payload_bytes_max: u32) -> Result<(), HeadFault> {
        let known = matches!(self.kind, KIND_COMMAND | KIND_EVENT);
        if self.magic != MAGIC || self.version != VERSION || !known {
            return Err(HeadFault::NoFrame);
        }
        if self.payload_len > payload_bytes_max {
            return Err(HeadFault::TooLarge(self.payload_len));
        }
        Ok(())
    }

    /// The whole frame's length.
    pub const fn frame_bytes(&self) -> u64 {
        HEADER_BYTES as u64 + self.payload_len as u64
    }

    /// Writes the fields.
    pub fn put(&self, out: &mut Vec<u8>) {
        out.extend_from_slice(&self.magic);
        for two in [self.version, self.kind, self.op, self.flags] {
            out.extend_from_slice(&two.to_le_bytes());
        }
        for eight in [self.req_id, self.scope_id, self.task_id, self.future_id] {
            out.extend_from_slice(&eight.to_le_bytes());
        }
        out.extend_from_slice(&self.payload_len.to_le_bytes());
    }
}

/// Writes a frame; the header's length is that of the payload. Fails if that is above the maximum.
pub fn put_frame(out: &mut Vec<u8>, header: Header, payload: &[u8]) -> Result<(), TooLong> {
    let length = u32::try_from(payload.len()).ok().filter(|it| *it <= PAYLOAD_BYTES_MAX);
    let payload_len = length.ok_or(TooLong(payload.len()))?;
    Header { payload_len, ..header }.put(out);
    out.extend_from_slice(payload);
    Ok(())
}

//! ZAX1, the frames of the async hub: 48 bytes of header and a payload, in a stream that may be cut anywhere.
//!
//! Commands go from the guest to the host ([`Command`]), events from the host to the guest ([`Event`]).

mod command;
mod event;
mod header;

pub use command::{BadCommand, Command, CommandIds, decode_command, encode_command};
pub use event::{BadEvent, Event, decode_event, next_event};
pub use header::{HEADER_BYTES, HeadFault, Header, KIND_COMMAND, KIND_EVENT, MAGIC, VERSION, put_frame};

/// The longest payload of a frame.
pub const PAYLOAD_BYTES_MAX: u32 = 1 << 20;

/// The operations of commands and events.
pub mod op {
    /// Command: a future begins.
    pub const REGISTER_FUTURE: u16 = 1;
    /// Command: a future is no longer wanted.
    pub const CANCEL_FUTURE: u16 = 2;
    /// Command: a task belongs to somebody else now.
    pub const DETACH_TASK: u16 = 3;
    /// Command: tell when a scope has nothing pending.
    pub const JOIN_BOUNDED: u16 = 4;
    /// Event: a command was accepted.
    pub const ACK: u16 = 101;
    /// Event: a command was refused.
    pub const FAIL: u16 = 102;
    /// Event, terminal: a future has a value.
    pub const FUTURE_OK: u16 = 110;
    /// Event, terminal: a future failed.
    pub const FUTURE_FAIL: u16 = 111;
    /// Event, terminal: a future was cancelled, or its time was over.
    pub const FUTURE_CANCELLED: u16 = 112;
    /// Event: a join found nothing pending.
    pub const JOIN_RESULT: u16 = 120;
    /// Event: a join ran out of fuel or time.
    pub const JOIN_LIMIT: u16 = 121;
    /// Events that guests ignore unless they know them.
    pub const EXTENSIONS: std::ops::RangeInclusive<u16> = 200..=299;
}

//! The exec wire: a command line that was never a line.
//!
//! Request: `[name_len:u32][name][argc:u32][(arg_len:u32)(arg)]*[stdin_len:u32][stdin]`, little-endian.
//! There is no delimiter, so no byte of an argument can mean anything but itself. Bytes after stdin
//! are tolerated, so that the format can grow.

/// The operation that starts a command.
pub const START: &str = "exec.start";

/// The longest request: stdin and argv at their limits, and room for the lengths between them.
pub const REQUEST_BYTES_MAX: u64 = (64 << 20) + (1 << 20);

/// The most bytes of arguments that are even taken out of a request, each counting one more. A
/// session may allow fewer, never more.
pub const ARGV_BYTES_MAX: u64 = 256 << 10;

mod reply;
mod request;

pub use reply::{BadReply, decode_report, encode_report};
pub use request::{Args, BadRequest, ExecRequest, TooLong, decode_request, encode_request};

//! The exec wire: a command line that was never a line.
//!
//! Request: `[name_len:u32][name][argc:u32][(arg_len:u32)(arg)]*[stdin_len:u32][stdin]`, little-endian.
//! There is no delimiter, so no byte of an argument can mean anything but itself. Bytes after stdin
//! are tolerated, so that the format can grow.
//!
//! A command with an environment of its own: `[version:u32=1][envc:u32][(len:u32)(NAME=value)]*` and
//! then the request; after it maybe `[wall_ms_max:u32]`.

/// The operation that starts a command.
pub const START: &str = "exec.start";

/// The same with an environment of the command's own.
pub const COMMAND: &str = "exec.command";

/// The longest request: stdin and argv at their limits, and room for the lengths between them.
pub const REQUEST_BYTES_MAX: u64 = (64 << 20) + (1 << 20);

/// The most bytes of arguments that are even taken out of a request, each counting one more. A
/// session may allow fewer, never more.
pub const ARGV_BYTES_MAX: u64 = 256 << 10;

mod command;
mod reply;
mod request;

pub use command::{BadCommand, COMMAND_VERSION, ExecCommand, decode_command, encode_command};
pub use reply::{BadReply, decode_report, encode_report, take_report};
pub use request::{Args, BadRequest, ExecRequest, TooLong, decode_request, encode_request};

//! The exec wire: a command line that was never a line.
//!
//! Request: `[name_len:u32][name][argc:u32][(arg_len:u32)(arg)]*[stdin_len:u32][stdin]`, little-endian.
//! There is no delimiter, so no byte of an argument can mean anything but itself. Bytes after stdin
//! are tolerated, so that the format can grow.

mod reply;
mod request;

pub use reply::{BadReply, decode_report, encode_report};
pub use request::{BadRequest, ExecRequest, TooLong, decode_request, encode_request};

//! `clear`: an empty screen.

use super::arguments;
use crate::stream::Out;

/// The applet.
pub fn main(args: &[&[u8]]) -> i32 {
    if let Err(status) =
        arguments::read("clear", "Usage: clear [OPTION]...\nClears the screen.\n", args, &["x", "T=", "V"], 1)
    {
        return status;
    }
    let mut out = Out::new("clear");
    out.put(b"\x1b[H\x1b[2J\x1b[3J");
    out.end(0)
}

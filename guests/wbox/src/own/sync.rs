//! `sync`: files here are written when they are written.

use super::arguments;
use crate::stream::Out;

/// The applet.
pub fn main(args: &[&[u8]]) -> i32 {
    if let Err(status) = arguments::read(
        "sync",
        "Usage: sync [OPTION]...\nMakes sure that files are written.\n",
        args,
        &["d,data", "f,file-system"],
        1,
    ) {
        return status;
    }
    let mut out = Out::new("sync");
    out.put(b"");
    out.end(0)
}

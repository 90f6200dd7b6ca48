//! `nproc`: the one processor there is.

use super::arguments;
use crate::stream::Out;

/// The applet.
pub fn main(args: &[&[u8]]) -> i32 {
    if let Err(status) = arguments::read(
        "nproc",
        "Usage: nproc [OPTION]...\nPrints how many processors there are.\n",
        args,
        &["all", "ignore="],
        1,
    ) {
        return status;
    }
    let mut out = Out::new("nproc");
    out.put(b"1\n");
    out.end(0)
}

//! `dirname`: what leads to names.

use super::trim_slashes;
use crate::own::arguments::{self, refuse};
use crate::stream::Out;

const HELP: &str = "Usage: dirname [-z] NAME...\nWrites what leads to names.\n\n  -z, --zero  end with NUL\n";

/// The applet.
pub fn main(args: &[&[u8]]) -> i32 {
    let line = match arguments::read("dirname", HELP, args, &["z,zero"], 1) {
        Ok(line) => line,
        Err(status) => return status,
    };
    if line.operands.is_empty() {
        return refuse("dirname", "missing operand", 1);
    }
    let mut out = Out::new("dirname");
    for name in &line.operands {
        let trimmed = trim_slashes(name);
        let folder = match trimmed.iter().rposition(|byte| *byte == b'/') {
            Some(at) => trim_slashes(&trimmed[..at]),
            None if trimmed.is_empty() && !name.is_empty() => b"",
            None => b".",
        };
        out.put(if folder.is_empty() { b"/" } else { folder });
        out.sign(if line.has("z") { 0 } else { b'\n' });
    }
    out.end(0)
}

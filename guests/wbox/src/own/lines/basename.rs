//! `basename`: names without what leads there.

use super::trim_slashes;
use crate::own::arguments::{self, refuse};
use crate::stream::{Out, text};

const HELP: &str = "\
Usage: basename NAME [SUFFIX]
   or: basename OPTION... NAME...
Writes names without what leads there.

  -a, --multiple       every operand is a name
  -s, --suffix=SUFFIX  without it, too; implies -a
  -z, --zero           end with NUL
";

/// The applet.
pub fn main(args: &[&[u8]]) -> i32 {
    let line = match arguments::read("basename", HELP, args, &["a,multiple", "s,suffix=", "z,zero"], 1) {
        Ok(line) => line,
        Err(status) => return status,
    };
    let many = line.has("a") || line.has("s");
    let (names, suffix) = match line.operands.as_slice() {
        [] => return refuse("basename", "missing operand", 1),
        all if many => (all, line.value("s").unwrap_or_default()),
        [_] => (&line.operands[..1], &b""[..]),
        [_, suffix] => (&line.operands[..1], *suffix),
        [_, _, extra, ..] => return refuse("basename", &format!("extra operand '{}'", text(extra)), 1),
    };
    let mut out = Out::new("basename");
    for name in names {
        let trimmed = trim_slashes(name);
        let base = match trimmed {
            [] if !name.is_empty() => b"/",
            _ => trimmed.rsplit(|byte| *byte == b'/').next().unwrap_or_default(),
        };
        // A suffix that is all of the name stays.
        out.put(base.strip_suffix(suffix).filter(|it| !it.is_empty()).unwrap_or(base));
        out.sign(if line.has("z") { 0 } else { b'\n' });
    }
    out.end(0)
}

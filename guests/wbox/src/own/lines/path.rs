//! `basename` and `dirname`: the parts of names.

use crate::own::arguments::{self, refuse};
use crate::stream::{Out, text};

/// The applet `basename`.
pub mod basename {
    use super::*;

    const HELP: &str = "\
Usage: basename NAME [SUFFIX]
   or: basename OPTION... NAME...
Writes names without what leads there.

  -a, --multiple       every operand is a name
  -s, --suffix=SUFFIX  without it, too; implies -a
  -z, --zero           end with NUL
";

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
}

/// The applet `dirname`.
pub mod dirname {
    use super::*;

    const HELP: &str =
        "Usage: dirname [-z] NAME...\nWrites what leads to names.\n\n  -z, --zero  end with NUL\n";

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
}

fn trim_slashes(name: &[u8]) -> &[u8] {
    let end = name.iter().rposition(|byte| *byte != b'/').map_or(0, |at| at + 1);
    &name[..end]
}

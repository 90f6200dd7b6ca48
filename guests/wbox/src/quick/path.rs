//! `basename NAME [SUFFIX]` and `dirname NAME...`

use super::options::Options;
use super::stream::Out;

pub fn basename(args: &[&[u8]]) -> Option<i32> {
    let mut options = Options::new(args);
    if options.next()?.is_some() {
        return None;
    }
    let (name, suffix) = match *options.operands.as_slice() {
        [name] => (name, &b""[..]),
        [name, suffix] => (name, suffix),
        _ => return None,
    };
    let trimmed = trim_slashes(name);
    let base = match trimmed {
        [] if !name.is_empty() => b"/",
        _ => trimmed.rsplit(|byte| *byte == b'/').next().unwrap_or_default(),
    };
    // A suffix that is all of the name stays.
    let short = base.strip_suffix(suffix).filter(|it| !it.is_empty()).unwrap_or(base);
    let mut out = Out::new("basename");
    out.put(short);
    out.sign(b'\n');
    Some(out.end(0))
}

pub fn dirname(args: &[&[u8]]) -> Option<i32> {
    let mut options = Options::new(args);
    if options.next()?.is_some() || options.operands.is_empty() {
        return None;
    }
    let mut out = Out::new("dirname");
    for name in &options.operands {
        let trimmed = trim_slashes(name);
        let folder = match trimmed.iter().rposition(|byte| *byte == b'/') {
            Some(at) => trim_slashes(&trimmed[..at]),
            None if trimmed.is_empty() && !name.is_empty() => b"",
            None => b".",
        };
        out.put(if folder.is_empty() { b"/" } else { folder });
        out.sign(b'\n');
    }
    Some(out.end(0))
}

fn trim_slashes(name: &[u8]) -> &[u8] {
    let end = name.iter().rposition(|byte| *byte != b'/').map_or(0, |at| at + 1);
    &name[..end]
}

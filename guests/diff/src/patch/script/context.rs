//! Hunks of a context diff: both sides in full, to be joined.

use super::{FilePatch, Hunk, Lines, Malformed, Op, head, trimmed, unfinished};

pub(super) fn read(lines: &mut Lines<'_>, patch: &mut FilePatch) -> Result<(), Malformed> {
    if lines.peek().is_some_and(|it| !it.starts_with(b"***************")) {
        for slot in [&mut patch.old, &mut patch.new] {
            let Some(line) = lines.peek() else { return Err(lines.malformed()) };
            *slot = head::name(line);
            patch.head.push(String::from_utf8_lossy(trimmed(line)).into_owned());
            lines.at += 1;
        }
    }
    patch.line = lines.at + 1;
    while lines.peek().is_some_and(|it| it.starts_with(b"***************")) {
        lines.at += 1;
        patch.hunks.push(hunk(lines)?);
    }
    Ok(())
}

/// A line of one side, and whether it is only there.
type Half = Vec<(bool, Vec<u8>)>;

fn hunk(lines: &mut Lines<'_>) -> Result<Hunk, Malformed> {
    let old_start = span(lines, "*** ", " ****")?;
    let old = half(lines, b'-');
    let new_start = span(lines, "--- ", " ----")?;
    let new = half(lines, b'+');
    // A side without changes may be left out: then it is what the other side keeps.
    let kept = |half: &Half| half.iter().filter(|it| !it.0).cloned().collect::<Half>();
    let old = if old.is_empty() { kept(&new) } else { old };
    let new = if new.is_empty() { kept(&old) } else { new };
    let mut joined = Vec::with_capacity(old.len() + new.len());
    let (mut old, mut new) = (old.into_iter().peekable(), new.into_iter().peekable());
    loop {
        while let Some((_, line)) = old.next_if(|it| it.0) {
            joined.push((Op::Delete, line));
        }
        while let Some((_, line)) = new.next_if(|it| it.0) {
            joined.push((Op::Insert, line));
        }
        match (old.next(), new.next()) {
            (Some((_, line)), Some(_)) => joined.push((Op::Keep, line)),
            (None, None) => return Ok(Hunk { old_start, new_start, lines: joined }),
            _ => return Err(lines.malformed()),
        }
    }
}

/// `*** 1,5 ****`: where the side starts.
fn span(lines: &mut Lines<'_>, before: &str, after: &str) -> Result<usize, Malformed> {
    let text = lines.peek().map(|it| String::from_utf8_lossy(it).trim_end().to_owned()).unwrap_or_default();
    let inner = text.strip_prefix(before).and_then(|it| it.strip_suffix(after));
    let start = inner.map(|it| it.split(',').next().unwrap_or(it)).and_then(|it| it.parse().ok());
    match start {
        Some(start) => {
            lines.at += 1;
            Ok(start)
        }
        None => Err(lines.malformed()),
    }
}

fn half(lines: &mut Lines<'_>, own: u8) -> Half {
    let mut half = Vec::new();
    while let Some(line) = lines.peek() {
        let changed = match line {
            [b' ', b' ', ..] | [b' ', b'\n'] | [b'\n'] => false,
            [mark, b' ', ..] if *mark == own || *mark == b'!' => true,
            _ => break,
        };
        let mut content = line.get(2..).unwrap_or(b"\n").to_vec();
        if !content.ends_with(b"\n") {
            content.push(b'\n');
        }
        lines.at += 1;
        unfinished(lines, &mut content);
        half.push((changed, content));
    }
    half
}

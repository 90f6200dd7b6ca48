//! Hunks of a unified diff.

use super::{FilePatch, Hunk, Lines, Malformed, Op, head, trimmed, unfinished};

pub(super) fn read(lines: &mut Lines<'_>, patch: &mut FilePatch) -> Result<(), Malformed> {
    if lines.peek().is_some_and(|it| it.starts_with(b"--- ")) {
        for slot in [&mut patch.old, &mut patch.new] {
            let Some(line) = lines.peek() else { return Err(lines.malformed()) };
            *slot = head::name(line);
            patch.head.push(String::from_utf8_lossy(trimmed(line)).into_owned());
            lines.at += 1;
        }
    }
    patch.line = lines.at + 1;
    while lines.peek().is_some_and(|it| it.starts_with(b"@@ -")) {
        patch.hunks.push(hunk(lines)?);
    }
    Ok(())
}

fn hunk(lines: &mut Lines<'_>) -> Result<Hunk, Malformed> {
    let text = lines.peek().map(|it| String::from_utf8_lossy(it).into_owned()).unwrap_or_default();
    let Some((old, new)) = spans(&text) else { return Err(lines.malformed()) };
    lines.at += 1;
    let (mut old_left, mut new_left) = (old.1, new.1);
    let mut hunk = Hunk { old_start: old.0, new_start: new.0, lines: Vec::new() };
    while old_left > 0 || new_left > 0 {
        let Some(line) = lines.peek() else {
            // Mail programs eat blank lines at the end.
            if old_left != new_left || old_left > 3 {
                return Err(lines.malformed());
            }
            hunk.lines.extend(std::iter::repeat_n((Op::Keep, b"\n".to_vec()), old_left));
            break;
        };
        let (op, content) = match line.first() {
            Some(b' ') => (Op::Keep, &line[1..]),
            Some(b'-') => (Op::Delete, &line[1..]),
            Some(b'+') => (Op::Insert, &line[1..]),
            // A line of nothing but a blank that lost even that.
            Some(b'\n' | b'\r') => (Op::Keep, line),
            Some(b'\t') => (Op::Keep, line),
            _ => return Err(lines.malformed()),
        };
        let enough = match op {
            Op::Keep => old_left > 0 && new_left > 0,
            Op::Delete => old_left > 0,
            Op::Insert => new_left > 0,
        };
        if !enough {
            return Err(lines.malformed());
        }
        old_left -= usize::from(op != Op::Insert);
        new_left -= usize::from(op != Op::Delete);
        let mut content = content.to_vec();
        if !content.ends_with(b"\n") {
            content.push(b'\n');
        }
        lines.at += 1;
        unfinished(lines, &mut content);
        hunk.lines.push((op, content));
    }
    Ok(hunk)
}

type Span = (usize, usize);

/// `@@ -1,2 +3,4 @@`.
fn spans(text: &str) -> Option<(Span, Span)> {
    let rest = text.strip_prefix("@@ -")?;
    let (old, rest) = rest.split_once(" +")?;
    let (new, _) = rest.split_once(" @@")?;
    Some((span(old)?, span(new)?))
}

fn span(text: &str) -> Option<Span> {
    let (start, count) = text.split_once(',').unwrap_or((text, "1"));
    Some((start.parse().ok()?, count.parse().ok()?))
}

//! Hunks of a normal diff: `2,3c2`, `<`, `---`, `>`.

use super::{FilePatch, Hunk, Lines, Malformed, Op, trimmed, unfinished};

/// Whether a line is the command of a hunk, followed by nothing else.
pub(super) fn starts(line: &[u8]) -> bool {
    command(line).is_some()
}

pub(super) fn read(lines: &mut Lines<'_>, patch: &mut FilePatch) -> Result<(), Malformed> {
    patch.line = lines.at + 1;
    while let Some(found) = lines.peek().and_then(command) {
        lines.at += 1;
        let (gone, come) = (found.gone(), found.come());
        let mut hunk = Hunk { old_start: found.old.0, new_start: found.new.0, lines: Vec::new() };
        side(lines, b"< ", Op::Delete, gone, &mut hunk)?;
        if found.letter == b'c' {
            match lines.peek() {
                Some(line) if trimmed(line) == b"---" => lines.at += 1,
                _ => return Err(lines.malformed()),
            }
        }
        side(lines, b"> ", Op::Insert, come, &mut hunk)?;
        patch.hunks.push(hunk);
    }
    Ok(())
}

fn side(lines: &mut Lines<'_>, mark: &[u8], op: Op, count: usize, hunk: &mut Hunk) -> Result<(), Malformed> {
    for _ in 0..count {
        let Some(content) = lines.peek().and_then(|it| it.strip_prefix(mark)) else {
            return Err(lines.malformed());
        };
        let mut content = content.to_vec();
        if !content.ends_with(b"\n") {
            content.push(b'\n');
        }
        lines.at += 1;
        unfinished(lines, &mut content);
        hunk.lines.push((op, content));
    }
    Ok(())
}

struct Command {
    old: (usize, usize),
    new: (usize, usize),
    letter: u8,
}

impl Command {
    const fn gone(&self) -> usize {
        if self.letter == b'a' { 0 } else { self.old.1 - self.old.0 + 1 }
    }

    const fn come(&self) -> usize {
        if self.letter == b'd' { 0 } else { self.new.1 - self.new.0 + 1 }
    }
}

fn command(line: &[u8]) -> Option<Command> {
    let line = trimmed(line);
    let at = line.iter().position(|it| matches!(it, b'a' | b'c' | b'd'))?;
    let (old, new) = (range(&line[..at])?, range(&line[at + 1..])?);
    Some(Command { old, new, letter: line[at] })
}

/// `5` or `5,7`, with nothing else around it.
fn range(bytes: &[u8]) -> Option<(usize, usize)> {
    if !bytes.iter().all(|it| it.is_ascii_digit() || *it == b',') {
        return None;
    }
    let text = std::str::from_utf8(bytes).ok()?;
    let (from, to) = text.split_once(',').unwrap_or((text, text));
    let (from, to): (usize, usize) = (from.parse().ok()?, to.parse().ok()?);
    (from <= to && to < usize::MAX).then_some((from, to))
}

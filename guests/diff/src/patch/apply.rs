//! Finds where a hunk belongs, and puts it there.

use super::script::{Hunk, Op};

/// The lines of a file that is being changed; each with its end, if it has one.
pub(super) struct Work {
    pub lines: Vec<Vec<u8>>,
    /// Lines before this one are done with.
    done: usize,
    /// How far the last hunk was from where it said.
    offset: isize,
    /// How much longer the file has become.
    grown: isize,
}

/// Where a hunk was put.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Landed {
    /// Line in the changed file, from 1.
    pub line: isize,
    pub fuzz: usize,
    pub offset: isize,
}

impl Work {
    pub(super) fn new(bytes: &[u8]) -> Self {
        let lines = bytes.split_inclusive(|it| *it == b'\n').map(<[u8]>::to_vec).collect();
        Self { lines, done: 0, offset: 0, grown: 0 }
    }

    /// The line a hunk that fails would have gone to.
    pub(super) fn wanted(&self, hunk: &Hunk) -> isize {
        hunk.old_start as isize + self.offset + self.grown
    }

    /// Whether the hunk fits with just so much of its surroundings left out.
    pub(super) fn fits(&self, hunk: &Hunk, fuzz: usize) -> bool {
        self.locate(hunk, fuzz).is_some()
    }

    /// Puts the hunk where it fits best.
    pub(super) fn apply(&mut self, hunk: &Hunk, fuzz: usize) -> Option<Landed> {
        let (place, front, back) = self.locate(hunk, fuzz)?;
        let expected = first(hunk) + self.grown;
        let ops = &hunk.lines[front..hunk.lines.len() - back];
        let mut at = place + front;
        for (op, line) in ops {
            match op {
                Op::Keep => at += 1,
                Op::Delete => {
                    self.lines.remove(at);
                }
                Op::Insert => {
                    self.lines.insert(at, line.clone());
                    at += 1;
                }
            }
        }
        self.mend(at);
        self.done = at;
        let count = |which: Op| hunk.lines.iter().filter(|it| it.0 == which).count() as isize;
        let before = self.grown;
        self.grown += count(Op::Insert) - count(Op::Delete);
        self.offset = place as isize - expected;
        let line = place as isize
            + isize::from(hunk.lines.iter().any(|it| it.0 != Op::Insert) || before != 0 || place == 0);
        Some(Landed { line, fuzz, offset: self.offset })
    }

    /// Only the last line may lack its end.
    fn mend(&mut self, at: usize) {
        let last = self.lines.len().saturating_sub(1);
        for place in [at.wrapping_sub(1), at] {
            if let Some(line) = self.lines.get_mut(place)
                && place < last
                && !line.ends_with(b"\n")
            {
                line.push(b'\n');
            }
        }
    }

    /// The line the hunk starts at, and how many of its lines are left out in front and behind.
    fn locate(&self, hunk: &Hunk, fuzz: usize) -> Option<(usize, usize, usize)> {
        let keep = |it: &&(Op, Vec<u8>)| it.0 == Op::Keep;
        let prefix = hunk.lines.iter().take_while(keep).count();
        let suffix = hunk.lines.iter().rev().take_while(keep).count();
        let context = prefix.max(suffix);
        if fuzz > context {
            return None;
        }
        let front = (fuzz + prefix).checked_sub(context);
        let back = (fuzz + suffix).checked_sub(context);
        let old: Vec<&Vec<u8>> = hunk.side(Op::Insert).collect();
        let guess = first(hunk) + self.grown + self.offset;
        let matches = |at: usize, front: usize, back: usize| {
            let end = old.len().saturating_sub(back);
            at + end <= self.lines.len()
                && (front..end)
                    .all(|line| same(&self.lines[at + line], old[line], at + line + 1 == self.lines.len()))
        };
        // Less before the change than after it: it was at the start of the file, and has to be again.
        if front.is_none() && hunk.old_start <= 1 {
            let back = back.unwrap_or(0);
            return (self.done == 0 && matches(0, 0, back)).then_some((0, 0, back));
        }
        let front = front.unwrap_or(0);
        // Less after it: the same for the end.
        let Some(back) = back else {
            let at = self.lines.len().checked_sub(old.len())?;
            return (at + front >= self.done && matches(at, front, 0)).then_some((at, front, 0));
        };
        let far = self.lines.len() as isize + guess.abs() + 1;
        for distance in 0..=far {
            for at in [guess + distance, guess - distance] {
                if at >= 0 && at as usize + front >= self.done && matches(at as usize, front, back) {
                    return Some((at as usize, front, back));
                }
            }
        }
        None
    }
}

/// The line a hunk starts at, from 0: one that only adds says the line before.
fn first(hunk: &Hunk) -> isize {
    match hunk.lines.iter().all(|it| it.0 == Op::Insert) {
        true => hunk.old_start as isize,
        false => hunk.old_start as isize - 1,
    }
}

/// Equal, but for the end that a last line may lack.
fn same(a: &[u8], b: &[u8], last: bool) -> bool {
    a == b || (last && a.strip_suffix(b"\n").unwrap_or(a) == b.strip_suffix(b"\n").unwrap_or(b))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::patch::script::parse;

    fn patched(file: &str, patch: &str, fuzz: usize) -> Option<(String, Landed)> {
        let mut work = Work::new(file.as_bytes());
        let all = parse(patch.as_bytes()).ok()?;
        let landed = work.apply(all.first()?.hunks.first()?, fuzz)?;
        Some((String::from_utf8_lossy(&work.lines.concat()).into_owned(), landed))
    }

    #[test]
    fn a_hunk_is_looked_for_around_its_place() {
        let patch = "--- x\n+++ x\n@@ -2,3 +2,3 @@\n b\n-c\n+C\n d\n";
        let (text, landed) = patched("0\n0\na\nb\nc\nd\n", patch, 0).unwrap_or_else(|| panic!("it fits"));
        assert_eq!((text.as_str(), landed.offset), ("0\n0\na\nb\nC\nd\n", 2));
        assert_eq!(patched("a\nb\nX\nd\n", patch, 2), None);
        let (text, _) = patched("a\nX\nc\nY\n", patch, 1).unwrap_or_else(|| panic!("it fits"));
        assert_eq!(text, "a\nX\nC\nY\n");
    }

    #[test]
    fn an_end_of_line_comes_and_goes() {
        let patch = "--- x\n+++ x\n@@ -1 +1 @@\n-a\n\\ No newline at end of file\n+a\n";
        assert_eq!(patched("a", patch, 0).map(|it| it.0).as_deref(), Some("a\n"));
    }
}

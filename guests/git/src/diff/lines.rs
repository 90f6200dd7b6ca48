//! The lines that differ, found and placed as git finds and places them.

use imara_diff::{Algorithm, Diff, Hunk, InternedInput};

/// Which differences of white space count.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Space {
    #[default]
    Counts,
    /// `-b`: how much of it does not.
    Amount,
    /// `-w`: none of it.
    None,
    /// `--ignore-space-at-eol`.
    End,
}

/// Lines with their newlines.
pub fn split(bytes: &[u8]) -> Vec<&[u8]> {
    bytes.split_inclusive(|it| *it == b'\n').collect()
}

/// How changed stretches are placed where they could lie in several places.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Place {
    /// Where indentation says that a block begins, as `git diff` does.
    Indent,
    /// As far down as it goes, as merging does.
    Down,
}

/// The stretches that differ.
pub fn hunks(old: &[&[u8]], new: &[&[u8]], space: Space, place: Place) -> Vec<Hunk> {
    if space == Space::Counts {
        return compute(old.iter().copied(), new.iter().copied(), place);
    }
    let squeeze = |lines: &[&[u8]]| lines.iter().map(|it| squeezed(it, space)).collect::<Vec<_>>();
    let (old, new) = (squeeze(old), squeeze(new));
    compute(old.iter().map(Vec::as_slice), new.iter().map(Vec::as_slice), place)
}

fn compute<'a>(
    old: impl ExactSizeIterator<Item = &'a [u8]>,
    new: impl ExactSizeIterator<Item = &'a [u8]>,
    place: Place,
) -> Vec<Hunk> {
    let mut input = InternedInput::default();
    input.reserve(old.len() as u32, new.len() as u32);
    input.update_before(old);
    input.update_after(new);
    let mut diff = Diff::compute(Algorithm::Myers, &input);
    match place {
        Place::Indent => diff.postprocess_lines(&input),
        Place::Down => diff.postprocess_no_heuristic(&input),
    }
    diff.hunks().collect()
}

fn squeezed(line: &[u8], space: Space) -> Vec<u8> {
    let mut text = Vec::with_capacity(line.len());
    let end = line.iter().rposition(|it| !it.is_ascii_whitespace()).map_or(0, |it| it + 1);
    let mut blank = false;
    for byte in &line[..end] {
        match (byte.is_ascii_whitespace(), space) {
            (true, Space::None) => {}
            (true, Space::Amount) => blank = true,
            _ => {
                if blank {
                    text.push(b' ');
                    blank = false;
                }
                text.push(*byte);
            }
        }
    }
    text
}

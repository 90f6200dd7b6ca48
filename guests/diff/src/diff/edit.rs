//! The shortest way from one list of lines to another: Myers' algorithm in linear space, from both
//! ends at once. Lines are numbers here; equal lines have equal numbers.
//!
//! Of the many shortest ways the one is taken that people see elsewhere: lines that the other side
//! does not have at all are set aside first, and each run of changed lines slides down as far as it
//! can, unless it can stand beside a run of the other side.

use std::ops::Range;

/// A stretch of lines that differs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[allow(missing_docs)]
pub(crate) struct Change {
    pub old_start: usize,
    pub old_count: usize,
    pub new_start: usize,
    pub new_count: usize,
}

impl Change {
    /// The lines that go.
    pub(crate) fn gone(&self) -> Range<usize> {
        self.old_start..self.old_start + self.old_count
    }

    /// The lines that come.
    pub(crate) fn come(&self) -> Range<usize> {
        self.new_start..self.new_start + self.new_count
    }
}

/// More differences than this on one search, and a good way will do instead of the shortest.
const COST_MAX: usize = 4096;

/// All changes, in order. What both lists start and end with is left alone, except for `horizon` lines
/// on either side: no run slides further.
pub(crate) fn changes(old: &[u32], new: &[u32], horizon: usize) -> Vec<Change> {
    let prefix = old.iter().zip(new).take_while(|(a, b)| a == b).count();
    let rest = (&old[prefix..], &new[prefix..]);
    let suffix = rest.0.iter().rev().zip(rest.1.iter().rev()).take_while(|(a, b)| a == b).count();
    let (prefix, suffix) = (prefix.saturating_sub(horizon), suffix.saturating_sub(horizon));
    let mut changes = middle(&old[prefix..old.len() - suffix], &new[prefix..new.len() - suffix]);
    for change in &mut changes {
        change.old_start += prefix;
        change.new_start += prefix;
    }
    changes
}

fn middle(old: &[u32], new: &[u32]) -> Vec<Change> {
    let mut changed = (vec![false; old.len()], vec![false; new.len()]);
    let kept_old = set_aside(old, new, &mut changed.0);
    let kept_new = set_aside(new, old, &mut changed.1);
    let a: Vec<u32> = kept_old.iter().map(|at| old[*at]).collect();
    let b: Vec<u32> = kept_new.iter().map(|at| new[*at]).collect();
    let size = a.len() + b.len() + 3;
    let mut search = Search {
        a: &a,
        b: &b,
        forward: vec![0; size],
        backward: vec![0; size],
        gone: Vec::new(),
        come: Vec::new(),
    };
    search.between(0..a.len(), 0..b.len());
    let Search { gone, come, .. } = search;
    gone.into_iter().for_each(|at| changed.0[kept_old[at]] = true);
    come.into_iter().for_each(|at| changed.1[kept_new[at]] = true);
    slide(old, &mut changed.0, &changed.1);
    slide(new, &mut changed.1, &changed.0);
    runs(&changed.0, &changed.1)
}

/// Marks the lines that the other side has nowhere, and returns the places of all others.
fn set_aside(lines: &[u32], other: &[u32], changed: &mut [bool]) -> Vec<usize> {
    let there: std::collections::HashSet<u32> = other.iter().copied().collect();
    let mut kept = Vec::new();
    for (at, line) in lines.iter().enumerate() {
        match there.contains(line) {
            true => kept.push(at),
            false => changed[at] = true,
        }
    }
    kept
}

struct Search<'a> {
    a: &'a [u32],
    b: &'a [u32],
    /// How far each diagonal was reached from the front, and from the back.
    forward: Vec<isize>,
    backward: Vec<isize>,
    gone: Vec<usize>,
    come: Vec<usize>,
}

impl Search<'_> {
    fn between(&mut self, mut a: Range<usize>, mut b: Range<usize>) {
        // The two halves are not alike in size, so the larger is a loop and only the smaller a call.
        loop {
            while !a.is_empty() && !b.is_empty() && self.a[a.start] == self.b[b.start] {
                a.start += 1;
                b.start += 1;
            }
            while !a.is_empty() && !b.is_empty() && self.a[a.end - 1] == self.b[b.end - 1] {
                a.end -= 1;
                b.end -= 1;
            }
            if a.is_empty() {
                return self.come.extend(b);
            }
            if b.is_empty() {
                return self.gone.extend(a);
            }
            let (x, y) = self.meet(&a, &b);
            let first = (a.start..x, b.start..y);
            let second = (x..a.end, y..b.end);
            let size = |it: &(Range<usize>, Range<usize>)| it.0.len() + it.1.len();
            let (small, large) = if size(&first) < size(&second) { (first, second) } else { (second, first) };
            self.between(small.0, small.1);
            (a, b) = large;
        }
    }

    /// A point on a shortest way, where the searches from both ends meet.
    fn meet(&mut self, a: &Range<usize>, b: &Range<usize>) -> (usize, usize) {
        let signed = |it: usize| it as isize;
        let (x0, x1, y0, y1) = (signed(a.start), signed(a.end), signed(b.start), signed(b.end));
        let (lowest, highest) = (x0 - y1, x1 - y0);
        let (front, back) = (x0 - y0, x1 - y1);
        let odd = (front - back) & 1 != 0;
        // Diagonals run from minus the length of one side to the length of the other.
        let offset = signed(self.b.len()) + 1;
        let slot = |diagonal: isize| (diagonal + offset) as usize;
        let (mut fmin, mut fmax, mut bmin, mut bmax) = (front, front, back, back);
        self.forward[slot(front)] = x0;
        self.backward[slot(back)] = x1;
        for cost in 1.. {
            (fmin, fmax) = widen(fmin, fmax, lowest, highest, |at| self.forward[slot(at)] = -1);
            let mut diagonal = fmax;
            while diagonal >= fmin {
                let (below, above) = (self.forward[slot(diagonal - 1)], self.forward[slot(diagonal + 1)]);
                let mut x = if below < above { above } else { below + 1 };
                let mut y = x - diagonal;
                while x < x1 && y < y1 && self.a[x as usize] == self.b[y as usize] {
                    x += 1;
                    y += 1;
                }
                self.forward[slot(diagonal)] = x;
                if odd && (bmin..=bmax).contains(&diagonal) && self.backward[slot(diagonal)] <= x {
                    return (x as usize, y as usize);
                }
                diagonal -= 2;
            }
            (bmin, bmax) = widen(bmin, bmax, lowest, highest, |at| self.backward[slot(at)] = isize::MAX);
            let mut diagonal = bmax;
            while diagonal >= bmin {
                let (below, above) = (self.backward[slot(diagonal - 1)], self.backward[slot(diagonal + 1)]);
                let mut x = if below < above { below } else { above - 1 };
                let mut y = x - diagonal;
                while x > x0 && y > y0 && self.a[x as usize - 1] == self.b[y as usize - 1] {
                    x -= 1;
                    y -= 1;
                }
                self.backward[slot(diagonal)] = x;
                if !odd && (fmin..=fmax).contains(&diagonal) && x <= self.forward[slot(diagonal)] {
                    return (x as usize, y as usize);
                }
                diagonal -= 2;
            }
            if cost >= COST_MAX {
                break;
            }
        }
        // Too far apart: go on from where the search from the front has come furthest.
        let reached = (fmin..=fmax).step_by(2).map(|diagonal| {
            let x = self.forward[slot(diagonal)].min(x1);
            let x = if x - diagonal > y1 { y1 + diagonal } else { x };
            (2 * x - diagonal, x, x - diagonal)
        });
        let (_, x, y) = reached.max().unwrap_or((0, x0, y0));
        (x.clamp(x0, x1) as usize, y.clamp(y0, y1) as usize)
    }
}

/// One more diagonal on each side, or one less where the edge is reached; `outside` marks the next.
fn widen(
    min: isize,
    max: isize,
    lowest: isize,
    highest: isize,
    mut outside: impl FnMut(isize),
) -> (isize, isize) {
    let min = if min > lowest {
        outside(min - 2);
        min - 1
    } else {
        min + 1
    };
    let max = if max < highest {
        outside(max + 2);
        max + 1
    } else {
        max - 1
    };
    (min, max)
}

/// Moves each run of changed lines as far down as equal lines let it, joining runs it meets; back up
/// to where it stands beside a run of the other side, if it passed such a place.
fn slide(lines: &[u32], changed: &mut [bool], other: &[bool]) {
    let (mut at, mut beside) = (0, 0);
    loop {
        // Lines that stay pair up, so the place in the other list follows from them.
        while at < lines.len() && !changed[at] {
            while other.get(beside) == Some(&true) {
                beside += 1;
            }
            at += 1;
            beside += 1;
        }
        if at >= lines.len() {
            return;
        }
        let mut start = at;
        let mut end = at;
        while end < lines.len() && changed[end] {
            end += 1;
        }
        let mut matched;
        loop {
            let length = end - start;
            while start > 0 && lines[start - 1] == lines[end - 1] {
                start -= 1;
                end -= 1;
                changed[start] = true;
                changed[end] = false;
                while start > 0 && changed[start - 1] {
                    start -= 1;
                }
                beside -= 1;
                while beside > 0 && other[beside - 1] {
                    beside -= 1;
                }
            }
            matched = (other.get(beside.wrapping_sub(1)) == Some(&true)).then_some(end);
            while end < lines.len() && lines[start] == lines[end] {
                changed[start] = false;
                changed[end] = true;
                start += 1;
                end += 1;
                while end < lines.len() && changed[end] {
                    end += 1;
                }
                beside += 1;
                if other.get(beside) == Some(&true) {
                    matched = Some(end);
                    while other.get(beside) == Some(&true) {
                        beside += 1;
                    }
                }
            }
            if end - start == length {
                break;
            }
        }
        let Some(wanted) = matched else {
            at = end;
            continue;
        };
        while wanted < end {
            start -= 1;
            end -= 1;
            changed[start] = true;
            changed[end] = false;
            beside -= 1;
            while beside > 0 && other[beside - 1] {
                beside -= 1;
            }
        }
        at = end;
    }
}

fn runs(old: &[bool], new: &[bool]) -> Vec<Change> {
    let mut changes = Vec::new();
    let (mut x, mut y) = (0, 0);
    while x < old.len() || y < new.len() {
        let (from_x, from_y) = (x, y);
        while old.get(x) == Some(&true) {
            x += 1;
        }
        while new.get(y) == Some(&true) {
            y += 1;
        }
        if x > from_x || y > from_y {
            let (old_count, new_count) = (x - from_x, y - from_y);
            changes.push(Change { old_start: from_x, old_count, new_start: from_y, new_count });
        } else {
            x += 1;
            y += 1;
        }
    }
    changes
}

/// Changes that stand close together, with the lines around them: where that is on either side.
pub(crate) struct Hunk<'c> {
    /// The changes, in order.
    pub changes: &'c [Change],
    /// Lines of the old side.
    pub old: Range<usize>,
    /// Lines of the new side.
    pub new: Range<usize>,
}

/// The hunks of all changes, with `lines` lines around each where there are as many; the old side has
/// `old_lines` in all.
pub(crate) fn hunks(changes: &[Change], lines: usize, old_lines: usize) -> impl Iterator<Item = Hunk<'_>> {
    let close = move |a: &Change, b: &Change| b.old_start - a.gone().end <= 2 * lines;
    changes.chunk_by(close).filter_map(move |changes| {
        let (first, last) = (changes.first()?, changes.last()?);
        let before = lines.min(first.old_start);
        let after = lines.min(old_lines - last.gone().end);
        Some(Hunk {
            changes,
            old: first.old_start - before..last.gone().end + after,
            new: first.new_start - before..last.come().end + after,
        })
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn applied(old: &[u32], new: &[u32], changes: &[Change]) -> Vec<u32> {
        let mut result = Vec::new();
        let mut at = 0;
        for change in changes {
            result.extend_from_slice(&old[at..change.old_start]);
            result.extend_from_slice(&new[change.come()]);
            at = change.gone().end;
        }
        result.extend_from_slice(&old[at..]);
        result
    }

    fn longest_common(a: &[u32], b: &[u32]) -> usize {
        let mut row = vec![0; b.len() + 1];
        for x in a {
            let mut left_above = 0;
            for (at, y) in b.iter().enumerate() {
                let above = row[at + 1];
                row[at + 1] = if x == y { left_above + 1 } else { above.max(row[at]) };
                left_above = above;
            }
        }
        row[b.len()]
    }

    proptest! {
        #[test]
        fn the_changes_lead_to_the_new_list_and_are_as_few_as_can_be(
            old in prop::collection::vec(0u32..5, 0..40),
            new in prop::collection::vec(0u32..5, 0..40),
        ) {
            let changes = changes(&old, &new, 3);
            prop_assert_eq!(applied(&old, &new, &changes), new.clone());
            let gone: usize = changes.iter().map(|it| it.old_count).sum();
            prop_assert_eq!(old.len() - gone, longest_common(&old, &new));
        }
    }

    #[test]
    fn an_inserted_block_ends_where_it_can() {
        // `a b` was repeated: the second pair is the new one.
        let found = changes(&[1, 2, 3], &[1, 2, 1, 2, 3], 0);
        assert_eq!(found, [Change { old_start: 2, old_count: 0, new_start: 2, new_count: 2 }]);
    }
}

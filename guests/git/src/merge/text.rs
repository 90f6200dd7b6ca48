//! Merges two texts that come from one, as git does: changes of one side are taken, the same change of both
//! is taken once, and what collides is marked, in stretches as small as the two sides allow.

use imara_diff::Hunk;

use crate::diff::lines::{Place, Space, hunks, split};

/// Conflicts this near to each other become one.
const NEAR_LINES_MAX: usize = 3;
const MARKER: usize = 7;

/// Which side wins where both changed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Favor {
    #[default]
    None,
    Ours,
    Theirs,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Side {
    Conflict,
    Ours,
    Theirs,
    /// Both have the same here.
    Same,
}

/// A stretch that is not as it was: where it is in both texts.
#[derive(Debug, Clone, Copy)]
struct Part {
    side: Side,
    ours: (usize, usize),
    theirs: (usize, usize),
}

/// The merged text, and how many conflicts are marked in it.
pub fn merge(
    base: &[u8],
    ours: &[u8],
    theirs: &[u8],
    labels: (&str, &str),
    favor: Favor,
) -> (Vec<u8>, usize) {
    let (base, ours, theirs) = (split(base), split(ours), split(theirs));
    let left = hunks(&base, &ours, Space::Counts, Place::Down);
    let right = hunks(&base, &theirs, Space::Counts, Place::Down);
    let mut parts = collect(&left, &right, &ours, &theirs, base.len());
    parts = refine(parts, &ours, &theirs);
    join_near(&mut parts);
    for part in &mut parts {
        if part.side == Side::Conflict {
            part.side = match favor {
                Favor::None => Side::Conflict,
                Favor::Ours => Side::Ours,
                Favor::Theirs => Side::Theirs,
            };
        }
    }
    write(&parts, &ours, &theirs, labels)
}

fn numbers(hunk: &Hunk) -> (usize, usize, usize, usize) {
    let (before, after) = (&hunk.before, &hunk.after);
    (before.start as usize, before.len(), after.start as usize, after.len())
}

/// Lays the changes of both sides over each other.
fn collect(left: &[Hunk], right: &[Hunk], ours: &[&[u8]], theirs: &[&[u8]], base: usize) -> Vec<Part> {
    let mut parts: Vec<Part> = Vec::new();
    let (mut a, mut b) = (0, 0);
    while let (Some(one), Some(two)) = (left.get(a), right.get(b)) {
        let (i, n, to, count) = numbers(one);
        let (j, m, other, others) = numbers(two);
        if i + n < j {
            add(&mut parts, Side::Ours, (to, count), ((other + i).saturating_sub(j), n));
            a += 1;
            continue;
        }
        if j + m < i {
            add(&mut parts, Side::Theirs, ((to + j).saturating_sub(i), m), (other, others));
            b += 1;
            continue;
        }
        let same =
            i == j && n == m && count == others && ours[to..to + count] == theirs[other..other + others];
        if !same {
            let (mut from, mut upto) = (to as isize, other as isize);
            let (mut size, mut sizes);
            let offset = i as isize - j as isize;
            let end = offset + n as isize - m as isize;
            if offset > 0 {
                from -= offset;
            } else {
                upto += offset;
            }
            size = (to + count) as isize - from;
            sizes = (other + others) as isize - upto;
            if end < 0 {
                size -= end;
            } else {
                sizes += end;
            }
            let place = |at: isize, count: isize| (at.max(0) as usize, count.max(0) as usize);
            add(&mut parts, Side::Conflict, place(from, size), place(upto, sizes));
        }
        let (x, y) = (i + n, j + m);
        if x >= y {
            b += 1;
        }
        if y >= x {
            a += 1;
        }
    }
    for one in &left[a..] {
        let (i, n, to, count) = numbers(one);
        add(&mut parts, Side::Ours, (to, count), ((i + theirs.len()).saturating_sub(base), n));
    }
    for two in &right[b..] {
        let (j, m, other, others) = numbers(two);
        add(&mut parts, Side::Theirs, ((j + ours.len()).saturating_sub(base), m), (other, others));
    }
    parts
}

/// One more stretch; it joins the one before if they touch.
fn add(parts: &mut Vec<Part>, side: Side, ours: (usize, usize), theirs: (usize, usize)) {
    if let Some(last) = parts.last_mut()
        && (ours.0 <= last.ours.0 + last.ours.1 || theirs.0 <= last.theirs.0 + last.theirs.1)
    {
        if side != last.side {
            last.side = Side::Conflict;
        }
        last.ours.1 = (ours.0 + ours.1).saturating_sub(last.ours.0);
        last.theirs.1 = (theirs.0 + theirs.1).saturating_sub(last.theirs.0);
        return;
    }
    parts.push(Part { side, ours, theirs });
}

/// Conflicts without the lines that both sides have alike.
fn refine(parts: Vec<Part>, ours: &[&[u8]], theirs: &[&[u8]]) -> Vec<Part> {
    let mut all = Vec::new();
    for part in parts {
        if part.side != Side::Conflict || part.ours.1 == 0 || part.theirs.1 == 0 {
            all.push(part);
            continue;
        }
        let slice = |lines: &[&[u8]], (at, count): (usize, usize)| -> (usize, usize) {
            let at = at.min(lines.len());
            (at, (at + count).min(lines.len()))
        };
        let (a, b) = (slice(ours, part.ours), slice(theirs, part.theirs));
        let found = hunks(&ours[a.0..a.1], &theirs[b.0..b.1], Space::Counts, Place::Down);
        if found.is_empty() {
            all.push(Part { side: Side::Same, ..part });
        }
        for hunk in &found {
            let (i, n, j, m) = numbers(hunk);
            all.push(Part { side: Side::Conflict, ours: (a.0 + i, n), theirs: (b.0 + j, m) });
        }
    }
    all
}

/// Conflicts with three lines or fewer between them are easier to read as one.
fn join_near(parts: &mut Vec<Part>) {
    let mut at = 0;
    while at + 1 < parts.len() {
        let (this, next) = (parts[at], parts[at + 1]);
        let apart = next.ours.0.saturating_sub(this.ours.0 + this.ours.1);
        if this.side == Side::Conflict && next.side == Side::Conflict && apart <= NEAR_LINES_MAX {
            parts[at].ours.1 = next.ours.0 + next.ours.1 - this.ours.0;
            parts[at].theirs.1 = next.theirs.0 + next.theirs.1 - this.theirs.0;
            parts.remove(at + 1);
        } else {
            at += 1;
        }
    }
}

fn write(parts: &[Part], ours: &[&[u8]], theirs: &[&[u8]], labels: (&str, &str)) -> (Vec<u8>, usize) {
    let mut text = Vec::new();
    let (mut at, mut conflicts) = (0, 0);
    let lines = |lines: &[&[u8]], from: usize, to: usize| {
        lines.get(from..to.min(lines.len())).unwrap_or_default().concat()
    };
    let marker = |text: &mut Vec<u8>, sign: char, label: &str| {
        if !text.is_empty() && !text.ends_with(b"\n") {
            text.push(b'\n');
        }
        text.extend_from_slice(sign.to_string().repeat(MARKER).as_bytes());
        if !label.is_empty() {
            text.extend_from_slice(format!(" {label}").as_bytes());
        }
        text.push(b'\n');
    };
    for part in parts {
        if part.side == Side::Same {
            continue;
        }
        text.extend_from_slice(&lines(ours, at, part.ours.0));
        let (mine, yours) = (
            lines(ours, part.ours.0, part.ours.0 + part.ours.1),
            lines(theirs, part.theirs.0, part.theirs.0 + part.theirs.1),
        );
        match part.side {
            Side::Ours | Side::Same => text.extend_from_slice(&mine),
            Side::Theirs => text.extend_from_slice(&yours),
            Side::Conflict => {
                conflicts += 1;
                marker(&mut text, '<', labels.0);
                text.extend_from_slice(&mine);
                marker(&mut text, '=', "");
                text.extend_from_slice(&yours);
                marker(&mut text, '>', labels.1);
            }
        }
        at = part.ours.0 + part.ours.1;
    }
    text.extend_from_slice(&lines(ours, at, ours.len()));
    (text, conflicts)
}

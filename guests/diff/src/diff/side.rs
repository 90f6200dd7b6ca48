//! Two columns, as `-y` wants them.

use super::edit::Change;
use super::input::Document;
use super::settings::Settings;

const TAB: usize = 8;
const GUTTER: usize = 3;

struct Columns {
    half: usize,
    second: usize,
}

impl Columns {
    /// Half of the width each, and the second column at a tab stop.
    fn of(width: usize) -> Self {
        let gap = TAB + GUTTER;
        let middle = (width >> 1) + (gap >> 1) + (width & gap & 1);
        let second = middle - middle % TAB;
        let half = second.saturating_sub(GUTTER).min(width.saturating_sub(second));
        Self { half, second: if half == 0 { width } else { second } }
    }
}

pub(super) fn write(
    both: (&Document<'_>, &Document<'_>),
    changes: &[Change],
    settings: &Settings,
    out: &mut Vec<u8>,
) {
    let columns = Columns::of(settings.width);
    let (old, new) = both;
    let (mut x, mut y) = (0, 0);
    let end = Change { old_start: old.lines.len(), old_count: 0, new_start: new.lines.len(), new_count: 0 };
    for change in changes.iter().chain([&end]) {
        while x < change.old_start {
            if settings.common_lines {
                match settings.left_only {
                    true => row(Some(old.lines[x]), '(', None, &columns, out),
                    false => row(Some(old.lines[x]), ' ', new.lines.get(y).copied(), &columns, out),
                }
            }
            x += 1;
            y += 1;
        }
        for at in 0..change.old_count.max(change.new_count) {
            let left = change.gone().nth(at).map(|at| old.lines[at]);
            let right = change.come().nth(at).map(|at| new.lines[at]);
            let mark = match (left, right) {
                (Some(_), Some(_)) => '|',
                (Some(_), None) => '<',
                _ => '>',
            };
            row(left, mark, right, &columns, out);
        }
        (x, y) = (change.gone().end, change.come().end);
    }
}

fn row(left: Option<&[u8]>, mark: char, right: Option<&[u8]>, columns: &Columns, out: &mut Vec<u8>) {
    let mut at = left.map_or(0, |text| put(text, 0, columns.half, out));
    if mark != ' ' {
        let place = ((columns.half + columns.second - 1) >> 1) + 1;
        at = advance(at, place - 1, out) + 1;
        out.push(mark as u8);
    }
    if let Some(text) = right.filter(|it| !it.is_empty()) {
        advance(at, columns.second, out);
        put(text, columns.second, columns.half, out);
    }
    out.push(b'\n');
}

/// Writes as much as fits, and says at which column that ended.
fn put(text: &[u8], origin: usize, room: usize, out: &mut Vec<u8>) -> usize {
    let mut column = 0;
    for letter in String::from_utf8_lossy(text).chars() {
        let width = if letter == '\t' { TAB - column % TAB } else { 1 };
        if column + width > room {
            break;
        }
        match letter {
            '\t' => out.extend(std::iter::repeat_n(b' ', width)),
            other => out.extend_from_slice(other.encode_utf8(&mut [0; 4]).as_bytes()),
        }
        column += width;
    }
    origin + column
}

/// Tabs and then blanks up to a column.
fn advance(mut from: usize, to: usize, out: &mut Vec<u8>) -> usize {
    let mut stop = from + TAB - from % TAB;
    while stop <= to {
        out.push(b'\t');
        from = stop;
        stop += TAB;
    }
    while from < to {
        out.push(b' ');
        from += 1;
    }
    from
}

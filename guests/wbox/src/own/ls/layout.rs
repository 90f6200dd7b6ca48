//! Entries as text: lines, columns, rows, or the long form.

use super::entry::Entry;
use super::options::{Clock, Marks, Options, Quotes, Shape, Style};
use crate::stream::text;
use facts::{Facts, Kind, Time, owner};

/// A file is recent for half a year, and shows its time instead of its year.
const RECENT_SECONDS: i64 = 31_556_952 / 2;

/// Everything, ready to be written.
pub fn print(entries: &[Entry], options: &Options) -> Vec<u8> {
    match options.shape {
        Shape::Long => long(entries, options),
        Shape::Lines => {
            let mut all = Vec::new();
            for cell in cells(entries, options) {
                all.extend(cell.text);
                all.push(options.end);
            }
            all
        }
        Shape::Commas => commas(&cells(entries, options), options),
        Shape::Columns | Shape::Rows => table(&cells(entries, options), options),
    }
}

/// A name as it is shown, and how wide that is.
struct Cell {
    text: Vec<u8>,
    width: usize,
}

fn cells(entries: &[Entry], options: &Options) -> Vec<Cell> {
    let column = |value: &dyn Fn(&Entry) -> String| {
        let texts: Vec<String> = entries.iter().map(value).collect();
        let width = texts.iter().map(String::len).max().unwrap_or(0);
        texts.into_iter().map(|it| format!("{it:>width$} ")).collect::<Vec<_>>()
    };
    let inodes = options.inode.then(|| column(&|it| it.facts.inode.to_string()));
    let blocks = options.blocks.then(|| column(&|it| options.size(it.facts.blocks * 512, true)));
    let cell = |(at, entry): (usize, &Entry)| {
        let before = [&inodes, &blocks].into_iter().flatten().map(|it| it[at].as_str()).collect::<String>();
        let name = quoted(&entry.name, options);
        let mark = mark(&entry.facts, options);
        let width = before.len() + text(&name).chars().count() + mark.len();
        let text = [before.as_bytes(), &colored(&name, &entry.facts, options), mark.as_bytes()].concat();
        Cell { text, width }
    };
    entries.iter().enumerate().map(cell).collect()
}

fn commas(cells: &[Cell], options: &Options) -> Vec<u8> {
    let (mut all, mut used) = (Vec::new(), 0);
    for (at, cell) in cells.iter().enumerate() {
        if at > 0 {
            all.push(b',');
            if used + cell.width + 3 > options.width {
                all.push(b'\n');
                used = 0;
            } else {
                all.push(b' ');
                used += 2;
            }
        }
        used += cell.width;
        all.extend(&cell.text);
    }
    if !cells.is_empty() {
        all.push(options.end);
    }
    all
}

/// As few rows as the width allows.
fn table(cells: &[Cell], options: &Options) -> Vec<u8> {
    let by_rows = options.shape == Shape::Rows;
    let index = |row: usize, column: usize, rows: usize, columns: usize| {
        if by_rows { row * columns + column } else { column * rows + row }
    };
    let widths = |rows: usize, columns: usize| -> Vec<usize> {
        let width = |column| {
            let cells = (0..rows).filter_map(|row| cells.get(index(row, column, rows, columns)));
            cells.map(|cell| cell.width).max().unwrap_or(0)
        };
        (0..columns).map(width).collect()
    };
    // Each column takes three at least, so more than that cannot fit.
    let most = cells.len().min(options.width / 3 + 1).max(1);
    let fits = |columns: &usize| {
        let rows = cells.len().div_ceil(*columns);
        let total: usize = widths(rows, *columns).iter().map(|it| it + 2).sum();
        total.saturating_sub(2) < options.width
    };
    let columns = (1..=most).rev().find(fits).unwrap_or(1);
    let rows = cells.len().div_ceil(columns);
    let widths = widths(rows, columns);
    let mut all = Vec::new();
    for row in 0..rows {
        let mut pad = 0;
        for (column, width) in widths.iter().enumerate() {
            let Some(cell) = cells.get(index(row, column, rows, columns)) else { continue };
            all.extend(std::iter::repeat_n(b' ', pad));
            all.extend(&cell.text);
            pad = width + 2 - cell.width.min(*width);
        }
        all.push(options.end);
    }
    all
}

fn long(entries: &[Entry], options: &Options) -> Vec<u8> {
    let now = Time::now();
    let mut users = Names::default();
    let rows: Vec<Vec<(String, bool)>> = entries
        .iter()
        .map(|entry| {
            let facts = &entry.facts;
            let mut row = Vec::new();
            if options.inode {
                row.push((facts.inode.to_string(), true));
            }
            if options.blocks {
                row.push((options.size(facts.blocks * 512, true), true));
            }
            row.push((facts.mode_text(), false));
            row.push((facts.links.to_string(), true));
            if options.owner {
                row.push((users.user(facts.owner, options.numbers), options.numbers));
            }
            if options.group {
                row.push((users.group(facts.group, options.numbers), options.numbers));
            }
            row.push((options.size(facts.size, false), true));
            row.push((time(facts, options, now), false));
            row
        })
        .collect();
    let count = rows.first().map_or(0, Vec::len);
    let width = |column: usize| rows.iter().map(|row| row[column].0.len()).max().unwrap_or(0);
    let widths: Vec<usize> = (0..count).map(width).collect();
    let mut all = Vec::new();
    for (row, entry) in rows.iter().zip(entries) {
        for ((cell, right), width) in row.iter().zip(&widths) {
            let cell = if *right { format!("{cell:>width$} ") } else { format!("{cell:<width$} ") };
            all.extend(cell.into_bytes());
        }
        all.extend(colored(&quoted(&entry.name, options), &entry.facts, options));
        match &entry.target {
            None => all.extend(mark(&entry.facts, options).as_bytes()),
            Some((target, behind)) => {
                all.extend(b" -> ");
                all.extend(quoted(target, options));
                all.extend(behind.map_or("", |it| mark(&it, options)).as_bytes());
            }
        }
        all.push(options.end);
    }
    all
}

/// Names of owners, looked up once.
#[derive(Default)]
struct Names {
    users: Vec<(u32, String)>,
    groups: Vec<(u32, String)>,
}

impl Names {
    fn user(&mut self, id: u32, number: bool) -> String {
        if number { id.to_string() } else { known(&mut self.users, id, owner::user) }
    }

    fn group(&mut self, id: u32, number: bool) -> String {
        if number { id.to_string() } else { known(&mut self.groups, id, owner::group) }
    }
}

fn known(names: &mut Vec<(u32, String)>, id: u32, find: fn(u32) -> Option<String>) -> String {
    if let Some((_, name)) = names.iter().find(|(it, _)| *it == id) {
        return name.clone();
    }
    let name = find(id).unwrap_or_else(|| id.to_string());
    names.push((id, name.clone()));
    name
}

fn time(facts: &Facts, options: &Options, now: Time) -> String {
    let it = match options.clock {
        Clock::Modified => facts.modified,
        Clock::Accessed => facts.accessed,
        Clock::Changed => facts.changed,
    };
    let age = now.seconds.saturating_sub(it.seconds);
    let recent = (0..RECENT_SECONDS).contains(&age) || (age < 0 && age > -60);
    let format = match &options.style {
        Style::FullIso => return it.full(),
        Style::LongIso => "%Y-%m-%d %H:%M",
        Style::Iso if recent => "%m-%d %H:%M",
        Style::Iso => "%Y-%m-%d ",
        Style::Locale if recent => "%b %e %H:%M",
        Style::Locale => "%b %e  %Y",
        Style::Format(format) => match format.split_once('\n') {
            Some((old, new)) => {
                if recent {
                    new
                } else {
                    old
                }
            }
            None => format.as_str(),
        },
    };
    let (mut shown, mut signs) = (String::new(), format.chars());
    while let Some(sign) = signs.next() {
        match (sign, if sign == '%' { signs.next() } else { None }) {
            ('%', Some('%')) => shown.push('%'),
            ('%', Some(letter)) => match it.piece(letter) {
                Some(piece) => shown.push_str(&piece),
                None => shown.extend(['%', letter]),
            },
            (sign, _) => shown.push(sign),
        }
    }
    shown
}

fn mark(facts: &Facts, options: &Options) -> &'static str {
    match (options.marks, facts.kind) {
        (Marks::None, _) => "",
        (_, Kind::Directory) => "/",
        (Marks::Folders, _) => "",
        (_, Kind::Symlink) => "@",
        (_, Kind::Fifo) => "|",
        (_, Kind::Socket) => "=",
        (Marks::All, Kind::File) if facts.mode & 0o111 != 0 => "*",
        _ => "",
    }
}

fn colored(name: &[u8], facts: &Facts, options: &Options) -> Vec<u8> {
    let color = match facts.kind {
        _ if !options.color => None,
        Kind::Directory => Some("01;34"),
        Kind::Symlink => Some("01;36"),
        Kind::Fifo => Some("33"),
        Kind::Socket => Some("01;35"),
        Kind::Character | Kind::Block => Some("01;33"),
        Kind::File if facts.mode & 0o111 != 0 => Some("01;32"),
        Kind::File => None,
    };
    match color {
        Some(color) => [b"\x1b[0m\x1b[", color.as_bytes(), b"m", name, b"\x1b[0m"].concat(),
        None => name.to_vec(),
    }
}

/// A name in the style that was asked for.
pub fn quoted(name: &[u8], options: &Options) -> Vec<u8> {
    match options.quotes {
        Quotes::Literal => name.to_vec(),
        Quotes::Hidden => text(name)
            .chars()
            .map(|it| if it.is_control() { '?' } else { it })
            .collect::<String>()
            .into_bytes(),
        Quotes::Shell => shell(name),
        Quotes::C => format!("\"{}\"", escaped(name, &['"'])).into_bytes(),
        Quotes::Escape => escaped(name, &[' ']).into_bytes(),
    }
}

fn shell(name: &[u8]) -> Vec<u8> {
    const SPECIAL: &[u8] = b" \t\n!\"$&'()*;<=>?[\\^`|";
    let at_start = matches!(name.first(), None | Some(b'#' | b'~'));
    let control = name.iter().any(|it| it.is_ascii_control());
    if !at_start && !control && !name.iter().any(|it| SPECIAL.contains(it)) {
        return name.to_vec();
    }
    if control {
        return format!("$'{}'", escaped(name, &['\''])).into_bytes();
    }
    if name.contains(&b'\'') && !name.iter().any(|it| b"\"$`\\!".contains(it)) {
        return [b"\"", name, b"\""].concat();
    }
    format!("'{}'", text(name).replace('\'', "'\\''")).into_bytes()
}

fn escaped(name: &[u8], special: &[char]) -> String {
    let mut all = String::new();
    for sign in text(name).chars() {
        match sign {
            '\n' => all.push_str("\\n"),
            '\t' => all.push_str("\\t"),
            '\r' => all.push_str("\\r"),
            '\\' => all.push_str("\\\\"),
            control if control.is_ascii_control() => all.push_str(&format!("\\{:03o}", u32::from(control))),
            other => {
                if special.contains(&other) {
                    all.push('\\');
                }
                all.push(other);
            }
        }
    }
    all
}

#[cfg(test)]
mod tests {
    use super::shell;

    #[test]
    fn names_are_quoted_where_a_shell_would_take_them_apart() {
        let cases = [
            ("plain", "plain"),
            ("a b", "'a b'"),
            ("it's", "\"it's\""),
            ("#x", "'#x'"),
            ("", "''"),
            ("a$'b", "'a$'\\''b'"),
            ("a\nb", "$'a\\nb'"),
            ("x=1", "'x=1'"),
        ];
        for (name, want) in cases {
            assert_eq!(shell(name.as_bytes()), want.as_bytes(), "{name:?}");
        }
    }
}

//! `pr`: text in pages, with a title, and in columns.
//!
//! Ours because coreutils' crate cuts columns otherwise than GNU's program does.

mod row;
mod settings;
#[cfg(test)]
mod tests;

use super::arguments::{self, refuse};
use crate::stream::{Input, Out, path, reason, text};
use calendar::{Moment, Zone};
use facts::Follow;
use row::Row;
use settings::{EDGE_LINES, Settings};

const HELP: &str = "\
Usage: pr [OPTION]... [FILE]...
Paginate or columnate FILE(s) for printing.

  +FIRST[:LAST], --pages=FIRST[:LAST]  begin and stop with these pages
  -COLUMN, --columns=COLUMN  as many columns, down the page
  -a, --across     print columns across
  -d, --double-space   -F, --form-feed   -J, --join-lines
  -h, --header=HEADER  -D, --date-format=FORMAT
  -e[CHAR[WIDTH]], --expand-tabs   -i[CHAR[WIDTH]], --output-tabs
  -l, --length=LINES   -w, --width=COLUMNS   -W, --page-width=COLUMNS
  -m, --merge      all files in parallel, one in each column
  -n[SEP[DIGITS]], --number-lines  -N, --first-line-number=NUMBER
  -o, --indent=MARGIN  -s[CHAR], --separator  -S[STRING], --sep-string
  -t, --omit-header    -T, --omit-pagination  -r, --no-file-warnings
  -c, --show-control-chars   -v, --show-nonprinting
";

/// The applet.
pub fn main(args: &[&[u8]]) -> i32 {
    // `+2:5` is an option that looks like an operand.
    let is_range = |arg: &[u8]| matches!(arg, [b'+', b'1'..=b'9', ..]);
    let spelled: Vec<Vec<u8>> =
        args.iter().filter(|arg| is_range(arg)).map(|arg| [b"--pages=", &arg[1..]].concat()).collect();
    let words: Vec<&[u8]> =
        spelled.iter().map(Vec::as_slice).chain(args.iter().copied().filter(|arg| !is_range(arg))).collect();
    let line = match arguments::read("pr", HELP, &words, settings::TABLE, 1) {
        Ok(line) => line,
        Err(status) => return status,
    };
    let names = line.inputs();
    let settings = match settings::read(&line, names.len()) {
        Ok(settings) => settings,
        Err(problem) => return refuse("pr", &problem, 1),
    };
    let (mut out, mut status) = (Out::new("pr"), 0);
    let mut files = Vec::new();
    for name in &names {
        match Input::open(name).and_then(|mut input| input.all()) {
            Ok(bytes) => files.push(File { name: (**name).to_vec(), lines: lines(&bytes) }),
            Err(error) => {
                status = 1;
                if !settings.quiet {
                    out.complain(&format!("{}: {}", text(name), reason(&error)));
                }
            }
        }
    }
    let mut printer = Printer { settings: &settings, number: settings.first_number };
    let done = match settings.merge {
        true => printer.merged(&files, &mut out),
        false => files.iter().try_for_each(|file| printer.file(file, &mut out)),
    };
    match done {
        Ok(()) => out.end(status),
        Err(problem) => refuse("pr", &problem, 1),
    }
}

struct File {
    name: Vec<u8>,
    lines: Vec<Line>,
}

/// A line, and whether a new page follows it.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Line {
    text: Vec<u8>,
    ends_page: bool,
}

/// The lines of a file; a form feed ends its line and the page.
fn lines(bytes: &[u8]) -> Vec<Line> {
    let mut all: Vec<Line> = Vec::new();
    let mut rest = bytes;
    while !rest.is_empty() {
        let end = rest.iter().position(|byte| matches!(byte, b'\n' | b'\x0c')).unwrap_or(rest.len());
        let feed = rest.get(end) == Some(&b'\x0c');
        let text = rest[..end].to_vec();
        rest = rest.get(end + 1..).unwrap_or_default();
        if feed {
            // What ends with the page ends with the line, too.
            rest = rest.strip_prefix(b"\n").unwrap_or(rest);
        }
        match all.last_mut() {
            Some(last) if feed && text.is_empty() && !last.ends_page => last.ends_page = true,
            _ => all.push(Line { text, ends_page: feed }),
        }
    }
    all
}

struct Printer<'s> {
    settings: &'s Settings,
    number: i64,
}

impl Printer<'_> {
    fn file(&mut self, file: &File, out: &mut Out) -> Result<(), String> {
        let (settings, room) = (self.settings, self.settings.body_lines * self.settings.columns);
        self.number = settings.first_number;
        let mut rest = file.lines.as_slice();
        let mut page = 1;
        while !rest.is_empty() {
            let end = rest.iter().take(room).position(|line| line.ends_page).map_or(room, |at| at + 1);
            let (lines, after) = rest.split_at(end.min(rest.len()));
            rest = after;
            let cells: Vec<&[u8]> = lines.iter().map(|line| line.text.as_slice()).collect();
            let rows = arranged(&cells, settings.columns, settings.body_lines, settings.across);
            self.page(page, &file.name, &rows, cells.len() as i64, out)?;
            page += 1;
        }
        if settings.first_page >= page && page > 1 {
            let (first, count) = (settings.first_page, page - 1);
            out.complain(&format!("starting page number {first} exceeds page count {count}"));
        }
        Ok(())
    }

    fn merged(&mut self, files: &[File], out: &mut Out) -> Result<(), String> {
        let length = files.iter().map(|file| file.lines.len()).max().unwrap_or(0);
        for (page, start) in (1..).zip((0..length).step_by(self.settings.body_lines)) {
            let end = length.min(start + self.settings.body_lines);
            let cell = |file: &'_ File, at: usize| file.lines.get(at).map(|line| line.text.clone());
            let rows: Vec<Vec<Option<Vec<u8>>>> =
                (start..end).map(|at| files.iter().map(|file| cell(file, at)).collect()).collect();
            let rows: Vec<Vec<Cell<'_>>> = rows
                .iter()
                .enumerate()
                .map(|(row, cells)| cells.iter().map(|it| it.as_deref().map(|text| (row, text))).collect())
                .collect();
            self.page(page, b"", &rows, rows.len() as i64, out)?;
        }
        Ok(())
    }

    fn page(
        &mut self,
        page: usize,
        name: &[u8],
        rows: &[Vec<Cell<'_>>],
        count: i64,
        out: &mut Out,
    ) -> Result<(), String> {
        let settings = self.settings;
        let first = self.number;
        self.number = first.saturating_add(count);
        if page < settings.first_page || page > settings.last_page {
            return Ok(());
        }
        if settings.edges {
            out.put(self.title(page, name).as_bytes());
        }
        let layout = Layout::new(settings)?;
        for row in rows {
            out.put(&layout.row(settings, row, first));
            out.put(if settings.double { b"\n\n" } else { b"\n" });
        }
        if settings.edges && settings.form_feed {
            out.sign(b'\x0c');
        } else if settings.edges {
            let lines = if settings.double { 2 } else { 1 };
            let left = (settings.body_lines - rows.len()) * lines;
            out.put(&b"\n".repeat(left + EDGE_LINES));
        }
        Ok(())
    }

    fn title(&self, page: usize, name: &[u8]) -> String {
        let settings = self.settings;
        let known =
            (name != b"-" && !name.is_empty()).then(|| facts::of(path(name), Follow::Yes).ok()).flatten();
        let seconds = known.map_or_else(calendar::now, |it| it.modified.seconds);
        let date = calendar::strftime(&Moment::of(seconds), Zone::default(), &settings.date);
        let own = if name == b"-" { "".into() } else { text(name) };
        let header = settings.header.as_deref().unwrap_or(&own);
        let number = format!("Page {page}");
        let taken = date.chars().count() + header.chars().count() + number.len();
        let room = settings.width.saturating_sub(taken);
        let (left, right) = ((room / 2).max(1), (room - room / 2).max(1));
        let margin = String::from_utf8_lossy(&Row::new(settings).end()).into_owned();
        format!("{margin}\n\n{margin}{date}{:left$}{header}{:right$}{number}\n\n\n", "", "")
    }
}

/// The text of a cell, and which line of the page it is.
type Cell<'t> = Option<(usize, &'t [u8])>;

/// The rows of a page. Down the columns, the last page's columns are as long as each other.
fn arranged<'t>(cells: &[&'t [u8]], columns: usize, lines: usize, across: bool) -> Vec<Vec<Cell<'t>>> {
    let cell = |at: usize| cells.get(at).map(|text| (at, *text));
    if across {
        return (0..cells.len().div_ceil(columns))
            .map(|row| (0..columns).map(|column| cell(row * columns + column)).collect())
            .collect();
    }
    let full = cells.len() == columns * lines;
    let (each, more) = if full { (lines, 0) } else { (cells.len() / columns, cells.len() % columns) };
    let length = |column: usize| each + usize::from(column < more);
    let starts: Vec<usize> = (0..columns).map(|column| column * each + column.min(more)).collect();
    let one =
        |row: usize, column: usize| if row < length(column) { cell(starts[column] + row) } else { None };
    (0..length(0)).map(|row| (0..columns).map(|column| one(row, column)).collect()).collect()
}

/// Where columns begin and how wide they are.
struct Layout {
    column_width: usize,
    number_width: usize,
}

impl Layout {
    fn new(settings: &Settings) -> Result<Self, String> {
        let number_width = settings.number.map_or(0, |(separator, digits)| match separator {
            b'\t' => digits + 8 - digits % 8,
            _ => digits + 1,
        });
        // The number is part of its column, unless one number stands for all files.
        let outside = if settings.merge { number_width } else { 0 };
        let taken = outside + (settings.columns - 1) * settings.separator.len();
        let column_width = settings.width.saturating_sub(taken) / settings.columns;
        if column_width == 0 && settings.truncate {
            return Err("page width too narrow".to_owned());
        }
        Ok(Self { column_width, number_width })
    }

    fn row(&self, settings: &Settings, cells: &[Cell<'_>], first: i64) -> Vec<u8> {
        let mut row = Row::new(settings);
        let shift = settings.margin + if settings.merge { self.number_width } else { 0 };
        // A file that has ended keeps its column, but columns of one file end with their text.
        let end = cells.iter().rposition(Option::is_some).unwrap_or(0);
        let last = if settings.merge { cells.len().saturating_sub(1) } else { end };
        for (at, cell) in cells.iter().enumerate().take(last + 1) {
            if at > 0 {
                if settings.truncate {
                    row.go_to(shift + at * self.column_width + (at - 1) * settings.separator.len());
                }
                row.separate(&settings.separator);
            }
            let numbered = settings.number.filter(|_| !settings.merge || at == 0);
            if let Some((separator, digits)) = numbered
                && let Some(line) =
                    cell.map(|(line, _)| line).or((settings.merge).then(|| merged_line(cells)))
            {
                row.number(first.saturating_add(line as i64), separator, digits);
            }
            let Some((_, text)) = cell else { continue };
            let inside = if settings.merge { 0 } else { self.number_width };
            match settings.truncate {
                true => row.text(text, inside, self.column_width),
                false => row.text(text, 0, usize::MAX),
            }
        }
        row.end()
    }
}

/// Which line of the page a row of several files is.
fn merged_line(cells: &[Cell<'_>]) -> usize {
    cells.iter().flatten().next().map_or(0, |(line, _)| *line)
}

//! `column`: lines as a table, or as columns that fill a screen.

use crate::{complain, print};
use options::{Item, Order};

const TABLE: &[&str] = &[
    "t,table",
    "s,separator=",
    "o,output-separator=",
    "N,table-columns=",
    "c,output-width,columns=",
    "x,fillrows",
    "R,table-right=",
    "H,table-hide=",
    "O,table-order=",
    "d,table-noheadings",
    "e,table-header-repeat",
    "n,table-name=",
    "l,table-columns-limit=",
    "L,keep-empty-lines",
    "J,json",
    "E,table-noextreme=",
    "T,table-truncate=",
    "W,table-wrap=",
    "h,help",
    "V,version",
];
const HELP: &str = "Usage:\n column [options] [<file>...]\n\nColumnate lists.\n
 -t, --table                      create a table
 -s, --separator <string>         possible table delimiters
 -o, --output-separator <string>  columns separator for table output (default is two spaces)
 -N, --table-columns <names>      comma separated columns names
 -R, --table-right <columns>      right align text in these columns
 -H, --table-hide <columns>       don't print the columns
 -d, --table-noheadings           don't print header
 -c, --output-width <width>       width of output in number of characters
 -x, --fillrows                   fill rows before columns
 -J, --json                       use JSON output format for table
 -n, --table-name <name>          table name for JSON output
";

#[derive(Default)]
struct Settings {
    table: bool,
    json: bool,
    separators: Option<String>,
    joined_by: String,
    names: Vec<String>,
    right: Vec<String>,
    hide: Vec<String>,
    headings: bool,
    limit: Option<usize>,
    name: String,
    width: usize,
    rows_first: bool,
    keep_empty: bool,
}

/// Arranges the input and returns the exit status.
pub(crate) fn run(args: &[String]) -> i32 {
    let items = match options::parse(args, TABLE, Order::Anywhere) {
        Ok(items) => items,
        Err(problem) => return complain("column", &problem),
    };
    let mut settings = Settings {
        joined_by: "  ".to_owned(),
        headings: true,
        width: 80,
        name: "table".to_owned(),
        ..Settings::default()
    };
    let list = |text: String| text.split(',').map(str::to_owned).collect::<Vec<_>>();
    let mut files = Vec::new();
    for item in items {
        match item {
            Item::Flag("t", _) => settings.table = true,
            Item::Flag("s", value) => settings.separators = value,
            Item::Flag("o", Some(text)) => settings.joined_by = text,
            Item::Flag("N", Some(text)) => settings.names = list(text),
            Item::Flag("R", Some(text)) => settings.right = list(text),
            Item::Flag("H", Some(text)) => settings.hide = list(text),
            Item::Flag("d", _) => settings.headings = false,
            Item::Flag("n", Some(text)) => settings.name = text,
            Item::Flag("J", _) => (settings.json, settings.table) = (true, true),
            Item::Flag("x", _) => settings.rows_first = true,
            Item::Flag("L", _) => settings.keep_empty = true,
            Item::Flag("l", Some(text)) => settings.limit = text.parse().ok().filter(|it| *it > 0),
            Item::Flag("c", Some(text)) => match text.parse() {
                Ok(width) => settings.width = width,
                Err(_) if text == "unlimited" => settings.width = usize::MAX,
                Err(_) => return complain("column", &format!("invalid columns argument: '{text}'")),
            },
            Item::Flag("h", _) => return print(HELP.as_bytes()),
            Item::Flag(..) => {}
            Item::Operand(file) => files.push(file),
        }
    }
    if files.is_empty() {
        files.push("-".to_owned());
    }
    let (mut text, mut status) = (String::new(), 0);
    for name in &files {
        match place::stdio::read(name) {
            Ok(bytes) => text.push_str(&String::from_utf8_lossy(&bytes)),
            Err(error) => status = complain("column", &format!("{name}: {}", place::reason(&error))),
        }
    }
    // Not `lines`, which would take a carriage return with the line's end.
    let whole = text.strip_suffix('\n').unwrap_or(&text);
    let lines: Vec<&str> =
        whole.split('\n').filter(|it| settings.keep_empty || !it.trim().is_empty()).collect();
    let out = match (settings.table, settings.json) {
        (true, false) => table(&settings, &lines),
        (true, true) => json(&settings, &lines),
        (false, _) => fill(&settings, &lines),
    };
    status.max(print(out.as_bytes()))
}

/// How many columns of a screen a text takes.
fn width(text: &str) -> usize {
    text.chars()
        .map(|it| match u32::from(it) {
            0x300..=0x36f | 0x200b..=0x200f => 0,
            0x1100..=0x115f
            | 0x2e80..=0xa4cf
            | 0xac00..=0xd7a3
            | 0xf900..=0xfaff
            | 0xfe30..=0xfe6f
            | 0xff00..=0xff60
            | 0x1f300..=0x1faff
            | 0x20000..=0x3fffd => 2,
            _ => 1,
        })
        .sum()
}

fn cells<'a>(settings: &Settings, line: &'a str) -> Vec<&'a str> {
    let mut cells: Vec<&str> = match &settings.separators {
        // Blanks in a row count once unless they were asked for.
        None => line.split([' ', '\t']).filter(|it| !it.is_empty()).collect(),
        Some(marks) => line.split(|it| marks.contains(it)).collect(),
    };
    if let Some(limit) = settings.limit.filter(|it| cells.len() > *it) {
        // The last column takes the rest of the line as it is.
        let start = cells[limit - 1].as_ptr() as usize - line.as_ptr() as usize;
        cells.truncate(limit - 1);
        cells.push(&line[start..]);
    }
    cells
}

/// Whether a column is among those named, by its name, its number, or `-` for the last.
fn is_among(list: &[String], at: usize, count: usize, names: &[String]) -> bool {
    list.iter().any(|it| match it.as_str() {
        "-" | "-1" => at + 1 == count,
        text => text.parse() == Ok(at + 1) || names.get(at).is_some_and(|name| name == text),
    })
}

fn table(settings: &Settings, lines: &[&str]) -> String {
    let mut rows: Vec<Vec<&str>> = Vec::new();
    if !settings.names.is_empty() && settings.headings {
        rows.push(settings.names.iter().map(String::as_str).collect());
    }
    rows.extend(lines.iter().map(|line| cells(settings, line)));
    let count = rows.iter().map(Vec::len).max().unwrap_or(0);
    let mut widths = vec![0; count];
    for row in &rows {
        for (at, cell) in row.iter().enumerate() {
            widths[at] = widths[at].max(width(cell));
        }
    }
    let shown: Vec<usize> =
        (0..count).filter(|at| !is_among(&settings.hide, *at, count, &settings.names)).collect();
    let mut out = String::new();
    for row in &rows {
        for (place, at) in shown.iter().enumerate() {
            let cell = row.get(*at).copied().unwrap_or_default();
            let pad = " ".repeat(widths[*at] - width(cell));
            let last = place + 1 == shown.len();
            match is_among(&settings.right, *at, count, &settings.names) {
                true => out.push_str(&format!("{pad}{cell}")),
                // Nothing follows, so nothing needs to be aligned.
                false if last => out.push_str(cell),
                false => out.push_str(&format!("{cell}{pad}")),
            }
            if !last {
                out.push_str(&settings.joined_by);
            }
        }
        out.push('\n');
    }
    out
}

fn json(settings: &Settings, lines: &[&str]) -> String {
    let mut rows = Vec::new();
    for line in lines {
        let cells = cells(settings, line);
        let fields: Vec<String> = settings
            .names
            .iter()
            .enumerate()
            .map(|(at, name)| {
                let value = cells.get(at).map_or("null".to_owned(), |it| format!("\"{}\"", text(it)));
                format!("         \"{}\": {value}", text(&name.to_lowercase()))
            })
            .collect();
        rows.push(format!("{{\n{}\n      }}", fields.join(",\n")));
    }
    format!("{{\n   \"{}\": [\n      {}\n   ]\n}}\n", text(&settings.name), rows.join(","))
}

/// The inside of a JSON string.
fn text(plain: &str) -> String {
    let mut out = String::new();
    for sign in plain.chars() {
        match sign {
            '"' | '\\' => out.extend(['\\', sign]),
            '\r' => out.push_str("\\r"),
            '\t' => out.push_str("\\t"),
            control if control < ' ' => out.push_str(&format!("\\u{:04x}", u32::from(control))),
            other => out.push(other),
        }
    }
    out
}

/// Columns of equal width, made with tabs.
fn fill(settings: &Settings, lines: &[&str]) -> String {
    let entries: Vec<&str> = lines.to_vec();
    let longest = entries.iter().map(|it| width(it)).max().unwrap_or(0);
    let step = (longest / 8 + 1) * 8;
    let mut out = String::new();
    if longest == 0 {
        return out;
    }
    if longest >= settings.width {
        entries.iter().for_each(|it| out.push_str(&format!("{it}\n")));
        return out;
    }
    let columns = (settings.width / step).max(1);
    let rows = entries.len().div_ceil(columns);
    for row in 0..rows {
        let picked: Vec<&str> = match settings.rows_first {
            true => entries.iter().skip(row * columns).take(columns).copied().collect(),
            false => entries.iter().skip(row).step_by(rows).copied().collect(),
        };
        for (at, entry) in picked.iter().enumerate() {
            out.push_str(entry);
            if at + 1 < picked.len() {
                let mut column = width(entry);
                while column < step {
                    out.push('\t');
                    column = (column / 8 + 1) * 8;
                }
            }
        }
        out.push('\n');
    }
    out
}

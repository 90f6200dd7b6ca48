//! The command line of `pr`, with the old options turned into the new ones as GNU turns them.

use crate::own::arguments::{Arguments, count};
use crate::stream::text;

pub(super) const TABLE: &[&str] = &[
    "#",
    "columns=",
    "pages=",
    "a,across",
    "c,show-control-chars",
    "d,double-space",
    "D,date-format=",
    "e,expand-tabs?",
    "F,f,form-feed",
    "h,header=",
    "i,output-tabs?",
    "J,join-lines",
    "l,length=",
    "m,merge",
    "n,number-lines?",
    "N,first-line-number=",
    "o,indent=",
    "r,no-file-warnings",
    "s,separator?",
    "S,sep-string?",
    "t,omit-header",
    "T,omit-pagination",
    "v,show-nonprinting",
    "w,width=",
    "W,page-width=",
];
/// Lines and columns of a page are no more than these.
const LINES_MAX: usize = 100_000;
const WIDTH_MAX: usize = 100_000;
/// Blank lines, the title and blank lines; and as many lines at the end.
pub(super) const EDGE_LINES: usize = 5;

/// How bytes that show nothing are shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Unprintable {
    Plain,
    Hat,
    Octal,
}

#[derive(Debug)]
pub(super) struct Settings {
    pub columns: usize,
    pub first_page: usize,
    pub last_page: usize,
    pub across: bool,
    pub unprintable: Unprintable,
    pub double: bool,
    pub date: String,
    /// The character that is expanded, and how wide it is.
    pub expand: Option<(u8, usize)>,
    pub tabs_out: Option<(u8, usize)>,
    pub form_feed: bool,
    pub header: Option<String>,
    /// Lines of a page between its edges.
    pub body_lines: usize,
    /// Whether pages have a title and blank lines around.
    pub edges: bool,
    pub merge: bool,
    /// What stands behind a number, and its digits.
    pub number: Option<(u8, usize)>,
    pub first_number: i64,
    pub margin: usize,
    pub quiet: bool,
    pub separator: Vec<u8>,
    pub truncate: bool,
    pub width: usize,
}

pub(super) fn read(line: &Arguments<'_>, files: usize) -> Result<Settings, String> {
    let number = |id: &str, what: &str, max: usize| match line.value(id) {
        None => Ok(None),
        Some(given) => {
            let value = count(given).and_then(|it| usize::try_from(it).ok());
            let value = value.ok_or_else(|| format!("'-{id} {what}' invalid number: '{}'", text(given)))?;
            Ok::<_, String>(Some(value.min(max)))
        }
    };
    let explicit = match line.value("#").or(line.value("columns")) {
        Some(given) => match count(given) {
            Some(columns @ 1..=10_000) => Some(columns as usize),
            _ => return Err(format!("invalid number of columns: '{}'", text(given))),
        },
        None => None,
    };
    let merge = line.has("m");
    if merge && explicit.is_some() {
        return Err("cannot specify number of columns when printing in parallel".to_owned());
    }
    if merge && line.has("a") {
        return Err("cannot specify both printing across and printing in parallel".to_owned());
    }
    let columns = if merge { files.max(1) } else { explicit.unwrap_or(1) };
    let page_width = number("W", "PAGE_WIDTH", WIDTH_MAX)?;
    let old_width = number("w", "PAGE_WIDTH", WIDTH_MAX)?;
    let width = page_width.or(old_width).unwrap_or(72);
    if width == 0 {
        return Err("'-w PAGE_WIDTH' invalid number of characters: '0'".to_owned());
    }
    let (mut join, mut truncate) = (line.has("J"), page_width.is_some());
    let several = merge || explicit.is_some();
    // An old `-s` alone puts fields side by side; with a width, they are columns.
    match (old_width, several) {
        (Some(_), true) => truncate = true,
        (Some(_), false) => join = true,
        (None, true) if line.has("s") && !line.has("S") && !truncate => join = true,
        _ => {}
    }
    let separator = separator(line, columns, join);
    let truncate = (truncate || columns > 1) && !join;
    let page_lines = number("l", "PAGE_LENGTH", LINES_MAX)?.unwrap_or(66);
    if page_lines == 0 {
        return Err("'-l PAGE_LENGTH' invalid number of lines: '0'".to_owned());
    }
    let edges = !line.has("t") && !line.has("T") && page_lines > 2 * EDGE_LINES;
    let body = if edges { page_lines - 2 * EDGE_LINES } else { page_lines };
    let (first_page, last_page) = pages(line)?;
    let untabify = columns > 1 && separator != b"\t";
    Ok(Settings {
        columns,
        first_page,
        last_page,
        across: line.has("a"),
        unprintable: match (line.has("v"), line.has("c")) {
            (true, _) => Unprintable::Octal,
            (_, true) => Unprintable::Hat,
            _ => Unprintable::Plain,
        },
        double: line.has("d"),
        date: line.value("D").map_or("%Y-%m-%d %H:%M".to_owned(), |it| text(it).into_owned()),
        expand: tab(line, "e").or(untabify.then_some((b'\t', 8))),
        tabs_out: tab(line, "i").or((columns > 1).then_some((b'\t', 8))),
        form_feed: line.has("F"),
        header: line.value("h").map(|it| text(it).into_owned()),
        body_lines: if line.has("d") { (body / 2).max(1) } else { body },
        edges,
        merge,
        number: line.has("n").then(|| with_width(line.value("n"), b'\t', 5)),
        first_number: number("N", "NUMBER", usize::MAX)?
            .map_or(1, |it| i64::try_from(it).unwrap_or(i64::MAX)),
        margin: number("o", "MARGIN", WIDTH_MAX)?.unwrap_or(0),
        quiet: line.has("r"),
        separator,
        truncate,
        width,
    })
}

fn separator(line: &Arguments<'_>, columns: usize, join: bool) -> Vec<u8> {
    let given = match (line.has("S"), line.has("s")) {
        (true, _) => Some(line.value("S").unwrap_or_default().to_vec()),
        (_, true) => Some(line.value("s").map_or(b"\t".to_vec(), |it| it[..it.len().min(1)].to_vec())),
        _ => None,
    };
    match given {
        None if join => b"\t".to_vec(),
        None => b" ".to_vec(),
        // A tab between columns that are aligned would be of no use.
        Some(tab) if tab == b"\t" && columns > 1 && !join => b" ".to_vec(),
        Some(given) => given,
    }
}

fn tab(line: &Arguments<'_>, id: &str) -> Option<(u8, usize)> {
    line.has(id).then(|| with_width(line.value(id), b'\t', 8))
}

/// `[CHARACTER[WIDTH]]`.
fn with_width(given: Option<&[u8]>, character: u8, width: usize) -> (u8, usize) {
    let (character, digits) = match given.unwrap_or_default() {
        [first, rest @ ..] if !first.is_ascii_digit() => (*first, rest),
        digits => (character, digits),
    };
    let given = count(digits).and_then(|it| usize::try_from(it).ok()).filter(|it| (1..=1000).contains(it));
    (character, given.unwrap_or(width))
}

/// `--pages=FIRST[:LAST]`.
fn pages(line: &Arguments<'_>) -> Result<(usize, usize), String> {
    let Some(given) = line.value("pages") else { return Ok((1, usize::MAX)) };
    let shown = text(given);
    let (first, last) = shown.split_once(':').map_or((&*shown, None), |(first, last)| (first, Some(last)));
    let page = |it: &str| it.parse::<usize>().ok().filter(|it| *it > 0);
    let range = page(first).zip(last.map_or(Some(usize::MAX), page)).filter(|(first, last)| first <= last);
    range.ok_or_else(|| format!("invalid page range '{shown}'"))
}

//! What the command line of `ls` asks for.

use super::entry::Entry;
use crate::own::arguments::{Arguments, count};
use crate::own::sort::version;
use crate::stream::text;
use facts::pattern;
use std::cmp::Ordering;
use std::io::IsTerminal as _;

pub const HELP: &str = "\
Usage: ls [OPTION]... [FILE]...
Lists files and what is in directories.

  -a, --all               also names that begin with a dot
  -A, --almost-all        the same without . and ..
  -B, --ignore-backups    no names that end with ~
  -I, --ignore=PATTERN    no names that match;  --hide=PATTERN: unless -a or -A
  -d, --directory         directories themselves
  -R, --recursive         directories below, too
  -H, -L, --dereference   follow links on the command line, all links
  -l, -g, -o, -n          long: without owner, without group, with numbers;  -G: no group
  -1, -C, -x, -m          one a line, in columns, in rows, with commas
  -F, --classify, -p      mark kinds, mark directories;  --file-type: no mark for programs
  -h, --human-readable, --si   sizes with units
  -i, --inode  -s, --size      number, blocks
  -t, -S, -X, -v, -U, --sort=WORD  by time, size, extension, version, not at all
  -r, --reverse           last first;  --group-directories-first
  -c, -u, --time=WORD     time of change of status, of access
      --full-time, --time-style=STYLE   full-iso, long-iso, iso, locale, +FORMAT
  -q, -N, -Q, -b          hide control characters, show them, quote names, escape
  -w, --width=COLUMNS     instead of the terminal's
      --color[=WHEN]      always, auto, never
      --zero              end lines with NUL
";

pub const TABLE: &[&str] = &[
    "a,all",
    "A,almost-all",
    "B,ignore-backups",
    "I,ignore=",
    "hide=",
    "d,directory",
    "R,recursive",
    "H,dereference-command-line",
    "L,dereference",
    "l",
    "g",
    "o",
    "n,numeric-uid-gid",
    "G,no-group",
    "1",
    "C",
    "x",
    "m",
    "format=",
    "F",
    "classify?",
    "p",
    "file-type",
    "indicator-style=",
    "h,human-readable",
    "si",
    "i,inode",
    "s,size",
    "t",
    "S",
    "X",
    "v",
    "U",
    "f",
    "sort=",
    "r,reverse",
    "group-directories-first",
    "c",
    "u",
    "time=",
    "full-time",
    "time-style=",
    "q,hide-control-chars",
    "N,literal",
    "show-control-chars",
    "Q,quote-name",
    "b,escape",
    "quoting-style=",
    "w,width=",
    "color?",
    "colour?",
    "zero",
    "k,kibibytes",
    "author",
    "T,tabsize=",
    "Z,context",
    "hyperlink?",
    "dired,D",
    "block-size=",
];

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Shape {
    Lines,
    Columns,
    Rows,
    Commas,
    Long,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Sort {
    Name,
    Time,
    Size,
    Extension,
    Version,
    Width,
    Not,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Clock {
    Modified,
    Accessed,
    Changed,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Marks {
    None,
    Folders,
    NoPrograms,
    All,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Quotes {
    Literal,
    Hidden,
    Shell,
    C,
    Escape,
}

#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Style {
    Locale,
    FullIso,
    LongIso,
    Iso,
    Format(String),
}

#[derive(Debug)]
pub struct Options {
    pub shape: Shape,
    pub sort: Sort,
    pub reverse: bool,
    pub folders_first: bool,
    pub dots: bool,
    hidden: bool,
    ignored: Vec<String>,
    pub directory: bool,
    pub recursive: bool,
    pub follow: bool,
    pub follow_named: bool,
    pub owner: bool,
    pub group: bool,
    pub numbers: bool,
    pub marks: Marks,
    unit: Option<u64>,
    pub inode: bool,
    pub blocks: bool,
    pub clock: Clock,
    pub style: Style,
    pub quotes: Quotes,
    pub width: usize,
    pub color: bool,
    pub end: u8,
}

/// Reads the command line; a shape that the applet's name gives is the default.
pub fn read(line: &Arguments<'_>, shape: Option<Shape>) -> Result<Options, String> {
    let terminal = std::io::stdout().is_terminal();
    let usual = if terminal { Shape::Columns } else { Shape::Lines };
    let quotes = if shape.is_some() {
        Quotes::Escape
    } else if terminal {
        Quotes::Shell
    } else {
        Quotes::Literal
    };
    let columns = std::env::var("COLUMNS").ok().and_then(|it| it.parse().ok()).filter(|it| *it > 0);
    let mut it = Options {
        shape: shape.unwrap_or(usual),
        sort: Sort::Name,
        reverse: false,
        folders_first: false,
        dots: false,
        hidden: false,
        ignored: Vec::new(),
        directory: false,
        recursive: false,
        follow: false,
        follow_named: false,
        owner: true,
        group: true,
        numbers: false,
        marks: Marks::None,
        unit: None,
        inode: false,
        blocks: false,
        clock: Clock::Modified,
        style: Style::Locale,
        quotes,
        width: columns.unwrap_or(80),
        color: false,
        end: b'\n',
    };
    for (id, value) in &line.flags {
        let value = value.map(text);
        it.flag(id, value.as_deref(), terminal)?;
    }
    // Times that are asked for decide the order, unless they are shown.
    if it.clock != Clock::Modified && it.sort == Sort::Name && it.shape != Shape::Long {
        it.sort = Sort::Time;
    }
    Ok(it)
}

impl Options {
    // One arm an option: taking it apart would only hide the table that it is.
    fn flag(&mut self, id: &str, value: Option<&str>, terminal: bool) -> Result<(), String> {
        let wrong =
            |option: &str| Err(format!("invalid argument '{}' for '{option}'", value.unwrap_or_default()));
        match id {
            "a" => (self.dots, self.hidden) = (true, true),
            "A" => (self.dots, self.hidden) = (false, true),
            "B" => self.ignored.push("*~".to_owned()),
            "I" => self.ignored.push(value.unwrap_or_default().to_owned()),
            "hide" if !self.hidden => self.ignored.push(value.unwrap_or_default().to_owned()),
            "d" => self.directory = true,
            "R" => self.recursive = true,
            "H" => self.follow_named = true,
            "L" => (self.follow, self.follow_named) = (true, true),
            "l" => self.shape = Shape::Long,
            "g" => (self.shape, self.owner) = (Shape::Long, false),
            "o" => (self.shape, self.group) = (Shape::Long, false),
            "n" => (self.shape, self.numbers) = (Shape::Long, true),
            "G" => self.group = false,
            "1" if self.shape != Shape::Long => self.shape = Shape::Lines,
            "C" => self.shape = Shape::Columns,
            "x" => self.shape = Shape::Rows,
            "m" => self.shape = Shape::Commas,
            "format" => {
                self.shape = match value {
                    Some("long" | "verbose") => Shape::Long,
                    Some("single-column") => Shape::Lines,
                    Some("vertical") => Shape::Columns,
                    Some("across" | "horizontal") => Shape::Rows,
                    Some("commas") => Shape::Commas,
                    _ => return wrong("--format"),
                }
            }
            "F" => self.marks = Marks::All,
            "classify" => {
                self.marks = match value {
                    None | Some("always" | "yes" | "force") => Marks::All,
                    Some("auto" | "tty" | "if-tty") if terminal => Marks::All,
                    _ => Marks::None,
                }
            }
            "p" => self.marks = Marks::Folders,
            "file-type" => self.marks = Marks::NoPrograms,
            "indicator-style" => {
                self.marks = match value {
                    Some("none") => Marks::None,
                    Some("slash") => Marks::Folders,
                    Some("file-type") => Marks::NoPrograms,
                    Some("classify") => Marks::All,
                    _ => return wrong("--indicator-style"),
                }
            }
            "h" => self.unit = Some(1024),
            "si" => self.unit = Some(1000),
            "i" => self.inode = true,
            "s" => self.blocks = true,
            "t" => self.sort = Sort::Time,
            "S" => self.sort = Sort::Size,
            "X" => self.sort = Sort::Extension,
            "v" => self.sort = Sort::Version,
            "U" => self.sort = Sort::Not,
            "f" => (self.sort, self.dots, self.hidden) = (Sort::Not, true, true),
            "sort" => {
                self.sort = match value {
                    Some("none") => Sort::Not,
                    Some("time") => Sort::Time,
                    Some("size") => Sort::Size,
                    Some("extension") => Sort::Extension,
                    Some("version") => Sort::Version,
                    Some("width") => Sort::Width,
                    Some("name") => Sort::Name,
                    _ => return wrong("--sort"),
                }
            }
            "r" => self.reverse = true,
            "group-directories-first" => self.folders_first = true,
            "c" => self.clock = Clock::Changed,
            "u" => self.clock = Clock::Accessed,
            "time" => {
                self.clock = match value {
                    Some("atime" | "access" | "use") => Clock::Accessed,
                    Some("ctime" | "status") => Clock::Changed,
                    Some("mtime" | "modification") => Clock::Modified,
                    _ => return wrong("--time"),
                }
            }
            "full-time" => (self.shape, self.style) = (Shape::Long, Style::FullIso),
            "time-style" => {
                self.style = match value.map(|it| it.trim_start_matches("posix-")) {
                    Some("full-iso") => Style::FullIso,
                    Some("long-iso") => Style::LongIso,
                    Some("iso") => Style::Iso,
                    Some("locale") => Style::Locale,
                    Some(format) if format.starts_with('+') => Style::Format(format[1..].to_owned()),
                    _ => return wrong("--time-style"),
                }
            }
            "q" => self.quotes = Quotes::Hidden,
            "N" | "show-control-chars" => self.quotes = Quotes::Literal,
            "Q" => self.quotes = Quotes::C,
            "b" => self.quotes = Quotes::Escape,
            "quoting-style" => {
                self.quotes = match value {
                    Some("literal") => Quotes::Literal,
                    Some("shell" | "shell-always" | "shell-escape" | "shell-escape-always") => Quotes::Shell,
                    Some("c") => Quotes::C,
                    Some("escape") => Quotes::Escape,
                    _ => return wrong("--quoting-style"),
                }
            }
            "w" => {
                let width = value.and_then(|it| count(it.as_bytes()));
                let width =
                    width.ok_or_else(|| format!("invalid line width: '{}'", value.unwrap_or_default()))?;
                self.width =
                    if width == 0 { usize::MAX } else { usize::try_from(width).unwrap_or(usize::MAX) };
            }
            "color" | "colour" => {
                self.color = match value {
                    None | Some("always" | "yes" | "force") => true,
                    Some("auto" | "tty" | "if-tty") => terminal,
                    Some("never" | "no" | "none") => false,
                    _ => return wrong("--color"),
                }
            }
            "zero" => (self.end, self.quotes, self.color) = (0, Quotes::Literal, false),
            _ => {}
        }
        Ok(())
    }

    /// Whether a name in a directory is shown.
    pub fn shows(&self, name: &[u8]) -> bool {
        let ignored = |it: &String| pattern::fits(it, &text(name));
        (self.hidden || !name.starts_with(b".")) && !self.ignored.iter().any(ignored)
    }

    /// Whether names get marks.
    pub fn classify(&self) -> bool {
        self.marks == Marks::All
    }

    /// A size as it is shown; blocks are of 1024 bytes.
    pub fn size(&self, bytes: u64, blocks: bool) -> String {
        match self.unit {
            Some(base) => facts::human(bytes, base),
            None if blocks => bytes.div_ceil(1024).to_string(),
            None => bytes.to_string(),
        }
    }

    /// Puts entries in order.
    pub fn sort(&self, entries: &mut [Entry]) {
        let by = |left: &Entry, right: &Entry| -> Ordering {
            let time = |it: &Entry| match self.clock {
                Clock::Modified => it.facts.modified,
                Clock::Accessed => it.facts.accessed,
                Clock::Changed => it.facts.changed,
            };
            let first = match self.sort {
                Sort::Not => return Ordering::Equal,
                Sort::Name => Ordering::Equal,
                Sort::Time => time(right).cmp(&time(left)),
                Sort::Size => right.facts.size.cmp(&left.facts.size),
                Sort::Extension => left.extension().cmp(right.extension()),
                Sort::Version => version(&left.name, &right.name),
                Sort::Width => left.name.len().cmp(&right.name.len()),
            };
            let found = first.then_with(|| left.name.cmp(&right.name));
            if self.reverse { found.reverse() } else { found }
        };
        if self.sort == Sort::Not && self.reverse {
            entries.reverse();
        }
        entries.sort_by(by);
        if self.folders_first {
            entries.sort_by_key(|entry| !entry.is_folder());
        }
    }
}

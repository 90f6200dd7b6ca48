//! The command line of `diff`.

use options::{Item, Order};

const HELP: &str = "Usage: diff [OPTION]... FILES
Compare FILES line by line.

      --normal                  output a normal diff (the default)
  -q, --brief                   report only when files differ
  -s, --report-identical-files  report when two files are the same
  -c, -C NUM, --context[=NUM]   output NUM (default 3) lines of copied context
  -u, -U NUM, --unified[=NUM]   output NUM (default 3) lines of unified context
  -e, --ed                      output an ed script
  -y, --side-by-side            output in two columns
  -W, --width=NUM               output at most NUM (default 130) print columns
      --suppress-common-lines   do not output common lines
  -p, --show-c-function         show which C function each change is in
      --label LABEL             use LABEL instead of file name and timestamp
  -r, --recursive               recursively compare any subdirectories found
  -N, --new-file                treat absent files as empty
  -x, --exclude=PAT             exclude files that match PAT
  -i, --ignore-case             ignore case differences in file contents
  -Z, --ignore-trailing-space   ignore white space at line end
  -b, --ignore-space-change     ignore changes in the amount of white space
  -w, --ignore-all-space        ignore all white space
  -B, --ignore-blank-lines      ignore changes where lines are all blank
      --strip-trailing-cr       strip trailing carriage return on input
  -a, --text                    treat all files as text
      --color[=WHEN]            accepted; there is no terminal

Exit status is 0 if inputs are the same, 1 if different, 2 if trouble.
";

const TABLE: &[&str] = &[
    "normal",
    "q,brief",
    "s,report-identical-files",
    "c",
    "C=",
    "context?",
    "u",
    "U=",
    "unified?",
    "e,ed",
    "y,side-by-side",
    "W,width=",
    "left-column",
    "suppress-common-lines",
    "p,show-c-function",
    "F,show-function-line=",
    "L,label=",
    "r,recursive",
    "N,new-file",
    "P,unidirectional-new-file",
    "no-dereference",
    "x,exclude=",
    "X,exclude-from=",
    "i,ignore-case",
    "E,ignore-tab-expansion",
    "Z,ignore-trailing-space",
    "b,ignore-space-change",
    "w,ignore-all-space",
    "B,ignore-blank-lines",
    "strip-trailing-cr",
    "a,text",
    "d,minimal",
    "H,speed-large-files",
    "color?",
    "t,expand-tabs",
    "T,initial-tab",
    "horizon-lines=",
    "help",
    "v,version",
    "0",
    "1",
    "2",
    "3",
    "4",
    "5",
    "6",
    "7",
    "8",
    "9",
];

/// How differences are written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Style {
    Normal,
    Ed,
    Unified(usize),
    Context(usize),
    Side,
}

impl Style {
    /// How many unchanged lines are shown around a change.
    pub(super) const fn lines(self) -> usize {
        match self {
            Self::Unified(lines) | Self::Context(lines) => lines,
            Self::Normal | Self::Ed | Self::Side => 0,
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
enum Space {
    #[default]
    Counts,
    /// At the end of a line it does not.
    NotTrailing,
    /// Only whether there is some.
    NotAmount,
    Ignored,
}

/// What was asked for.
#[derive(Debug, Clone)]
#[allow(clippy::struct_excessive_bools, reason = "each is an option of the command line")]
pub(super) struct Settings {
    pub style: Style,
    pub brief: bool,
    pub report_same: bool,
    pub recursive: bool,
    pub new_file: bool,
    pub text: bool,
    pub ignore_blank_lines: bool,
    pub common_lines: bool,
    pub left_only: bool,
    pub functions: bool,
    pub width: usize,
    pub labels: Vec<String>,
    pub exclude: Vec<String>,
    pub files: Vec<String>,
    /// The options as they were given, for the heads of a comparison of trees.
    pub given: String,
    /// The files stand in directories that are compared.
    pub in_tree: bool,
    fold: bool,
    space: Space,
    strip_cr: bool,
}

/// Why there are no settings.
pub(super) enum Refused {
    Print(String),
    Problem(String),
}

impl Settings {
    pub(super) fn ignores_space(&self) -> bool {
        self.space != Space::Counts
    }

    /// What is equal for lines that count as equal.
    pub(super) fn key(&self, line: &[u8]) -> Vec<u8> {
        let mut line = line;
        if self.strip_cr {
            line = line.strip_suffix(b"\r").unwrap_or(line);
        }
        let blank = |byte: &u8| byte.is_ascii_whitespace() || *byte == 11;
        let mut key: Vec<u8> = match self.space {
            Space::Counts => line.to_vec(),
            Space::Ignored => line.iter().copied().filter(|it| !blank(it)).collect(),
            Space::NotTrailing => trimmed(line, blank).to_vec(),
            Space::NotAmount => {
                let mut key = Vec::with_capacity(line.len());
                for byte in trimmed(line, blank) {
                    match blank(byte) {
                        true if key.last() == Some(&b' ') => {}
                        true => key.push(b' '),
                        false => key.push(*byte),
                    }
                }
                key
            }
        };
        if self.fold {
            key.make_ascii_lowercase();
        }
        key
    }
}

fn trimmed(line: &[u8], blank: impl Fn(&u8) -> bool) -> &[u8] {
    let end = line.iter().rposition(|it| !blank(it)).map_or(0, |at| at + 1);
    &line[..end]
}

pub(super) fn parse(args: &[String]) -> Result<Settings, Refused> {
    let mut settings = Settings {
        style: Style::Normal,
        brief: false,
        report_same: false,
        recursive: false,
        new_file: false,
        text: false,
        ignore_blank_lines: false,
        common_lines: true,
        left_only: false,
        functions: false,
        width: 130,
        labels: Vec::new(),
        exclude: Vec::new(),
        files: Vec::new(),
        given: String::new(),
        in_tree: false,
        fold: false,
        space: Space::Counts,
        strip_cr: false,
    };
    let mut lines: Option<usize> = None;
    for item in options::parse(args, TABLE, Order::Anywhere).map_err(Refused::Problem)? {
        let (flag, value) = match item {
            Item::Operand(file) => {
                settings.files.push(file);
                continue;
            }
            Item::Flag(flag, value) => (flag, value),
        };
        let count = |text: &str| {
            text.parse::<usize>().map_err(|_| Refused::Problem(format!("invalid context length '{text}'")))
        };
        match (flag, value) {
            ("normal", _) => settings.style = Style::Normal,
            ("e", _) => settings.style = Style::Ed,
            ("y", _) => settings.style = Style::Side,
            ("u", _) | ("unified", None) => settings.style = Style::Unified(3),
            ("U" | "unified", Some(text)) => settings.style = Style::Unified(count(&text)?),
            ("c", _) | ("context", None) => settings.style = Style::Context(3),
            ("C" | "context", Some(text)) => settings.style = Style::Context(count(&text)?),
            ("q", _) => settings.brief = true,
            ("s", _) => settings.report_same = true,
            ("r", _) => settings.recursive = true,
            ("N" | "P", _) => settings.new_file = true,
            ("a", _) => settings.text = true,
            ("i", _) => settings.fold = true,
            ("Z" | "E", _) if settings.space == Space::Counts => settings.space = Space::NotTrailing,
            ("b", _) if settings.space != Space::Ignored => settings.space = Space::NotAmount,
            ("w", _) => settings.space = Space::Ignored,
            ("B", _) => settings.ignore_blank_lines = true,
            ("strip-trailing-cr", _) => settings.strip_cr = true,
            ("suppress-common-lines", _) => settings.common_lines = false,
            ("left-column", _) => settings.left_only = true,
            ("p", _) => settings.functions = true,
            ("L", Some(label)) => settings.labels.push(label),
            ("x", Some(pattern)) => settings.exclude.push(pattern),
            ("X", Some(file)) => {
                let text = std::fs::read_to_string(&file)
                    .map_err(|error| Refused::Problem(format!("{file}: {}", place::reason(&error))))?;
                settings.exclude.extend(text.lines().map(str::to_owned));
            }
            ("W", Some(text)) => {
                settings.width =
                    text.parse().map_err(|_| Refused::Problem(format!("invalid width '{text}'")))?;
            }
            ("help", _) => return Err(Refused::Print(HELP.to_owned())),
            ("v", _) => {
                return Err(Refused::Print("diff (GNU diffutils) 3.8 compatible, drydock\n".to_owned()));
            }
            (digit, None) if digit.len() == 1 && digit.as_bytes()[0].is_ascii_digit() => {
                let digit = usize::from(digit.as_bytes()[0] - b'0');
                lines = Some(lines.unwrap_or(0).saturating_mul(10).saturating_add(digit));
            }
            _ => {}
        }
    }
    settings.style = match (settings.style, lines) {
        (Style::Unified(_), Some(lines)) => Style::Unified(lines),
        (Style::Context(_), Some(lines)) => Style::Context(lines),
        (Style::Normal, Some(lines)) => Style::Context(lines),
        (style, _) => style,
    };
    // A function's name is shown in the head of a hunk, which a normal diff does not have.
    if settings.functions && settings.style == Style::Normal {
        settings.style = Style::Context(3);
    }
    // Whatever is not one of the two files.
    let mut files = settings.files.iter().peekable();
    for arg in args {
        if files.next_if_eq(&arg).is_none() {
            settings.given.push(' ');
            settings.given.push_str(arg);
        }
    }
    match settings.files.as_slice() {
        [_, _] => Ok(settings),
        [] => Err(Refused::Problem("missing operand after 'diff'".to_owned())),
        [one] => Err(Refused::Problem(format!("missing operand after '{one}'"))),
        [_, _, extra, ..] => Err(Refused::Problem(format!("extra operand '{extra}'"))),
    }
}

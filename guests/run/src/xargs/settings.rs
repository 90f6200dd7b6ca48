//! The command line of `xargs`.

use super::split::{Cut, delimiter};
use options::{Item, Order};

pub(super) const HELP: &str = "Usage: xargs [OPTION]... COMMAND [INITIAL-ARGS]...
Run COMMAND with arguments INITIAL-ARGS and more arguments read from input.

  -0, --null                   items are separated by a null, not whitespace
  -a, --arg-file=FILE          read arguments from FILE, not standard input
  -d, --delimiter=CHARACTER    items are separated by CHARACTER
  -E END                       stop at the item END
  -I R                         replace R in INITIAL-ARGS with names read from input
  -L, --max-lines=MAX-LINES    use at most MAX-LINES non-blank lines per command line
  -n, --max-args=MAX-ARGS      use at most MAX-ARGS arguments per command line
  -P, --max-procs=MAX-PROCS    accepted; commands run one after another
  -r, --no-run-if-empty        if there are no arguments, do not run COMMAND
  -s, --max-chars=MAX-CHARS    limit length of command line to MAX-CHARS
  -t, --verbose                print commands before executing them
  -x, --exit                   exit if the size (see -s) is exceeded
";

/// What one child is given at most: half of what a session allows, for its environment is there too.
const ARGV_BYTES_MAX: usize = 128 << 10;

const TABLE: &[&str] = &[
    "0,null",
    "a,arg-file=",
    "d,delimiter=",
    "E=",
    "e,eof?",
    "I=",
    "i,replace?",
    "L=",
    "l,max-lines?",
    "n,max-args=",
    "o,open-tty",
    "P,max-procs=",
    "p,interactive",
    "process-slot-var=",
    "r,no-run-if-empty",
    "s,max-chars=",
    "show-limits",
    "t,verbose",
    "x,exit",
    "help",
    "version",
];

/// What was asked for.
#[derive(Debug, Default)]
pub(super) struct Settings {
    cut_at: Option<u8>,
    pub file: Option<String>,
    pub end: Option<Vec<u8>>,
    pub replace: Option<Vec<u8>>,
    pub lines_max: Option<usize>,
    pub items_max: Option<usize>,
    pub bytes_max: usize,
    pub unless_empty: bool,
    pub trace: bool,
    /// Children that would run at once elsewhere, and the variable that tells them their number.
    pub slots: usize,
    pub slot_name: Option<String>,
    pub command: Vec<Vec<u8>>,
}

/// Why there are no settings.
#[derive(Debug)]
pub(super) enum Refused {
    Help,
    Version,
    Problem(String),
}

impl Settings {
    pub(super) fn cut(&self) -> Cut {
        match (self.cut_at, &self.replace) {
            (Some(byte), _) => Cut::At(byte),
            (None, Some(_)) => Cut::Lines,
            (None, None) => Cut::Words,
        }
    }
}

pub(super) fn parse(args: &[String]) -> Result<Settings, Refused> {
    let mut settings = Settings { bytes_max: ARGV_BYTES_MAX, slots: 1, ..Settings::default() };
    for item in options::parse(args, TABLE, Order::First).map_err(Refused::Problem)? {
        let (flag, value) = match item {
            Item::Flag(flag, value) => (flag, value),
            Item::Operand(word) => {
                settings.command.push(word.into_bytes());
                continue;
            }
        };
        let text = value.clone().unwrap_or_default();
        match flag {
            "0" => settings.cut_at = Some(0),
            "a" => settings.file = Some(text).filter(|it| it != "-"),
            "d" => {
                let byte = delimiter(&text).ok_or_else(|| {
                    Refused::Problem(format!("Invalid input delimiter specification {text}: the delimiter must be either a single character or an escape sequence starting with \\."))
                })?;
                settings.cut_at = Some(byte);
            }
            "E" | "e" => settings.end = value.map(String::into_bytes),
            // The last of these three wins, as each would undo the others.
            "I" | "i" => {
                settings.replace =
                    Some(value.unwrap_or_else(|| "{}".to_owned()).into_bytes()).filter(|it| !it.is_empty());
                (settings.lines_max, settings.items_max) = (None, None);
            }
            "L" | "l" => {
                settings.lines_max = Some(number('L', value.as_deref().unwrap_or("1"))?);
                (settings.replace, settings.items_max) = (None, None);
            }
            "n" => {
                let most = number('n', &text)?;
                // One at a time is what replacing does anyway.
                if most != 1 || settings.replace.is_none() {
                    settings.items_max = Some(most);
                    (settings.replace, settings.lines_max) = (None, None);
                }
            }
            "s" => settings.bytes_max = number('s', &text)?.min(ARGV_BYTES_MAX),
            "r" => settings.unless_empty = true,
            "t" => settings.trace = true,
            "p" => return Err(Refused::Problem("-p: nobody is here to ask".to_owned())),
            "help" => return Err(Refused::Help),
            "version" => return Err(Refused::Version),
            "P" => match text.trim_start().parse::<usize>() {
                Ok(count) => settings.slots = count.max(1),
                Err(_) => return Err(Refused::Problem(format!("invalid number \"{text}\" for -P option"))),
            },
            "process-slot-var" => settings.slot_name = value,
            // What does not fit is refused in any case, and there is no terminal.
            _ => {}
        }
    }
    if settings.command.is_empty() {
        settings.command.push(b"echo".to_vec());
    }
    Ok(settings)
}

fn number(flag: char, text: &str) -> Result<usize, Refused> {
    match text.trim_start().parse() {
        Ok(0) => Err(Refused::Problem(format!("value {text} for -{flag} option should be >= 1"))),
        Ok(number) => Ok(number),
        Err(_) => Err(Refused::Problem(format!("invalid number \"{text}\" for -{flag} option"))),
    }
}

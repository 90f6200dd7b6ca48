//! The command line: `awk [-F fs] [-v var=value] [-f file | program] [operand...]`.

use crate::FATAL;
use options::{Item, Order};
use place::reason;
use place::stdio::path;

/// What was asked for.
pub(crate) enum Request {
    Run(Box<Options>),
    Print(&'static str),
}

/// What a run starts with.
#[derive(Default)]
pub(crate) struct Options {
    pub program: Vec<u8>,
    pub separator: Option<Vec<u8>>,
    pub assignments: Vec<Vec<u8>>,
    pub operands: Vec<Vec<u8>>,
}

const VERSION: &str = "GNU Awk 5.2.1, API 3.2 (compatible; drydock)\n";
const USAGE: &str = "Usage: awk [POSIX or GNU style options] -f progfile [--] file ...
Usage: awk [POSIX or GNU style options] [--] 'program' file ...
\t-f progfile\t\t--file=progfile
\t-F fs\t\t\t--field-separator=fs
\t-v var=val\t\t--assign=var=val
\t-e 'program-text'\t--source='program-text'
\t-h\t\t\t--help
\t-V\t\t\t--version
";

const TABLE: &[&str] = &[
    "f,file=",
    "F,field-separator=",
    "v,assign=",
    "e,source=",
    "i,include=",
    "h,help",
    "V,version",
    // These change nothing here: POSIX's rules, intervals, bytes and sandboxes are what they are.
    "P,posix",
    "c,traditional",
    "r,re-interval",
    "S,sandbox",
    "b,characters-as-bytes",
    "n,non-decimal-data",
    "O,optimize",
    "s,no-optimize",
    "t,lint-old",
    "k,csv",
    "lint?",
];

/// Reads the arguments after the program's name.
pub(crate) fn parse(args: &[Vec<u8>]) -> Result<Request, (i32, String)> {
    let mut settings = Options::default();
    let mut given = false;
    let mut rest = Vec::new();
    let items = options::split(args.iter().map(Vec::as_slice), TABLE, Order::First);
    for item in items.map_err(|problem| (1, format!("{problem}\n{}", USAGE.trim_end())))? {
        let value = match &item {
            Item::Flag(_, value) => value.unwrap_or_default(),
            Item::Operand(operand) => {
                rest.push(operand.to_vec());
                continue;
            }
        };
        match item {
            Item::Flag(id @ ("f" | "e"), _) => {
                if given {
                    settings.program.push(b'\n');
                }
                given = true;
                settings.program.extend(if id == "e" { value.to_vec() } else { read(value)? });
            }
            Item::Flag("F", _) => settings.separator = Some(value.to_vec()),
            Item::Flag("v", _) => settings.assignments.push(value.to_vec()),
            Item::Flag("h", _) => return Ok(Request::Print(USAGE)),
            Item::Flag("V", _) => return Ok(Request::Print(VERSION)),
            Item::Flag("i", _) => {
                return Err((FATAL, "@include and --include are not supported".to_owned()));
            }
            _ => {}
        }
    }
    if !given {
        if rest.is_empty() {
            return Err((1, USAGE.trim_end().to_owned()));
        }
        settings.program = rest.remove(0);
    }
    settings.operands = rest;
    Ok(Request::Run(Box::new(settings)))
}

fn read(name: &[u8]) -> Result<Vec<u8>, (i32, String)> {
    use std::io::Read as _;
    let mut bytes = Vec::new();
    let read = match name {
        b"-" | b"/dev/stdin" => std::io::stdin().read_to_end(&mut bytes),
        _ => std::fs::File::open(path(name)).and_then(|mut it| it.read_to_end(&mut bytes)),
    };
    let shown = String::from_utf8_lossy(name);
    read.map_err(|error| {
        (FATAL, format!("fatal: cannot open source file `{shown}' for reading: {}", reason(&error)))
    })?;
    Ok(bytes)
}

//! The command line: `awk [-F fs] [-v var=value] [-f file | program] [operand...]`.

use crate::FATAL;
use crate::input::{path, reason};

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

/// Reads the arguments after the program's name.
pub(crate) fn parse(args: Vec<Vec<u8>>) -> Result<Request, (i32, String)> {
    let mut options = Options::default();
    let mut given = false;
    let mut args = args.into_iter();
    let mut rest = Vec::new();
    while let Some(arg) = args.next() {
        if arg == b"--" {
            break;
        }
        let Some((letter, value)) = option(&arg)? else {
            rest.push(arg);
            break;
        };
        let value = match (letter, value) {
            (b'f' | b'F' | b'v' | b'e' | b'i', None) => {
                let letter = char::from(letter);
                let missing =
                    || (1, format!("awk: option requires an argument -- {letter}\n{}", USAGE.trim_end()));
                args.next().ok_or_else(missing)?
            }
            (_, value) => value.unwrap_or_default(),
        };
        match letter {
            b'f' | b'e' => {
                if given {
                    options.program.push(b'\n');
                }
                given = true;
                options.program.extend(if letter == b'e' { value } else { read(&value)? });
            }
            b'F' => options.separator = Some(value),
            b'v' => options.assignments.push(value),
            b'h' => return Ok(Request::Print(USAGE)),
            b'V' => return Ok(Request::Print(VERSION)),
            b'i' => return Err((FATAL, "@include and --include are not supported".to_owned())),
            _ => {}
        }
    }
    rest.extend(args);
    if !given {
        if rest.is_empty() {
            return Err((1, USAGE.trim_end().to_owned()));
        }
        options.program = rest.remove(0);
    }
    options.operands = rest;
    Ok(Request::Run(Box::new(options)))
}

/// The letter of an option and the value that stands with it.
type Given = (u8, Option<Vec<u8>>);

/// The option that an argument is; `None` for an operand.
fn option(arg: &[u8]) -> Result<Option<Given>, (i32, String)> {
    if let Some(long) = arg.strip_prefix(b"--") {
        let text = String::from_utf8_lossy(long).into_owned();
        let (name, value) = match text.split_once('=') {
            Some((name, _)) => (name, Some(long[name.len() + 1..].to_vec())),
            None => (text.as_str(), None),
        };
        let letter = match name {
            "file" => b'f',
            "field-separator" => b'F',
            "assign" => b'v',
            "source" => b'e',
            "include" => b'i',
            "help" => b'h',
            "version" => b'V',
            "posix"
            | "traditional"
            | "re-interval"
            | "sandbox"
            | "lint"
            | "characters-as-bytes"
            | "non-decimal-data"
            | "optimize"
            | "csv" => b'-',
            _ => return Err((1, format!("unrecognized option '--{name}'\n{}", USAGE.trim_end()))),
        };
        return Ok(Some((letter, value)));
    }
    let [b'-', letter, value @ ..] = arg else { return Ok(None) };
    match letter {
        b'f' | b'F' | b'v' | b'e' | b'i' => Ok(Some((*letter, (!value.is_empty()).then(|| value.to_vec())))),
        b'h' | b'V' | b'P' | b'c' | b'r' | b'S' | b'b' | b'n' | b'O' | b's' | b't' | b'k' => {
            Ok(Some((*letter, None)))
        }
        _ => {
            let letter = char::from(*letter);
            Err((1, format!("invalid option -- '{letter}'\n{}", USAGE.trim_end())))
        }
    }
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

//! The command line, as getopt reads GNU sed's.

use crate::script::{Dialect, Part};

/// What was asked for.
pub(crate) enum Request {
    Run(Box<Options>),
    Print(&'static str),
}

/// Everything that is not the script's business.
#[derive(Default)]
pub(crate) struct Options {
    pub parts: Vec<Part>,
    pub files: Vec<Vec<u8>>,
    pub dialect: Dialect,
    pub quiet: bool,
    pub separate: bool,
    /// With the suffix of the copy that is kept.
    pub in_place: Option<Vec<u8>>,
    pub null_data: bool,
    pub unbuffered: bool,
    /// A link is followed when its file is edited in place.
    pub follow: bool,
    pub line_length: Option<usize>,
}

const VERSION: &str = "sed (GNU sed) 4.9\n";
const USAGE: &str = "Usage: sed [OPTION]... {script-only-if-no-other-script} [input-file]...

  -n, --quiet, --silent
                 suppress automatic printing of pattern space
  -e script, --expression=script
                 add the script to the commands to be executed
  -f script-file, --file=script-file
                 add the contents of script-file to the commands to be executed
  -E, -r, --regexp-extended
                 use extended regular expressions in the script
      --follow-symlinks
                 follow symlinks when processing in place
  -i[SUFFIX], --in-place[=SUFFIX]
                 edit files in place (makes backup if SUFFIX supplied)
  -l N, --line-length=N
                 specify the desired line-wrap length for the `l' command
  -s, --separate
                 consider files as separate rather than as a single long stream
  -u, --unbuffered
                 flush the output after every line
  -z, --null-data
                 separate lines by NUL characters
      --posix
                 disable all GNU extensions
      --sandbox
                 operate in sandbox mode (disable r/w commands)
      --help     display this help and exit
      --version  output version information and exit
";

/// Long names, and the letter each stands for; `true` if it takes a value.
const LONG: &[(&str, u8, bool)] = &[
    ("quiet", b'n', false),
    ("silent", b'n', false),
    ("expression", b'e', true),
    ("file", b'f', true),
    ("regexp-extended", b'E', false),
    ("in-place", b'i', false),
    ("line-length", b'l', true),
    ("separate", b's', false),
    ("unbuffered", b'u', false),
    ("null-data", b'z', false),
    ("zero-terminated", b'z', false),
    ("posix", b'p', false),
    ("sandbox", b'S', false),
    ("follow-symlinks", b'F', false),
    ("binary", b'b', false),
    ("help", b'h', false),
    ("version", b'V', false),
];

/// Reads the arguments after the program's name.
pub(crate) fn parse(args: Vec<Vec<u8>>) -> Result<Request, String> {
    let mut options = Options::default();
    let mut operands = Vec::new();
    let mut args = args.into_iter();
    while let Some(arg) = args.next() {
        if arg == b"--" {
            operands.extend(args.by_ref());
        } else if let Some(long) = arg.strip_prefix(b"--") {
            let (letter, value) = long_option(long, &mut args)?;
            if let Some(text) = apply(&mut options, letter, value)? {
                return Ok(Request::Print(text));
            }
        } else if arg.len() > 1 && arg[0] == b'-' {
            if let Some(text) = cluster(&mut options, &arg[1..], &mut args)? {
                return Ok(Request::Print(text));
            }
        } else {
            operands.push(arg);
        }
    }
    if options.parts.is_empty() {
        if operands.is_empty() {
            return Err(USAGE.trim_end().to_owned());
        }
        options.parts.push(Part::expression(1, operands.remove(0)));
    }
    options.files = operands;
    Ok(Request::Run(Box::new(options)))
}

fn cluster(
    options: &mut Options,
    letters: &[u8],
    args: &mut impl Iterator<Item = Vec<u8>>,
) -> Result<Option<&'static str>, String> {
    for (at, letter) in letters.iter().enumerate() {
        let rest = &letters[at + 1..];
        let value = match letter {
            b'e' | b'f' | b'l' if rest.is_empty() => {
                let missing = || {
                    let letter = char::from(*letter);
                    format!("sed: option requires an argument -- '{letter}'\n{}", USAGE.trim_end())
                };
                Some(args.next().ok_or_else(missing)?)
            }
            b'e' | b'f' | b'l' => Some(rest.to_vec()),
            b'i' => (!rest.is_empty()).then(|| rest.to_vec()),
            b'n' | b'E' | b'r' | b's' | b'u' | b'z' | b'b' => None,
            other => {
                let other = char::from(*other);
                return Err(format!("sed: invalid option -- '{other}'\n{}", USAGE.trim_end()));
            }
        };
        apply(options, *letter, value)?;
        if matches!(letter, b'e' | b'f' | b'l' | b'i') {
            break;
        }
    }
    Ok(None)
}

fn long_option(
    long: &[u8],
    args: &mut impl Iterator<Item = Vec<u8>>,
) -> Result<(u8, Option<Vec<u8>>), String> {
    let text = String::from_utf8_lossy(long);
    let (name, mut value) = match text.split_once('=') {
        Some((name, _)) => (name, Some(long[name.len() + 1..].to_vec())),
        None => (&*text, None),
    };
    let exact = LONG.iter().find(|(known, ..)| *known == name);
    let mut prefixed = LONG.iter().filter(|(known, ..)| known.starts_with(name) && !name.is_empty());
    let found = exact.or_else(|| prefixed.next());
    let Some((known, letter, takes)) = found else {
        return Err(format!("sed: unrecognized option '--{name}'\n{}", USAGE.trim_end()));
    };
    if *takes && value.is_none() {
        let missing = || format!("sed: option '--{known}' requires an argument\n{}", USAGE.trim_end());
        value = Some(args.next().ok_or_else(missing)?);
    }
    Ok((*letter, value))
}

fn apply(options: &mut Options, letter: u8, value: Option<Vec<u8>>) -> Result<Option<&'static str>, String> {
    let value_bytes = value.unwrap_or_default();
    match letter {
        b'n' => options.quiet = true,
        b'e' => {
            let number = 1 + options.parts.iter().filter(|part| part.is_expression()).count();
            options.parts.push(Part::expression(number, value_bytes));
        }
        b'f' => options.parts.push(Part::read(value_bytes)?),
        b'E' | b'r' => options.dialect.extended = true,
        b'i' => (options.in_place, options.separate) = (Some(value_bytes), true),
        b'l' => {
            let text = String::from_utf8_lossy(&value_bytes).into_owned();
            let number = text.parse().map_err(|_| format!("sed: invalid line length: {text}"))?;
            options.line_length = Some(number);
        }
        b's' => options.separate = true,
        b'u' => options.unbuffered = true,
        b'F' => options.follow = true,
        b'z' => (options.null_data, options.dialect.null_data) = (true, true),
        b'p' => options.dialect.posix = true,
        b'S' => options.dialect.sandbox = true,
        b'h' => return Ok(Some(USAGE)),
        b'V' => return Ok(Some(VERSION)),
        _ => {}
    }
    Ok(None)
}

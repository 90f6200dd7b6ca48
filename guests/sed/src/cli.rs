//! The command line, as getopt reads GNU sed's.

use crate::script::{Dialect, Part};
use options::{Item, Order};

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

const TABLE: &[&str] = &[
    "n,quiet,silent",
    "e,expression=",
    "f,file=",
    "E,r,regexp-extended",
    "i,in-place?",
    "l,line-length=",
    "s,separate",
    "u,unbuffered",
    "z,null-data,zero-terminated",
    "posix",
    "debug",
    "sandbox",
    "follow-symlinks",
    "b,binary",
    "help",
    "version",
];

/// Reads the arguments after the program's name.
pub(crate) fn parse(args: &[Vec<u8>]) -> Result<Request, String> {
    let mut settings = Options::default();
    let mut operands = Vec::new();
    let items = options::split(args.iter().map(Vec::as_slice), TABLE, Order::Anywhere);
    for item in items.map_err(|problem| format!("sed: {problem}\n{}", USAGE.trim_end()))? {
        match item {
            Item::Flag("help", _) => return Ok(Request::Print(USAGE)),
            Item::Flag("version", _) => return Ok(Request::Print(VERSION)),
            Item::Flag(id, value) => apply(&mut settings, id, value.unwrap_or_default())?,
            Item::Operand(operand) => operands.push(operand.to_vec()),
        }
    }
    if settings.parts.is_empty() {
        if operands.is_empty() {
            return Err(USAGE.trim_end().to_owned());
        }
        settings.parts.push(Part::expression(1, operands.remove(0)));
    }
    settings.files = operands;
    Ok(Request::Run(Box::new(settings)))
}

fn apply(settings: &mut Options, id: &str, value: &[u8]) -> Result<(), String> {
    match id {
        "n" => settings.quiet = true,
        "e" => {
            let number = 1 + settings.parts.iter().filter(|part| part.is_expression()).count();
            settings.parts.push(Part::expression(number, value.to_vec()));
        }
        "f" => settings.parts.push(Part::read(value.to_vec())?),
        "E" => settings.dialect.extended = true,
        "i" => (settings.in_place, settings.separate) = (Some(value.to_vec()), true),
        "l" => {
            let text = String::from_utf8_lossy(value);
            let number = text.parse().map_err(|_| format!("sed: invalid line length: {text}"))?;
            settings.line_length = Some(number);
        }
        "s" => settings.separate = true,
        "u" => settings.unbuffered = true,
        "follow-symlinks" => settings.follow = true,
        "z" => (settings.null_data, settings.dialect.null_data) = (true, true),
        "posix" => settings.dialect.posix = true,
        "sandbox" => settings.dialect.sandbox = true,
        _ => {}
    }
    Ok(())
}

//! What the command line of `sort` asks for.

use super::key::{Key, Order};
use super::merge::INPUTS_MAX;
use super::rules::Rules;
use crate::own::arguments::{Arguments, count, size};
use crate::stream::{Input, text};

/// The text and the lines that are in memory at once. Together with what else a run needs it stays
/// below the smallest memory that commands are given.
const MEMORY_BYTES_MAX: u64 = 36 << 20;
const MEMORY_BYTES_MIN: u64 = 256 << 10;

pub const HELP: &str = "\
Usage: sort [OPTION]... [FILE]...
   or: sort [OPTION]... --files0-from=F
Writes the lines of all files in order, by bytes.

  -b, --ignore-leading-blanks   skip blanks before keys
  -d, --dictionary-order        only blanks, letters and digits count
  -f, --ignore-case             lower case counts as upper case
  -i, --ignore-nonprinting      only printable characters count
  -g, --general-numeric-sort    by numbers with exponents
  -h, --human-numeric-sort      by numbers with units (2K 1G)
  -M, --month-sort              by month (JAN < ... < DEC)
  -n, --numeric-sort            by numbers
  -R, --random-sort             at random, equal keys together
  -V, --version-sort            by versions
  -r, --reverse                 last first
      --sort=WORD               general-numeric, human-numeric, month, numeric, random, version
      --random-source=FILE      take chance from FILE
  -c, --check                   say which line is out of order
  -C, --check=quiet             the same by exit status only
  -m, --merge                   join files that are in order
  -k, --key=KEY                 sort by KEY: F[.C][OPTIONS][,F[.C][OPTIONS]]
  -t, --field-separator=SEP     what stands between fields
  -s, --stable                  leave equal keys in their order
  -u, --unique                  only the first of equal keys
  -z, --zero-terminated         lines end with NUL
  -o, --output=FILE             write to FILE
  -S, --buffer-size=SIZE        use no more memory than that
  -T, --temporary-directory=DIR keep there what does not fit into memory
      --batch-size=N            join at most N files at once
      --files0-from=F           read the names of the files from F
      --help, --version         say what this is
";

/// What it takes, for the reader of command lines.
pub const TABLE: &[&str] = &[
    "b,ignore-leading-blanks",
    "d,dictionary-order",
    "f,ignore-case",
    "g,general-numeric-sort",
    "h,human-numeric-sort",
    "i,ignore-nonprinting",
    "M,month-sort",
    "n,numeric-sort",
    "R,random-sort",
    "V,version-sort",
    "r,reverse",
    "sort=",
    "random-source=",
    "c",
    "C",
    "check?",
    "m,merge",
    "k,key=",
    "t,field-separator=",
    "s,stable",
    "u,unique",
    "z,zero-terminated",
    "o,output=",
    "S,buffer-size=",
    "T,temporary-directory=",
    "batch-size=",
    "files0-from=",
    "parallel=",
    "compress-program=",
];

/// Everything there is to say.
#[derive(Debug)]
pub struct Options<'a> {
    pub rules: Rules,
    pub act: Act,
    pub unique: bool,
    pub output: Option<&'a [u8]>,
    pub scratch: Vec<u8>,
    pub memory_bytes_max: usize,
    pub batch: usize,
    pub files: Files<'a>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Act {
    Sort,
    Merge,
    Check,
    CheckQuietly,
}

/// Where names come from.
#[derive(Debug)]
pub enum Files<'a> {
    Named(Vec<&'a [u8]>),
    /// From the content of a file, each ended by NUL.
    Listed(Vec<u8>),
}

impl Options<'_> {
    /// The names of the inputs.
    pub fn names(&self) -> Vec<&[u8]> {
        match &self.files {
            Files::Named(names) => names.clone(),
            Files::Listed(list) => list.split(|byte| *byte == 0).filter(|name| !name.is_empty()).collect(),
        }
    }
}

/// Reads the command line.
pub fn read<'a>(line: &Arguments<'a>) -> Result<Options<'a>, String> {
    let (mut order, mut keys, mut separator, mut act) = (Order::default(), Vec::new(), None, Act::Sort);
    let (mut memory, mut batch) = (MEMORY_BYTES_MAX, INPUTS_MAX);
    for (id, value) in &line.flags {
        let value = value.unwrap_or_default();
        match *id {
            "k" => keys.push(Key::parse(value)?),
            "t" => separator = Some(tab(value, separator)?),
            "c" => act = Act::Check,
            "C" => act = Act::CheckQuietly,
            "check" => act = check(value)?,
            "m" if act == Act::Sort => act = Act::Merge,
            "sort" => order.letter(word(value)?)?,
            "S" => memory = buffer(value)?.clamp(MEMORY_BYTES_MIN, MEMORY_BYTES_MAX),
            "batch-size" => {
                let wanted =
                    count(value).ok_or_else(|| format!("invalid --batch-size argument '{}'", text(value)))?;
                if wanted < 2 {
                    return Err(format!(
                        "invalid --batch-size argument '{wanted}'\nsort: minimum --batch-size argument is '2'"
                    ));
                }
                batch = usize::try_from(wanted).unwrap_or(INPUTS_MAX).min(INPUTS_MAX);
            }
            letter if letter.len() == 1 && b"bdfghiMnRVr".contains(&letter.as_bytes()[0]) => {
                order.letter(letter.as_bytes()[0])?;
            }
            _ => {}
        }
    }
    let unique = line.has("u");
    let end = if line.has("z") { 0 } else { b'\n' };
    let checks = matches!(act, Act::Check | Act::CheckQuietly);
    if checks && line.operands.len() > 1 {
        return Err(format!(
            "extra operand '{}' not allowed with -{}",
            text(line.operands[1]),
            letter_of(act)
        ));
    }
    if checks && line.has("o") {
        return Err(format!("options '-{}o' are incompatible", letter_of(act)));
    }
    let seed = seed(line)?;
    let last_resort = !line.has("s") && !unique;
    let folder = line.value("T").map(<[u8]>::to_vec);
    let from_environment =
        || std::env::var_os("TMPDIR").filter(|it| !it.is_empty()).map(|it| it.into_encoded_bytes());
    Ok(Options {
        rules: Rules::new(order, keys, separator, end, last_resort, seed),
        act,
        unique,
        output: line.value("o"),
        scratch: folder.or_else(from_environment).unwrap_or_else(|| b"/tmp".to_vec()),
        memory_bytes_max: memory as usize,
        batch,
        files: files(line)?,
    })
}

fn files<'a>(line: &Arguments<'a>) -> Result<Files<'a>, String> {
    let Some(list) = line.value("files0-from") else { return Ok(Files::Named(line.inputs())) };
    if let Some(operand) = line.operands.first() {
        let name = text(operand);
        return Err(format!("extra operand '{name}'\nfile operands cannot be combined with --files0-from"));
    }
    let content = Input::open(list).and_then(|mut input| input.all());
    let content =
        content.map_err(|error| format!("open failed: {}: {}", text(list), crate::stream::reason(&error)))?;
    if content.is_empty() {
        return Err(format!("no input from '{}'", text(list)));
    }
    Ok(Files::Listed(content))
}

fn tab(value: &[u8], before: Option<u8>) -> Result<u8, String> {
    let tab = match value {
        [] => return Err("empty tab".to_owned()),
        [one] => *one,
        b"\\0" => 0,
        _ => return Err(format!("multi-character tab '{}'", text(value))),
    };
    match before {
        Some(other) if other != tab => Err("incompatible tabs".to_owned()),
        _ => Ok(tab),
    }
}

fn check(value: &[u8]) -> Result<Act, String> {
    match value {
        b"" | b"diagnose-first" => Ok(Act::Check),
        b"quiet" | b"silent" => Ok(Act::CheckQuietly),
        _ => Err(format!("invalid argument '{}' for '--check'", text(value))),
    }
}

fn letter_of(act: Act) -> char {
    if act == Act::CheckQuietly { 'C' } else { 'c' }
}

fn word(value: &[u8]) -> Result<u8, String> {
    const WORDS: [(&str, u8); 6] = [
        ("general-numeric", b'g'),
        ("human-numeric", b'h'),
        ("month", b'M'),
        ("numeric", b'n'),
        ("random", b'R'),
        ("version", b'V'),
    ];
    let fits = |it: &&(&str, u8)| !value.is_empty() && it.0.as_bytes().starts_with(value);
    let found = WORDS.iter().find(fits).map(|(_, letter)| *letter);
    found.ok_or_else(|| format!("invalid argument '{}' for '--sort'", text(value)))
}

/// Without a unit it is in units of 1024; a share of the memory is as much as there may be.
fn buffer(value: &[u8]) -> Result<u64, String> {
    let plain = count(value).map(|it| it.saturating_mul(1024));
    let share = value.strip_suffix(b"%").and_then(count).map(|_| MEMORY_BYTES_MAX);
    let bytes = value.strip_suffix(b"b").and_then(count);
    plain
        .or(share)
        .or(bytes)
        .or_else(|| size(value))
        .ok_or_else(|| format!("invalid -S argument '{}'", text(value)))
}

/// What chance begins with: from the file that is named, else from the system.
fn seed(line: &Arguments<'_>) -> Result<u64, String> {
    use std::hash::{BuildHasher as _, DefaultHasher, Hasher as _, RandomState};
    let Some(name) = line.value("random-source") else { return Ok(RandomState::new().hash_one("sort -R")) };
    let content = Input::open(name).and_then(|mut input| {
        let mut some = [0; 4096];
        input.read(&mut some).map(|count| some[..count].to_vec())
    });
    let content =
        content.map_err(|error| format!("open failed: {}: {}", text(name), crate::stream::reason(&error)))?;
    let mut hasher = DefaultHasher::new();
    hasher.write(&content);
    Ok(hasher.finish())
}

//! One table of all options: letter, name, and whether a value follows.
//!
//! The parser, its abbreviations of long names and the tests read this slice.

/// An option.
pub(super) struct Flag {
    pub short: Option<char>,
    pub long: &'static str,
    pub value: Value,
}

/// Whether an option takes a value.
#[derive(PartialEq, Clone, Copy)]
pub(super) enum Value {
    None,
    Required,
    /// Only as `--name=value`.
    Optional,
}

const fn plain(short: char, long: &'static str) -> Flag {
    Flag { short: Some(short), long, value: Value::None }
}

const fn taking(short: char, long: &'static str) -> Flag {
    Flag { short: Some(short), long, value: Value::Required }
}

const fn long(long: &'static str, value: Value) -> Flag {
    Flag { short: None, long, value }
}

/// Every option there is.
pub(super) const FLAGS: &[Flag] = &[
    plain('E', "extended-regexp"),
    plain('F', "fixed-strings"),
    plain('G', "basic-regexp"),
    plain('P', "perl-regexp"),
    taking('e', "regexp"),
    taking('f', "file"),
    plain('i', "ignore-case"),
    plain('y', "ignore-case"),
    long("no-ignore-case", Value::None),
    plain('w', "word-regexp"),
    plain('x', "line-regexp"),
    plain('z', "null-data"),
    plain('s', "no-messages"),
    plain('v', "invert-match"),
    plain('V', "version"),
    long("help", Value::None),
    taking('m', "max-count"),
    plain('b', "byte-offset"),
    plain('n', "line-number"),
    long("line-buffered", Value::None),
    plain('H', "with-filename"),
    plain('h', "no-filename"),
    long("label", Value::Required),
    plain('o', "only-matching"),
    plain('q', "quiet"),
    long("silent", Value::None),
    long("binary-files", Value::Required),
    plain('a', "text"),
    plain('I', "binary-without-match"),
    taking('d', "directories"),
    taking('D', "devices"),
    plain('r', "recursive"),
    plain('R', "dereference-recursive"),
    long("include", Value::Required),
    long("exclude", Value::Required),
    long("exclude-from", Value::Required),
    long("exclude-dir", Value::Required),
    plain('L', "files-without-match"),
    plain('l', "files-with-matches"),
    plain('c', "count"),
    plain('T', "initial-tab"),
    plain('Z', "null"),
    taking('B', "before-context"),
    taking('A', "after-context"),
    taking('C', "context"),
    long("group-separator", Value::Required),
    long("no-group-separator", Value::None),
    long("color", Value::Optional),
    long("colour", Value::Optional),
    plain('U', "binary"),
    plain('u', "unix-byte-offsets"),
];

/// The option of that letter.
pub(super) fn by_letter(letter: char) -> Option<&'static Flag> {
    FLAGS.iter().find(|flag| flag.short == Some(letter))
}

/// The option of that name, or of the only name that begins so.
pub(super) fn by_name(name: &str) -> Result<&'static Flag, String> {
    if let Some(flag) = FLAGS.iter().find(|flag| flag.long == name) {
        return Ok(flag);
    }
    let mut like = FLAGS.iter().filter(|flag| flag.long.starts_with(name));
    let first = like.next().ok_or_else(|| format!("unrecognized option '--{name}'"))?;
    if like.any(|flag| {
        flag.long != first.long && !(first.long.starts_with("colo") && flag.long.starts_with("colo"))
    }) {
        return Err(format!("option '--{name}' is ambiguous"));
    }
    Ok(first)
}

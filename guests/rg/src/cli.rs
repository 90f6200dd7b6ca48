//! The command line.

use crate::settings::{Case, Ignore, Mode, Settings};
use options::{Item, Order};

const TABLE: &[&str] = &[
    "e,regexp=",
    "f,file=",
    "A,after-context=",
    "B,before-context=",
    "C,context=",
    "context-separator=",
    "no-context-separator",
    "count-matches",
    "c,count",
    "b,byte-offset",
    "no-byte-offset",
    "s,case-sensitive",
    "color=",
    "colors=",
    "column",
    "no-column",
    "crlf",
    "no-crlf",
    "debug",
    "trace",
    "E,encoding=",
    "engine=",
    "field-context-separator=",
    "field-match-separator=",
    "l,files-with-matches",
    "files-without-match",
    "files",
    "F,fixed-strings",
    "no-fixed-strings",
    "L,follow",
    "no-follow",
    "g,glob=",
    "glob-case-insensitive",
    "heading",
    "no-heading",
    "h",
    "help",
    "hidden,.",
    "no-hidden",
    "iglob=",
    "i,ignore-case",
    "ignore-file=",
    "include-zero",
    "v,invert-match",
    "no-invert-match",
    "json",
    "no-json",
    "line-buffered",
    "block-buffered",
    "n,line-number",
    "N,no-line-number",
    "x,line-regexp",
    "M,max-columns=",
    "max-columns-preview",
    "m,max-count=",
    "d,max-depth,maxdepth=",
    "max-filesize=",
    "mmap",
    "no-mmap",
    "U,multiline",
    "no-multiline",
    "multiline-dotall",
    "no-config",
    "no-ignore",
    "no-ignore-dot",
    "no-ignore-exclude",
    "no-ignore-files",
    "no-ignore-global",
    "no-ignore-messages",
    "no-ignore-parent",
    "no-ignore-vcs",
    "no-messages",
    "no-require-git",
    "no-unicode",
    "0,null",
    "null-data",
    "one-file-system",
    "o,only-matching",
    "path-separator=",
    "passthru,passthrough",
    "P,pcre2",
    "p,pretty",
    "q,quiet",
    "regex-size-limit=",
    "dfa-size-limit=",
    "r,replace=",
    "z,search-zip",
    "S,smart-case",
    "sort=",
    "sortr=",
    "sort-files",
    "stats",
    "no-stats",
    "stop-on-nonmatch",
    "a,text",
    "no-text",
    "binary",
    "j,threads=",
    "trim",
    "no-trim",
    "t,type=",
    "type-add=",
    "type-clear=",
    "T,type-not=",
    "type-list",
    "u,unrestricted",
    "V,version",
    "vimgrep",
    "H,with-filename",
    "I,no-filename",
    "w,word-regexp",
    "ignore",
    "auto-hybrid-regex",
    "pre=",
    "pre-glob=",
    "hyperlink-format=",
    "hostname-bin=",
    "no-pcre2-unicode",
    "pcre2-version",
    "generate=",
];

pub(crate) enum Request {
    Run(Box<Settings>),
    Print(String),
}

/// Reads the arguments.
pub(crate) fn parse(args: &[String]) -> Result<Request, String> {
    let mut it = Settings { unicode: true, messages: true, ..Settings::default() };
    let mut operands = Vec::new();
    let (mut restricted, mut given, mut ascii_glob) = (0, false, false);
    for item in options::parse(args, TABLE, Order::Anywhere)? {
        let (flag, value) = match item {
            Item::Operand(word) => {
                operands.push(word);
                continue;
            }
            Item::Flag(flag, value) => (flag, value.unwrap_or_default()),
        };
        match flag {
            "h" | "help" => return Ok(Request::Print(super::help::TEXT.to_owned())),
            "V" => return Ok(Request::Print("ripgrep 15.0.0 compatible, drydock\n".to_owned())),
            "e" => {
                given = true;
                it.patterns.push(value);
            }
            "f" => {
                given = true;
                it.patterns.extend(super::pattern::from_file(&value)?);
            }
            "A" => it.after = number(flag, &value)?,
            "B" => it.before = number(flag, &value)?,
            "C" => (it.before, it.after) = (number(flag, &value)?, number(flag, &value)?),
            "context-separator" => it.separator = Some(unescaped(&value)),
            "no-context-separator" => it.separator = Some(Vec::new()),
            "field-match-separator" => it.field_match = Some(unescaped(&value)),
            "field-context-separator" => it.field_context = Some(unescaped(&value)),
            "c" => it.mode = Mode::Count,
            "count-matches" => it.mode = Mode::CountMatches,
            "l" => it.mode = Mode::WithMatch,
            "files-without-match" => it.mode = Mode::WithoutMatch,
            "json" => it.mode = Mode::Json,
            "files" => it.list_files = true,
            "type-list" => it.list_types = true,
            "b" => it.byte_offsets = true,
            "s" => it.case = Case::Sensitive,
            "i" => it.case = Case::Insensitive,
            "S" => it.case = Case::Smart,
            "color" => it.colors = matches!(value.as_str(), "always" | "ansi"),
            "column" => it.columns = true,
            "no-column" => it.columns = false,
            "crlf" => it.crlf = true,
            "null-data" => it.null_data = true,
            "F" => it.fixed = true,
            "no-fixed-strings" => it.fixed = false,
            "L" => it.follow = true,
            "g" => it.globs.push((value, false)),
            "iglob" => it.globs.push((value, true)),
            "glob-case-insensitive" => ascii_glob = true,
            "heading" => it.heading = true,
            "no-heading" => it.heading = false,
            "hidden" => it.hidden = true,
            "no-hidden" => it.hidden = false,
            "ignore-file" => it.ignore_files.push(value),
            "include-zero" => it.include_zero = true,
            "v" => it.invert = true,
            "n" => it.line_numbers = Some(true),
            "N" => it.line_numbers = Some(false),
            "x" => (it.whole_lines, it.words) = (true, false),
            "w" => (it.words, it.whole_lines) = (true, false),
            "M" => it.columns_max = Some(number(flag, &value)? as u64).filter(|it| *it > 0),
            "max-columns-preview" => it.preview = true,
            "m" => it.count_max = Some(number(flag, &value)? as u64),
            "d" => it.depth_max = Some(number(flag, &value)?),
            "max-filesize" => it.size_max = Some(size(&value)?),
            "U" => it.multiline = true,
            "multiline-dotall" => (it.multiline, it.dot_all) = (true, true),
            "no-ignore" => it.ignore = Ignore::NOTHING,
            "no-ignore-dot" => it.ignore.dot = false,
            "no-ignore-vcs" => it.ignore.vcs = false,
            "no-ignore-parent" => it.ignore.parents = false,
            "no-ignore-exclude" => it.ignore.exclude = false,
            "no-ignore-files" => it.ignore.listed = false,
            "no-require-git" => it.ignore.only_in_repositories = false,
            "ignore" => it.ignore = Ignore::default(),
            "u" => restricted += 1,
            "no-messages" => it.messages = false,
            "no-unicode" => it.unicode = false,
            "0" => it.null = true,
            "o" => it.only_matching = true,
            "passthru" => it.passthru = true,
            "p" => (it.heading, it.colors, it.line_numbers) = (true, true, it.line_numbers.or(Some(true))),
            "q" => it.quiet = true,
            "line-buffered" => it.line_buffered = true,
            "block-buffered" => it.line_buffered = false,
            "r" => it.replace = Some(value.into_bytes()),
            "sortr" => it.reverse_order = true,
            "stats" => it.stats = true,
            "no-stats" => it.stats = false,
            "stop-on-nonmatch" => it.stop_on_nonmatch = true,
            "a" => it.text = true,
            "binary" => it.binary = true,
            "trim" => it.trim = true,
            "no-trim" => it.trim = false,
            "t" => it.types.push(value),
            "T" => it.types_not.push(value),
            "type-add" => it.types_added.push(value),
            "type-clear" => it.types_cleared.push(value),
            "vimgrep" => {
                (it.per_match, it.columns, it.names, it.heading) =
                    (true, true, it.names.or(Some(true)), false)
            }
            "H" => it.names = Some(true),
            "I" => it.names = Some(false),
            "P" => return Err("PCRE2 is not available in this build of ripgrep".to_owned()),
            "z" => return Err("-z/--search-zip: there is nothing here to decompress with".to_owned()),
            "pre" => return Err("--pre: a search cannot start another command here".to_owned()),
            "engine" if value == "pcre2" => {
                return Err("PCRE2 is not available in this build of ripgrep".to_owned());
            }
            // One thread, no terminal, no maps of memory, and a fixed order.
            _ => {}
        }
    }
    if restricted >= 1 {
        it.ignore = Ignore::NOTHING;
    }
    it.hidden |= restricted >= 2;
    it.binary |= restricted >= 3;
    if ascii_glob {
        it.globs.iter_mut().for_each(|glob| glob.1 = true);
    }
    let mut operands = operands.into_iter();
    if !given && !it.list_files && !it.list_types {
        let pattern = operands.next().ok_or("ripgrep requires at least one pattern to execute a search")?;
        it.patterns.extend(pattern.split('\n').map(str::to_owned));
    }
    it.paths = operands.collect();
    Ok(Request::Run(Box::new(it)))
}

fn number(flag: &str, text: &str) -> Result<usize, String> {
    text.parse().map_err(|_| {
        format!("error parsing flag -{flag}: value is not a valid number: invalid digit found in string")
    })
}

/// `10`, `10K`, `5M`, `1G`.
fn size(text: &str) -> Result<u64, String> {
    let end = text.find(|it: char| !it.is_ascii_digit()).unwrap_or(text.len());
    let unit = match &text[end..] {
        "" => Some(1),
        "K" => Some(1 << 10),
        "M" => Some(1 << 20),
        "G" => Some(1 << 30),
        _ => None,
    };
    let value = text[..end].parse::<u64>().ok().zip(unit).and_then(|(value, unit)| value.checked_mul(unit));
    value.ok_or_else(|| format!("error parsing flag --max-filesize: invalid size: {text}"))
}

fn unescaped(text: &str) -> Vec<u8> {
    text.replace("\\t", "\t").replace("\\n", "\n").replace("\\0", "\0").replace("\\x00", "\0").into_bytes()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(line: &str) -> Result<Box<Settings>, String> {
        let args: Vec<String> = line.split_whitespace().map(str::to_owned).collect();
        match parse(&args)? {
            Request::Run(settings) => Ok(settings),
            Request::Print(_) => Err("text".to_owned()),
        }
    }

    #[test]
    fn patterns_come_first_unless_they_are_given() {
        let found = read("foo src lib").unwrap_or_default();
        assert_eq!(
            (found.patterns, found.paths),
            (vec!["foo".to_owned()], vec!["src".to_owned(), "lib".to_owned()])
        );
        let found = read("-e a -e b src").unwrap_or_default();
        assert_eq!((found.patterns.len(), found.paths.len()), (2, 1));
        assert!(read("").is_err() && read("-P x").is_err() && read("-A x y").is_err());
    }

    #[test]
    fn unrestricted_adds_up() {
        let found = read("-uu x").unwrap_or_default();
        assert!(found.hidden && !found.ignore.vcs && !found.binary);
        assert!(read("-uuu x").is_ok_and(|it| it.binary));
        assert_eq!(read("-C2 x").map(|it| (it.before, it.after)), Ok((2, 2)));
    }
}

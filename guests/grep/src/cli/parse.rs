//! Reads the arguments. Options and operands may be mixed; `--` ends the options.

use super::flags::{Flag, Value, by_letter, by_name};
use super::{Binary, Directories, Options, PatternSource, Report, Request, Separator, Syntax, help};

/// What `args`, without the program's name, ask for.
pub(crate) fn parse(args: &[String]) -> Result<Request, String> {
    let mut reader =
        Reader { options: Options::default(), operands: Vec::new(), context: None, digits: String::new() };
    let mut rest = args.iter();
    while let Some(arg) = rest.next() {
        if arg == "--" {
            reader.operands.extend(rest.cloned());
            break;
        }
        let asked = if let Some(long) = arg.strip_prefix("--") {
            reader.long(long, &mut rest)?
        } else if let Some(letters) = arg.strip_prefix('-').filter(|it| !it.is_empty()) {
            reader.short(letters, &mut rest)?
        } else {
            reader.operands.push(arg.clone());
            None
        };
        if let Some(text) = asked {
            return Ok(Request::Print(text));
        }
    }
    reader.finish()
}

struct Reader {
    options: Options,
    operands: Vec<String>,
    /// `-C`, which `-A` and `-B` override wherever they stand.
    context: Option<usize>,
    /// `-NUM`, digit by digit.
    digits: String,
}

type Rest<'a> = std::slice::Iter<'a, String>;

impl Reader {
    fn finish(mut self) -> Result<Request, String> {
        if self.options.sources.is_empty() {
            if self.operands.is_empty() {
                return Err(help::USAGE.to_owned());
            }
            let pattern = self.operands.remove(0);
            self.options.sources.push(PatternSource::Text(pattern));
        }
        self.options.files = self.operands;
        Ok(Request::Run(Box::new(self.options)))
    }

    fn short(&mut self, letters: &str, rest: &mut Rest<'_>) -> Result<Option<String>, String> {
        self.digits.clear();
        for (at, letter) in letters.char_indices() {
            if letter.is_ascii_digit() {
                self.digits.push(letter);
                let lines = number(&self.digits.clone(), "context length")?;
                self.set_context(lines);
                continue;
            }
            let flag = by_letter(letter).ok_or_else(|| usage(&format!("invalid option -- '{letter}'")))?;
            let value = match flag.value {
                Value::Required => {
                    let attached = &letters[at + letter.len_utf8()..];
                    let value = match attached {
                        "" => rest.next().cloned(),
                        _ => Some(attached.to_owned()),
                    };
                    let missing = || usage(&format!("option requires an argument -- '{letter}'"));
                    Some(value.ok_or_else(missing)?)
                }
                Value::None | Value::Optional => None,
            };
            let ends = value.is_some();
            if let Some(text) = self.apply(flag, value)? {
                return Ok(Some(text));
            }
            if ends {
                break;
            }
        }
        Ok(None)
    }

    fn long(&mut self, text: &str, rest: &mut Rest<'_>) -> Result<Option<String>, String> {
        let (name, value) = match text.split_once('=') {
            Some((name, value)) => (name, Some(value.to_owned())),
            None => (text, None),
        };
        let flag = by_name(name).map_err(|problem| usage(&problem))?;
        let value = match (flag.value, value) {
            (Value::None, Some(_)) => {
                return Err(usage(&format!("option '--{}' doesn't allow an argument", flag.long)));
            }
            (Value::Required, None) => {
                let missing = || usage(&format!("option '--{}' requires an argument", flag.long));
                Some(rest.next().cloned().ok_or_else(missing)?)
            }
            (_, value) => value,
        };
        self.apply(flag, value)
    }

    fn set_context(&mut self, lines: usize) {
        self.context = Some(lines);
        self.options.in_groups = true;
        (self.options.before, self.options.after) = (lines, lines);
    }

    fn apply(&mut self, flag: &Flag, value: Option<String>) -> Result<Option<String>, String> {
        let value = value.unwrap_or_default();
        let options = &mut self.options;
        match flag.long {
            "extended-regexp" => options.syntax = Syntax::Extended,
            "fixed-strings" => options.syntax = Syntax::Fixed,
            "basic-regexp" => options.syntax = Syntax::Basic,
            "perl-regexp" => options.syntax = Syntax::Perl,
            "regexp" => options.sources.push(PatternSource::Text(value)),
            "file" => options.sources.push(PatternSource::File(value)),
            "ignore-case" => options.ignore_case = true,
            "no-ignore-case" => options.ignore_case = false,
            "word-regexp" => options.word = true,
            "line-regexp" => options.line = true,
            "null-data" => options.null_data = true,
            "no-messages" => options.silent = true,
            "invert-match" => options.invert = true,
            "version" => return Ok(Some(help::VERSION.to_owned())),
            "help" => return Ok(Some(help::HELP.to_owned())),
            "max-count" => options.count_max = Some(number(&value, "max count")? as u64),
            "byte-offset" => options.byte_offset = true,
            "line-number" => options.line_number = true,
            "with-filename" => options.file_name = Some(true),
            "no-filename" => options.file_name = Some(false),
            "label" => options.label = Some(value),
            "only-matching" => options.only_matching = true,
            "quiet" | "silent" => options.quiet = true,
            "line-buffered" => options.line_buffered = true,
            "binary-files" => options.binary = binary(&value)?,
            "text" => options.binary = Binary::Text,
            "binary-without-match" => options.binary = Binary::Skip,
            "directories" => options.directories = directories(&value)?,
            "recursive" => (options.directories, options.dereference) = (Directories::Recurse, false),
            "dereference-recursive" => {
                (options.directories, options.dereference) = (Directories::Recurse, true)
            }
            "include" => options.include.push(value),
            "exclude" => options.exclude.push(value),
            "exclude-dir" => options.exclude_dir.push(value.trim_end_matches('/').to_owned()),
            "exclude-from" => {
                let text = super::read(&value)
                    .map_err(|error| format!("{value}: {}", crate::output::reason(&error)))?;
                options.exclude.extend(text.lines().map(str::to_owned));
            }
            "files-without-match" => options.report = Report::FilesWithout,
            "files-with-matches" => options.report = Report::FilesWith,
            "count" => {
                options.report = if options.report == Report::Lines { Report::Count } else { options.report }
            }
            "initial-tab" => options.initial_tab = true,
            "group-separator" => options.separator = Separator::Text(value),
            "no-group-separator" => options.separator = Separator::Nothing,
            "null" => options.null_name = true,
            "before-context" => {
                options.before = number(&value, "context length")?;
                options.in_groups = true;
            }
            "after-context" => {
                options.after = number(&value, "context length")?;
                options.in_groups = true;
            }
            "context" => {
                let lines = number(&value, "context length")?;
                self.set_context(lines);
            }
            "color" | "colour" => options.color = color(&value)?,
            // Output is written at the end of a run in any case, and bytes are never translated.
            _ => {}
        }
        Ok(None)
    }
}

fn number(text: &str, what: &str) -> Result<usize, String> {
    let wrong =
        || format!("{text}: invalid {what}{}", if what == "context length" { " argument" } else { "" });
    let digits = text.strip_prefix('+').unwrap_or(text);
    if digits.is_empty() || !digits.bytes().all(|byte| byte.is_ascii_digit()) {
        return Err(if what == "max count" { "invalid max count".to_owned() } else { wrong() });
    }
    Ok(digits.parse().unwrap_or(usize::MAX))
}

fn binary(text: &str) -> Result<Binary, String> {
    match text {
        "binary" => Ok(Binary::Name),
        "text" => Ok(Binary::Text),
        "without-match" => Ok(Binary::Skip),
        _ => Err("unknown binary-files type".to_owned()),
    }
}

fn directories(text: &str) -> Result<Directories, String> {
    match text {
        "read" => Ok(Directories::Read),
        "recurse" => Ok(Directories::Recurse),
        "skip" => Ok(Directories::Skip),
        _ => Err(usage(&format!("invalid argument '{text}' for '--directories'"))),
    }
}

/// Standard output is never a terminal here, so `auto` means no.
fn color(text: &str) -> Result<bool, String> {
    match text {
        "always" | "yes" | "force" => Ok(true),
        "" | "auto" | "tty" | "if-tty" | "never" | "no" | "none" => Ok(false),
        _ => Err(usage(&format!("invalid argument '{text}' for '--color'"))),
    }
}

fn usage(problem: &str) -> String {
    format!("{problem}\n{}", help::USAGE)
}

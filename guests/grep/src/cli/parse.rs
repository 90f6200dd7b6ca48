//! What the options mean. Options and operands may be mixed; `--` ends the options.

use super::flags::TABLE;
use super::{Binary, Directories, Options, PatternSource, Report, Request, Separator, Syntax, help};
use options::{Item, Order};

/// What `args`, without the program's name, ask for.
pub(crate) fn parse(args: &[String]) -> Result<Request, String> {
    let mut reader = Reader { options: Options::default(), operands: Vec::new() };
    for item in options::parse(args, TABLE, Order::Anywhere).map_err(|problem| usage(&problem))? {
        match item {
            Item::Flag("V", _) => return Ok(Request::Print(help::VERSION.to_owned())),
            Item::Flag("help", _) => return Ok(Request::Print(help::HELP.to_owned())),
            Item::Flag(id, value) => reader.apply(id, value.unwrap_or_default())?,
            Item::Operand(operand) => reader.operands.push(operand),
        }
    }
    reader.finish()
}

struct Reader {
    options: Options,
    operands: Vec<String>,
}

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

    fn set_context(&mut self, lines: usize) {
        self.options.in_groups = true;
        (self.options.before, self.options.after) = (lines, lines);
    }

    fn apply(&mut self, id: &str, value: String) -> Result<(), String> {
        let options = &mut self.options;
        match id {
            "E" => options.syntax = Syntax::Extended,
            "F" => options.syntax = Syntax::Fixed,
            "G" => options.syntax = Syntax::Basic,
            "P" => options.syntax = Syntax::Perl,
            "e" => options.sources.push(PatternSource::Text(value)),
            "f" => options.sources.push(PatternSource::File(value)),
            "i" => options.ignore_case = true,
            "no-ignore-case" => options.ignore_case = false,
            "w" => options.word = true,
            "x" => options.line = true,
            "z" => options.null_data = true,
            "s" => options.silent = true,
            "v" => options.invert = true,
            "m" => options.count_max = Some(number(&value, "max count")? as u64),
            "b" => options.byte_offset = true,
            "n" => options.line_number = true,
            "H" => options.file_name = Some(true),
            "h" => options.file_name = Some(false),
            "label" => options.label = Some(value),
            "o" => options.only_matching = true,
            "q" => options.quiet = true,
            "line-buffered" => options.line_buffered = true,
            "binary-files" => options.binary = binary(&value)?,
            "a" => options.binary = Binary::Text,
            "I" => options.binary = Binary::Skip,
            "d" => options.directories = directories(&value)?,
            "r" => (options.directories, options.dereference) = (Directories::Recurse, false),
            "R" => (options.directories, options.dereference) = (Directories::Recurse, true),
            "include" => options.include.push(value),
            "exclude" => options.exclude.push(value),
            "exclude-dir" => options.exclude_dir.push(value.trim_end_matches('/').to_owned()),
            "exclude-from" => {
                let text =
                    super::read(&value).map_err(|error| format!("{value}: {}", place::reason(&error)))?;
                options.exclude.extend(text.lines().map(str::to_owned));
            }
            "L" => options.report = Report::FilesWithout,
            "l" => options.report = Report::FilesWith,
            "c" => {
                options.report = if options.report == Report::Lines { Report::Count } else { options.report }
            }
            "T" => options.initial_tab = true,
            "group-separator" => options.separator = Separator::Text(value),
            "no-group-separator" => options.separator = Separator::Nothing,
            "Z" => options.null_name = true,
            "B" => {
                options.before = number(&value, "context length")?;
                options.in_groups = true;
            }
            "A" => {
                options.after = number(&value, "context length")?;
                options.in_groups = true;
            }
            "C" | "#" => {
                let lines = number(&value, "context length")?;
                self.set_context(lines);
            }
            "color" => options.color = color(&value)?,
            // Output is written at the end of a run in any case, and bytes are never translated.
            _ => {}
        }
        Ok(())
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

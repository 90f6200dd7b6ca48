//! Reads the arguments, one after the other, in jq's order of precedence: the last one wins.

use super::{End, Indent, Options, Request, Source};
use crate::error::Failure;

/// What `args`, without the program's name, ask for.
pub fn parse(args: &[String]) -> Result<Request, Failure> {
    let mut reader =
        Reader { rest: args.iter(), options: Options::default(), program: None, taking: Taking::Files };
    while let Some(arg) = reader.rest.next() {
        let done = match arg.strip_prefix('-') {
            None | Some("") => reader.operand(arg),
            Some("-") => {
                while let Some(arg) = reader.rest.next() {
                    reader.operand(arg)?;
                }
                break;
            }
            Some(flags) => match flags.strip_prefix('-') {
                Some(long) => reader.long(long),
                None => reader.short(flags),
            },
        };
        match done {
            Ok(()) => {}
            Err(Stop::Asked(request)) => return Ok(request),
            Err(Stop::Failed(failure)) => return Err(failure),
        }
    }
    // jq prints its usage only to a terminal; elsewhere, it passes everything on.
    let (program, from_file) = match reader.program {
        Some(program) => (program, reader.options.from_file),
        None => (".".to_owned(), false),
    };
    Ok(Request::Run(Box::new(Options { program, from_file, ..reader.options })))
}

/// What operands after the program are.
enum Taking {
    Files,
    Texts,
    Jsons,
}

/// Why reading stops before the last argument.
enum Stop {
    Asked(Request),
    Failed(Failure),
}

impl From<Failure> for Stop {
    fn from(failure: Failure) -> Self {
        Self::Failed(failure)
    }
}

impl From<Stop> for Failure {
    fn from(stop: Stop) -> Self {
        match stop {
            Stop::Failed(failure) => failure,
            Stop::Asked(_) => Self::Usage("operand expected".to_owned()),
        }
    }
}

struct Reader<'a> {
    rest: std::slice::Iter<'a, String>,
    options: Options,
    program: Option<String>,
    taking: Taking,
}

impl Reader<'_> {
    fn operand(&mut self, arg: &str) -> Result<(), Stop> {
        let options = &mut self.options;
        match self.taking {
            _ if self.program.is_none() => self.program = Some(arg.to_owned()),
            Taking::Files => options.files.push(arg.to_owned()),
            Taking::Texts => options.positional.push(Source::Text(arg.to_owned())),
            Taking::Jsons => options.positional.push(Source::Json(arg.to_owned())),
        }
        Ok(())
    }

    fn short(&mut self, flags: &str) -> Result<(), Stop> {
        for (at, flag) in flags.char_indices() {
            let name = match flag {
                's' => "slurp",
                'r' => "raw-output",
                'j' => "join-output",
                'a' => "ascii-output",
                'n' => "null-input",
                'R' => "raw-input",
                'c' => "compact-output",
                'C' => "color-output",
                'M' => "monochrome-output",
                'S' => "sort-keys",
                'e' => "exit-status",
                'f' => "from-file",
                'h' => "help",
                'V' => "version",
                'b' => "binary",
                'L' => {
                    let attached = &flags[at + 1..];
                    let folder = if attached.is_empty() { self.value("-L")? } else { attached.to_owned() };
                    self.options.library.push(folder);
                    return Ok(());
                }
                _ => return Err(unknown(&format!("-{flags}"))),
            };
            self.long(name)?;
        }
        Ok(())
    }

    fn long(&mut self, name: &str) -> Result<(), Stop> {
        let Options { input, output, .. } = &mut self.options;
        match name {
            "slurp" => input.slurp = true,
            "raw-input" => input.raw = true,
            "null-input" => input.null = true,
            "stream" => input.stream = true,
            "stream-errors" => (input.stream, input.stream_errors) = (true, true),
            "seq" => (input.seq, output.seq) = (true, true),
            "raw-output" => output.raw = true,
            "join-output" => (output.raw, output.end) = (true, End::Nothing),
            "raw-output0" => (output.raw, output.end) = (true, End::Nul),
            "ascii-output" => output.ascii = true,
            "compact-output" => output.indent = Indent::Compact,
            "color-output" => output.color = true,
            "monochrome-output" => output.color = false,
            "sort-keys" => output.sort_keys = true,
            "tab" => output.indent = Indent::Tab,
            "indent" => self.options.output.indent = indent(&self.value("--indent")?)?,
            "exit-status" => self.options.exit_status = true,
            "from-file" => self.options.from_file = true,
            "args" => self.taking = Taking::Texts,
            "jsonargs" => self.taking = Taking::Jsons,
            "arg" | "argjson" | "slurpfile" | "rawfile" => self.named(name)?,
            "library-path" => {
                let folder = self.value("--library-path")?;
                self.options.library.push(folder);
            }
            "help" => return Err(Stop::Asked(Request::Help)),
            "version" => return Err(Stop::Asked(Request::Version)),
            "unbuffered" => output.unbuffered = true,
            // Text is never translated.
            "binary" => {}
            _ => return Err(unknown(&format!("--{name}"))),
        }
        Ok(())
    }

    fn named(&mut self, option: &str) -> Result<(), Stop> {
        let example = if option.ends_with("file") {
            "varname filename"
        } else if option == "argjson" {
            "varname text"
        } else {
            "varname value"
        };
        let two = || Failure::Usage(format!("--{option} takes two parameters (e.g. --{option} {example})"));
        let name = self.rest.next().ok_or_else(two)?;
        let value = self.rest.next().ok_or_else(two)?.clone();
        let source = match option {
            "argjson" => Source::Json(value),
            "slurpfile" => Source::SlurpFile(value),
            "rawfile" => Source::RawFile(value),
            _ => Source::Text(value),
        };
        // jq keeps the first value of a name.
        if !self.options.named.iter().any(|(known, _)| known == name) {
            self.options.named.push((name.clone(), source));
        }
        Ok(())
    }

    fn value(&mut self, option: &str) -> Result<String, Stop> {
        let missing = || Failure::Usage(format!("{option} takes one parameter"));
        Ok(self.rest.next().ok_or_else(missing)?.clone())
    }
}

fn indent(text: &str) -> Result<Indent, Stop> {
    // As C reads a number: what does not begin with digits is zero.
    let digits =
        text.len() - text.trim_start_matches(|sign: char| sign.is_ascii_digit() || sign == '-').len();
    match text[..digits].parse::<i64>().unwrap_or(0) {
        0 => Ok(Indent::Compact),
        -1 => Ok(Indent::Tab),
        spaces @ 1..=7 => Ok(Indent::Spaces(spaces as usize)),
        _ => Err(Failure::Usage("--indent takes a number between -1 and 7".to_owned()).into()),
    }
}

fn unknown(option: &str) -> Stop {
    Stop::Failed(Failure::Usage(format!("Unknown option {option}")))
}

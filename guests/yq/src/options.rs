//! The command line: mikefarah's letters, and those of jq that people type as well.

use crate::format::Format;

/// Everything a command line says.
#[derive(Debug)]
pub(crate) struct Options {
    pub program: Option<String>,
    pub files: Vec<String>,
    /// Absent where the name of the file decides.
    pub from: Option<Format>,
    pub to: Option<Format>,
    pub in_place: bool,
    pub null_input: bool,
    pub slurp: bool,
    pub all: bool,
    pub raw: Option<bool>,
    pub indent: usize,
    pub separators: bool,
    pub exit_status: bool,
    pub sort_keys: bool,
    pub nul: bool,
    pub named: Vec<(String, Named)>,
}

/// The value of a variable.
#[derive(Clone, Debug)]
pub(crate) enum Named {
    Text(String),
    Json(String),
}

#[derive(Debug)]
pub(crate) enum Stop {
    Help,
    Version,
    Wrong(String),
}

/// Letters that take a value, attached with or without `=`, or following.
const TAKING: &str = "poI";

pub(crate) fn parse(name: &str, args: &[String]) -> Result<Options, Stop> {
    let mut options = Options {
        program: None,
        files: Vec::new(),
        from: None,
        to: None,
        in_place: false,
        null_input: false,
        slurp: false,
        all: false,
        raw: None,
        indent: 2,
        separators: true,
        exit_status: false,
        sort_keys: false,
        nul: false,
        named: Vec::new(),
    };
    match name {
        "tomlq" => (options.from, options.to) = (Some(Format::Toml), Some(Format::Json)),
        "xq" => (options.from, options.to) = (Some(Format::Xml), Some(Format::Json)),
        _ => {}
    }
    let mut operands: Vec<String> = Vec::new();
    let mut args = args.iter().peekable();
    match args.peek().map(|it| it.as_str()) {
        Some("eval" | "e") => drop(args.next()),
        Some("eval-all" | "ea") => {
            args.next();
            options.all = true;
        }
        _ => {}
    }
    while let Some(arg) = args.next() {
        match arg.as_str() {
            "--" => operands.extend(args.by_ref().cloned()),
            "-" => operands.push(arg.clone()),
            "--arg" | "--argjson" => {
                let (Some(name), Some(value)) = (args.next(), args.next()) else {
                    return Err(Stop::Wrong(format!("flag needs two arguments: {arg}")));
                };
                let value =
                    if arg == "--arg" { Named::Text(value.clone()) } else { Named::Json(value.clone()) };
                options.named.push((name.clone(), value));
            }
            long if long.starts_with("--") => {
                let (name, value) = match long[2..].split_once('=') {
                    Some((name, value)) => (name, Some(value.to_owned())),
                    None => (&long[2..], None),
                };
                let takes = matches!(
                    name,
                    "input-format"
                        | "output-format"
                        | "indent"
                        | "expression"
                        | "from-file"
                        | "xml-attribute-prefix"
                        | "xml-content-name"
                        | "csv-separator"
                        | "lua-prefix"
                        | "properties-separator"
                );
                let value = if takes && value.is_none() { args.next().cloned() } else { value };
                if takes && value.is_none() {
                    return Err(Stop::Wrong(format!("flag needs an argument: --{name}")));
                }
                options.long(name, value)?;
            }
            short if short.starts_with('-') => {
                for (at, letter) in short.char_indices().skip(1) {
                    let rest = &short[at + letter.len_utf8()..];
                    if TAKING.contains(letter) {
                        let attached = rest.strip_prefix('=').unwrap_or(rest);
                        let value = if attached.is_empty() {
                            args.next().cloned()
                        } else {
                            Some(attached.to_owned())
                        };
                        let value = value
                            .ok_or_else(|| Stop::Wrong(format!("flag needs an argument: '{letter}'")))?;
                        options.valued(letter, &value)?;
                        break;
                    }
                    if let Some(value) = rest.strip_prefix('=') {
                        options.letter(letter, value != "false")?;
                        break;
                    }
                    options.letter(letter, true)?;
                }
            }
            _ => operands.push(arg.clone()),
        }
    }
    options.place(operands);
    Ok(options)
}

impl Options {
    /// The first operand is the program, unless there is one already or it is plainly a file.
    fn place(&mut self, operands: Vec<String>) {
        let mut operands = operands.into_iter().peekable();
        if self.program.is_none()
            && let Some(first) = operands.next_if(|first| !is_file(first))
        {
            self.program = Some(first);
        }
        self.files = operands.collect();
    }

    fn valued(&mut self, letter: char, value: &str) -> Result<(), Stop> {
        match letter {
            'p' => self.from = Format::named(value).map_err(Stop::Wrong)?,
            'o' => self.to = Format::named(value).map_err(Stop::Wrong)?,
            _ => {
                self.indent = value
                    .parse()
                    .map_err(|_| Stop::Wrong(format!("invalid argument \"{value}\" for \"-I, --indent\"")))?;
            }
        }
        Ok(())
    }

    fn letter(&mut self, letter: char, on: bool) -> Result<(), Stop> {
        match letter {
            'i' => self.in_place = on,
            'n' => self.null_input = on,
            's' => self.slurp = on,
            'r' => self.raw = Some(on),
            'N' => self.separators = !on,
            'e' => self.exit_status = on,
            'S' => self.sort_keys = on,
            '0' => self.nul = on,
            'j' => self.to = Some(Format::Json),
            'y' | 'Y' => self.to = Some(Format::Yaml),
            't' => self.to = Some(Format::Toml),
            'x' => self.to = Some(Format::Xml),
            'c' => (self.indent, self.to) = (0, Some(self.to.unwrap_or(Format::Json))),
            // Colours, verbosity and styles: there are none to choose from.
            'P' | 'C' | 'M' | 'v' | 'X' => {}
            'h' => return Err(Stop::Help),
            'V' => return Err(Stop::Version),
            other => return Err(Stop::Wrong(format!("unknown shorthand flag: '{other}' in -{other}"))),
        }
        Ok(())
    }

    fn long(&mut self, name: &str, value: Option<String>) -> Result<(), Stop> {
        let on = value.as_deref() != Some("false");
        let text = value.unwrap_or_default();
        match name {
            "input-format" => self.valued('p', &text),
            "output-format" => self.valued('o', &text),
            "indent" => self.valued('I', &text),
            "expression" => {
                self.program = Some(text);
                Ok(())
            }
            "from-file" => {
                let program = std::fs::read_to_string(&text)
                    .map_err(|error| Stop::Wrong(format!("open {text}: {error}")))?;
                self.program = Some(program);
                Ok(())
            }
            "inplace" | "in-place" => self.letter('i', on),
            "null-input" => self.letter('n', on),
            "slurp" => self.letter('s', on),
            "unwrapScalar" | "raw-output" => self.letter('r', on),
            "no-doc" => self.letter('N', on),
            "exit-status" => self.letter('e', on),
            "sort-keys" => self.letter('S', on),
            "nul-output" => self.letter('0', on),
            "tojson" | "json-output" => self.letter('j', on),
            "yaml-output" | "yaml-roundtrip" => self.letter('y', on),
            "toml-output" => self.letter('t', on),
            "xml-output" => self.letter('x', on),
            "compact-output" => self.letter('c', on),
            "help" => Err(Stop::Help),
            "version" => Err(Stop::Version),
            "prettyPrint"
            | "colors"
            | "no-colors"
            | "verbose"
            | "xml-attribute-prefix"
            | "xml-content-name"
            | "csv-separator"
            | "lua-prefix"
            | "properties-separator"
            | "string-interpolation"
            | "yaml-fix-merge-anchor-to-spec"
            | "security-disable-env-ops"
            | "security-disable-file-ops" => Ok(()),
            other => Err(Stop::Wrong(format!("unknown flag: --{other}"))),
        }
    }
}

fn is_file(operand: &str) -> bool {
    let named = operand.rsplit('.').next().is_some_and(|end| Format::of_ending(end).is_some());
    operand == "-" || ((named || operand.contains('/')) && std::path::Path::new(operand).is_file())
}

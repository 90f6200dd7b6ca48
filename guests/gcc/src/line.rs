//! gcc's command line, read into what is to be done. Pure: nothing is looked up here.
//!
//! What only says something about another machine (`-march=native`, `-fPIC`) is dropped; what would silently
//! give another program than asked for (`-shared`, `-fsanitize=address`) is refused. The rest is clang's to
//! judge.

use crate::option::{self, Meaning};
use crate::source::{self, Kind, Language};

/// How far to go.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Until {
    /// `-E`, also `-M` and `-MM`.
    Preprocessed,
    /// `-fsyntax-only`.
    Checked,
    /// `-S`.
    Assembly,
    /// `-c`.
    Object,
    /// A program.
    Program,
}

/// Something that the linker sees, in the order of the line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Part {
    /// A source: its object takes its place.
    Source { path: String, language: Language, forced: bool },
    /// An object, an archive, `-l…`.
    Linked(String),
}

/// What a line asks for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Plan {
    pub(crate) until: Until,
    pub(crate) parts: Vec<Part>,
    pub(crate) output: Option<String>,
    /// Flags of every compilation.
    pub(crate) compile: Vec<String>,
    /// Flags of the link besides its parts.
    pub(crate) link: Vec<String>,
    /// Called as, or told to be, a C++ compiler.
    pub(crate) cxx: bool,
    /// Without `-O`, or with `-O0` or `-Og`: mistakes may cost time to be found.
    pub(crate) checked: bool,
    /// `-v`: say what is run.
    pub(crate) verbose: bool,
    /// `-###`: say it and run nothing.
    pub(crate) dry: bool,
    /// `-nostdlib` and its like.
    pub(crate) bare: bool,
    /// The line only asks something, which clang answers itself.
    pub(crate) question: bool,
}

/// Reads the arguments after the name it was called by.
pub(crate) fn read(called: &str, args: &[String]) -> Result<Plan, String> {
    let mut plan = Plan {
        until: Until::Program,
        parts: Vec::new(),
        output: None,
        compile: Vec::new(),
        link: Vec::new(),
        cxx: called.ends_with("++"),
        checked: true,
        verbose: false,
        dry: false,
        bare: false,
        question: false,
    };
    match called {
        "c99" => plan.compile.push("-std=c99".into()),
        "c89" => plan.compile.push("-std=c89".into()),
        "cpp" => plan.until = Until::Preprocessed,
        _ => {}
    }
    let mut forced: Option<Language> = None;
    let mut args = args.iter();
    while let Some(arg) = args.next() {
        if arg == "-" || !arg.starts_with('-') {
            plan.parts.push(input(arg, forced, plan.until)?);
            continue;
        }
        let (name, meaning) = option::find(arg)?;
        let value = match option::value(arg, name, meaning) {
            option::Value::None => None,
            option::Value::Attached(text) => Some(text.to_owned()),
            option::Value::Next => {
                Some(args.next().ok_or_else(|| format!("missing argument to '{arg}'"))?.clone())
            }
        };
        if let (Meaning::Language, Some(text)) = (meaning, &value) {
            forced = source::language(text);
            if text != "none" {
                plan.compile.extend(["-x".to_owned(), text.clone()]);
            }
            continue;
        }
        plan.take(arg, name, meaning, value)?;
    }
    plan.finish()
}

fn input(path: &str, forced: Option<Language>, until: Until) -> Result<Part, String> {
    let source = |language, forced| Part::Source { path: path.to_owned(), language, forced };
    if let Some(language) = forced {
        return Ok(source(language, true));
    }
    Ok(match source::kind(path) {
        Kind::Source(language) => source(language, false),
        Kind::Header => source(Language::Named, false),
        Kind::Linked if path == "-" => match until {
            Until::Preprocessed => source(Language::C, false),
            _ => return Err("-E or -x required when input is from standard input".to_owned()),
        },
        Kind::Linked => Part::Linked(path.to_owned()),
    })
}

impl Plan {
    fn take(&mut self, arg: &str, name: &str, meaning: Meaning, value: Option<String>) -> Result<(), String> {
        match meaning {
            Meaning::Until(until) => {
                self.until = until;
                if until == Until::Preprocessed && name != "-E" {
                    self.compile.push(arg.to_owned());
                }
                if until == Until::Checked {
                    self.compile.push(arg.to_owned());
                }
            }
            Meaning::Output => self.output = value,
            Meaning::Library => self.parts.push(Part::Linked(format!("-l{}", value.unwrap_or_default()))),
            Meaning::Folder => self.link.push(format!("-L{}", value.unwrap_or_default())),
            Meaning::Compile => {
                self.compile.push(if value.is_some() && arg == name {
                    name.to_owned()
                } else {
                    arg.to_owned()
                });
                self.compile.extend(value.filter(|_| arg == name));
            }
            Meaning::Optimise => self.optimise(arg),
            Meaning::Linker => self.linker(value.unwrap_or_default().split(','))?,
            Meaning::LinkerWord => self.linker([value.unwrap_or_default().as_str()].into_iter())?,
            Meaning::Strip => self.link.push("--strip-all".into()),
            Meaning::Undefined => self.link.extend(["-u".to_owned(), value.unwrap_or_default()]),
            Meaning::Bare => self.bare = true,
            Meaning::Dropped => {}
            Meaning::Refused(why) => return Err(format!("'{arg}' is not available here: {why}")),
            Meaning::Verbose => self.verbose = true,
            Meaning::Dry => self.dry = true,
            Meaning::Question => self.question = true,
            Meaning::Language => {}
        }
        Ok(())
    }

    fn optimise(&mut self, arg: &str) {
        // gcc's own spellings of what clang calls otherwise.
        let (flag, also) = match arg {
            "-Og" => ("-O0", None),
            "-Ofast" => ("-O3", Some("-ffast-math")),
            other => (other, None),
        };
        self.checked = flag == "-O0";
        self.compile.retain(|it| !it.starts_with("-O"));
        self.compile.push(flag.to_owned());
        self.compile.extend(also.map(str::to_owned));
    }

    /// Words for a linker of another machine: those that mean something to wasm-ld are passed on.
    fn linker<'a>(&mut self, mut words: impl Iterator<Item = &'a str>) -> Result<(), String> {
        while let Some(word) = words.next() {
            match word {
                "-s" | "--strip-all" | "-S" | "--strip-debug" | "--gc-sections" | "--no-gc-sections"
                | "--allow-undefined" | "--export-dynamic" | "--fatal-warnings" | "--trace" | "--verbose" => {
                    self.link.push(word.to_owned());
                }
                "-z" => {
                    if let Some(value) = words.next().filter(|it| it.starts_with("stack-size=")) {
                        self.link.extend(["-z".to_owned(), value.to_owned()]);
                    }
                }
                "-rpath" | "-soname" | "-Map" | "-T" | "--version-script" => drop(words.next()),
                _ if word.starts_with("--export=") || word.starts_with("--wrap=") => {
                    self.link.push(word.to_owned());
                }
                _ if word.starts_with("-l") => self.parts.push(Part::Linked(word.to_owned())),
                _ if word.starts_with("-L") => self.link.push(word.to_owned()),
                // Start groups, hash styles, runtime paths: there is nothing they could change.
                _ => {}
            }
        }
        Ok(())
    }

    fn finish(mut self) -> Result<Self, String> {
        let sources = self.parts.iter().filter(|it| matches!(it, Part::Source { .. })).count();
        let linked = self.parts.iter().any(|it| matches!(it, Part::Linked(_)));
        if self.parts.is_empty() {
            // `gcc -v`, and `--version` with whatever beside it, are questions.
            self.question |= self.verbose;
            return if self.question { Ok(self) } else { Err("no input files".to_owned()) };
        }
        if self.until != Until::Program && sources > 1 && self.output.is_some() && !self.question {
            return Err("cannot specify '-o' with '-c', '-S' or '-E' with multiple files".to_owned());
        }
        if self.until != Until::Program && sources == 0 && linked && !self.question {
            return Err("no input files that are compiled".to_owned());
        }
        self.cxx |= self.parts.iter().any(|it| matches!(it, Part::Source { language: Language::Cxx, .. }));
        Ok(self)
    }
}

#[cfg(test)]
mod tests;

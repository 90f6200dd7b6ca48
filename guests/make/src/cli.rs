//! The command line, and the whole run.

use options::{Item, Order};
use std::io::Write as _;

use crate::build::Builder;
use crate::read::{Make, assignment};
use crate::recipe::complain;
use crate::variable::{Assign, Origin, Variables};
use crate::{Done, Stop};

const HELP: &str = "Usage: make [options] [target] ...
Options:
  -B, --always-make           Unconditionally make all targets.
  -C DIRECTORY                Change to DIRECTORY before doing anything.
  -e                          Environment variables override makefiles.
  -f FILE                     Read FILE as a makefile.
  -i                          Ignore errors from recipes.
  -j [N]                      Accepted; recipes run one after the other.
  -k                          Keep going when some targets can't be made.
  -n                          Don't actually run any recipe; just print them.
  -q                          Run no recipe; exit status says if up to date.
  -r, -R                      Without the built-in rules.
  -s                          Don't echo recipes.
  -t                          Touch targets instead of remaking them.
  -w, --no-print-directory    Print, or do not, the directory on entering it.
  --version                   Print the version and exit.
Recipes go to the shell of the session; no other program is started.
";

/// What was asked for.
#[derive(Debug, Default, Clone)]
pub struct Options {
    /// `make`, or `make[1]` inside another one.
    pub name: String,
    pub level: usize,
    pub files: Vec<String>,
    pub folders: Vec<String>,
    pub goals: Vec<String>,
    pub given: Vec<String>,
    pub dry: bool,
    pub keep_going: bool,
    pub always: bool,
    pub silent: bool,
    pub ignore: bool,
    pub touch: bool,
    pub question: bool,
    pub no_rules: bool,
    pub environment_wins: bool,
    pub print_folder: Option<bool>,
    shells: usize,
}

/// Recipes run one after the other, so that what is about several at once changes nothing.
const TABLE: &[&str] = &[
    "n,just-print,dry-run,recon",
    "k,keep-going",
    "B,always-make",
    "s,silent,quiet",
    "i,ignore-errors",
    "t,touch",
    "q,question",
    "r,R,no-builtin-rules,no-builtin-variables",
    "e,environment-overrides",
    "w,print-directory",
    "no-print-directory",
    "S,no-keep-going,stop",
    "C,directory=",
    "f,file,makefile=",
    "o,old-file,assume-old=",
    "W,what-if,new-file,assume-new=",
    "I,include-dir=",
    "j,jobs?",
    "l,load-average,max-load?",
    "O,output-sync?",
    "v,version",
    "h,help",
    "b",
    "m",
    "L,check-symlink-times",
    "warn-undefined-variables",
    "trace",
    "no-silent",
];

enum Parsed {
    Run,
    Exit(i32),
}

impl Options {
    /// Takes an option that has no value; others change nothing.
    fn flag(&mut self, id: &str) {
        match id {
            "n" => self.dry = true,
            "k" => self.keep_going = true,
            "B" => self.always = true,
            "s" => self.silent = true,
            "i" => self.ignore = true,
            "t" => self.touch = true,
            "q" => self.question = true,
            "r" => self.no_rules = true,
            "e" => self.environment_wins = true,
            "w" => self.print_folder = Some(true),
            "no-print-directory" => self.print_folder = Some(false),
            "S" => self.keep_going = false,
            _ => {}
        }
    }

    fn parse(&mut self, args: &[String]) -> Result<Parsed, String> {
        let mut may_be_count = false;
        for item in options::parse(args, TABLE, Order::Anywhere)? {
            // After `-j` and `-l`, a number may follow as a word of its own.
            let after_count = std::mem::take(&mut may_be_count);
            match item {
                Item::Flag("C", value) => self.folders.extend(value),
                Item::Flag("f", value) => self.files.extend(value),
                Item::Flag(id @ ("o" | "W" | "I"), _) => return Err(format!("-{id} is not here")),
                Item::Flag("j" | "l", None) => may_be_count = true,
                Item::Flag("v", _) => {
                    let _ = writeln!(std::io::stdout(), "GNU Make 4.3 (drydock)\nBuilt for wasm32-wasi");
                    return Ok(Parsed::Exit(0));
                }
                Item::Flag("h", _) => {
                    let _ = write!(std::io::stdout(), "{HELP}");
                    return Ok(Parsed::Exit(0));
                }
                Item::Flag(id, _) => self.flag(id),
                Item::Operand(count) if after_count && count.bytes().all(|it| it.is_ascii_digit()) => {}
                Item::Operand(given) if assignment(&given).is_some() => self.given.push(given),
                Item::Operand(goal) if goal.is_empty() => {}
                Item::Operand(goal) => self.goals.push(goal),
            }
        }
        Ok(Parsed::Run)
    }

    /// What a make inside this one is told.
    pub fn flags(&self) -> String {
        let letters = [
            ('B', self.always),
            ('e', self.environment_wins),
            ('i', self.ignore),
            ('k', self.keep_going),
            ('n', self.dry),
            ('q', self.question),
            ('r', self.no_rules),
            ('s', self.silent),
            ('t', self.touch),
            (
                'w',
                self.print_folder == Some(true) || (self.print_folder.is_none() && !self.folders.is_empty()),
            ),
        ];
        let mut text: String = letters.iter().filter(|it| it.1).map(|it| it.0).collect();
        if self.print_folder == Some(false) {
            text.push_str(" --no-print-directory");
        }
        if !self.given.is_empty() {
            text.push_str(&format!(" -- {}", self.given.join(" ")));
        }
        text
    }
}

impl Make {
    /// How many lines went to a shell for their output.
    pub fn calls_of_shell(&mut self) -> usize {
        self.options.shells += 1;
        self.options.shells
    }
}

/// Runs a command line, and answers the status.
pub fn run(args: &[String]) -> i32 {
    let level = std::env::var("MAKELEVEL").ok().and_then(|it| it.parse::<usize>().ok()).unwrap_or(0);
    let mut options = Options {
        level,
        name: if level == 0 { "make".to_owned() } else { format!("make[{level}]") },
        ..Options::default()
    };
    if let Ok(flags) = std::env::var("MAKEFLAGS") {
        let words: Vec<String> = flags.split_whitespace().map(str::to_owned).collect();
        for (at, word) in words.iter().enumerate() {
            match word.as_str() {
                "--" => {}
                word if word.contains('=') => options.given.push(word.to_owned()),
                "--no-print-directory" => options.print_folder = Some(false),
                word if at == 0 || word.starts_with('-') => {
                    for letter in word.trim_start_matches('-').chars() {
                        options.flag(letter.encode_utf8(&mut [0; 4]));
                    }
                }
                _ => {}
            }
        }
    }
    match options.parse(args) {
        Err(text) => {
            complain(&format!("make: {text}\n{}", HELP.trim_end()));
            return 2;
        }
        Ok(Parsed::Exit(status)) => return status,
        Ok(Parsed::Run) => {}
    }
    let mut make = Make::default();
    make.options = options;
    let status = match whole(&mut make) {
        Ok(status) => status,
        Err(stop) => {
            tell(&make, &stop);
            2
        }
    };
    if make.options.print_folder == Some(true) && !make.folder.is_empty() {
        say(&format!("{}: Leaving directory '{}'", make.options.name, make.folder));
    }
    let _ = std::io::stdout().flush();
    status
}

fn say(text: &str) {
    let _ = writeln!(std::io::stdout(), "{text}").and_then(|()| std::io::stdout().flush());
}

fn tell(make: &Make, stop: &Stop) {
    match stop.place.as_str() {
        "\0" => {}
        "" => complain(&format!("{}: *** {}", make.options.name, stop.text)),
        place => {
            let missing = stop.text.ends_with("No such file or directory");
            match missing {
                true => complain(&format!(
                    "{place}{}\n{}: *** No rule to make target '{}'.  Stop.",
                    stop.text,
                    make.options.name,
                    stop.text.split(':').next().unwrap_or_default()
                )),
                false => complain(&format!("{place}*** {}.  Stop.", stop.text.trim_end_matches('.'))),
            }
        }
    }
}

fn whole(make: &mut Make) -> Done<i32> {
    make.variables = Variables::new();
    for folder in make.options.folders.clone() {
        let cannot = |cause: std::io::Error| {
            let text = cause.to_string();
            Stop::new(format!("{folder}: {}.  Stop.", text.split(" (os").next().unwrap_or_default()))
        };
        std::fs::read_dir(&folder).map_err(cannot)?;
        std::env::set_current_dir(&folder).map_err(cannot)?;
    }
    let here = std::env::current_dir().map_err(|cause| Stop::new(cause.to_string()))?;
    make.folder = facts::name::text(here.as_os_str());
    let wanted = make
        .options
        .print_folder
        .unwrap_or((!make.options.folders.is_empty() || make.options.level > 0) && !make.options.silent);
    make.options.print_folder = if wanted { Some(true) } else { make.options.print_folder.or(None) };
    if wanted {
        say(&format!("{}: Entering directory '{}'", make.options.name, make.folder));
    }
    let origin =
        if make.options.environment_wins { Origin::EnvironmentOverride } else { Origin::Environment };
    for (name, value) in std::env::vars_os() {
        let (name, value) = (facts::name::text(&name), facts::name::text(&value));
        if name != "SHELL" && name != "MAKEFLAGS" {
            make.variables.put(&name, &value, false, origin);
        }
    }
    for (name, value) in [
        ("CURDIR", make.folder.clone()),
        ("MAKECMDGOALS", make.options.goals.join(" ")),
        ("MAKEFLAGS", make.options.flags()),
        ("MAKELEVEL", make.options.level.to_string()),
        ("MFLAGS", String::new()),
    ] {
        make.variables.put(name, &value, false, Origin::File);
    }
    for text in make.options.given.clone() {
        if let Some(found) = assignment(&text) {
            let (name, value) = (found.name.to_owned(), found.value.to_owned());
            if found.how != Assign::Recursive {
                // Expanded here and now, and `$(eval …)` may be in it.
                make.note_foreign(&value);
            }
            make.assign(&name, found.how, &value, Origin::CommandLine)?;
        }
    }
    read_makefiles(make)?;
    goals(make)
}

fn read_makefiles(make: &mut Make) -> Done {
    let files = make.options.files.clone();
    for file in &files {
        if !make.read_file(file)? {
            complain(&format!("{}: {file}: No such file or directory", make.options.name));
            return Err(Stop::new(format!("No rule to make target '{file}'.  Stop.")));
        }
    }
    if files.is_empty() {
        for name in ["GNUmakefile", "makefile", "Makefile"] {
            if make.read_file(name)? {
                break;
            }
        }
    }
    make.patterns.extend(crate::implicit::built_in());
    Ok(())
}

fn goals(make: &mut Make) -> Done<i32> {
    let mut goals = make.options.goals.clone();
    if goals.is_empty() {
        let named = make.value(".DEFAULT_GOAL")?;
        let usual = |it: &&String| !it.starts_with('.') || it.contains('/');
        let first = if named.trim().is_empty() {
            make.order.iter().find(usual).cloned()
        } else {
            Some(named.trim().to_owned())
        };
        match first {
            Some(first) => goals.push(first),
            None if make.files.is_empty() => {
                return Err(Stop::new("No targets specified and no makefile found.  Stop."));
            }
            None => return Err(Stop::new("No targets.  Stop.")),
        }
    }
    let mut status = 0;
    for goal in goals {
        let name = goal.strip_prefix("./").unwrap_or(&goal).to_owned();
        let mut builder = Builder::default();
        if make.options.question {
            make.options.dry = true;
        }
        let made = builder.update(make, &name, None)?;
        if made.failed {
            complain(&format!("{}: Target '{goal}' not remade because of errors.", make.options.name));
            status = 2;
        } else if make.options.question {
            status = status.max(i32::from(builder.ran_any));
        } else if !builder.ran_any && !made.remade {
            let recipe = make.targets.get(&name).is_some_and(|it| it.recipe.is_some() || it.double_colon)
                || make.implicit(&name, 0).is_some();
            match recipe && !make.is_phony(&name) {
                true => say(&format!("{}: '{goal}' is up to date.", make.options.name)),
                false => say(&format!("{}: Nothing to be done for '{goal}'.", make.options.name)),
            }
        } else if !builder.ran_any {
            say(&format!("{}: Nothing to be done for '{goal}'.", make.options.name));
        }
    }
    Ok(status)
}

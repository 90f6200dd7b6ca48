//! The predicates of `find`, by name: what each takes and what it becomes.

use super::expr::{Action, Batch, Bits, Count, Expr, Links, Place, Plan, Stamp, Test};
use super::parse::Parser;
use super::{pattern, perm, printf};
use crate::glob::{Case, Glob};
use facts::{Follow, Time};
use std::path::Path;

/// What holds for the whole search, wherever in the expression it was said.
pub(super) struct Settings {
    links: Links,
    depth_max: usize,
    depth_min: usize,
    children_first: bool,
    dialect: pattern::Dialect,
    batches: Vec<Batch>,
    outputs: Vec<String>,
    /// An action other than `-prune` is there, so nothing is printed by itself.
    pub acts: bool,
}

impl Settings {
    pub(super) fn new(links: Links) -> Self {
        Self {
            links,
            depth_max: usize::MAX,
            depth_min: 0,
            children_first: false,
            dialect: pattern::Dialect::Emacs,
            batches: Vec::new(),
            outputs: vec![String::new()],
            acts: false,
        }
    }

    pub(super) fn into_plan(self, starts: Vec<String>, expr: Expr) -> Plan {
        let Self { links, depth_max, depth_min, children_first, batches, outputs, .. } = self;
        Plan { starts, links, depth_max, depth_min, children_first, expr, batches, outputs }
    }

    fn output(&mut self, file: &str) -> usize {
        if file == "/dev/stdout" {
            return 0;
        }
        match self.outputs.iter().position(|it| it == file) {
            Some(at) => at,
            None => {
                self.outputs.push(file.to_owned());
                self.outputs.len() - 1
            }
        }
    }
}

/// The predicate `word`, whose arguments the parser has next.
pub(super) fn primary(word: &str, parser: &mut Parser<'_>) -> Result<Expr, String> {
    if let Some(action) = action(word, parser)? {
        parser.settings.acts |= !matches!(action, Action::Prune);
        return Ok(Expr::Act(action));
    }
    if option(word, parser)? {
        return Ok(Expr::Is(true));
    }
    Ok(match word {
        "-true" => Expr::Is(true),
        "-false" => Expr::Is(false),
        _ => Expr::Test(test(word, parser)?),
    })
}

fn option(word: &str, parser: &mut Parser<'_>) -> Result<bool, String> {
    match word {
        "-maxdepth" => parser.settings.depth_max = level(word, parser)?,
        "-mindepth" => parser.settings.depth_min = level(word, parser)?,
        "-depth" | "-d" => parser.settings.children_first = true,
        "-follow" => parser.settings.links = Links::Always,
        "-regextype" => {
            let name = parser.value(word)?;
            parser.settings.dialect = pattern::Dialect::named(name)
                .ok_or_else(|| format!("Unknown regular expression type `{name}'"))?;
        }
        // There is one file system, its times are whole, and nobody else changes it.
        "-mount"
        | "-xdev"
        | "-warn"
        | "-nowarn"
        | "-noleaf"
        | "-ignore_readdir_race"
        | "-noignore_readdir_race"
        | "-daystart" => {}
        _ => return Ok(false),
    }
    Ok(true)
}

fn level(word: &str, parser: &mut Parser<'_>) -> Result<usize, String> {
    let text = parser.value(word)?;
    text.parse()
        .map_err(|_| format!("Expected a positive decimal integer argument to {word}, but got '{text}'"))
}

fn action(word: &str, parser: &mut Parser<'_>) -> Result<Option<Action>, String> {
    Ok(Some(match word {
        "-print" => Action::Print { end: '\n', to: 0 },
        "-print0" => Action::Print { end: '\0', to: 0 },
        "-ls" => Action::Ls { to: 0 },
        "-printf" => Action::Printf { format: printf::parse(parser.value(word)?)?, to: 0 },
        "-fprint" | "-fprint0" | "-fls" | "-fprintf" => {
            let file = parser.value(word)?;
            let to = parser.settings.output(file);
            match word {
                "-fprint" => Action::Print { end: '\n', to },
                "-fprint0" => Action::Print { end: '\0', to },
                "-fls" => Action::Ls { to },
                _ => Action::Printf { format: printf::parse(parser.value(word)?)?, to },
            }
        }
        "-prune" => Action::Prune,
        "-quit" => Action::Quit,
        "-delete" => {
            parser.settings.children_first = true;
            Action::Delete
        }
        "-exec" | "-execdir" => {
            let place = if word == "-exec" { Place::Here } else { Place::Beside };
            let (command, many) = parser.command(word)?;
            match many {
                false => Action::Each { command, place },
                true => {
                    parser.settings.batches.push(Batch { command, place });
                    Action::Many { batch: parser.settings.batches.len() - 1 }
                }
            }
        }
        "-ok" | "-okdir" => return Err(format!("{word}: nobody is here to ask")),
        _ => return Ok(None),
    }))
}

fn test(word: &str, parser: &mut Parser<'_>) -> Result<Test, String> {
    let case = if word.starts_with("-i") { Case::Folded } else { Case::Sensitive };
    Ok(match word {
        "-name" | "-iname" => Test::Name(Glob::new(parser.value(word)?, case), case),
        "-path" | "-ipath" | "-wholename" | "-iwholename" => {
            Test::Path(Glob::new(parser.value(word)?, case), case)
        }
        "-lname" | "-ilname" => Test::LinkText(Glob::new(parser.value(word)?, case), case),
        "-regex" | "-iregex" => {
            let dialect = parser.settings.dialect;
            Test::Regex(pattern::compile(parser.value(word)?, dialect, case)?)
        }
        "-type" => Test::Kind(kinds(word, parser)?),
        "-xtype" => Test::TargetKind(kinds(word, parser)?),
        "-size" => size(word, parser)?,
        "-empty" => Test::Empty,
        "-mtime" => Test::Days(Stamp::Modified, count(word, parser)?),
        "-atime" => Test::Days(Stamp::Accessed, count(word, parser)?),
        "-ctime" => Test::Days(Stamp::Changed, count(word, parser)?),
        "-mmin" => Test::Minutes(Stamp::Modified, count(word, parser)?),
        "-amin" => Test::Minutes(Stamp::Accessed, count(word, parser)?),
        "-cmin" => Test::Minutes(Stamp::Changed, count(word, parser)?),
        "-newer" => newer(word, Stamp::Modified, 'm', parser)?,
        "-anewer" => newer(word, Stamp::Accessed, 'm', parser)?,
        "-cnewer" => newer(word, Stamp::Changed, 'm', parser)?,
        "-perm" => Test::Mode(perm::parse(parser.value(word)?)?),
        "-links" => Test::Links(count(word, parser)?),
        "-inum" => Test::Inode(count(word, parser)?),
        "-uid" => Test::Owner(count(word, parser)?),
        "-gid" => Test::Group(count(word, parser)?),
        "-user" => Test::Owner(account(word, parser, facts::owner::user)?),
        "-group" => Test::Group(account(word, parser, facts::owner::group)?),
        // Every file here is somebody's.
        "-nouser" => Test::Owner(Count::More(u64::MAX)),
        "-nogroup" => Test::Group(Count::More(u64::MAX)),
        "-samefile" => {
            let file = parser.value(word)?;
            let facts = known(file)?;
            Test::Same { device: facts.device, inode: facts.inode }
        }
        "-readable" => Test::Owned(0o400),
        "-writable" => Test::Owned(0o200),
        "-executable" => Test::Owned(0o100),
        other => match other.strip_prefix("-newer").map(str::as_bytes) {
            Some([of, than]) => {
                let stamp = match of {
                    b'a' => Stamp::Accessed,
                    b'c' => Stamp::Changed,
                    b'm' | b'B' => Stamp::Modified,
                    _ => return Err(format!("unknown predicate `{other}'")),
                };
                newer(other, stamp, char::from(*than), parser)?
            }
            _ => return Err(format!("unknown predicate `{other}'")),
        },
    })
}

fn known(file: &str) -> Result<facts::Facts, String> {
    facts::of(Path::new(file), Follow::Yes).map_err(|error| format!("'{file}': {}", place::reason(&error)))
}

fn newer(word: &str, stamp: Stamp, than: char, parser: &mut Parser<'_>) -> Result<Test, String> {
    let text = parser.value(word)?;
    let time = match than {
        't' => Time::parse(text)
            .ok_or_else(|| format!("I cannot figure out how to interpret '{text}' as a date or time"))?,
        'a' => known(text)?.accessed,
        'c' => known(text)?.changed,
        'm' | 'B' => known(text)?.modified,
        _ => return Err(format!("unknown predicate `{word}'")),
    };
    Ok(Test::NewerThan(stamp, time))
}

fn kinds(word: &str, parser: &mut Parser<'_>) -> Result<String, String> {
    let text = parser.value(word)?;
    let mut letters = String::new();
    for part in text.split(',') {
        match part {
            "f" | "d" | "l" | "p" | "s" | "c" | "b" | "D" => letters.push_str(part),
            "" => {
                return Err(format!(
                    "Last file type in list argument to {word} is missing, i.e., list is ending on: ','"
                ));
            }
            _ => return Err(format!("Unknown argument to {word}: {part}")),
        }
    }
    Ok(letters)
}

/// What a sign makes of a number.
type Compare = fn(u64) -> Count;

/// `5`, `+5` or `-5`; what follows the digits is for the caller.
fn number(text: &str) -> Option<(Compare, u64, &str)> {
    let (kind, digits): (Compare, &str) = match text.as_bytes().first()? {
        b'+' => (Count::More, &text[1..]),
        b'-' => (Count::Less, &text[1..]),
        _ => (Count::Exactly, text),
    };
    let end = digits.find(|it: char| !it.is_ascii_digit()).unwrap_or(digits.len());
    Some((kind, digits[..end].parse().ok()?, &digits[end..]))
}

fn count(word: &str, parser: &mut Parser<'_>) -> Result<Count, String> {
    let text = parser.value(word)?;
    match number(text) {
        Some((kind, value, "")) => Ok(kind(value)),
        // Fractions of a day or minute: whole ones are as fine as files here are dated.
        Some((kind, value, rest))
            if rest.starts_with('.') && rest[1..].bytes().all(|it| it.is_ascii_digit()) =>
        {
            Ok(kind(value))
        }
        _ => Err(format!("invalid argument `{text}' to `{word}'")),
    }
}

fn account(word: &str, parser: &mut Parser<'_>, name_of: fn(u32) -> Option<String>) -> Result<Count, String> {
    let text = parser.value(word)?;
    if let Ok(id) = text.parse() {
        return Ok(Count::Exactly(id));
    }
    let known = [0, facts::owner::OWN].into_iter().find(|id| name_of(*id).as_deref() == Some(text));
    known
        .map(|id| Count::Exactly(u64::from(id)))
        .ok_or_else(|| format!("'{text}' is not the name of a known {}", &word[1..]))
}

fn size(word: &str, parser: &mut Parser<'_>) -> Result<Test, String> {
    let text = parser.value(word)?;
    let problem = || format!("Invalid argument `{text}' to -size");
    let (kind, value, unit) = number(text).ok_or_else(problem)?;
    let bytes = match unit {
        "" | "b" => 512,
        "c" => 1,
        "w" => 2,
        "k" => 1 << 10,
        "M" => 1 << 20,
        "G" => 1 << 30,
        other => return Err(format!("invalid -size type `{}'", other.chars().next().unwrap_or_default())),
    };
    Ok(Test::Size(kind(value), bytes))
}

impl Bits {
    pub(super) fn fits(self, mode: u32) -> bool {
        match self {
            Self::Exactly(bits) => mode == bits,
            Self::All(bits) => mode & bits == bits,
            Self::Any(bits) => bits == 0 || mode & bits != 0,
        }
    }
}

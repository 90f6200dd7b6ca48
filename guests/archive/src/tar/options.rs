//! The command line, in all its spellings: `czf`, `-czf`, `--create --gzip --file=`.

use crate::codec::Codec;

/// What is to be done.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Act {
    Create,
    Extract,
    List,
    /// At the end of an archive that is there; with `newer`, only what is newer than its member.
    Append {
        newer: bool,
    },
}

/// Everything a command line says.
#[derive(Debug)]
pub(super) struct Options {
    pub act: Act,
    /// `None` is standard input or output.
    pub archive: Option<String>,
    /// Absent where the name or the content has to tell.
    pub codec: Option<Codec>,
    pub auto_compress: bool,
    pub verbose: usize,
    pub to_stdout: bool,
    pub strip: usize,
    pub exclude: Vec<String>,
    pub wildcards: bool,
    pub keep_old: bool,
    pub no_mtime: bool,
    pub one_level: bool,
    pub dereference: bool,
    pub absolute: bool,
    /// `-p`: the archive's modes, whatever the umask says.
    pub same_modes: bool,
    pub recurse: bool,
    pub mtime: Option<i64>,
    pub transform_owner: Option<(String, String)>,
    /// In order: folders to change to, and names.
    pub operands: Vec<Operand>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Operand {
    Folder(String),
    Name(String),
    /// A file with one name a line.
    Names(String),
}

/// What to do instead of running.
#[derive(Debug)]
pub(super) enum Stop {
    Help,
    Version,
    Wrong(String),
}

/// Letters that take a value.
const TAKING: &str = "fCTXHbgKNVIL";

pub(super) fn parse(args: &[String]) -> Result<Options, Stop> {
    let mut parser = Parser { options: Options::empty(), act: None };
    let mut args = args.iter();
    // The old style: letters without a dash, whose values follow in the letters' order.
    if let Some(first) = args.clone().next().filter(|first| !first.starts_with('-') && !first.is_empty()) {
        args.next();
        for letter in first.chars() {
            let value = if TAKING.contains(letter) { args.next().cloned() } else { None };
            parser.letter(letter, value)?;
        }
    }
    let mut only_names = false;
    while let Some(arg) = args.next() {
        match arg.as_str() {
            _ if only_names => parser.name(arg),
            "--" => only_names = true,
            long if long.starts_with("--") => {
                let (name, value) = match long[2..].split_once('=') {
                    Some((name, value)) => (name, Some(value.to_owned())),
                    None => (&long[2..], None),
                };
                parser.long(name, value, &mut args)?;
            }
            short if short.starts_with('-') && short.len() > 1 => {
                for (at, letter) in short.char_indices().skip(1) {
                    if !TAKING.contains(letter) {
                        parser.letter(letter, None)?;
                        continue;
                    }
                    let rest = &short[at + letter.len_utf8()..];
                    let value = if rest.is_empty() { args.next().cloned() } else { Some(rest.to_owned()) };
                    parser.letter(letter, value)?;
                    break;
                }
            }
            _ => parser.name(arg),
        }
    }
    parser.finish()
}

struct Parser {
    options: Options,
    act: Option<Act>,
}

impl Parser {
    fn name(&mut self, name: &str) {
        self.options.operands.push(Operand::Name(name.to_owned()));
    }

    fn act(&mut self, act: Act) -> Result<(), Stop> {
        if self.act.is_some_and(|known| known != act) {
            return Err(Stop::Wrong(
                "You may not specify more than one '-Acdtrux', '--delete' or  '--test-label' option"
                    .to_owned(),
            ));
        }
        self.act = Some(act);
        Ok(())
    }

    fn letter(&mut self, letter: char, value: Option<String>) -> Result<(), Stop> {
        let missing = || Stop::Wrong(format!("option requires an argument -- '{letter}'"));
        let value = || value.clone().ok_or_else(missing);
        match letter {
            'c' => self.act(Act::Create)?,
            'x' => self.act(Act::Extract)?,
            't' => self.act(Act::List)?,
            'r' => self.act(Act::Append { newer: false })?,
            'u' => self.act(Act::Append { newer: true })?,
            'f' => self.options.archive = Some(value()?).filter(|it| it != "-"),
            'C' => self.options.operands.push(Operand::Folder(value()?)),
            'T' => self.options.operands.push(Operand::Names(value()?)),
            'X' => {
                let file = value()?;
                let lines = std::fs::read_to_string(&file)
                    .map_err(|_| Stop::Wrong(format!("{file}: Cannot open: No such file or directory")))?;
                self.options.exclude.extend(lines.lines().map(str::to_owned));
            }
            'z' => self.options.codec = Some(Codec::Gzip),
            'j' => self.options.codec = Some(Codec::Bzip2),
            'J' => self.options.codec = Some(Codec::Xz),
            'a' => self.options.auto_compress = true,
            'v' => self.options.verbose += 1,
            'O' => self.options.to_stdout = true,
            'k' => self.options.keep_old = true,
            'm' => self.options.no_mtime = true,
            'h' => self.options.dereference = true,
            'P' => self.options.absolute = true,
            'b' | 'H' | 'g' | 'K' | 'N' | 'V' | 'L' => drop(value()?),
            'I' => {
                let program = value()?;
                self.options.codec = Some(
                    program_codec(&program)
                        .ok_or(Stop::Wrong(format!("{program}: cannot run a program here")))?,
                );
            }
            'p' => self.options.same_modes = true,
            'o' | 's' | 'S' | 'U' | 'w' | 'W' | 'l' | 'n' | 'B' | 'i' => {}
            '?' => return Err(Stop::Help),
            other => return Err(Stop::Wrong(format!("invalid option -- '{other}'"))),
        }
        Ok(())
    }

    fn long(
        &mut self,
        name: &str,
        value: Option<String>,
        args: &mut std::slice::Iter<'_, String>,
    ) -> Result<(), Stop> {
        let mut value = || {
            let missing = || Stop::Wrong(format!("option '--{name}' requires an argument"));
            value.clone().or_else(|| args.next().cloned()).ok_or_else(missing)
        };
        match name {
            "create" => self.act(Act::Create)?,
            "extract" | "get" => self.act(Act::Extract)?,
            "list" => self.act(Act::List)?,
            "append" => self.act(Act::Append { newer: false })?,
            "update" => self.act(Act::Append { newer: true })?,
            "file" => self.letter('f', Some(value()?))?,
            "directory" => self.letter('C', Some(value()?))?,
            "files-from" => self.letter('T', Some(value()?))?,
            "exclude-from" => self.letter('X', Some(value()?))?,
            "exclude" => self.options.exclude.push(value()?),
            "exclude-vcs" => {
                self.options.exclude.extend([".git", ".svn", ".hg", ".gitignore"].map(str::to_owned))
            }
            "gzip" | "gunzip" | "ungzip" => self.letter('z', None)?,
            "bzip2" => self.letter('j', None)?,
            "xz" => self.letter('J', None)?,
            "use-compress-program" => self.letter('I', Some(value()?))?,
            "auto-compress" => self.letter('a', None)?,
            "verbose" => self.letter('v', None)?,
            "to-stdout" => self.letter('O', None)?,
            "strip-components" => {
                let count = value()?;
                self.options.strip = count
                    .parse()
                    .map_err(|_| Stop::Wrong(format!("'{count}': Invalid number of elements")))?;
            }
            "wildcards" => self.options.wildcards = true,
            "no-wildcards" => self.options.wildcards = false,
            "keep-old-files" | "skip-old-files" => self.options.keep_old = true,
            "touch" => self.options.no_mtime = true,
            "dereference" => self.options.dereference = true,
            "absolute-names" => self.options.absolute = true,
            "no-recursion" => self.options.recurse = false,
            "mtime" => self.options.mtime = Some(seconds(&value()?)),
            "owner" => self.owner(value()?, true),
            "group" => self.owner(value()?, false),
            "format" | "sort" | "mode" | "blocking-factor" | "record-size" | "transform" | "xform"
            | "pax-option" | "quoting-style" | "warning" | "checkpoint-action" => drop(value()?),
            "help" | "usage" => return Err(Stop::Help),
            "version" => return Err(Stop::Version),
            "preserve-permissions" | "same-permissions" => self.options.same_modes = true,
            "no-same-permissions" => self.options.same_modes = false,
            "no-same-owner"
            | "same-owner"
            | "numeric-owner"
            | "overwrite"
            | "unlink-first"
            | "recursion"
            | "posix"
            | "totals"
            | "checkpoint"
            | "anchored"
            | "no-anchored"
            | "ignore-failed-read"
            | "no-auto-compress"
            | "sparse"
            | "acls"
            | "xattrs"
            | "selinux"
            | "wildcards-match-slash"
            | "show-transformed-names"
            | "one-file-system"
            | "no-xattrs"
            | "no-acls"
            | "delay-directory-restore"
            | "null"
            | "ignore-zeros"
            | "keep-newer-files" => {}
            "one-top-level" => self.options.one_level = true,
            other => return Err(Stop::Wrong(format!("unrecognized option '--{other}'"))),
        }
        Ok(())
    }

    fn owner(&mut self, name: String, user: bool) {
        let name = name.split(':').next().unwrap_or_default().to_owned();
        let (known_user, known_group) = self.options.transform_owner.take().unwrap_or_else(default_owner);
        self.options.transform_owner = Some(if user { (name, known_group) } else { (known_user, name) });
    }

    fn finish(mut self) -> Result<Options, Stop> {
        self.options.act = self.act.ok_or_else(|| {
            Stop::Wrong(
                "You must specify one of the '-Acdtrux', '--delete' or '--test-label' options".to_owned(),
            )
        })?;
        Ok(self.options)
    }
}

impl Options {
    fn empty() -> Self {
        Self {
            act: Act::List,
            archive: None,
            codec: None,
            auto_compress: false,
            verbose: 0,
            to_stdout: false,
            strip: 0,
            exclude: Vec::new(),
            wildcards: false,
            keep_old: false,
            no_mtime: false,
            one_level: false,
            dereference: false,
            absolute: false,
            same_modes: false,
            recurse: true,
            mtime: None,
            transform_owner: None,
            operands: Vec::new(),
        }
    }
}

/// Who owns what an archive made here holds.
pub(super) fn default_owner() -> (String, String) {
    ("agent".to_owned(), "agent".to_owned())
}

fn program_codec(program: &str) -> Option<Codec> {
    match program.split_whitespace().next()?.rsplit('/').next()? {
        "gzip" | "pigz" | "gunzip" => Some(Codec::Gzip),
        "bzip2" | "pbzip2" => Some(Codec::Bzip2),
        "xz" | "pixz" => Some(Codec::Xz),
        _ => None,
    }
}

/// `@SECONDS`, or a day or moment in UTC; anything else is the epoch.
fn seconds(text: &str) -> i64 {
    if let Some(seconds) = text.strip_prefix('@') {
        return seconds.parse().unwrap_or(0);
    }
    let mut fields = text.split(|sign: char| !sign.is_ascii_digit()).map(|it| it.parse::<i64>().unwrap_or(0));
    let mut field = || fields.next().unwrap_or(0);
    let (year, month, day, hour, minute, second) =
        (field(), field().clamp(1, 12), field().max(1), field(), field(), field());
    super::list::days(year.clamp(1, 9999), month, day) * 86_400 + hour * 3600 + minute * 60 + second
}

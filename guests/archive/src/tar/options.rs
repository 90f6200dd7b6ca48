//! The command line, in all its spellings: `czf`, `-czf`, `--create --gzip --file=`.

use crate::codec::Codec;
use calendar::{DAY_SECONDS, days_of};
use options::{Item, Order};

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

/// What changes nothing here stands last: owners, sparse files, labels and tapes.
const TABLE: &[&str] = &[
    "c,create",
    "x,extract,get",
    "t,list",
    "r,append",
    "u,update",
    "f,file=",
    "C,directory=",
    "T,files-from=",
    "X,exclude-from=",
    "exclude=",
    "exclude-vcs",
    "z,gzip,gunzip,ungzip",
    "j,bzip2",
    "J,xz",
    "I,use-compress-program=",
    "a,auto-compress",
    "v,verbose",
    "O,to-stdout",
    "strip-components=",
    "wildcards",
    "no-wildcards",
    "k,keep-old-files,skip-old-files",
    "m,touch",
    "h,dereference",
    "P,absolute-names",
    "no-recursion",
    "mtime=",
    "owner=",
    "group=",
    "p,preserve-permissions,same-permissions",
    "no-same-permissions",
    "one-top-level?",
    "?,help,usage",
    "version",
    "b,blocking-factor=",
    "H,format=",
    "g,listed-incremental=",
    "K,starting-file=",
    "N,newer=",
    "V,label=",
    "L,tape-length=",
    "sort=",
    "mode=",
    "record-size=",
    "transform,xform=",
    "pax-option=",
    "quoting-style=",
    "warning=",
    "checkpoint-action=",
    "checkpoint?",
    "o,no-same-owner",
    "same-owner",
    "numeric-owner",
    "s,preserve-order",
    "S,sparse",
    "U,unlink-first",
    "overwrite",
    "w,interactive",
    "W,verify",
    "l,check-links,one-file-system",
    "n,seek",
    "B,read-full-records",
    "i,ignore-zeros",
    "recursion",
    "posix",
    "totals?",
    "anchored",
    "no-anchored",
    "ignore-failed-read",
    "no-auto-compress",
    "acls",
    "xattrs",
    "selinux",
    "wildcards-match-slash",
    "show-transformed-names",
    "no-xattrs",
    "no-acls",
    "delay-directory-restore",
    "null",
    "keep-newer-files",
];

pub(super) fn parse(args: &[String]) -> Result<Options, Stop> {
    let mut parser = Parser { options: Options::empty(), act: None };
    for item in options::parse(&dashed(args)?, TABLE, Order::Anywhere).map_err(Stop::Wrong)? {
        match item {
            Item::Flag(id, value) => parser.apply(id, value.unwrap_or_default())?,
            Item::Operand(name) => parser.options.operands.push(Operand::Name(name)),
        }
    }
    parser.finish()
}

/// The old style, letters without a dash whose values follow in the letters' order, in the new one.
fn dashed(args: &[String]) -> Result<Vec<String>, Stop> {
    let Some((first, rest)) = args.split_first() else { return Ok(Vec::new()) };
    if first.is_empty() || first.starts_with('-') {
        return Ok(args.to_vec());
    }
    let mut rest = rest.iter().cloned();
    let mut all = Vec::new();
    for letter in first.chars() {
        all.push(format!("-{letter}"));
        let names = |text: &str| text.split(',').any(|name| name.chars().eq([letter]));
        if TABLE.iter().any(|it| it.strip_suffix('=').is_some_and(names)) {
            let missing = || Stop::Wrong(format!("Old option '{letter}' requires an argument."));
            all.push(rest.next().ok_or_else(missing)?);
        }
    }
    all.extend(rest);
    Ok(all)
}

struct Parser {
    options: Options,
    act: Option<Act>,
}

impl Parser {
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

    fn apply(&mut self, id: &str, value: String) -> Result<(), Stop> {
        let options = &mut self.options;
        match id {
            "c" => self.act(Act::Create)?,
            "x" => self.act(Act::Extract)?,
            "t" => self.act(Act::List)?,
            "r" => self.act(Act::Append { newer: false })?,
            "u" => self.act(Act::Append { newer: true })?,
            "f" => options.archive = Some(value).filter(|it| it != "-"),
            "C" => options.operands.push(Operand::Folder(value)),
            "T" => options.operands.push(Operand::Names(value)),
            "X" => {
                let lines = std::fs::read_to_string(&value)
                    .map_err(|_| Stop::Wrong(format!("{value}: Cannot open: No such file or directory")))?;
                options.exclude.extend(lines.lines().map(str::to_owned));
            }
            "exclude" => options.exclude.push(value),
            "exclude-vcs" => options.exclude.extend([".git", ".svn", ".hg", ".gitignore"].map(str::to_owned)),
            "z" => options.codec = Some(Codec::Gzip),
            "j" => options.codec = Some(Codec::Bzip2),
            "J" => options.codec = Some(Codec::Xz),
            "I" => {
                let none = || Stop::Wrong(format!("{value}: cannot run a program here"));
                options.codec = Some(program_codec(&value).ok_or_else(none)?);
            }
            "a" => options.auto_compress = true,
            "v" => options.verbose += 1,
            "O" => options.to_stdout = true,
            "strip-components" => {
                options.strip = value
                    .parse()
                    .map_err(|_| Stop::Wrong(format!("'{value}': Invalid number of elements")))?;
            }
            "wildcards" => options.wildcards = true,
            "no-wildcards" => options.wildcards = false,
            "k" => options.keep_old = true,
            "m" => options.no_mtime = true,
            "h" => options.dereference = true,
            "P" => options.absolute = true,
            "no-recursion" => options.recurse = false,
            "mtime" => options.mtime = Some(seconds(&value)),
            "owner" => self.owner(value, true),
            "group" => self.owner(value, false),
            "p" => options.same_modes = true,
            "no-same-permissions" => options.same_modes = false,
            "one-top-level" => options.one_level = true,
            "?" => return Err(Stop::Help),
            "version" => return Err(Stop::Version),
            _ => {}
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
    days_of(year.clamp(1, 9999), month, day) * DAY_SECONDS + hour * 3600 + minute * 60 + second
}

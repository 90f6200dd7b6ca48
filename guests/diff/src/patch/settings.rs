//! The command line of `patch`.

use options::{Item, Order};

pub(super) const HELP: &str = "Usage: patch [OPTION]... [ORIGFILE [PATCHFILE]]

  -p NUM  --strip=NUM       strip NUM leading components from file names
  -F LINES  --fuzz LINES    set the fuzz factor to LINES for inexact matching
  -N  --forward             ignore patches that appear reversed or already applied
  -R  --reverse             assume patches were created with old and new files swapped
  -i PATCHFILE  --input=PATCHFILE   read patch from PATCHFILE instead of stdin
  -o FILE  --output=FILE    output patched files to FILE
  -r FILE  --reject-file=FILE       output rejects to FILE
  -E  --remove-empty-files  remove output files that are empty after patching
  -b  --backup              back up the original contents of each file
  -z SUFFIX  --suffix=SUFFIX        append SUFFIX to backup file names
  -d DIR  --directory=DIR   change the working directory to DIR first
      --dry-run             do not actually change any files; just print what would happen
  -s  --quiet  --silent     work silently unless an error occurs
  -f  --force               like -t, but ignore bad-Prereq patches, and assume unreversed
  -t  --batch               ask no questions; skip bad-Prereq patches; assume reversed
      --no-backup-if-mismatch       back up mismatches only if otherwise requested

Unified, context and normal diffs are taken; ed scripts are not.
";

const TABLE: &[&str] = &[
    "p,strip=",
    "F,fuzz=",
    "N,forward",
    "R,reverse",
    "i,input=",
    "o,output=",
    "r,reject-file=",
    "E,remove-empty-files",
    "b,backup",
    "z,suffix=",
    "V,version-control=",
    "d,directory=",
    "dry-run",
    "s,quiet,silent",
    "f,force",
    "t,batch",
    "no-backup-if-mismatch",
    "backup-if-mismatch",
    "verbose",
    "binary",
    "u,unified",
    "c,context",
    "n,normal",
    "e,ed",
    "l,ignore-whitespace",
    "posix",
    "g,get=",
    "merge?",
    "read-only=",
    "follow-symlinks",
    "Z,set-utc",
    "T,set-time",
    "B,prefix=",
    "Y,basename-prefix=",
    "reject-format=",
    "quoting-style=",
    "help",
    "v,version",
];

/// What was asked for.
#[derive(Debug, Default)]
#[allow(clippy::struct_excessive_bools, reason = "each is an option of the command line")]
pub(super) struct Settings {
    /// Folders to take off the front of names; without it only the last name counts.
    pub strip: Option<usize>,
    pub fuzz_max: usize,
    pub forward: bool,
    pub reverse: bool,
    pub input: Option<String>,
    pub output: Option<String>,
    pub rejects: Option<String>,
    pub remove_empty: bool,
    pub backup: bool,
    pub backup_if_mismatch: bool,
    pub suffix: String,
    pub directory: Option<String>,
    pub dry_run: bool,
    pub quiet: bool,
    pub force: bool,
    pub batch: bool,
    /// The one file to change, whatever the patch says.
    pub file: Option<String>,
}

/// Why there are no settings.
pub(super) enum Refused {
    Print(&'static str),
    Problem(String),
}

pub(super) fn parse(args: &[String]) -> Result<Settings, Refused> {
    let mut settings =
        Settings { fuzz_max: 2, backup_if_mismatch: true, suffix: ".orig".to_owned(), ..Settings::default() };
    for item in options::parse(args, TABLE, Order::Anywhere).map_err(Refused::Problem)? {
        match item {
            Item::Flag("p", Some(text)) => settings.strip = Some(number("strip count", &text)?),
            Item::Flag("F", Some(text)) => settings.fuzz_max = number("fuzz factor", &text)?,
            Item::Flag("N", _) => settings.forward = true,
            Item::Flag("R", _) => settings.reverse = true,
            Item::Flag("i", value) => settings.input = value,
            Item::Flag("o", value) => settings.output = value,
            Item::Flag("r", value) => settings.rejects = value,
            Item::Flag("E", _) => settings.remove_empty = true,
            Item::Flag("b", _) => settings.backup = true,
            Item::Flag("z", Some(suffix)) => settings.suffix = suffix,
            Item::Flag("d", value) => settings.directory = value,
            Item::Flag("dry-run", _) => settings.dry_run = true,
            Item::Flag("s", _) => settings.quiet = true,
            Item::Flag("f", _) => settings.force = true,
            Item::Flag("t", _) => settings.batch = true,
            Item::Flag("no-backup-if-mismatch" | "posix", _) => settings.backup_if_mismatch = false,
            Item::Flag("e", _) => return Err(Refused::Problem("ed scripts are not taken".to_owned())),
            Item::Flag("help", _) => return Err(Refused::Print(HELP)),
            Item::Flag("v", _) => return Err(Refused::Print("GNU patch 2.7.6 compatible, drydock\n")),
            Item::Flag(..) => {}
            Item::Operand(file) if settings.file.is_none() => settings.file = Some(file),
            Item::Operand(file) if settings.input.is_none() => settings.input = Some(file),
            Item::Operand(extra) => return Err(Refused::Problem(format!("{extra}: extra operand"))),
        }
    }
    Ok(settings)
}

fn number(what: &str, text: &str) -> Result<usize, Refused> {
    text.parse().map_err(|_| Refused::Problem(format!("**** {what} {text} is not a number")))
}

//! `install [-d] [-D] [-v] [-t DIR] [-m MODE] SOURCE... DEST`: copies files and makes folders.
//!
//! There is one owner, and nothing to strip: `-o`, `-g` and `-s` are accepted and change nothing.

use super::copy::set_times;
use super::mode::{Target, changed};
use crate::stream::{Out, reason, text};
use facts::Follow;
use options::{Item, Order};
use std::fs;
use std::path::{Path, PathBuf};

#[derive(Default)]
struct Options {
    folders: bool,
    parents: bool,
    verbose: bool,
    no_target_folder: bool,
    target: Option<String>,
    mode: Option<String>,
    times: bool,
    operands: Vec<String>,
}

/// The applet.
pub fn main(args: &[&[u8]]) -> i32 {
    let args: Vec<String> = args.iter().map(|it| text(it).into_owned()).collect();
    let mut out = Out::new("install");
    let done = parse(&args).and_then(|options| {
        if options.folders { make(&options, &mut out) } else { copy(&options, &mut out) }
    });
    match done {
        Ok(()) => out.end(0),
        Err(problem) => {
            out.complain(&problem);
            out.end(1)
        }
    }
}

const TABLE: &[&str] = &[
    "d,directory",
    "D",
    "v,verbose",
    "T,no-target-directory",
    "t,target-directory=",
    "m,mode=",
    "o,owner=",
    "g,group=",
    "S,suffix=",
    "p,preserve-timestamps",
    "s,strip",
    "C,compare",
    "b",
    "backup?",
    "c",
];

fn parse(args: &[String]) -> Result<Options, String> {
    let mut options = Options::default();
    for item in options::parse(args, TABLE, Order::Anywhere)? {
        match item {
            Item::Flag("d", _) => options.folders = true,
            Item::Flag("D", _) => options.parents = true,
            Item::Flag("v", _) => options.verbose = true,
            Item::Flag("T", _) => options.no_target_folder = true,
            Item::Flag("p", _) => options.times = true,
            Item::Flag("t", value) => options.target = value,
            Item::Flag("m", value) => options.mode = value,
            Item::Flag(..) => {}
            Item::Operand(name) => options.operands.push(name),
        }
    }
    Ok(options)
}

/// The mode that was asked for; what is installed can be run unless it says otherwise.
fn mode(options: &Options, target: Target) -> Result<u32, String> {
    match &options.mode {
        None => Ok(0o755),
        Some(text) => changed(text, 0, target, 0).map_err(|_| format!("invalid mode '{text}'")),
    }
}

fn make(options: &Options, out: &mut Out) -> Result<(), String> {
    if options.operands.is_empty() {
        return Err("missing file operand".to_owned());
    }
    let mode = mode(options, Target::Directory)?;
    for folder in &options.operands {
        let mut made = PathBuf::new();
        for part in Path::new(folder) {
            made.push(part);
            if made.is_dir() {
                continue;
            }
            let why =
                |error: std::io::Error| format!("cannot create directory '{folder}': {}", reason(&error));
            fs::create_dir(&made).map_err(why)?;
            if options.verbose {
                out.put(format!("install: creating directory '{}'\n", made.display()).as_bytes());
            }
        }
        set_mode(Path::new(folder), mode)?;
    }
    Ok(())
}

fn copy(options: &Options, out: &mut Out) -> Result<(), String> {
    let mode = mode(options, Target::File)?;
    let (sources, target) = match (&options.target, options.operands.split_last()) {
        (_, None) => return Err("missing file operand".to_owned()),
        (Some(target), Some(_)) => (&options.operands[..], target.clone()),
        (None, Some((last, []))) => return Err(format!("missing destination file operand after '{last}'")),
        (None, Some((last, sources))) => (sources, last.clone()),
    };
    if options.parents {
        let parents =
            if options.target.is_some() { Some(Path::new(&target)) } else { Path::new(&target).parent() };
        if let Some(parents) = parents {
            fs::create_dir_all(parents)
                .map_err(|error| format!("cannot create directory '{}': {error}", parents.display()))?;
        }
    }
    let into = options.target.is_some() || (Path::new(&target).is_dir() && !options.no_target_folder);
    if sources.len() > 1 && !into {
        return Err(format!("target '{target}' is not a directory"));
    }
    for source in sources {
        let name = source.rsplit('/').next().unwrap_or(source);
        let to = if into { Path::new(&target).join(name) } else { PathBuf::from(&target) };
        if Path::new(source).is_dir() {
            return Err(format!("omitting directory '{source}'"));
        }
        let facts = facts::of(Path::new(source), Follow::Yes);
        let facts = facts.map_err(|error| format!("cannot stat '{source}': {}", reason(&error)))?;
        fs::copy(source, &to)
            .map_err(|error| format!("cannot create regular file '{}': {}", to.display(), reason(&error)))?;
        set_mode(&to, mode)?;
        if options.times {
            set_times(&to, facts.accessed, facts.modified, Follow::Yes)
                .map_err(|error| format!("cannot set times of '{}': {}", to.display(), reason(&error)))?;
        }
        if options.verbose {
            out.put(format!("'{source}' -> '{}'\n", to.display()).as_bytes());
        }
    }
    Ok(())
}

fn set_mode(path: &Path, mode: u32) -> Result<(), String> {
    modes::set(path, true, mode)
        .map_err(|error| format!("cannot change permissions of '{}': {}", path.display(), reason(&error)))
}

//! `install [-d] [-D] [-v] [-t DIR] [-m MODE] SOURCE... DEST`: copies files and makes folders.
//!
//! Owners do not exist here and modes are not kept by every file tree, so `-o`, `-g`, `-s` and `-p`
//! are accepted and change nothing, and `-m` is done where it can be.

use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};

#[derive(Default)]
struct Options {
    folders: bool,
    parents: bool,
    verbose: bool,
    no_target_folder: bool,
    target: Option<String>,
    mode: Option<u32>,
    operands: Vec<String>,
}

/// The applet.
pub fn uumain(args: impl Iterator<Item = OsString>) -> i32 {
    let args: Vec<String> = args.skip(1).map(|it| it.to_string_lossy().into_owned()).collect();
    let done = parse(&args).and_then(|options| if options.folders { make(&options) } else { copy(&options) });
    match done {
        Ok(()) => 0,
        Err(problem) => {
            eprintln!("install: {problem}");
            1
        }
    }
}

fn parse(args: &[String]) -> Result<Options, String> {
    let mut options = Options::default();
    let mut args = args.iter();
    while let Some(arg) = args.next() {
        let long = arg.strip_prefix("--").filter(|it| !it.is_empty());
        if let Some(long) = long {
            let (name, value) =
                long.split_once('=').map_or((long, None), |(name, value)| (name, Some(value.to_owned())));
            let mut value = || {
                value
                    .clone()
                    .or_else(|| args.next().cloned())
                    .ok_or(format!("option '--{name}' requires an argument"))
            };
            match name {
                "directory" => options.folders = true,
                "verbose" => options.verbose = true,
                "no-target-directory" => options.no_target_folder = true,
                "target-directory" => options.target = Some(value()?),
                "mode" => options.mode = Some(mode(&value()?)?),
                "owner" | "group" | "suffix" => drop(value()?),
                "strip" | "preserve-timestamps" | "compare" | "backup" => {}
                other => return Err(format!("unrecognized option '--{other}'")),
            }
            continue;
        }
        if arg == "--" {
            options.operands.extend(args.by_ref().cloned());
        } else if arg.len() < 2 || !arg.starts_with('-') {
            options.operands.push(arg.clone());
        } else {
            for (at, letter) in arg.char_indices().skip(1) {
                match letter {
                    'd' => options.folders = true,
                    'D' => options.parents = true,
                    'v' => options.verbose = true,
                    'T' => options.no_target_folder = true,
                    'c' | 's' | 'p' | 'C' | 'b' => {}
                    't' | 'm' | 'o' | 'g' | 'S' => {
                        let rest = &arg[at + 1..];
                        let value =
                            if rest.is_empty() { args.next().cloned() } else { Some(rest.to_owned()) };
                        let value = value.ok_or(format!("option requires an argument -- '{letter}'"))?;
                        match letter {
                            't' => options.target = Some(value),
                            'm' => options.mode = Some(mode(&value)?),
                            _ => {}
                        }
                        break;
                    }
                    other => return Err(format!("invalid option -- '{other}'")),
                }
            }
        }
    }
    Ok(options)
}

fn mode(text: &str) -> Result<u32, String> {
    let symbolic = match text {
        "+x" | "a+x" | "u=rwx,go=rx" | "u=rwx,g=rx,o=rx" => Some(0o755),
        "u=rw,go=r" | "u=rw,g=r,o=r" => Some(0o644),
        _ => None,
    };
    symbolic.or_else(|| u32::from_str_radix(text, 8).ok()).ok_or(format!("invalid mode '{text}'"))
}

fn make(options: &Options) -> Result<(), String> {
    if options.operands.is_empty() {
        return Err("missing file operand".to_owned());
    }
    for folder in &options.operands {
        let mut made = PathBuf::new();
        for part in Path::new(folder) {
            made.push(part);
            if made.is_dir() {
                continue;
            }
            let why = |error: std::io::Error| {
                format!("cannot create directory '{folder}': {}", uucore::error::strip_errno(&error))
            };
            fs::create_dir(&made).map_err(why)?;
            if options.verbose {
                println!("install: creating directory '{}'", made.display());
            }
        }
        set_mode(Path::new(folder), options.mode.unwrap_or(0o755));
    }
    Ok(())
}

fn copy(options: &Options) -> Result<(), String> {
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
        fs::metadata(source)
            .map_err(|error| format!("cannot stat '{source}': {}", uucore::error::strip_errno(&error)))?;
        fs::copy(source, &to).map_err(|error| {
            format!("cannot create regular file '{}': {}", to.display(), uucore::error::strip_errno(&error))
        })?;
        set_mode(&to, options.mode.unwrap_or(0o755));
        if options.verbose {
            println!("'{source}' -> '{}'", to.display());
        }
    }
    Ok(())
}

#[cfg(unix)]
fn set_mode(path: &Path, mode: u32) {
    use std::os::unix::fs::PermissionsExt as _;
    let _ = fs::set_permissions(path, fs::Permissions::from_mode(mode));
}

/// WASI keeps no permissions.
#[cfg(not(unix))]
fn set_mode(_path: &Path, _mode: u32) {}

//! `mktemp`: a name that nobody has yet.

use super::arguments::{self, refuse};
use super::random;
use crate::stream::{Out, path, reason, text};
use std::fs::{self, OpenOptions};
use std::io;
use std::path::{Path, PathBuf};

const HELP: &str = "Usage: mktemp [OPTION]... [TEMPLATE]
Makes a file that nobody else may read, and prints its name. TEMPLATE ends in at least three X.

  -d, --directory     make a directory
  -u, --dry-run       make nothing
  -q, --quiet         do not complain
  -p DIR, --tmpdir[=DIR]  in DIR, else in $TMPDIR, else in /tmp
  -t                  TEMPLATE is a name in that directory
  --suffix=TEXT   behind the template
";
const TRIES_MAX: usize = 100;

/// The applet.
pub fn main(args: &[&[u8]]) -> i32 {
    let table = &["d,directory", "u,dry-run", "q,quiet", "p=", "tmpdir?", "t", "suffix="];
    let line = match arguments::read("mktemp", HELP, args, table, 1) {
        Ok(line) => line,
        Err(status) => return status,
    };
    if line.operands.len() > 1 {
        return refuse("mktemp", "too many templates", 1);
    }
    let mut out = Out::new("mktemp");
    let made = template(&line)
        .and_then(|(folder, name, suffix)| make(&folder, &name, &suffix, line.has("d"), line.has("u")));
    match made {
        Ok(made) => {
            out.put(made.as_os_str().as_encoded_bytes());
            out.sign(b'\n');
            out.end(0)
        }
        Err(problem) => {
            if !line.has("q") {
                out.complain(&problem);
            }
            1
        }
    }
}

/// Where it goes, the name up to its X, and what is behind them.
fn template(line: &arguments::Arguments<'_>) -> Result<(PathBuf, String, String), String> {
    let given = line.operands.first().map(|it| text(it).into_owned());
    let template = given.clone().unwrap_or_else(|| "tmp.XXXXXXXXXX".to_owned());
    let end = template.rfind('X').map_or(0, |at| at + 1);
    let (whole, after) = template.split_at(end);
    let suffix = match line.value("suffix") {
        Some(_) if !after.is_empty() => {
            return Err(format!("with --suffix, template '{template}' must end in X"));
        }
        Some(suffix) => text(suffix).into_owned(),
        None => after.to_owned(),
    };
    if suffix.contains('/') {
        return Err(format!("invalid suffix '{suffix}', contains directory separator"));
    }
    let count = whole.len() - whole.trim_end_matches('X').len();
    if count < 3 {
        return Err(format!("too few X's in template '{template}'"));
    }
    let in_folder = given.is_none() || line.has("p") || line.has("tmpdir") || line.has("t");
    let named = line.value("p").or_else(|| line.value("tmpdir")).map(|it| path(it).to_path_buf());
    let from_environment = || std::env::var_os("TMPDIR").filter(|it| !it.is_empty()).map(PathBuf::from);
    if in_folder && line.has("t") && whole.contains('/') {
        return Err(format!("invalid template, '{template}', contains directory separator"));
    }
    if in_folder && whole.starts_with('/') {
        return Err(format!("invalid template, '{template}'; with --tmpdir, it may not be absolute"));
    }
    let usual = || from_environment().unwrap_or_else(|| PathBuf::from("/tmp"));
    let folder = if in_folder { named.unwrap_or_else(usual) } else { PathBuf::new() };
    Ok((folder, whole.to_owned(), suffix))
}

fn make(folder: &Path, name: &str, suffix: &str, directory: bool, dry: bool) -> Result<PathBuf, String> {
    let stem = name.trim_end_matches('X');
    let what = if directory { "directory" } else { "file" };
    let shown = folder.join(format!("{name}{suffix}"));
    for _ in 0..TRIES_MAX {
        let path = folder.join(format!("{stem}{}{suffix}", chance(name.len() - stem.len())?));
        let made = match (dry, directory) {
            (true, _) if path.symlink_metadata().is_ok() => continue,
            (true, _) => return Ok(path),
            (false, true) => fs::create_dir(&path).and_then(|()| modes::set(&path, true, 0o700)),
            (false, false) => {
                let made = OpenOptions::new().write(true).create_new(true).open(&path).map(drop);
                made.and_then(|()| modes::set(&path, true, 0o600))
            }
        };
        match made {
            Ok(()) => return Ok(path),
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
            Err(error) => {
                return Err(format!(
                    "failed to create {what} via template '{}': {}",
                    shown.display(),
                    reason(&error)
                ));
            }
        }
    }
    Err(format!("failed to create {what} via template '{}': File exists", shown.display()))
}

fn chance(count: usize) -> Result<String, String> {
    const SIGNS: &[u8] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789";
    let mut bytes = vec![0; count];
    for part in bytes.chunks_mut(256) {
        random::fill(part).map_err(|error| reason(&error))?;
    }
    Ok(bytes.iter().map(|byte| char::from(SIGNS[usize::from(*byte) % SIGNS.len()])).collect())
}

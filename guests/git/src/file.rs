//! Files as a repository keeps them: replaced whole, by a name beside them that is then renamed.

use std::io::Write as _;
use std::path::Path;

use crate::fail::{Done, fatal};

/// Writes a file in the place of another one, and the directories that lead to it.
pub fn replace(path: &Path, bytes: &[u8]) -> Done {
    if let Some(folder) = path.parent() {
        make_dirs(folder)?;
    }
    let mut name = path.file_name().unwrap_or_default().to_owned();
    name.push(".lock");
    let lock = path.with_file_name(name);
    let cannot = |cause: std::io::Error| match cause.kind() {
        std::io::ErrorKind::AlreadyExists => fatal(format!(
            "Unable to create '{}': File exists.\n\nAnother git process seems to be running in this repository, e.g.\nan editor opened by 'git commit'. Please make sure all processes\nare terminated then try again. If it still fails, a git process\nmay have crashed in this repository earlier:\nremove the file manually to continue.",
            lock.display()
        )),
        _ => fatal(format!("could not write '{}': {cause}", path.display())),
    };
    let mut file = std::fs::OpenOptions::new().write(true).create_new(true).open(&lock).map_err(cannot)?;
    let written = file.write_all(bytes);
    drop(file);
    if let Err(cause) = written.and_then(|()| std::fs::rename(&lock, path)) {
        let _ = std::fs::remove_file(&lock);
        return Err(cannot(cause));
    }
    Ok(())
}

/// Adds to the end of a file.
pub fn append(path: &Path, bytes: &[u8]) -> Done {
    if let Some(folder) = path.parent() {
        make_dirs(folder)?;
    }
    let file = std::fs::OpenOptions::new().append(true).create(true).open(path);
    file.and_then(|mut it| it.write_all(bytes))
        .map_err(|cause| fatal(format!("could not write '{}': {cause}", path.display())))
}

/// The directories that lead somewhere.
pub fn make_dirs(folder: &Path) -> Done {
    std::fs::create_dir_all(folder)
        .map_err(|cause| fatal(format!("cannot mkdir {}: {}", folder.display(), place::reason(&cause))))
}

//! Whole files or none: a reader sees the old content or the new, whatever kills the writer.
//!
//! A temporary file in the same directory is written, synced and renamed over the name, and then
//! the directory is synced, because a rename that is only in memory is lost with the power.

use std::{
    fs::{self, File, OpenOptions},
    io::{self, Write as _},
    os::unix::fs::OpenOptionsExt as _,
    path::{Path, PathBuf},
    time::Duration,
};

/// Temporary files begin so, and no other file does: command names never start with a dot.
const PREFIX: &str = ".tmp-";
/// A writer that is older than this is dead.
const LEFTOVER_AGE: Duration = Duration::from_secs(60 * 60);
const SWEPT_EVERY: u64 = 16;

/// What the content has to survive.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Durability {
    /// The machine.
    Power,
    /// This process only: for what can be made again and is checked when read.
    Process,
}

/// Replaces the file at `path`, readable by its owner only.
pub(crate) fn write_atomic(path: &Path, parts: &[&[u8]], durability: Durability) -> io::Result<()> {
    let temporary = temporary_path(path)?;
    let written = write_and_rename(&temporary, path, parts, durability);
    if written.is_err() {
        let _ = fs::remove_file(&temporary);
    }
    written
}

fn write_and_rename(
    temporary: &Path,
    path: &Path,
    parts: &[&[u8]],
    durability: Durability,
) -> io::Result<()> {
    let mut file = OpenOptions::new().write(true).create_new(true).mode(0o600).open(temporary)?;
    for part in parts {
        file.write_all(part)?;
    }
    if durability == Durability::Process {
        return fs::rename(temporary, path);
    }
    file.sync_all()?;
    fs::rename(temporary, path)?;
    sync_dir(parent(path)?)
}

/// Gives the content of `from` the name `to` as well, replacing what was there, in one step.
pub(crate) fn keep_second_name(from: &Path, to: &Path) -> io::Result<()> {
    let temporary = temporary_path(to)?;
    // Not every file system has hard links.
    if fs::hard_link(from, &temporary).is_err() {
        return write_atomic(to, &[&fs::read(from)?], Durability::Power);
    }
    let renamed = fs::rename(&temporary, to);
    // Renaming one name of a file over another name of the same file does nothing, says POSIX.
    let _ = fs::remove_file(&temporary);
    renamed
}

/// Makes the names in a directory survive the machine.
pub(crate) fn sync_dir(dir: &Path) -> io::Result<()> {
    File::open(dir)?.sync_all()
}

/// A name beside `path` that nobody else will choose. One in so many who ask for one sweeps up what killed writers left
/// there: a process that writes nothing need not look, and one that does need not look each time.
pub(crate) fn temporary_path(path: &Path) -> io::Result<PathBuf> {
    let nonce = getrandom::u64().map_err(io::Error::other)?;
    let dir = parent(path)?;
    if nonce.is_multiple_of(SWEPT_EVERY) {
        sweep(dir);
    }
    Ok(dir.join(format!("{PREFIX}{nonce:016x}")))
}

/// Removes what killed writers left in `dir`. A failure costs disk space, nothing else.
fn sweep(dir: &Path) {
    let Ok(entries) = fs::read_dir(dir) else { return };
    for entry in entries.flatten() {
        if !entry.file_name().to_string_lossy().starts_with(PREFIX) {
            continue;
        }
        let modified = entry.metadata().and_then(|facts| facts.modified());
        if modified.is_ok_and(|at| at.elapsed().is_ok_and(|age| age > LEFTOVER_AGE)) {
            let is_dir = entry.file_type().is_ok_and(|it| it.is_dir());
            let _ = if is_dir { fs::remove_dir_all(entry.path()) } else { fs::remove_file(entry.path()) };
        }
    }
}

fn parent(path: &Path) -> io::Result<&Path> {
    path.parent().ok_or_else(|| io::ErrorKind::InvalidInput.into())
}

#[cfg(test)]
mod tests {
    use std::time::SystemTime;

    use super::*;

    #[test]
    fn a_write_replaces_the_whole_file_and_leaves_nothing_beside_it() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("file");
        for durability in [Durability::Power, Durability::Process] {
            write_atomic(&path, &[b"a long first", b" content"], durability).unwrap();
            write_atomic(&path, &[b"short"], durability).unwrap();
            assert_eq!(fs::read(&path).unwrap(), b"short");
        }
        assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 1);
    }

    #[test]
    fn a_second_name_outlives_the_first_and_can_be_kept_twice() {
        let dir = tempfile::tempdir().unwrap();
        let (now, before) = (dir.path().join("now"), dir.path().join("before"));
        fs::write(&now, "one").unwrap();
        keep_second_name(&now, &before).unwrap();
        keep_second_name(&now, &before).unwrap();
        write_atomic(&now, &[b"two"], Durability::Power).unwrap();
        assert_eq!(fs::read(&before).unwrap(), b"one");
        assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 2);
    }

    #[test]
    fn only_old_temporary_files_are_swept() {
        let dir = tempfile::tempdir().unwrap();
        let long_ago = SystemTime::now() - 2 * LEFTOVER_AGE;
        for (name, age) in [(".tmp-old", Some(long_ago)), (".tmp-new", None), ("kept", Some(long_ago))] {
            let file = File::create(dir.path().join(name)).unwrap();
            if let Some(at) = age {
                file.set_modified(at).unwrap();
            }
        }
        sweep(dir.path());
        let mut left: Vec<_> = fs::read_dir(dir.path()).unwrap().map(|it| it.unwrap().file_name()).collect();
        left.sort();
        assert_eq!(left, [".tmp-new", "kept"]);
    }

    #[test]
    fn whoever_writes_sweeps_up_before_long() {
        let dir = tempfile::tempdir().unwrap();
        let old = dir.path().join(".tmp-old");
        File::create(&old).unwrap().set_modified(SystemTime::now() - 2 * LEFTOVER_AGE).unwrap();
        // That nobody among so many sweeps happens once in ten to the 28th.
        let writes = (0..1_000).take_while(|_| old.exists());
        writes.for_each(|_| write_atomic(&dir.path().join("file"), &[b"x"], Durability::Process).unwrap());
        assert!(!old.exists());
    }
}

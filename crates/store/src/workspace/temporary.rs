//! Files that are being made, before they have their name. Whoever makes one holds a lock on it; one
//! without a holder is what a killed process left, and the next to make one sweeps it up.

use std::{
    fs::{self, File, OpenOptions},
    io,
    os::unix::fs::OpenOptionsExt as _,
    path::{Path, PathBuf},
    time::Duration,
};

const PREFIX: &str = ".tmp-";
/// Younger ones are left alone: between being made and being locked there is a moment.
const AGE_MIN: Duration = Duration::from_secs(60);

/// A file of ours, removed when it is dropped.
pub(super) struct Temporary {
    path: PathBuf,
    _lock: File,
}

impl Temporary {
    /// An empty file beside `target` that nobody else will choose.
    pub(super) fn beside(target: &Path) -> io::Result<Self> {
        if let Some(dir) = target.parent() {
            sweep(dir, AGE_MIN);
        }
        let nonce = getrandom::u64().map_err(io::Error::other)?;
        let path = target.with_file_name(format!("{PREFIX}{nonce:016x}"));
        let file = OpenOptions::new().write(true).create_new(true).mode(0o600).open(&path)?;
        file.lock()?;
        Ok(Self { path, _lock: file })
    }

    pub(super) fn path(&self) -> &Path {
        &self.path
    }
}

impl Drop for Temporary {
    fn drop(&mut self) {
        let _ = fs::remove_file(&self.path);
        for side in ["-journal", "-wal", "-shm"] {
            let _ = fs::remove_file(with_suffix(&self.path, side));
        }
    }
}

/// Removes what nobody holds. A failure costs space, and only until the next time.
fn sweep(dir: &Path, age_min: Duration) {
    let Ok(entries) = fs::read_dir(dir) else { return };
    for entry in entries.flatten() {
        let name = entry.file_name();
        let Some(rest) = name.to_str().and_then(|it| it.strip_prefix(PREFIX)) else { continue };
        // What SQLite keeps beside it goes with it.
        let base = dir.join(format!("{PREFIX}{}", rest.split('-').next().unwrap_or_default()));
        let old = entry.metadata().and_then(|it| it.modified()).ok().and_then(|it| it.elapsed().ok());
        let held = File::open(&base).is_ok_and(|it| it.try_lock().is_err());
        if !held && old.is_some_and(|it| it >= age_min) {
            let _ = fs::remove_file(entry.path());
        }
    }
}

fn with_suffix(path: &Path, suffix: &str) -> PathBuf {
    let mut text = path.as_os_str().to_owned();
    text.push(suffix);
    text.into()
}

#[test]
fn what_a_killed_process_left_is_swept_and_what_is_held_is_not() {
    let temp = tempfile::tempdir().unwrap();
    let held = Temporary::beside(&temp.path().join("x")).unwrap();
    let journal = with_suffix(held.path(), "-journal");
    for path in [&journal, &temp.path().join(".tmp-00ff"), &temp.path().join(".tmp-00ff-journal")] {
        fs::write(path, "").unwrap();
    }
    fs::write(temp.path().join("w.sqlite"), "").unwrap();
    sweep(temp.path(), AGE_MIN);
    assert_eq!(fs::read_dir(temp.path()).unwrap().count(), 5, "all of them are young");
    sweep(temp.path(), Duration::ZERO);
    assert!(held.path().exists() && journal.exists());
    assert_eq!(fs::read_dir(temp.path()).unwrap().count(), 3);
    drop(held);
    assert_eq!(fs::read_dir(temp.path()).unwrap().count(), 1);
}

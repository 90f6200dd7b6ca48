//! A tree that remembers what was changed in it, for whoever wants to tell which files a program made.
//!
//! It notes names and hands every call on. What is noted is bounded; whether a name is still there, and how long
//! its file is, is looked up when somebody asks.

use std::{
    collections::BTreeMap,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
};

use drydock_contract::{
    Timestamp,
    port::{
        DirEntry, FileKind, FileResult, FileTimes, Files, Follow, Interrupt, Mode, OpenFile, OpenHow, Stat,
        TreePath,
    },
};
use parking_lot::Mutex;
use serde::Serialize;

/// The most names that are remembered.
const NAMES_MAX: usize = 1_000;

/// A file that was made, changed or removed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct ChangedFile {
    /// Its absolute path.
    pub path: String,
    /// `added`, `modified` or `removed`.
    pub kind: &'static str,
    /// Its length.
    pub size: u64,
    /// What it seems to be, by its name.
    #[serde(rename = "mediaType", skip_serializing_if = "Option::is_none")]
    pub media_type: Option<&'static str>,
}

/// What was changed in a tree.
#[derive(Clone)]
pub struct ChangeLog {
    files: Arc<dyn Files>,
    /// Whether each was there before it was first touched.
    touched: Arc<Mutex<BTreeMap<String, bool>>>,
    /// Whether anything was done that may have changed the tree, directories and times included.
    is_changed: Arc<AtomicBool>,
}

impl ChangeLog {
    /// The tree, and what will be changed in it through the tree that is returned.
    pub fn of(files: &Arc<dyn Files>) -> (Arc<dyn Files>, Self) {
        let log = Self { files: Arc::clone(files), touched: Arc::default(), is_changed: Arc::default() };
        (Arc::new(Watched { files: Arc::clone(files), log: log.clone() }), log)
    }

    /// Forgets what was changed so far.
    pub fn clear(&self) {
        self.touched.lock().clear();
        self.is_changed.store(false, Ordering::Relaxed);
    }

    /// Whether anything was done since then that may have changed the tree.
    pub fn is_changed(&self) -> bool {
        self.is_changed.load(Ordering::Relaxed)
    }

    fn change(&self) {
        self.is_changed.store(true, Ordering::Relaxed);
    }

    /// What was changed, sorted by path. A file that came and went is not told.
    pub fn changes(&self) -> Vec<ChangedFile> {
        let touched = self.touched.lock().clone();
        let look = |(path, was_there): (&String, &bool)| {
            let stat = TreePath::new(path).and_then(|it| self.files.stat(&it, Follow::No)).ok();
            let (kind, size) = match (was_there, stat) {
                (false, Some(stat)) if stat.kind != FileKind::Directory => ("added", stat.size),
                (true, Some(stat)) if stat.kind != FileKind::Directory => ("modified", stat.size),
                (true, None) => ("removed", 0),
                _ => return None,
            };
            Some(ChangedFile { path: format!("/{path}"), kind, size, media_type: media_type(path) })
        };
        touched.iter().filter_map(look).collect()
    }

    fn note(&self, path: &TreePath) {
        self.change();
        let names: Vec<&str> = path.names().collect();
        let name = names.join("/");
        let mut touched = self.touched.lock();
        if !touched.contains_key(&name) && touched.len() < NAMES_MAX {
            let was_there = self.files.stat(path, Follow::No).is_ok();
            touched.insert(name, was_there);
        }
    }
}

/// By the end of a name, as browsers do.
fn media_type(path: &str) -> Option<&'static str> {
    let end = path.rsplit_once('.')?.1;
    Some(match end.to_ascii_lowercase().as_str() {
        "png" => "image/png",
        "jpg" | "jpeg" => "image/jpeg",
        "gif" => "image/gif",
        "svg" => "image/svg+xml",
        "webp" => "image/webp",
        "pdf" => "application/pdf",
        "csv" => "text/csv",
        "json" => "application/json",
        "html" | "htm" => "text/html",
        "md" => "text/markdown",
        "txt" => "text/plain",
        _ => return None,
    })
}

struct Watched {
    files: Arc<dyn Files>,
    log: ChangeLog,
}

impl Files for Watched {
    fn stat(&self, path: &TreePath, follow: Follow) -> FileResult<Stat> {
        self.files.stat(path, follow)
    }

    fn open(&self, path: &TreePath, how: OpenHow, now: Timestamp) -> FileResult<Arc<dyn OpenFile>> {
        if how.write || how.create || how.truncate {
            self.log.note(path);
        }
        let file = self.files.open(path, how, now)?;
        match how.write {
            true => Ok(Arc::new(WatchedFile { file, log: self.log.clone() })),
            false => Ok(file),
        }
    }

    fn read_dir(&self, path: &TreePath) -> FileResult<Vec<DirEntry>> {
        self.files.read_dir(path)
    }

    fn create_dir(&self, path: &TreePath, mode: Mode, now: Timestamp) -> FileResult<()> {
        self.log.change();
        self.files.create_dir(path, mode, now)
    }

    fn remove_dir(&self, path: &TreePath, now: Timestamp) -> FileResult<()> {
        self.log.change();
        self.files.remove_dir(path, now)
    }

    fn unlink(&self, path: &TreePath, now: Timestamp) -> FileResult<()> {
        self.log.note(path);
        self.files.unlink(path, now)
    }

    fn rename(&self, from: &TreePath, to: &TreePath, now: Timestamp) -> FileResult<()> {
        self.log.note(from);
        self.log.note(to);
        self.files.rename(from, to, now)
    }

    fn link(&self, from: &TreePath, follow: Follow, to: &TreePath, now: Timestamp) -> FileResult<()> {
        self.log.note(to);
        self.files.link(from, follow, to, now)
    }

    fn symlink(&self, target: &str, path: &TreePath, now: Timestamp) -> FileResult<()> {
        self.log.note(path);
        self.files.symlink(target, path, now)
    }

    fn read_link(&self, path: &TreePath) -> FileResult<String> {
        self.files.read_link(path)
    }

    fn set_times(&self, path: &TreePath, follow: Follow, times: FileTimes, now: Timestamp) -> FileResult<()> {
        self.log.change();
        self.files.set_times(path, follow, times, now)
    }

    fn set_mode(&self, path: &TreePath, follow: Follow, mode: Mode, now: Timestamp) -> FileResult<()> {
        self.log.change();
        self.files.set_mode(path, follow, mode, now)
    }

    fn trail(&self, path: &TreePath) -> Vec<FileKind> {
        self.files.trail(path)
    }

    fn until(&self, time_is_up: &Interrupt) -> Option<Arc<dyn Files>> {
        let files = self.files.until(time_is_up)?;
        Some(Arc::new(Self { files, log: self.log.clone() }))
    }
}

/// A file that was opened to be written: whoever keeps it open may write later.
struct WatchedFile {
    file: Arc<dyn OpenFile>,
    log: ChangeLog,
}

impl OpenFile for WatchedFile {
    fn read_at(&self, offset: u64, buffer: &mut [u8]) -> FileResult<usize> {
        self.file.read_at(offset, buffer)
    }

    fn write_at(&self, offset: u64, bytes: &[u8], now: Timestamp) -> FileResult<()> {
        self.log.change();
        self.file.write_at(offset, bytes, now)
    }

    fn append(&self, bytes: &[u8], now: Timestamp) -> FileResult<u64> {
        self.log.change();
        self.file.append(bytes, now)
    }

    fn set_len(&self, len: u64, now: Timestamp) -> FileResult<()> {
        self.log.change();
        self.file.set_len(len, now)
    }

    fn stat(&self) -> FileResult<Stat> {
        self.file.stat()
    }

    fn set_times(&self, times: FileTimes, now: Timestamp) -> FileResult<()> {
        self.log.change();
        self.file.set_times(times, now)
    }

    fn set_mode(&self, mode: Mode, now: Timestamp) -> FileResult<()> {
        self.log.change();
        self.file.set_mode(mode, now)
    }

    fn next_data(&self, offset: u64) -> FileResult<u64> {
        self.file.next_data(offset)
    }

    fn sync(&self) -> FileResult<()> {
        self.file.sync()
    }

    fn sync_waits(&self) -> bool {
        self.file.sync_waits()
    }
}

#[cfg(test)]
mod tests {
    use drydock_contract::Meter;
    use drydock_store::MemoryFiles;

    use super::*;

    #[test]
    fn what_is_made_changed_and_removed_is_told_and_what_came_and_went_is_not() {
        let files: Arc<dyn Files> = Arc::new(MemoryFiles::with(Arc::new(Meter::new(1 << 20))));
        let path = |text: &str| TreePath::new(text).unwrap();
        let now = Timestamp(0);
        let how = OpenHow { write: true, create: true, ..OpenHow::default() };
        let write = |files: &Arc<dyn Files>, name: &str, bytes: &[u8]| {
            files.open(&path(name), how, now).unwrap().write_at(0, bytes, now).unwrap();
        };
        write(&files, "old.txt", b"1");
        write(&files, "gone", b"1");
        write(&files, "kept", b"1");
        let (watched, log) = ChangeLog::of(&files);
        write(&watched, "old.txt", b"22");
        write(&watched, "./new.png", b"333");
        write(&watched, "brief", b"");
        watched.unlink(&path("brief"), now).unwrap();
        watched.unlink(&path("gone"), now).unwrap();
        watched.open(&path("kept"), OpenHow { read: true, ..OpenHow::default() }, now).unwrap();
        let told: Vec<String> = log
            .changes()
            .iter()
            .map(|it| format!("{} {} {} {:?}", it.kind, it.path, it.size, it.media_type))
            .collect();
        assert_eq!(
            told,
            [
                "removed /gone 0 None",
                "added /new.png 3 Some(\"image/png\")",
                "modified /old.txt 2 Some(\"text/plain\")"
            ]
        );
        log.clear();
        assert!(log.changes().is_empty());
    }
}

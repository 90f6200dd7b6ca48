//! The files that a shell looks at. It changes them by its commands and its redirections only.

use std::sync::Arc;

use drydock_contract::port::{
    Clock, DirEntry, FileResult, Files, Follow, Interrupt, OpenHow, Stat, TreePath,
};

use super::{ShellFile, file};

/// What globs, tests and redirections see. Commands must see the same.
pub trait Tree: Send + Sync {
    /// Facts about what the path names.
    fn stat(&self, path: &TreePath, follow: Follow) -> FileResult<Stat>;

    /// The names in a directory, sorted, without `.` and `..`.
    fn read_dir(&self, path: &TreePath) -> FileResult<Vec<DirEntry>>;

    /// What the symbolic link says.
    fn read_link(&self, path: &TreePath) -> FileResult<String>;

    /// Removes a file: one that the shell made for a process substitution.
    fn unlink(&self, path: &TreePath) -> FileResult<()>;

    /// Opens a file for a redirection: it has one position, which the shell and its commands share.
    fn open(&self, path: &TreePath, how: OpenHow, is_appended: bool) -> FileResult<Arc<dyn ShellFile>>;
}

/// Files of this process.
pub struct FilesTree {
    files: Arc<dyn Files>,
    clock: Arc<dyn Clock>,
}

impl FilesTree {
    /// Files whose changes happen when `clock` says so, and whose long work ends when `time_is_up`.
    pub fn new(files: Arc<dyn Files>, clock: Arc<dyn Clock>, time_is_up: &Interrupt) -> Self {
        Self { files: files.until(time_is_up).unwrap_or(files), clock }
    }
}

impl Tree for FilesTree {
    fn stat(&self, path: &TreePath, follow: Follow) -> FileResult<Stat> {
        self.files.stat(path, follow)
    }

    fn read_dir(&self, path: &TreePath) -> FileResult<Vec<DirEntry>> {
        self.files.read_dir(path)
    }

    fn read_link(&self, path: &TreePath) -> FileResult<String> {
        self.files.read_link(path)
    }

    fn unlink(&self, path: &TreePath) -> FileResult<()> {
        self.files.unlink(path, self.clock.now())
    }

    fn open(&self, path: &TreePath, how: OpenHow, is_appended: bool) -> FileResult<Arc<dyn ShellFile>> {
        let file = self.files.open(path, how, self.clock.now())?;
        Ok(file::positioned(file, is_appended, Arc::clone(&self.clock)))
    }
}

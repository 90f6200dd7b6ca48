//! Files that the index does not have.

use bstr::BString;

use super::ignore::Ignore;
use crate::fail::Done;
use crate::index::Index;
use crate::pathspec::Paths;
use crate::repo::Repo;

/// Directories inside directories.
const DEPTH_MAX: usize = 512;

/// Whether a directory without a tracked file stands for what is in it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Show {
    /// `dir/` for all of it.
    Folders,
    /// Every file.
    Files,
}

/// What was found.
#[derive(Debug, Default)]
pub struct Found {
    pub untracked: Vec<BString>,
    pub ignored: Vec<BString>,
}

struct Walk<'a> {
    repo: &'a Repo,
    index: &'a Index,
    ignore: Ignore<'a>,
    show: Show,
    want_ignored: bool,
    found: Found,
}

/// Looks through the work tree.
pub fn untracked(repo: &Repo, index: &Index, show: Show, want_ignored: bool, paths: &Paths) -> Done<Found> {
    let mut walk =
        Walk { repo, index, ignore: Ignore::new(repo), show, want_ignored, found: Found::default() };
    walk.folder(b"", 0, paths)?;
    let mut found = walk.found;
    found
        .untracked
        .retain(|it| paths.has(it) || (it.ends_with(b"/") && paths.may_be_below(&it[..it.len() - 1])));
    found.ignored.retain(|it| paths.has(it));
    found.untracked.sort();
    found.ignored.sort();
    Ok(found)
}

impl Walk<'_> {
    fn folder(&mut self, folder: &[u8], depth: usize, paths: &Paths) -> Done {
        if depth > DEPTH_MAX {
            return Ok(());
        }
        let place = if folder.is_empty() { self.repo.root()?.to_owned() } else { self.repo.path(folder)? };
        for entry in std::fs::read_dir(&place).into_iter().flatten().flatten() {
            let name = entry.file_name();
            let name = name.as_encoded_bytes();
            if name == b".git" {
                continue;
            }
            let path = BString::from([folder, name].concat());
            let Ok(kind) = entry.file_type() else { continue };
            if kind.is_dir() {
                self.enter(path, depth, paths)?;
            } else if (kind.is_file() || kind.is_symlink()) && !self.is_tracked(&path) {
                if self.ignore.skips(&path, false) {
                    if self.want_ignored {
                        self.found.ignored.push(path);
                    }
                } else {
                    self.found.untracked.push(path);
                }
            }
        }
        Ok(())
    }

    fn is_tracked(&self, path: &[u8]) -> bool {
        let at = self.index.entries.partition_point(|it| it.path.as_slice() < path);
        self.index.entries.get(at).is_some_and(|it| it.path == path)
    }

    fn enter(&mut self, mut path: BString, depth: usize, paths: &Paths) -> Done {
        if self.is_tracked(&path) || !paths.may_be_below(&path) {
            return Ok(());
        }
        let skipped = self.ignore.skips(&path, true);
        path.push(b'/');
        let tracked = !self.index.below(&path).is_empty();
        if skipped && !tracked {
            if self.want_ignored {
                self.found.ignored.push(path);
            }
            return Ok(());
        }
        let nested = self.repo.path(&path)?.join(".git").exists();
        if nested && !tracked {
            self.found.untracked.push(path);
            return Ok(());
        }
        if tracked || self.show == Show::Files {
            return self.folder(&path, depth + 1, paths);
        }
        let (untracked, ignored) = (self.found.untracked.len(), self.found.ignored.len());
        self.folder(&path, depth + 1, &Paths::default())?;
        // One file that counts makes the directory count; one that is all ignored is ignored as a whole.
        if self.found.untracked.len() > untracked {
            self.found.untracked.truncate(untracked);
            self.found.untracked.push(path);
        } else if self.found.ignored.len() > ignored {
            self.found.ignored.truncate(ignored);
            self.found.ignored.push(path);
        }
        Ok(())
    }
}

//! The working directory of a run that may use the trusted tools, as its other tools see it: read and written at once, but
//! for every `.git`, which is not there. What an agent cannot write cannot start a program when trusted code commits.
//!
//! A repository is reached by its name only, so it is enough that no path and no link's target has that name in it,
//! however it is written in capitals.

use std::{path::Path, sync::Arc};

use drydock_contract::{
    Timestamp,
    port::{
        DirEntry, FileError, FileKind, FileResult, FileTimes, Files, Follow, Interrupt, Mode, OpenFile,
        OpenHow, Stat, TreePath,
    },
};
use drydock_store::{Access, HostDir, Quota};

use super::settings::BadExec;

/// The directory of the host, without its repositories.
pub fn workdir_files(workdir: &Path, quota: Quota) -> Result<Arc<dyn Files>, BadExec> {
    let failed = |cause| BadExec::Workdir { path: workdir.display().to_string(), cause };
    let directory = HostDir::within(workdir, Access::ReadWrite, quota).map_err(failed)?;
    Ok(Arc::new(NoRepository(Arc::new(directory))))
}

/// A tree in which nothing is called `.git`.
pub(super) struct NoRepository(pub(super) Arc<dyn Files>);

const REPOSITORY: &str = ".git";

fn is_one(name: &str) -> bool {
    // Some file systems of the host take capitals for the same, and drop dots and blanks at the end.
    name.trim_end_matches(['.', ' ']).eq_ignore_ascii_case(REPOSITORY)
}

fn leads_into_one(text: &str) -> bool {
    text.split('/').any(is_one)
}

fn seen(path: &TreePath) -> FileResult<&TreePath> {
    if path.names().any(is_one) { Err(FileError::NotFound) } else { Ok(path) }
}

/// The same for a name that would be made.
fn made(path: &TreePath) -> FileResult<&TreePath> {
    if path.names().any(is_one) { Err(FileError::Denied) } else { Ok(path) }
}

impl Files for NoRepository {
    fn stat(&self, path: &TreePath, follow: Follow) -> FileResult<Stat> {
        self.0.stat(seen(path)?, follow)
    }

    fn open(&self, path: &TreePath, how: OpenHow, now: Timestamp) -> FileResult<Arc<dyn OpenFile>> {
        let path = if how.create { made(path)? } else { seen(path)? };
        self.0.open(path, how, now)
    }

    fn read_dir(&self, path: &TreePath) -> FileResult<Vec<DirEntry>> {
        let mut entries = self.0.read_dir(seen(path)?)?;
        entries.retain(|it| !is_one(&it.name));
        Ok(entries)
    }

    fn create_dir(&self, path: &TreePath, mode: Mode, now: Timestamp) -> FileResult<()> {
        self.0.create_dir(made(path)?, mode, now)
    }

    fn remove_dir(&self, path: &TreePath, now: Timestamp) -> FileResult<()> {
        self.0.remove_dir(seen(path)?, now)
    }

    fn unlink(&self, path: &TreePath, now: Timestamp) -> FileResult<()> {
        self.0.unlink(seen(path)?, now)
    }

    fn rename(&self, from: &TreePath, to: &TreePath, now: Timestamp) -> FileResult<()> {
        self.0.rename(seen(from)?, made(to)?, now)
    }

    fn link(&self, from: &TreePath, follow: Follow, to: &TreePath, now: Timestamp) -> FileResult<()> {
        self.0.link(seen(from)?, follow, made(to)?, now)
    }

    fn symlink(&self, target: &str, path: &TreePath, now: Timestamp) -> FileResult<()> {
        if leads_into_one(target) {
            return Err(FileError::Denied);
        }
        self.0.symlink(target, made(path)?, now)
    }

    fn read_link(&self, path: &TreePath) -> FileResult<String> {
        self.0.read_link(seen(path)?)
    }

    fn set_times(&self, path: &TreePath, follow: Follow, times: FileTimes, now: Timestamp) -> FileResult<()> {
        self.0.set_times(seen(path)?, follow, times, now)
    }

    fn set_mode(&self, path: &TreePath, follow: Follow, mode: Mode, now: Timestamp) -> FileResult<()> {
        self.0.set_mode(seen(path)?, follow, mode, now)
    }

    fn trail(&self, path: &TreePath) -> Vec<FileKind> {
        if path.names().any(is_one) { Vec::new() } else { self.0.trail(path) }
    }

    fn until(&self, time_is_up: &Interrupt) -> Option<Arc<dyn Files>> {
        Some(Arc::new(Self(self.0.until(time_is_up)?)))
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    fn path(text: &str) -> TreePath {
        TreePath::new(text).unwrap()
    }

    #[test]
    fn a_repository_is_not_there_by_any_name_and_no_link_leads_into_one() {
        let folder = tempfile::tempdir().unwrap();
        fs::create_dir_all(folder.path().join("sub/.git")).unwrap();
        fs::create_dir(folder.path().join(".git")).unwrap();
        fs::write(folder.path().join(".git/config"), "[core]\n").unwrap();
        let files = workdir_files(folder.path(), Quota::default()).unwrap();
        let now = Timestamp(1);
        let write = OpenHow { write: true, create: true, ..OpenHow::NONE };
        for name in [".git", ".GIT", "sub/.git", ".git.", "./.git", "sub/../.git"] {
            assert_eq!(files.stat(&path(name), Follow::Yes).err(), Some(FileError::NotFound), "{name}");
            assert_eq!(files.read_dir(&path(name)).err(), Some(FileError::NotFound), "{name}");
            assert_eq!(files.create_dir(&path(name), Mode::DIRECTORY, now), Err(FileError::Denied), "{name}");
            let below = path(&format!("{name}/config"));
            assert_eq!(files.open(&below, write, now).err(), Some(FileError::Denied), "{name}");
            assert_eq!(files.rename(&path(name), &path("x"), now), Err(FileError::NotFound), "{name}");
            assert_eq!(files.link(&below, Follow::No, &path("x"), now), Err(FileError::NotFound), "{name}");
            assert_eq!(files.symlink(name, &path("x"), now), Err(FileError::Denied), "{name}");
        }
        files.create_dir(&path("d"), Mode::DIRECTORY, now).unwrap();
        assert_eq!(files.rename(&path("d"), &path(".git2"), now), Ok(()));
        assert_eq!(files.rename(&path(".git2"), &path("sub/.Git"), now), Err(FileError::Denied));
        let names: Vec<String> = files.read_dir(&path("")).unwrap().into_iter().map(|it| it.name).collect();
        assert_eq!(names, [".git2", "sub"]);
        assert_eq!(fs::read_to_string(folder.path().join(".git/config")).unwrap(), "[core]\n");
    }
}

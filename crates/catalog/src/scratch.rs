//! A directory for one fetch, gone with its value, whatever came of it.

use std::{
    fs::{self, DirBuilder},
    io,
    os::unix::fs::DirBuilderExt as _,
    path::{Path, PathBuf},
    time::Duration,
};

/// A fetch that is older than this is dead.
const LEFTOVER_AGE: Duration = Duration::from_secs(24 * 60 * 60);

/// A private directory below `scratch` of the catalog.
pub(crate) struct Scratch(PathBuf);

impl Scratch {
    /// Makes one, and sweeps away what killed processes left.
    pub(crate) fn below(root: &Path) -> io::Result<Self> {
        let all = root.join("scratch");
        DirBuilder::new().recursive(true).mode(0o700).create(&all)?;
        sweep(&all);
        for number in 0_u32..1000 {
            let path = all.join(format!("{}-{number}", std::process::id()));
            match DirBuilder::new().mode(0o700).create(&path) {
                Ok(()) => return Ok(Self(path)),
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
                Err(error) => return Err(error),
            }
        }
        Err(io::ErrorKind::AlreadyExists.into())
    }

    pub(crate) fn path(&self) -> &Path {
        &self.0
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        // What is left costs disk space until it is swept.
        let _ = fs::remove_dir_all(&self.0);
    }
}

fn sweep(all: &Path) {
    for entry in fs::read_dir(all).into_iter().flatten().flatten() {
        let modified = entry.metadata().and_then(|facts| facts.modified());
        if modified.is_ok_and(|at| at.elapsed().is_ok_and(|age| age > LEFTOVER_AGE)) {
            let _ = fs::remove_dir_all(entry.path());
        }
    }
}

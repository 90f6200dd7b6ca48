//! Trees of files that an embedder makes out of texts.

use std::sync::Arc;

use drydock_contract::{
    Meter,
    port::{FileError, FileResult, Files, OpenHow, TreePath},
};
use drydock_store::{MemoryFiles, Mounts, Volume};

use crate::BadSetup;

/// The most that such a tree holds, what guests add included.
pub(crate) const TREE_BYTES_MAX: u64 = 256 << 20;

/// The three volumes in memory, with these files in them; paths that do not start with `/` start at `cwd`.
pub(crate) fn with_files<P: AsRef<str>, T: AsRef<[u8]>>(
    cwd: &str,
    files: impl IntoIterator<Item = (P, T)>,
) -> Result<Arc<dyn Files>, BadSetup> {
    let meter = Arc::new(Meter::new(TREE_BYTES_MAX));
    let root = MemoryFiles::with(Arc::clone(&meter));
    for volume in Volume::ALL {
        put_dir(&root, volume.name()).map_err(|error| bad(volume.name(), error))?;
    }
    for (path, text) in files {
        let path = path.as_ref();
        let full = match path.strip_prefix('/') {
            Some(absolute) => absolute.to_owned(),
            None => format!("{}/{path}", cwd.trim_start_matches('/')),
        };
        let inside = !full.split('/').any(|name| name == "..");
        let written = if inside { root.write(&full, text.as_ref()) } else { Err(FileError::Invalid) };
        written.map_err(|error| bad(path, error))?;
    }
    Ok(Arc::new(Mounts::over(Arc::new(root))))
}

fn put_dir(root: &MemoryFiles, path: &str) -> FileResult<()> {
    root.create_dir_all(path)
}

fn bad(path: &str, cause: FileError) -> BadSetup {
    BadSetup::File { path: path.to_owned(), cause }
}

/// The whole of a file, if it is no longer than that.
pub(crate) fn read_whole(files: &dyn Files, path: &TreePath, bytes_max: u64) -> FileResult<Vec<u8>> {
    let how = OpenHow { read: true, ..OpenHow::default() };
    let file = files.open(path, how, drydock_contract::Timestamp(0))?;
    let size = file.stat()?.size;
    if size > bytes_max {
        return Err(FileError::TooBig);
    }
    let mut bytes = vec![0; usize::try_from(size).map_err(|_| FileError::TooBig)?];
    let mut at = 0;
    while let Some(rest) = bytes.get_mut(at..).filter(|it| !it.is_empty()) {
        match file.read_at(at as u64, rest)? {
            0 => break,
            count => at += count,
        }
    }
    bytes.truncate(at);
    Ok(bytes)
}

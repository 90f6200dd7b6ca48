//! For whoever prepares a tree for a guest, or looks into one afterwards. Times are zero.

use drydock_contract::{
    Timestamp,
    port::{FileError, FileResult, Files as _, Follow, Mode, OpenHow, TreePath},
};

use super::MemoryFiles;

const THEN: Timestamp = Timestamp(0);

impl MemoryFiles {
    /// Puts a file there, with this content, making the directories above it.
    pub fn write(&self, path: &str, bytes: &[u8]) -> FileResult<()> {
        if let Some((above, _)) = path.trim_end_matches('/').rsplit_once('/') {
            self.create_dir_all(above)?;
        }
        let how = OpenHow { write: true, create: true, truncate: true, ..OpenHow::default() };
        self.open(&TreePath::new(path)?, how, THEN)?.write_at(0, bytes, THEN)
    }

    /// The content of a file.
    pub fn read(&self, path: &str) -> FileResult<Vec<u8>> {
        let how = OpenHow { read: true, ..OpenHow::default() };
        let file = self.open(&TreePath::new(path)?, how, THEN)?;
        let mut bytes = vec![0; usize::try_from(file.stat()?.size).map_err(|_| FileError::TooBig)?];
        let read = file.read_at(0, &mut bytes)?;
        bytes.truncate(read);
        Ok(bytes)
    }

    /// Makes a directory and those above it. One that is there already is fine.
    pub fn create_dir_all(&self, path: &str) -> FileResult<()> {
        for (end, _) in path.match_indices('/').chain([(path.len(), "")]) {
            let above = TreePath::new(&path[..end])?;
            match self.create_dir(&above, Mode::DIRECTORY, THEN) {
                Err(FileError::Exists) => {}
                other => other?,
            }
        }
        match self.read_dir(&TreePath::new(path)?) {
            Err(FileError::NotADirectory) => Err(FileError::Exists),
            other => other.map(drop),
        }
    }

    /// Whether anything has that name.
    pub fn exists(&self, path: &str) -> bool {
        TreePath::new(path).and_then(|path| self.stat(&path, Follow::Yes)).is_ok()
    }
}

//! What was installed from the catalog: one small file a row, so that it can be verified and removed later, and
//! so that a copyleft licence is asked about once.

use std::{
    fs, io,
    io::Write as _,
    path::{Path, PathBuf},
};

use drydock_contract::{CommandName, Digest};
use serde::{Deserialize, Serialize};

/// The longest such file.
const FILE_BYTES_MAX: u64 = 1 << 20;

/// One installed row.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Installed {
    /// The row's name.
    pub row: CommandName,
    /// The row's version.
    pub version: String,
    /// The module.
    pub sha256: Digest,
    /// Where its bytes came from.
    pub from: String,
    /// The names that were registered.
    pub commands: Vec<CommandName>,
    /// Directories that they are started with.
    pub trees: Vec<Digest>,
    /// The licence, where it had to be accepted.
    pub accepted: Option<String>,
}

/// The records of one home.
pub(crate) struct Records(PathBuf);

impl Records {
    /// Those below `catalog` of the data directory.
    pub(crate) fn below(root: &Path) -> Self {
        Self(root.join("installed"))
    }

    /// The record of a row. One that cannot be read is none: the row can be installed again.
    pub(crate) fn of(&self, row: &str) -> Option<Installed> {
        let path = self.place(row);
        let facts = fs::metadata(&path).ok()?;
        if !facts.is_file() || facts.len() > FILE_BYTES_MAX {
            return None;
        }
        let read: Installed = serde_json::from_slice(&fs::read(&path).ok()?).ok()?;
        (read.row.as_str() == row).then_some(read)
    }

    /// Writes a record, does `then`, and has the record in its place only if both succeed: otherwise the one
    /// that was there before is there again. Nothing of that needs room on the disk but the first writing.
    pub(crate) fn keep_if<E>(
        &self,
        installed: &Installed,
        unwritten: impl Fn(io::Error) -> E,
        then: impl FnOnce() -> Result<(), E>,
    ) -> Result<(), E> {
        let place = self.place(installed.row.as_str());
        let beside = |what: &str| self.0.join(format!(".{}-{}-{what}", installed.row, std::process::id()));
        let (fresh, before) = (beside("new"), beside("before"));
        let replaced = || -> io::Result<()> {
            fs::create_dir_all(&self.0)?;
            let mut file = fs::File::create(&fresh)?;
            file.write_all(&serde_json::to_vec_pretty(installed)?)?;
            file.sync_all()?;
            match fs::hard_link(&place, &before) {
                Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
                _ => fs::rename(&fresh, &place),
            }
        };
        let done = match replaced() {
            Err(error) => Err(unwritten(error)),
            Ok(()) => then().inspect_err(|_| {
                // A record without names is as good as none: the row counts as not installed.
                let _ = if before.exists() { fs::rename(&before, &place) } else { fs::remove_file(&place) };
            }),
        };
        for left in [fresh, before] {
            let _ = fs::remove_file(left);
        }
        done
    }

    /// Forgets a row.
    pub(crate) fn remove(&self, row: &str) -> io::Result<()> {
        match fs::remove_file(self.place(row)) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
            done => done,
        }
    }

    fn place(&self, row: &str) -> PathBuf {
        self.0.join(format!("{row}.json"))
    }
}

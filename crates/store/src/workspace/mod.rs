//! A workspace: files that outlive a run, and can be looked into, undone, forked and carried away.
//!
//! One SQLite file each, in the home; its volumes are trees of files ([`SqliteFiles`]). This room
//! knows no command line and prints nothing.

mod base;
mod commit;
mod compare;
mod copy;
mod directory;
mod look;
mod mounted;
mod name;
mod place;
mod query;
mod temporary;
mod unified;
mod volume;

use std::{fmt, sync::Arc};

use drydock_contract::port::FileResult;

pub use commit::{CommitError, Committed, Conflict, ConflictKind, IfChanged, LeftOut};
pub use directory::{Directory, DirectoryError, Mounting};
pub use look::{Entry, VolumeFacts, WorkspaceFacts};
pub use mounted::Mounted;
pub use name::WorkspaceName;
pub use place::Workspaces;
pub use query::{Answer, QueryError, QueryLimits, SqlValue};
pub use unified::{COMPARE_MAX, FileDiff, file_diff, text_diff};
pub use volume::Volume;

use crate::{Quota, SqliteFiles, sqlite::Db};

/// An open workspace. Cheap to clone; closed when the last clone and the last file are dropped.
#[derive(Clone)]
pub struct Workspace {
    name: WorkspaceName,
    db: Arc<Db>,
    quota: Quota,
    volumes: [SqliteFiles; 3],
}

impl Workspace {
    fn new(name: WorkspaceName, db: Db, quota: Quota) -> FileResult<Self> {
        let db = Arc::new(db);
        let volume = |it: Volume| SqliteFiles::new(&db, it.name(), quota);
        let volumes = [volume(Volume::Workspace)?, volume(Volume::Memory)?, volume(Volume::Tmp)?];
        Ok(Self { name, db, quota, volumes })
    }

    /// Its name.
    pub fn name(&self) -> &WorkspaceName {
        &self.name
    }

    /// One of its trees.
    pub fn files(&self, volume: Volume) -> &SqliteFiles {
        &self.volumes[volume as usize]
    }
}

impl fmt::Debug for Workspace {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Workspace({})", self.name)
    }
}

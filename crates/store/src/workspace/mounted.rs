//! A host directory that a run changed without touching it. The changes lie in a volume of the
//! workspace, `cow:` and the place of the mount.

use std::{fmt, sync::Arc};

use drydock_contract::port::FileResult;

use super::{Workspace, base::Bases};
use crate::{Change, HostDir, MountPoint, Overlay, SqliteFiles};

/// A host directory under copy-on-write.
pub struct Mounted {
    pub(super) workspace: Workspace,
    pub(super) name: MountPoint,
    pub(super) host: Arc<HostDir>,
    pub(super) upper: SqliteFiles,
    pub(super) overlay: Overlay,
    pub(super) bases: Bases,
}

impl Workspace {
    /// The host directory as this workspace changed it, under the place of a mount. To be committed,
    /// the directory must have been opened to write.
    pub fn mount(&self, name: &MountPoint, host: Arc<HostDir>) -> FileResult<Mounted> {
        let upper = SqliteFiles::new(&self.db, &format!("cow:{}", name.as_str()), self.quota)?;
        let bases = Bases { db: Arc::clone(&self.db), mount: name.clone() };
        let overlay =
            Overlay::noting(Arc::clone(&host) as _, Arc::new(upper.clone()), Arc::new(bases.clone()));
        Ok(Mounted { workspace: self.clone(), name: name.clone(), host, upper, overlay, bases })
    }
}

impl Mounted {
    /// The tree to give to a guest.
    pub fn files(&self) -> Overlay {
        self.overlay.clone()
    }

    /// What is different from the host directory.
    pub fn diff(&self) -> FileResult<Vec<Change>> {
        self.overlay.changes()
    }
}

impl fmt::Debug for Mounted {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Mounted({} in {})", self.name, self.workspace.name())
    }
}

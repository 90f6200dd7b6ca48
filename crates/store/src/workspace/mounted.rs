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
        let upper = SqliteFiles::new(&self.db, &volume(name), self.quota)?;
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

    /// What is different from the host directory, told by content and permissions.
    pub fn diff(&self) -> FileResult<Vec<Change>> {
        let mut changes = self.overlay.changes()?;
        let bases = self.bases.all()?;
        for change in &mut changes {
            // Permissions that are as they were when the path was first changed here were not changed
            // here: those of the host stay, whatever they are now.
            let before = bases.get(&change.path).map(|it| it.facts.mode.plain());
            if change.was.is_some() && change.was == change.is && before == change.is_mode {
                change.is_mode = change.was_mode;
            }
        }
        changes.retain(|it| !it.only_mode || it.was_mode != it.is_mode);
        Ok(changes)
    }

    /// The host directory as it is.
    pub fn host(&self) -> &HostDir {
        &self.host
    }
}

/// The volume that has the changes under a place.
pub(super) fn volume(name: &MountPoint) -> String {
    format!("cow:{}", name.as_str())
}

impl fmt::Debug for Mounted {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Mounted({} in {})", self.name, self.workspace.name())
    }
}

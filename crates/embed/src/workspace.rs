//! Workspaces by way of the dock: files that outlive a run.

use std::{path::Path, sync::Arc};

use drydock_contract::port::{Clock as _, Files};
use drydock_store::{
    Access, Change, CommitError, Committed, HostDir, IfChanged, LeftOut, Links, MountPoint, Mounted,
    OpenWorkspaceError, Quota, Volume, Workspace, WorkspaceName, Workspaces,
};

use crate::{Dock, SystemClock};

/// A workspace cannot be used so.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum WorkspaceError {
    /// The name, of a workspace or a snapshot, is not one.
    #[error("`{0}` is no name of a workspace or a snapshot")]
    Name(String),
    /// It is not there, or cannot be opened.
    #[error(transparent)]
    Open(#[from] OpenWorkspaceError),
    /// The host directory, or where it should be seen.
    #[error("cannot mount `{path}`: {why}")]
    Mount {
        /// As it was given.
        path: String,
        /// In words.
        why: String,
    },
    /// A file could not be read or written.
    #[error(transparent)]
    Files(#[from] drydock_contract::port::FileError),
    /// What changed could not be written to the directory.
    #[error(transparent)]
    Commit(#[from] CommitError),
}

impl Dock {
    /// Opens the workspace of that name, making it if it is missing.
    pub fn workspace(&self, name: &str) -> Result<DockWorkspace, WorkspaceError> {
        let all = Workspaces::of(&self.home.tenant(&self.tenant), Quota::default());
        let inner = all.open_or_create(&parse(name)?)?;
        Ok(DockWorkspace { all, inner, mounted: Vec::new() })
    }
}

/// An open workspace, and the host directories that are seen in it.
pub struct DockWorkspace {
    all: Workspaces,
    inner: Workspace,
    mounted: Vec<(String, Mounted)>,
}

impl DockWorkspace {
    /// Shows a host directory at `/guest`. What is written there is kept in the workspace until it is
    /// committed; the directory stays as it is until then.
    pub fn mount(mut self, host: impl AsRef<Path>, guest: &str) -> Result<Self, WorkspaceError> {
        let path = host.as_ref().display().to_string();
        let failed =
            |why: &dyn std::fmt::Display| WorkspaceError::Mount { path: path.clone(), why: why.to_string() };
        let point: MountPoint = guest.parse().map_err(|error| failed(&error))?;
        let dir = HostDir::within(host.as_ref(), Access::ReadWrite, Quota::default())
            .map_err(|error| failed(&error))?;
        let mounted = self.inner.mount(&point, Arc::new(dir))?;
        self.mounted.push((point.as_str().to_owned(), mounted));
        Ok(self)
    }

    /// The tree for a [`Setup`](crate::Setup) or an [`Exec`](crate::Exec): `/workspace`, `/memory`, `/tmp`
    /// and what was mounted.
    pub fn files(&self) -> Result<Arc<dyn Files>, WorkspaceError> {
        let mut all = self.inner.mounts()?;
        for (place, mounted) in &self.mounted {
            let failed = |error: drydock_store::MountError| WorkspaceError::Mount {
                path: place.clone(),
                why: error.to_string(),
            };
            all.mount(place, Arc::new(mounted.files())).map_err(failed)?;
        }
        Ok(Arc::new(all))
    }

    /// Keeps it as it is now, under a name.
    pub fn snapshot(&self, name: &str) -> Result<(), WorkspaceError> {
        Ok(self.all.snapshot(self.inner.name(), &parse(name)?)?)
    }

    /// Brings a snapshot back.
    pub fn restore(&self, name: &str) -> Result<(), WorkspaceError> {
        Ok(self.all.restore(&self.inner, &parse(name)?)?)
    }

    /// Copies it under a new name, without what was mounted.
    pub fn fork(&self, name: &str) -> Result<Self, WorkspaceError> {
        let name = parse(name)?;
        self.all.fork(self.inner.name(), &name)?;
        Ok(Self { all: self.all.clone(), inner: self.all.open(&name)?, mounted: Vec::new() })
    }

    /// What is different in `/workspace` since a snapshot.
    pub fn diff_since(&self, snapshot: &str) -> Result<Vec<Change>, WorkspaceError> {
        Ok(self.all.diff_snapshot(&self.inner, &parse(snapshot)?, Volume::Workspace)?)
    }

    /// What is different from the mounted directories, with their places in front.
    pub fn diff(&self) -> Result<Vec<Change>, WorkspaceError> {
        let mut all = Vec::new();
        for (place, mounted) in &self.mounted {
            all.extend(mounted.diff()?.into_iter().map(|it| placed(place, it)));
        }
        Ok(all)
    }

    /// Writes what is different to the mounted directories. A directory in which somebody else changed one of
    /// those files since is left alone, unless they are to be overwritten.
    /// Links that lead out of their directory are left out, and named.
    pub fn commit(&self, if_changed: IfChanged) -> Result<Committed, WorkspaceError> {
        let mut all = Committed::default();
        for (place, mounted) in &self.mounted {
            let done = mounted.commit(if_changed, Links::Inside, SystemClock.now())?;
            all.written.extend(done.written.into_iter().map(|it| placed(place, it)));
            let left_out = done.left_out.into_iter();
            all.left_out.extend(left_out.map(|it| LeftOut { path: format!("{place}/{}", it.path), ..it }));
        }
        Ok(all)
    }

    /// The workspace itself.
    pub fn inner(&self) -> &Workspace {
        &self.inner
    }
}

fn placed(place: &str, change: Change) -> Change {
    Change { path: format!("{place}/{}", change.path), ..change }
}

fn parse(name: &str) -> Result<WorkspaceName, WorkspaceError> {
    name.parse().map_err(|_| WorkspaceError::Name(name.escape_default().to_string()))
}

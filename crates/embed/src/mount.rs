//! Directories of the host and workspaces as one tree of files: what a run, a shell or a sandbox sees. Where the
//! directories and names come from, a command line or a caller over HTTP, is the front end's affair.

use std::{
    io,
    path::{Path, PathBuf},
    str::FromStr,
    sync::Arc,
};

use drydock_contract::{
    Meter,
    port::{FileError, Files},
};
use drydock_store::{
    Access, Directory, DirectoryError, HostDir, Links, MemoryFiles, MountError, MountPoint, Mounted,
    Mounting, Mounts, OpenWorkspaceError, Overlay, Quota, TenantHome, Volume, Workspace, WorkspaceName,
    Workspaces,
};

use crate::Base;

/// What a run may do to a mounted directory.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Mode {
    Read,
    Write,
    /// Writes go beside it: into the workspace if there is one, else nowhere that lasts.
    Copy,
}

/// A directory of the host, where it is seen, and what may be done to it: `HOST[:GUEST][:ro|:rw|:cow]`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Mount {
    host: PathBuf,
    guest: MountPoint,
    mode: Mode,
}

/// The text is no mount.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct BadMount(String);

/// A tree cannot be put together.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum OpenTreeError {
    /// The workspace is not there, or cannot be opened.
    #[error(transparent)]
    Workspace(#[from] OpenWorkspaceError),
    /// The workspace knows the directory otherwise, or it cannot be kept.
    #[error(transparent)]
    Directory(#[from] DirectoryError),
    /// The directory cannot be opened.
    #[error("could not open `{path}`")]
    Open {
        /// As it was named.
        path: String,
        /// What the system said.
        #[source]
        cause: io::Error,
    },
    /// Two trees want one place.
    #[error(transparent)]
    Mount(#[from] MountError),
    /// The tree itself.
    #[error(transparent)]
    Files(#[from] FileError),
}

impl FromStr for Mount {
    type Err = BadMount;

    /// Without a place the directory is seen under its own last name.
    fn from_str(text: &str) -> Result<Self, BadMount> {
        parse(text).map_err(BadMount)
    }
}

fn parse(text: &str) -> Result<Mount, String> {
    let mut parts: Vec<&str> = text.split(':').collect();
    let mode = match parts.last() {
        Some(&"ro") => Some(Mode::Read),
        Some(&"rw") => Some(Mode::Write),
        Some(&"cow") => Some(Mode::Copy),
        _ => None,
    };
    if mode.is_some() {
        parts.pop();
    }
    let (host, guest) = match parts[..] {
        [host] if !host.is_empty() => (PathBuf::from(host), None),
        [host, guest] if !host.is_empty() => (PathBuf::from(host), Some(guest)),
        // Other hosts of wasm spell it `HOST::GUEST`.
        [host, "", guest] if !host.is_empty() => (PathBuf::from(host), Some(guest)),
        _ => return Err(format!("`{text}` is not a mount: use HOST[:GUEST][:ro|:rw|:cow]")),
    };
    let guest = match guest {
        Some(guest) => guest.to_owned(),
        None => {
            let whole = host.canonicalize().map_err(|error| format!("`{}`: {error}", host.display()))?;
            let last = whole.file_name().ok_or("the root of the machine wants a place: use /:GUEST")?;
            last.to_str().ok_or("a name that is not UTF-8 wants a place: use HOST:GUEST")?.to_owned()
        }
    };
    let guest = guest.parse().map_err(|error: MountError| error.to_string())?;
    Ok(Mount { host, guest, mode: mode.unwrap_or(Mode::Copy) })
}

/// Whether a directory that may be written is also mounted at another place, in whole or in part: what is
/// written there under one name is then seen under another.
pub fn overlap(mounts: &[Mount]) -> bool {
    let real = |mount: &Mount| mount.host.canonicalize().unwrap_or_else(|_| mount.host.clone());
    let within = |one: &Mount, other: &Mount| real(one).starts_with(real(other));
    mounts.iter().enumerate().any(|(index, one)| {
        let others = mounts.iter().enumerate().filter(|(other, _)| *other != index);
        one.mode == Mode::Write && others.into_iter().any(|(_, it)| within(one, it) || within(it, one))
    })
}

impl Mount {
    /// Where a file of the host is seen, if it lies in this directory.
    pub fn seen_at(&self, host: &std::path::Path) -> Option<String> {
        let below = host.canonicalize().ok()?.strip_prefix(self.host.canonicalize().ok()?).ok()?.to_owned();
        Some(format!("/{}/{}", self.guest.as_str(), below.to_str()?))
    }

    /// Whether what is written goes to the host at once.
    pub fn is_written(&self) -> bool {
        self.mode == Mode::Write
    }

    /// Where a guest sees it.
    pub fn guest_path(&self) -> String {
        format!("/{}", self.guest.as_str())
    }

    /// The same mount as a text that can be read without looking at the host.
    pub fn to_text(&self) -> String {
        let mode = match self.mode {
            Mode::Read => "ro",
            Mode::Write => "rw",
            Mode::Copy => "cow",
        };
        format!("{}:/{}:{mode}", self.host.display(), self.guest.as_str())
    }

    /// Where it is on the host, as it was said.
    pub fn host(&self) -> &Path {
        &self.host
    }

    /// The directory with the changes a workspace keeps for it.
    pub fn mounted(&self, workspace: &Workspace) -> Result<Mounted, OpenTreeError> {
        Ok(workspace.mount(&self.guest, Arc::new(self.open(Access::ReadWrite, Quota::default())?))?)
    }

    pub(crate) fn mode(&self) -> Mode {
        self.mode
    }

    pub(crate) fn open(&self, access: Access, quota: Quota) -> Result<HostDir, OpenTreeError> {
        let path = || self.host.display().to_string();
        HostDir::within(&self.host, access, quota)
            .map_err(|cause| OpenTreeError::Open { path: path(), cause })
    }

    /// What a guest sees of it, and what a change is compared with where it is copy-on-write.
    fn files(
        &self,
        workspace: Option<&Workspace>,
        room: Room,
    ) -> Result<(Arc<dyn Files>, Option<Base>), OpenTreeError> {
        if let Some(workspace) = workspace {
            let access = match self.mode {
                Mode::Read => Mounting::ReadOnly,
                Mode::Write => Mounting::ReadWrite,
                Mode::Copy => Mounting::CopyOnWrite,
            };
            workspace.remember(&Directory::at(&self.host, self.guest.clone(), access)?)?;
        }
        let (now, mounted) = match (self.mode, workspace) {
            (Mode::Read, _) => return Ok((Arc::new(self.open(Access::ReadOnly, room.disk)?), None)),
            (Mode::Write, _) => {
                return Ok((Arc::new(self.open(Access::ReadWrite, room.disk)?.with_links(room.links)), None));
            }
            (Mode::Copy, Some(workspace)) => {
                let mounted = self.mounted(workspace)?;
                (mounted.files(), Some(mounted))
            }
            (Mode::Copy, None) => {
                let upper = MemoryFiles::with(Arc::new(Meter::new(room.memory_bytes_max)));
                (Overlay::new(Arc::new(self.open(Access::ReadOnly, room.disk)?), Arc::new(upper)), None)
            }
        };
        let before = Arc::new(self.open(Access::ReadOnly, room.disk)?);
        let base = Base { place: self.guest.as_str().to_owned(), now: now.clone(), before, mounted };
        Ok((Arc::new(now), Some(base)))
    }
}

/// How much the files of a run may hold.
#[derive(Debug, Clone, Copy)]
pub struct Room {
    /// What lasts as long as the run: each tree that lies in memory.
    pub memory_bytes_max: u64,
    /// What stays: each volume of a workspace, and what a directory mounted `rw` may grow by.
    pub disk: Quota,
    /// The links that guests may make in a directory mounted `rw`.
    pub links: Links,
}

impl Room {
    /// That much memory, and on disk what is usual unless it is said.
    pub fn new(memory_bytes_max: u64, disk_bytes_max: Option<u64>, links: Links) -> Self {
        let usual = Quota::default();
        Self {
            memory_bytes_max,
            disk: Quota { bytes_max: disk_bytes_max.unwrap_or(usual.bytes_max), ..usual },
            links,
        }
    }
}

/// A tree, its directories of interest, and the one to start in.
pub struct Tree {
    /// All of it.
    pub files: Arc<dyn Files>,
    /// What lasts or belongs to somebody: volumes and mounts.
    pub roots: Vec<String>,
    /// The first directory that was mounted, else the workspace, whatever else is given.
    pub cwd: String,
    /// The directories that are mounted copy-on-write.
    pub bases: Vec<Base>,
}

impl Tree {
    /// The workspace's volumes, the mounts, and around them what lasts as long as the run. None of them, and the engine
    /// makes an empty tree by itself.
    pub fn open(
        home: &TenantHome,
        workspace: Option<&WorkspaceName>,
        mounts: &[Mount],
        room: Room,
    ) -> Result<Option<Self>, OpenTreeError> {
        if workspace.is_none() && mounts.is_empty() {
            return Ok(None);
        }
        let open = |name| Workspaces::of(home, room.disk).open_or_create(name);
        let workspace = workspace.map(open).transpose()?;
        let mut all = match &workspace {
            Some(workspace) => workspace.mounts()?,
            None => around(mounts, room)?,
        };
        let mut bases = Vec::new();
        for mount in mounts {
            let (files, base) = mount.files(workspace.as_ref(), room)?;
            all.mount(&mount.guest_path(), files)?;
            bases.extend(base);
        }
        let (roots, cwd) = roots(mounts);
        Ok(Some(Self { files: Arc::new(all), roots, cwd, bases }))
    }
}

/// What lasts or belongs to somebody, and where a run starts.
pub(crate) fn roots(mounts: &[Mount]) -> (Vec<String>, String) {
    let mut roots: Vec<String> = mounts.iter().map(Mount::guest_path).collect();
    let cwd = roots.first().cloned().unwrap_or_else(|| format!("/{}", Volume::Workspace.name()));
    for volume in Volume::ALL {
        let root = format!("/{}", volume.name());
        if !roots.contains(&root) {
            roots.push(root);
        }
    }
    (roots, cwd)
}

/// What is around the mounts where there is no workspace: a tree in memory, with the places of a workspace, which are
/// there without one, too, and can as little be moved.
pub(crate) fn around(mounts: &[Mount], room: Room) -> Result<Mounts, OpenTreeError> {
    let meter = Arc::new(Meter::new(room.memory_bytes_max));
    let root = MemoryFiles::with(Arc::clone(&meter));
    // A guest may put something beside what is mounted deeper down.
    for mount in mounts {
        root.create_dir_all(mount.guest.parent())?;
    }
    let mut all = Mounts::over(Arc::new(root));
    let taken = |volume: Volume| mounts.iter().any(|it| it.guest.as_str() == volume.name());
    for volume in Volume::ALL.into_iter().filter(|it| !taken(*it)) {
        all.mount(volume.name(), Arc::new(MemoryFiles::with(Arc::clone(&meter))))?;
    }
    Ok(all)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_mount_is_a_place_here_a_place_there_and_a_mode() {
        for (text, host, guest, mode) in [
            ("/tmp", "/tmp", "tmp", Mode::Copy),
            ("/tmp:ro", "/tmp", "tmp", Mode::Read),
            ("/tmp:/data", "/tmp", "data", Mode::Copy),
            ("/tmp:data:rw", "/tmp", "data", Mode::Write),
            ("/tmp:/data:cow", "/tmp", "data", Mode::Copy),
            ("/tmp:/data/in:ro", "/tmp", "data/in", Mode::Read),
            ("/tmp:a/b/c", "/tmp", "a/b/c", Mode::Copy),
            ("/tmp::/data:ro", "/tmp", "data", Mode::Read),
            ("/tmp::data", "/tmp", "data", Mode::Copy),
            ("/tmp:/:ro", "/tmp", "/", Mode::Read),
        ] {
            let want = Mount { host: host.into(), guest: guest.parse().unwrap(), mode };
            assert_eq!(parse(text), Ok(want), "{text}");
        }
        let bad = ["", ":ro", "/tmp:..", "/tmp:a/../b", "/tmp:a:b:rw", "/no/such/place", "/tmp::ro", "/:ro"];
        for text in bad {
            assert!(parse(text).is_err(), "{text}");
        }
    }
}

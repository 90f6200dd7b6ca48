//! `--dir HOST[:GUEST][:ro|:rw|:cow]` and `--workspace NAME`: what files a command sees.

use std::{
    path::{Path, PathBuf},
    sync::Arc,
};

use anyhow::Context as _;
use drydock_embed::{
    Base,
    contract::{Meter, Tenant, port::Files},
    store::{
        Access, Directory, Home, HostDir, Links, MemoryFiles, MountPoint, Mounted, Mounting, Mounts, Overlay,
        Quota, Volume, Workspace, WorkspaceName, Workspaces,
    },
};

/// What a run may do to a mounted directory.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Mode {
    Read,
    Write,
    /// Writes go beside it: into the workspace if there is one, else nowhere that lasts.
    Copy,
}

/// One `--dir`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Mount {
    host: PathBuf,
    guest: MountPoint,
    mode: Mode,
}

/// Reads `HOST[:GUEST][:ro|:rw|:cow]`. Without a place the directory is seen under its own last name.
pub(crate) fn parse(text: &str) -> Result<Mount, String> {
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
    let guest = guest.parse().map_err(|error: drydock_embed::store::MountError| error.to_string())?;
    Ok(Mount { host, guest, mode: mode.unwrap_or(Mode::Copy) })
}

/// Opens a workspace by name.
pub(crate) fn workspace(home: &Home, name: &WorkspaceName, quota: Quota) -> anyhow::Result<Workspace> {
    Ok(Workspaces::of(&home.tenant(&Tenant::default()), quota).open_or_create(name)?)
}

/// Whether a directory that may be written is also mounted at another place, in whole or in part: what is
/// written there under one name is then seen under another.
pub(crate) fn overlap(mounts: &[Mount]) -> bool {
    let real = |mount: &Mount| mount.host.canonicalize().unwrap_or_else(|_| mount.host.clone());
    let within = |one: &Mount, other: &Mount| real(one).starts_with(real(other));
    mounts.iter().enumerate().any(|(index, one)| {
        let others = mounts.iter().enumerate().filter(|(other, _)| *other != index);
        one.mode == Mode::Write && others.into_iter().any(|(_, it)| within(one, it) || within(it, one))
    })
}

impl Mount {
    /// Where a file of the host is seen, if it lies in this directory.
    pub(crate) fn seen_at(&self, host: &std::path::Path) -> Option<String> {
        let below = host.canonicalize().ok()?.strip_prefix(self.host.canonicalize().ok()?).ok()?.to_owned();
        Some(format!("/{}/{}", self.guest.as_str(), below.to_str()?))
    }

    /// Whether what is written goes to the host at once.
    pub(crate) fn is_written(&self) -> bool {
        self.mode == Mode::Write
    }

    /// Where a guest sees it.
    pub(crate) fn guest_path(&self) -> String {
        format!("/{}", self.guest.as_str())
    }

    /// Where it is on the host, as it was said.
    pub(crate) fn host(&self) -> &Path {
        &self.host
    }

    /// The directory with the changes a workspace keeps for it.
    pub(crate) fn mounted(&self, workspace: &Workspace) -> anyhow::Result<Mounted> {
        Ok(workspace.mount(&self.guest, Arc::new(self.open(Access::ReadWrite, Quota::default())?))?)
    }

    fn open(&self, access: Access, quota: Quota) -> anyhow::Result<HostDir> {
        HostDir::within(&self.host, access, quota)
            .with_context(|| format!("could not open `{}`", self.host.display()))
    }

    /// What a guest sees of it, and what a change is compared with where it is copy-on-write.
    fn files(
        &self,
        workspace: Option<&Workspace>,
        room: Room,
    ) -> anyhow::Result<(Arc<dyn Files>, Option<Base>)> {
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
pub(crate) struct Room {
    /// What lasts as long as the run: each tree that lies in memory.
    pub(crate) memory_bytes_max: u64,
    /// What stays: each volume of a workspace, and what a directory mounted `rw` may grow by.
    pub(crate) disk: Quota,
    /// The links that guests may make in a directory mounted `rw`.
    pub(crate) links: Links,
}

impl Room {
    /// That much memory, and on disk what is usual unless it is said.
    pub(crate) fn new(memory_bytes_max: u64, disk_bytes_max: Option<u64>, links: Links) -> Self {
        let usual = Quota::default();
        Self {
            memory_bytes_max,
            disk: Quota { bytes_max: disk_bytes_max.unwrap_or(usual.bytes_max), ..usual },
            links,
        }
    }
}

/// A tree, and the directories in it that are copy-on-write.
pub(crate) type WithBases = (Arc<dyn Files>, Vec<Base>);

/// The tree a run sees: the workspace's volumes, the mounts, and around them what lasts as long as
/// the run. None of them, and the engine makes an empty tree by itself.
pub(crate) fn tree(
    home: &Home,
    name: Option<&WorkspaceName>,
    mounts: &[Mount],
    room: Room,
) -> anyhow::Result<Option<WithBases>> {
    if name.is_none() && mounts.is_empty() {
        return Ok(None);
    }
    let workspace = name.map(|name| workspace(home, name, room.disk)).transpose()?;
    let mut all = match &workspace {
        Some(workspace) => workspace.mounts()?,
        None => {
            let meter = Arc::new(Meter::new(room.memory_bytes_max));
            let root = MemoryFiles::with(Arc::clone(&meter));
            // A guest may put something beside what is mounted deeper down.
            for mount in mounts {
                root.create_dir_all(mount.guest.parent())?;
            }
            let mut all = Mounts::over(Arc::new(root));
            // The places of a workspace are there without one, too, and can as little be moved.
            let taken = |volume: Volume| mounts.iter().any(|it| it.guest.as_str() == volume.name());
            for volume in Volume::ALL.into_iter().filter(|it| !taken(*it)) {
                all.mount(volume.name(), Arc::new(MemoryFiles::with(Arc::clone(&meter))))?;
            }
            all
        }
    };
    let mut bases = Vec::new();
    for mount in mounts {
        let (files, base) = mount.files(workspace.as_ref(), room)?;
        all.mount(&mount.guest_path(), files)?;
        bases.extend(base);
    }
    Ok(Some((Arc::new(all), bases)))
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

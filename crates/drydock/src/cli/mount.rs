//! `--dir HOST[:GUEST][:ro|:rw|:cow]` and `--workspace NAME`: what files a command sees.

use std::{path::PathBuf, sync::Arc};

use anyhow::Context as _;
use drydock_embed::{
    contract::{Meter, port::Files},
    store::{
        Access, Home, HostDir, MemoryFiles, Mounted, Mounts, Overlay, Quota, Workspace, WorkspaceName,
        Workspaces,
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
    guest: WorkspaceName,
    mode: Mode,
}

/// Reads `HOST[:GUEST][:ro|:rw|:cow]`.
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
        _ => return Err(format!("`{text}` is not a mount: use HOST[:GUEST][:ro|:rw|:cow]")),
    };
    let guest = match guest {
        Some(guest) => guest.strip_prefix('/').unwrap_or(guest).to_owned(),
        None => {
            let whole = host.canonicalize().map_err(|error| format!("`{}`: {error}", host.display()))?;
            let last = whole.file_name().ok_or("the root of the machine wants a name: use /:GUEST")?;
            last.to_string_lossy().into_owned()
        }
    };
    let name = guest
        .parse()
        .map_err(|_| format!("`{guest}` is no place for a mount: use one plain name, such as /data"))?;
    Ok(Mount { host, guest: name, mode: mode.unwrap_or(Mode::Copy) })
}

/// Opens a workspace by name.
pub(crate) fn workspace(home: &Home, name: &WorkspaceName) -> anyhow::Result<Workspace> {
    Ok(Workspaces::of(home, Quota::default()).open_or_create(name)?)
}

impl Mount {
    /// Where a guest sees it.
    pub(crate) fn guest_path(&self) -> String {
        format!("/{}", self.guest.as_str())
    }

    /// The directory with the changes a workspace keeps for it.
    pub(crate) fn mounted(&self, workspace: &Workspace) -> anyhow::Result<Mounted> {
        Ok(workspace.mount(&self.guest, Arc::new(self.open(Access::ReadWrite)?))?)
    }

    fn open(&self, access: Access) -> anyhow::Result<HostDir> {
        HostDir::open(&self.host, access).with_context(|| format!("could not open `{}`", self.host.display()))
    }

    fn files(&self, workspace: Option<&Workspace>, memory_bytes_max: u64) -> anyhow::Result<Arc<dyn Files>> {
        Ok(match (self.mode, workspace) {
            (Mode::Read, _) => Arc::new(self.open(Access::ReadOnly)?),
            (Mode::Write, _) => Arc::new(self.open(Access::ReadWrite)?),
            (Mode::Copy, Some(workspace)) => Arc::new(self.mounted(workspace)?.files()),
            (Mode::Copy, None) => {
                let upper = MemoryFiles::with(Arc::new(Meter::new(memory_bytes_max)));
                Arc::new(Overlay::new(Arc::new(self.open(Access::ReadOnly)?), Arc::new(upper)))
            }
        })
    }
}

/// The tree a run sees: the workspace's volumes, the mounts, and around them what lasts as long as
/// the run. None of them, and the engine makes an empty tree by itself.
pub(crate) fn tree(
    home: &Home,
    name: Option<&WorkspaceName>,
    mounts: &[Mount],
    memory_bytes_max: u64,
) -> anyhow::Result<Option<Arc<dyn Files>>> {
    if name.is_none() && mounts.is_empty() {
        return Ok(None);
    }
    let workspace = name.map(|name| workspace(home, name)).transpose()?;
    let mut all = match &workspace {
        Some(workspace) => workspace.mounts()?,
        None => Mounts::over(Arc::new(MemoryFiles::with(Arc::new(Meter::new(memory_bytes_max))))),
    };
    for mount in mounts {
        let files = mount.files(workspace.as_ref(), memory_bytes_max)?;
        all.mount(mount.guest.as_str(), files)
            .with_context(|| format!("could not mount `/{}`", mount.guest.as_str()))?;
    }
    Ok(Some(Arc::new(all)))
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
        ] {
            let want = Mount { host: host.into(), guest: guest.parse().unwrap(), mode };
            assert_eq!(parse(text), Ok(want), "{text}");
        }
        for text in ["", ":ro", "/tmp:/a/b", "/tmp:..", "/tmp:a:b:rw", "/no/such/place", "/tmp::ro", "/:ro"] {
            assert!(parse(text).is_err(), "{text}");
        }
    }
}

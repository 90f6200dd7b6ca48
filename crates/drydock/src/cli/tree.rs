//! The files a run or a shell sees, and where in them it starts.

use std::sync::Arc;

use drydock_embed::{
    Base,
    contract::port::Files,
    store::{Home, Volume},
};

use super::{mount, powers::Powers};

/// A tree, its directories of interest, and the one to start in.
pub(crate) struct Tree {
    pub(crate) files: Arc<dyn Files>,
    /// What lasts or belongs to somebody: volumes and mounts.
    pub(crate) roots: Vec<String>,
    /// The first directory that was mounted, else the workspace, whatever else is given.
    pub(crate) cwd: String,
    /// The directories that are mounted copy-on-write.
    pub(crate) bases: Vec<Base>,
}

/// The tree that the flags describe; none if they describe none.
pub(crate) fn of(home: &Home, powers: &Powers, memory_bytes_max: u64) -> anyhow::Result<Option<Tree>> {
    let room = mount::Room::new(memory_bytes_max, powers.disk_max, powers.links());
    let found = mount::tree(home, powers.workspace.as_ref(), &powers.dir, room)?;
    let Some((files, bases)) = found else { return Ok(None) };
    let mounts = powers.dir.iter().map(mount::Mount::guest_path);
    let mut roots: Vec<String> = mounts.collect();
    let cwd = roots.first().cloned().unwrap_or_else(|| format!("/{}", Volume::Workspace.name()));
    for volume in Volume::ALL {
        let root = format!("/{}", volume.name());
        if !roots.contains(&root) {
            roots.push(root);
        }
    }
    Ok(Some(Tree { files, roots, cwd, bases }))
}

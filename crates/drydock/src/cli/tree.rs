//! The files a run or a shell sees, and where in them it starts.

use std::sync::Arc;

use drydock_embed::{
    Base,
    contract::port::{Files, Follow, TreePath},
    store::{Home, Volume},
};

use super::{mount, powers::Powers};

/// A tree, its directories of interest, and the one to start in.
pub(crate) struct Tree {
    pub(crate) files: Arc<dyn Files>,
    /// What lasts or belongs to somebody: volumes and mounts.
    pub(crate) roots: Vec<String>,
    /// The workspace; without one the only mount, if there is just one.
    pub(crate) cwd: String,
    /// The directories that are mounted copy-on-write.
    pub(crate) bases: Vec<Base>,
}

/// The tree that the flags describe; none if they describe none.
pub(crate) fn of(home: &Home, powers: &Powers, memory_bytes_max: u64) -> anyhow::Result<Option<Tree>> {
    let room = mount::Room::new(memory_bytes_max, powers.disk_max);
    let found = mount::tree(home, powers.workspace.as_ref(), &powers.dir, room)?;
    let Some((files, bases)) = found else { return Ok(None) };
    let mounts = powers.dir.iter().map(mount::Mount::guest_path);
    let mut roots: Vec<String> = mounts.collect();
    let cwd = match (&powers.workspace, &roots[..]) {
        (None, [only]) => only.clone(),
        _ => format!("/{}", Volume::Workspace.name()),
    };
    for volume in Volume::ALL {
        let path = TreePath::new(volume.name()).map_err(|error| anyhow::anyhow!("{error}"))?;
        if powers.workspace.is_none() && files.stat(&path, Follow::Yes).is_err() {
            files.create_dir(&path, Default::default()).map_err(|error| anyhow::anyhow!("{error}"))?;
        }
        let root = format!("/{}", volume.name());
        if !roots.contains(&root) {
            roots.push(root);
        }
    }
    Ok(Some(Tree { files, roots, cwd, bases }))
}

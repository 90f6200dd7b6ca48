//! The files a run or a shell sees, and where in them it starts.

use std::{io::IsTerminal as _, sync::Arc};

use drydock_embed::{
    Base,
    contract::port::Files,
    store::{Home, Volume},
};

use super::{mount, powers::Powers};
use crate::exit;

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

/// Says on a terminal how much of a copy-on-write directory ends with the process, and how to keep it.
pub(super) fn tell_what_is_dropped(bases: &[Base]) {
    if !std::io::stderr().is_terminal() {
        return;
    }
    for base in bases.iter().filter(|it| it.mounted.is_none()) {
        let dropped = base.now.changes().map_or(0, |all| all.len());
        if dropped > 0 {
            let (changes, were) = if dropped == 1 { ("change", "was") } else { ("changes", "were") };
            exit::warn(&format!(
                "{dropped} {changes} in /{} {were} dropped; `--workspace NAME` keeps them, and `drydock ws commit NAME` \
                 writes them back",
                base.place
            ));
        }
    }
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

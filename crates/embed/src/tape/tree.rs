//! The tree of files of a run that is recorded or replayed: each part that others have, too, comes from the deck, and what
//! lies in memory is made anew.

use std::sync::Arc;

use drydock_contract::{Meter, port::Files};
use drydock_store::{Access, MemoryFiles, Mounts, Overlay, TenantHome, Volume, WorkspaceName, Workspaces};

use super::Deck;
use crate::{
    Mount, OpenTreeError, Room, Tree,
    mount::{Mode, around, roots},
};

impl Tree {
    /// As [`Tree::open`], with a deck between the run and the world. What is mounted copy-on-write without a workspace is
    /// recorded below the copy: what the run changes is its own.
    pub fn on(
        deck: &dyn Deck,
        home: &TenantHome,
        workspace: Option<&WorkspaceName>,
        mounts: &[Mount],
        room: Room,
    ) -> Result<Option<Self>, OpenTreeError> {
        if workspace.is_none() && mounts.is_empty() {
            return Ok(None);
        }
        let open = |name| Workspaces::of(home, room.disk).open_or_create(name);
        let mut all = match workspace {
            None => around(mounts, room)?,
            Some(name) => {
                let mut all = Mounts::new();
                for volume in Volume::ALL {
                    let mut open = || Ok(Arc::new(open(name)?.files(volume).clone()) as Arc<dyn Files>);
                    all.mount(volume.name(), deck.files(&format!("/{}", volume.name()), &mut open)?)?;
                }
                all
            }
        };
        for mount in mounts {
            let place = mount.guest_path();
            let read_only = |access| move || Ok(Arc::new(mount.open(access, room.disk)?) as Arc<dyn Files>);
            let files = match (mount.mode(), workspace) {
                (Mode::Read, _) => deck.files(&place, &mut read_only(Access::ReadOnly))?,
                (Mode::Write, _) => {
                    let mut open = || {
                        let dir = mount.open(Access::ReadWrite, room.disk)?.with_links(room.links);
                        Ok(Arc::new(dir) as Arc<dyn Files>)
                    };
                    deck.files(&place, &mut open)?
                }
                (Mode::Copy, Some(name)) => {
                    let mut open = || Ok(Arc::new(mount.mounted(&open(name)?)?.files()) as Arc<dyn Files>);
                    deck.files(&place, &mut open)?
                }
                (Mode::Copy, None) => {
                    let upper = MemoryFiles::with(Arc::new(Meter::new(room.memory_bytes_max)));
                    let lower = deck.files(&place, &mut read_only(Access::ReadOnly))?;
                    Arc::new(Overlay::new(lower, Arc::new(upper)))
                }
            };
            all.mount(&place, files)?;
        }
        let (roots, cwd) = roots(mounts);
        Ok(Some(Self { files: Arc::new(all), roots, cwd, bases: Vec::new() }))
    }
}

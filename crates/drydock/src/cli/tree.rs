//! The files a run or a shell sees, and where in them it starts.

use std::io::IsTerminal as _;

use drydock_embed::{Base, Room, Tree, contract::Tenant, store::Home};

use super::powers::Powers;
use crate::{exit, taped::Taping};

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
pub(crate) fn of(
    home: &Home,
    powers: &Powers,
    memory_bytes_max: u64,
    taping: &Taping,
) -> anyhow::Result<Option<Tree>> {
    let room = Room::new(memory_bytes_max, powers.disk_max, powers.links());
    let home = home.tenant(&Tenant::default());
    let workspace = powers.workspace.as_ref();
    Ok(match taping.is_live() {
        true => Tree::open(&home, workspace, &powers.dir, room)?,
        false => Tree::on(taping.deck(), &home, workspace, &powers.dir, room)?,
    })
}

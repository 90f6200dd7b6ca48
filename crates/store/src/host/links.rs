//! Symbolic links that lead out of a directory. Inside Drydock they lead nowhere, but other programs of
//! the host would follow them, so a guest may not put one there (decision 0029).
//!
//! A link stays inside if it is relative and climbs no higher than the directory is deep, and climbs
//! only at its beginning: past a name, `..` goes wherever that name leads. If every link keeps to that,
//! no chain of them leads out. It is asked where a link is made or moved, by itself or with a directory.

use std::sync::Arc;

use drydock_contract::port::{FileError, FileKind, FileResult, Interrupt};
use rustix::fs;

use super::{
    fact::{self, Sys as _},
    place::{Dir, Place, Rooted},
};
use crate::tree::{Branches as _, Node};

/// Which symbolic links a guest may put into a directory of the host.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Links {
    /// Those that stay inside it.
    #[default]
    Inside,
    /// All.
    Any,
}

/// Whether a link in a directory that deep below the root stays below the root, whatever other links
/// of that kind are on its way.
pub(crate) fn stays_inside(target: &str, depth: usize) -> bool {
    if target.starts_with('/') {
        return false;
    }
    let mut names = target.split('/').filter(|it| !it.is_empty() && *it != ".").peekable();
    let mut climbs = 0;
    while names.next_if_eq(&"..").is_some() {
        climbs += 1;
    }
    climbs <= depth && names.all(|it| it != "..")
}

/// Refuses to move a link, or a directory with links in it, to where one of them would lead out. A link
/// of the host's own that is absolute stays what it is.
pub(super) fn check_move(
    node: &Node<Arc<Dir>, Place>,
    old_depth: usize,
    new_depth: usize,
    time_is_up: Option<&Interrupt>,
) -> FileResult<()> {
    match node {
        Node::File(_) => Ok(()),
        Node::Link(link) => moved_link(link, new_depth),
        // What climbs no higher than before stays inside.
        Node::Dir(_) if new_depth >= old_depth => Ok(()),
        Node::Dir(dir) => moved_dir(dir, old_depth - new_depth, time_is_up),
    }
}

fn moved_link(link: &Place, depth: usize) -> FileResult<()> {
    let target = Rooted(&link.dir).target(link)?;
    let inside = target.starts_with('/') || stays_inside(&target, depth);
    if inside { Ok(()) } else { Err(FileError::Denied) }
}

fn moved_dir(dir: &Arc<Dir>, up: usize, time_is_up: Option<&Interrupt>) -> FileResult<()> {
    let mut dirs = vec![Arc::clone(dir)];
    while let Some(dir) = dirs.pop() {
        for entry in fs::Dir::read_from(&dir.fd).sys()? {
            if time_is_up.is_some_and(|it| it()) {
                return Err(FileError::Interrupted);
            }
            let entry = entry.sys()?;
            let name = fact::name(entry.file_name().to_bytes());
            if matches!(&*name, "." | "..") {
                continue;
            }
            let kind = match fact::kind(entry.file_type()) {
                None => dir.stat(&name)?.and_then(|it| fact::kind(fs::FileType::from_raw_mode(it.st_mode))),
                known => known,
            };
            match kind {
                Some(FileKind::Directory) => dirs.push(dir.enter(&name)?),
                Some(FileKind::Symlink) => {
                    let link = Place { dir: Arc::clone(&dir), name: name.into_owned() };
                    moved_link(&link, dir.depth.saturating_sub(up))?;
                }
                Some(FileKind::File) | None => {}
            }
        }
    }
    Ok(())
}

#[test]
fn a_link_climbs_at_its_beginning_and_no_higher_than_it_lies() {
    let cases = [
        // target, depth, want
        ("a", 0, true),
        ("a/b", 0, true),
        ("./a//b/.", 0, true),
        ("../a", 0, false),
        ("../a", 1, true),
        ("../../a", 1, false),
        ("../../a", 2, true),
        (".././../a", 2, true),
        ("..", 1, true),
        ("..", 0, false),
        ("/", 3, false),
        ("/etc/shadow", 3, false),
        ("a/..", 3, false), // `a` may be a link itself
        ("../a/../b", 3, false),
        ("..a/b", 0, true),
        (".", 0, true),
    ];
    for (target, depth, want) in cases {
        assert_eq!(stays_inside(target, depth), want, "{target:?} at {depth}");
    }
}

//! From a path to what it names. `..` at the root stays there, and a link's target starts either
//! at the root of this tree or beside the link: there is no way to say anything outside.

use drydock_contract::port::{FileError, FileKind, FileResult, TreePath};

use super::tree::{DirId, Node, ROOT, Tree};
use crate::tree::plain;

/// How many links one path may lead through.
const HOPS_MAX: u32 = 40;

/// What a link as the last name stands for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Last {
    /// What it points at.
    Target,
    /// The link itself: for whoever is about to change the name.
    Itself,
    /// The link itself, but what it points at if a slash follows.
    ItselfUnlessSlash,
}

/// Where a path ends.
#[derive(Debug)]
pub(super) struct Spot {
    pub(super) parent: DirId,
    /// Empty for the root, and where the path ends in `..`: a place without a name of its own.
    pub(super) name: Box<str>,
    /// What is there, if anything.
    pub(super) node: Option<Node>,
    /// The path ends as a directory's does.
    pub(super) slash: bool,
}

impl Tree {
    pub(super) fn walk(&self, path: &TreePath, last: Last) -> FileResult<Spot> {
        self.walk_from(ROOT, path.as_str(), last, &mut 0)
    }

    /// What the first names stand for, no link followed.
    pub(super) fn trail(&self, path: &TreePath) -> Vec<FileKind> {
        let (mut kinds, mut at) = (Vec::new(), ROOT);
        for name in plain(path.as_str()) {
            match self.dir(at).ok().and_then(|it| it.names.get(name)).map(|it| &it.node) {
                Some(Node::Dir(below)) => {
                    kinds.push(FileKind::Directory);
                    at = *below;
                }
                Some(Node::Leaf(leaf)) => {
                    kinds.push(leaf.kind());
                    break;
                }
                None => break,
            }
        }
        kinds
    }

    /// One call for each link on the way.
    fn walk_from(&self, start: DirId, text: &str, last: Last, hops: &mut u32) -> FileResult<Spot> {
        let slash = ends_as_a_directory(text);
        let mut at = if text.starts_with('/') { ROOT } else { start };
        let mut rest = text;
        while !rest.is_empty() {
            let (name, tail) = rest.split_once('/').unwrap_or((rest, ""));
            rest = tail;
            match name {
                "" | "." => continue,
                ".." => {
                    at = self.dir(at)?.parent;
                    continue;
                }
                _ => {}
            }
            // A path was measured when it was made; what a link says was not.
            if drydock_contract::text::byte_len(name) > TreePath::NAME_BYTES_MAX {
                return Err(FileError::NameTooLong);
            }
            let is_last = tail.split('/').all(|it| it.is_empty() || it == ".");
            let node = self.dir(at)?.names.get(name).map(|it| it.node.clone());
            match node {
                Some(Node::Leaf(link))
                    if link.kind() == FileKind::Symlink && follows(is_last, last, slash) =>
                {
                    *hops += 1;
                    if *hops > HOPS_MAX {
                        return Err(FileError::Loop);
                    }
                    let target = link.target().unwrap_or_default();
                    let onward = if is_last && !slash { target } else { format!("{target}/{tail}") };
                    if onward.len() > 2 * TreePath::BYTES_MAX {
                        return Err(FileError::NameTooLong);
                    }
                    return self.walk_from(at, &onward, last, hops);
                }
                node if is_last => return Ok(Spot { parent: at, name: name.into(), node, slash }),
                Some(Node::Dir(id)) => at = id,
                Some(Node::Leaf(_)) => return Err(FileError::NotADirectory),
                None => return Err(FileError::NotFound),
            }
        }
        Ok(Spot { parent: at, name: "".into(), node: Some(Node::Dir(at)), slash })
    }
}

fn follows(is_last: bool, last: Last, slash: bool) -> bool {
    !is_last || last == Last::Target || (last == Last::ItselfUnlessSlash && slash)
}

fn ends_as_a_directory(text: &str) -> bool {
    text.ends_with('/') || text.ends_with("/.") || text == "."
}

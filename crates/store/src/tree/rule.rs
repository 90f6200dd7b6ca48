//! What POSIX answers, once it is known where a path ends. Pure: nothing here changes a tree.

use drydock_contract::port::{FileError, FileResult, Follow, OpenHow, TreePath};

use super::{Branches, Last, Node, Spot, node, walk};

/// What opening comes to.
pub(crate) enum Opening<D, L> {
    /// The file is there.
    There(L),
    /// It is to be made: in this directory, under this name.
    Make(D, String),
}

/// Opens, or says why not.
pub(crate) fn for_open<B: Branches>(
    tree: &B,
    path: &TreePath,
    how: OpenHow,
) -> FileResult<Opening<B::Dir, B::Leaf>> {
    if how.truncate && !how.write {
        return Err(FileError::Invalid);
    }
    let exclusive = how.create && how.exclusive;
    let last = match (exclusive, how.nofollow) {
        (true, _) => Last::Itself,
        (false, true) => Last::ItselfUnlessSlash,
        (false, false) => Last::Target,
    };
    match walk(tree, path, last)? {
        Spot { node: Some(_), .. } if exclusive => Err(FileError::Exists),
        Spot { node: Some(Node::Dir(_)), .. } => Err(FileError::IsADirectory),
        Spot { node: Some(_), slash: true, .. } => Err(FileError::NotADirectory),
        Spot { node: Some(Node::Link(_)), .. } => Err(FileError::Loop),
        Spot { node: Some(Node::File(leaf)), .. } => Ok(Opening::There(leaf)),
        Spot { node: None, .. } if !how.create => Err(FileError::NotFound),
        Spot { node: None, slash: true, .. } => Err(FileError::IsADirectory),
        Spot { parent, name, .. } => Ok(Opening::Make(parent, name)),
    }
}

/// Where a new directory goes.
pub(crate) fn for_new<B: Branches>(tree: &B, path: &TreePath) -> FileResult<(B::Dir, String)> {
    let spot = walk(tree, path, Last::Itself)?;
    match spot.node {
        Some(_) => Err(FileError::Exists),
        None if path.as_str().ends_with("/.") => Err(FileError::NotFound),
        None => Ok((spot.parent, spot.name)),
    }
}

/// Where a new link goes, hard or symbolic: never under a name with a slash behind it.
pub(crate) fn for_link<B: Branches>(tree: &B, path: &TreePath) -> FileResult<(B::Dir, String)> {
    let spot = walk(tree, path, Last::Itself)?;
    match spot.node {
        Some(_) => Err(FileError::Exists),
        None if spot.slash => Err(FileError::NotFound),
        None => Ok((spot.parent, spot.name)),
    }
}

/// The directory to remove, with the one it is in and its name. Whether it is empty is not asked.
pub(crate) fn for_rmdir<B: Branches>(tree: &B, path: &TreePath) -> FileResult<(B::Dir, String, B::Dir)> {
    let spot = walk(tree, path, Last::Itself)?;
    match spot.node {
        None => Err(FileError::NotFound),
        Some(Node::File(_) | Node::Link(_)) => Err(FileError::NotADirectory),
        Some(Node::Dir(dir)) => {
            has_a_name(&spot.name, path)?;
            Ok((spot.parent, spot.name, dir))
        }
    }
}

/// The file or link to unlink, with the directory it is in and its name.
pub(crate) fn for_unlink<B: Branches>(tree: &B, path: &TreePath) -> FileResult<(B::Dir, String, B::Leaf)> {
    let spot = walk(tree, path, Last::Itself)?;
    match spot.node {
        None => Err(FileError::NotFound),
        Some(Node::Dir(_)) => Err(FileError::IsADirectory),
        Some(Node::File(_) | Node::Link(_)) if spot.slash => Err(FileError::NotADirectory),
        Some(Node::File(leaf) | Node::Link(leaf)) => Ok((spot.parent, spot.name, leaf)),
    }
}

/// The spots of a rename, after what can be said without looking into directories.
pub(crate) fn can_move<D, L>(
    from: &TreePath,
    old: &Spot<D, L>,
    to: &TreePath,
    new: &Spot<D, L>,
) -> FileResult<()> {
    // What rmdir calls not empty, a busy `..`, rename calls invalid.
    let busy = |error| if error == FileError::NotEmpty { FileError::Invalid } else { error };
    has_a_name(&old.name, from).and_then(|()| has_a_name(&new.name, to)).map_err(busy)?;
    match &old.node {
        None => Err(FileError::NotFound),
        Some(Node::Dir(_)) => Ok(()),
        Some(_) if old.slash || new.slash => Err(FileError::NotADirectory),
        Some(_) => Ok(()),
    }
}

/// What the symbolic link at `path` says.
pub(crate) fn target<B: Branches>(tree: &B, path: &TreePath) -> FileResult<String> {
    match node(tree, path, Follow::No)? {
        Node::Link(leaf) => tree.target(&leaf),
        Node::Dir(_) | Node::File(_) => Err(FileError::Invalid),
    }
}

/// The root, and what ends in `.` or `..`, cannot be removed or moved by that name.
pub(crate) fn has_a_name(name: &str, path: &TreePath) -> FileResult<()> {
    if path.as_str().ends_with("/.") || path.as_str() == "." {
        return Err(FileError::Invalid);
    }
    match (name.is_empty(), path.names().last()) {
        (false, _) => Ok(()),
        (true, Some("..")) => Err(FileError::NotEmpty),
        (true, _) => Err(FileError::Denied),
    }
}

/// Whether a symbolic link can say that.
pub(crate) fn sayable(target: &str) -> FileResult<()> {
    if target.is_empty() {
        return Err(FileError::NotFound);
    }
    if target.contains('\0') {
        return Err(FileError::Invalid);
    }
    if drydock_contract::text::byte_len(target) > TreePath::BYTES_MAX {
        Err(FileError::NameTooLong)
    } else {
        Ok(())
    }
}

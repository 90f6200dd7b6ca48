//! From a path to what it names.

use drydock_contract::port::{FileError, FileKind, FileResult, Follow, TreePath};

/// How many links one path may lead through.
const HOPS_MAX: u32 = 40;

/// What a name stands for.
#[derive(Debug, Clone)]
pub(crate) enum Node<D, L> {
    Dir(D),
    File(L),
    Link(L),
}

/// Directories, and what they hold.
pub(crate) trait Branches {
    type Dir: Clone;
    type Leaf;

    fn root(&self) -> FileResult<Self::Dir>;
    /// The directory above; the root's is the root.
    fn parent(&self, dir: &Self::Dir) -> FileResult<Self::Dir>;
    /// What the name stands for there. Links are not followed.
    fn look(&self, dir: &Self::Dir, name: &str) -> FileResult<Option<Node<Self::Dir, Self::Leaf>>>;
    /// What the link says.
    fn target(&self, link: &Self::Leaf) -> FileResult<String>;

    /// What the [`plain`] names at the start of `rest` stand for, each in the one before, as `look`
    /// would answer one by one: directories, and the first that is none. It may answer for fewer. A
    /// tree on top of others, for which each look is a walk, answers for many at once.
    fn look_ahead(&self, _dir: &Self::Dir, _rest: &str) -> Vec<Node<Self::Dir, Self::Leaf>> {
        Vec::new()
    }
}

/// The names a text starts with, up to a `..`.
pub(crate) fn plain(text: &str) -> impl Iterator<Item = &str> {
    text.split('/').filter(|it| !it.is_empty() && *it != ".").take_while(|it| *it != "..")
}

/// Looks names up one after the other, and asks for many at a time.
struct Looking<'t, B: Branches> {
    tree: &'t B,
    /// What is known of the next names. It is used up before the walk turns at a link or a `..`.
    ahead: std::vec::IntoIter<Node<B::Dir, B::Leaf>>,
}

impl<'t, B: Branches> Looking<'t, B> {
    fn new(tree: &'t B) -> Self {
        Self { tree, ahead: Vec::new().into_iter() }
    }

    /// What `name`, with which `rest` starts, stands for in `dir`.
    fn look(&mut self, dir: &B::Dir, name: &str, rest: &str) -> FileResult<Option<Node<B::Dir, B::Leaf>>> {
        if self.ahead.len() == 0 && rest.len() > name.len() {
            self.ahead = self.tree.look_ahead(dir, rest).into_iter();
        }
        match self.ahead.next() {
            Some(node) => Ok(Some(node)),
            None => self.tree.look(dir, name),
        }
    }
}

/// What the first names of a path stand for, for [`Files::trail`](drydock_contract::port::Files::trail).
pub(crate) fn trail<B: Branches>(tree: &B, path: &TreePath) -> Vec<FileKind> {
    let (mut kinds, mut looking) = (Vec::new(), Looking::new(tree));
    let Ok(mut at) = tree.root() else { return kinds };
    let mut rest = path.as_str();
    while !rest.is_empty() {
        let (name, tail) = rest.split_once('/').unwrap_or((rest, ""));
        let from_name = std::mem::replace(&mut rest, tail);
        match name {
            "" | "." => continue,
            ".." => break,
            _ => {}
        }
        match looking.look(&at, name, from_name) {
            Ok(Some(Node::Dir(below))) => {
                kinds.push(FileKind::Directory);
                at = below;
            }
            Ok(Some(Node::File(_))) => {
                kinds.push(FileKind::File);
                break;
            }
            Ok(Some(Node::Link(_))) => {
                kinds.push(FileKind::Symlink);
                break;
            }
            Ok(None) | Err(_) => break,
        }
    }
    kinds
}

/// What a link as the last name stands for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Last {
    /// What it points at.
    Target,
    /// The link itself: for whoever is about to change the name.
    Itself,
    /// The link itself, but what it points at if a slash follows.
    ItselfUnlessSlash,
}

/// Where a path ends.
#[derive(Debug)]
pub(crate) struct Spot<D, L> {
    pub(crate) parent: D,
    /// Empty for the root, and where the path ends in `..`: a place without a name of its own.
    pub(crate) name: String,
    /// What is there, if anything.
    pub(crate) node: Option<Node<D, L>>,
    /// The path ends as a directory's does.
    pub(crate) slash: bool,
}

/// Where the path ends in this tree.
pub(crate) fn walk<B: Branches>(tree: &B, path: &TreePath, last: Last) -> FileResult<Spot<B::Dir, B::Leaf>> {
    let mut at = tree.root()?;
    let mut text = path.as_str().to_owned();
    let mut hops = 0;
    let mut looking = Looking::new(tree);
    'link: loop {
        let slash = ends_as_a_directory(&text);
        if text.starts_with('/') {
            at = tree.root()?;
        }
        let mut rest = text.as_str();
        while !rest.is_empty() {
            let (name, tail) = rest.split_once('/').unwrap_or((rest, ""));
            let from_name = std::mem::replace(&mut rest, tail);
            match name {
                "" | "." => continue,
                ".." => {
                    at = tree.parent(&at)?;
                    continue;
                }
                _ => {}
            }
            // A path was measured when it was made; what a link says was not.
            if drydock_contract::text::byte_len(name) > TreePath::NAME_BYTES_MAX {
                return Err(FileError::NameTooLong);
            }
            let is_last = tail.split('/').all(|it| it.is_empty() || it == ".");
            match looking.look(&at, name, from_name)? {
                Some(Node::Link(link)) if follows(is_last, last, slash) => {
                    hops += 1;
                    if hops > HOPS_MAX {
                        return Err(FileError::Loop);
                    }
                    let target = tree.target(&link)?;
                    let onward = if is_last && !slash { target } else { format!("{target}/{tail}") };
                    if onward.len() > 2 * TreePath::BYTES_MAX {
                        return Err(FileError::NameTooLong);
                    }
                    text = onward;
                    continue 'link;
                }
                node if is_last => return Ok(Spot { parent: at, name: name.to_owned(), node, slash }),
                Some(Node::Dir(below)) => at = below,
                Some(Node::File(_) | Node::Link(_)) => return Err(FileError::NotADirectory),
                None => return Err(FileError::NotFound),
            }
        }
        return Ok(Spot { parent: at.clone(), name: String::new(), node: Some(Node::Dir(at)), slash });
    }
}

/// What the path stands for, if anything.
pub(crate) fn node<B: Branches>(
    tree: &B,
    path: &TreePath,
    follow: Follow,
) -> FileResult<Node<B::Dir, B::Leaf>> {
    let last = if follow == Follow::Yes { Last::Target } else { Last::ItselfUnlessSlash };
    let spot = walk(tree, path, last)?;
    match spot.node.ok_or(FileError::NotFound)? {
        Node::File(_) | Node::Link(_) if spot.slash => Err(FileError::NotADirectory),
        node => Ok(node),
    }
}

fn follows(is_last: bool, last: Last, slash: bool) -> bool {
    !is_last || last == Last::Target || (last == Last::ItselfUnlessSlash && slash)
}

fn ends_as_a_directory(text: &str) -> bool {
    text.ends_with('/') || text.ends_with("/.") || text == "."
}

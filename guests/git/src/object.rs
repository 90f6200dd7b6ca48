//! Commits, trees and tags: read by gitoxide's decoders, written here.

use std::collections::BTreeMap;

use bstr::{BString, ByteSlice as _};
use gix_hash::Kind::Sha1;
use gix_object::{CommitRef, Kind, TagRef, TreeRefIter};

use crate::Oid;
use crate::fail::{Done, fatal};
use crate::person::Person;
use crate::repo::Repo;

/// Directories inside directories.
const DEPTH_MAX: usize = 512;

/// A regular file, one that can be run, a link, a directory, another repository.
pub const FILE: u32 = 0o100_644;
pub const PROGRAM: u32 = 0o100_755;
pub const LINK: u32 = 0o120_000;
pub const TREE: u32 = 0o040_000;
pub const MODULE: u32 = 0o160_000;

/// A commit.
#[derive(Debug, Clone)]
pub struct Commit {
    pub id: Oid,
    pub tree: Oid,
    pub parents: Vec<Oid>,
    pub author: Person,
    pub committer: Person,
    pub message: BString,
}

impl Commit {
    /// The first paragraph as one line.
    pub fn subject(&self) -> BString {
        subject(&self.message)
    }

    /// What follows the first paragraph.
    pub fn body(&self) -> BString {
        let mut lines = self.message.lines_with_terminator().skip_while(|it| it.trim().is_empty());
        let rest: Vec<&[u8]> = lines.by_ref().skip_while(|it| !it.trim().is_empty()).collect();
        rest.into_iter().skip_while(|it| it.trim().is_empty()).collect::<Vec<_>>().concat().into()
    }
}

/// The first paragraph of a message as one line.
pub fn subject(message: &[u8]) -> BString {
    let lines = message.lines().map(|it| it.trim_end()).skip_while(|it| it.is_empty());
    let lines: Vec<&[u8]> = lines.take_while(|it| !it.is_empty()).collect();
    lines.join(&b' ').into()
}

/// What a tree has under a path.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Item {
    pub mode: u32,
    pub id: Oid,
}

/// Files by their paths.
pub type Files = BTreeMap<BString, Item>;

impl Repo {
    /// A commit by its hash.
    pub fn commit(&self, id: Oid) -> Done<Commit> {
        let bytes = self.odb.read_as(id, Kind::Commit)?;
        let bad = || fatal(format!("could not parse commit {id}"));
        let it = CommitRef::from_bytes(&bytes, Sha1).map_err(|_| bad())?;
        let parents: Option<Vec<Oid>> = it.parents.iter().map(|it| Oid::from_hex(it).ok()).collect();
        Ok(Commit {
            id,
            tree: Oid::from_hex(it.tree).map_err(|_| bad())?,
            parents: parents.ok_or_else(bad)?,
            author: Person::parse(it.author).ok_or_else(bad)?,
            committer: Person::parse(it.committer).ok_or_else(bad)?,
            message: it.message.to_owned(),
        })
    }

    /// Keeps a commit.
    pub fn write_commit(
        &self,
        tree: Oid,
        parents: &[Oid],
        author: &Person,
        committer: &Person,
        message: &[u8],
    ) -> Done<Oid> {
        let mut text = format!("tree {tree}\n");
        parents.iter().for_each(|it| text.push_str(&format!("parent {it}\n")));
        text.push_str(&format!("author {author}\ncommitter {committer}\n\n"));
        let mut bytes = text.into_bytes();
        bytes.extend_from_slice(message);
        self.odb.write(Kind::Commit, &bytes)
    }

    /// The direct entries of a tree.
    pub fn entries(&self, tree: Oid) -> Done<Vec<(BString, Item)>> {
        if tree == empty_tree() {
            return Ok(Vec::new());
        }
        let bytes = self.odb.read_as(tree, Kind::Tree)?;
        let mut all = Vec::new();
        for entry in TreeRefIter::from_bytes(&bytes, Sha1) {
            let entry = entry.map_err(|_| fatal(format!("corrupt tree {tree}")))?;
            let mode = usual_mode(u32::from(entry.mode.value()));
            all.push((entry.filename.to_owned(), Item { mode, id: entry.oid.to_owned() }));
        }
        Ok(all)
    }

    /// Every file below a tree.
    pub fn files(&self, tree: Oid) -> Done<Files> {
        let mut all = Files::new();
        self.add_files(tree, b"", &mut all, 0)?;
        Ok(all)
    }

    fn add_files(&self, tree: Oid, prefix: &[u8], all: &mut Files, depth: usize) -> Done {
        if depth > DEPTH_MAX {
            return Err(fatal("exceeded maximum allowed tree depth"));
        }
        for (name, item) in self.entries(tree)? {
            let mut path = BString::from(prefix);
            path.extend_from_slice(&name);
            if item.mode == TREE {
                path.push(b'/');
                self.add_files(item.id, &path, all, depth + 1)?;
            } else {
                all.insert(path, item);
            }
        }
        Ok(())
    }

    /// Files that differ between two trees, without looking into directories that are the same.
    pub fn differing(&self, old: Oid, new: Oid) -> Done<(Files, Files)> {
        let (mut before, mut after) = (Files::new(), Files::new());
        self.add_differing(Some(old), Some(new), b"", (&mut before, &mut after), 0)?;
        Ok((before, after))
    }

    fn add_differing(
        &self,
        old: Option<Oid>,
        new: Option<Oid>,
        prefix: &[u8],
        sides: (&mut Files, &mut Files),
        depth: usize,
    ) -> Done {
        if old == new {
            return Ok(());
        }
        if depth > DEPTH_MAX {
            return Err(fatal("exceeded maximum allowed tree depth"));
        }
        let list = |tree: Option<Oid>| match tree {
            Some(tree) => Ok(self.entries(tree)?.into_iter().collect::<BTreeMap<_, _>>()),
            None => Ok(BTreeMap::new()),
        };
        let (before, after) = (list(old)?, list(new)?);
        let (left, right) = sides;
        let names: std::collections::BTreeSet<&BString> = before.keys().chain(after.keys()).collect();
        for name in names {
            let (a, b) = (before.get(name), after.get(name));
            if a == b {
                continue;
            }
            let mut path = BString::from(prefix);
            path.extend_from_slice(name);
            let tree = |it: Option<&Item>| it.filter(|it| it.mode == TREE).map(|it| it.id);
            if let Some(item) = a.filter(|it| it.mode != TREE) {
                left.insert(path.clone(), *item);
            }
            if let Some(item) = b.filter(|it| it.mode != TREE) {
                right.insert(path.clone(), *item);
            }
            if tree(a).is_some() || tree(b).is_some() {
                path.push(b'/');
                self.add_differing(tree(a), tree(b), &path, (&mut *left, &mut *right), depth + 1)?;
            }
        }
        Ok(())
    }

    /// Keeps the trees that hold these files.
    pub fn write_tree(&self, files: &Files) -> Done<Oid> {
        let rows: Vec<(&[u8], Item)> = files.iter().map(|(path, item)| (path.as_slice(), *item)).collect();
        self.write_rows(&rows)
    }

    fn write_rows(&self, rows: &[(&[u8], Item)]) -> Done<Oid> {
        let mut entries: Vec<(Vec<u8>, Item)> = Vec::new();
        let mut at = 0;
        while at < rows.len() {
            let (path, item) = rows[at];
            let Some(slash) = path.find_byte(b'/') else {
                entries.push((path.to_vec(), item));
                at += 1;
                continue;
            };
            let folder = &path[..=slash];
            let end = at + rows[at..].iter().take_while(|it| it.0.starts_with(folder)).count();
            let below: Vec<_> = rows[at..end].iter().map(|it| (&it.0[slash + 1..], it.1)).collect();
            entries.push((folder.to_vec(), Item { mode: TREE, id: self.write_rows(&below)? }));
            at = end;
        }
        // With the slash that directories have here, bytes sort as git sorts.
        entries.sort();
        let mut bytes = Vec::new();
        for (name, item) in entries {
            bytes.extend_from_slice(format!("{:o} ", item.mode).as_bytes());
            bytes.extend_from_slice(name.strip_suffix(b"/").unwrap_or(&name));
            bytes.push(0);
            bytes.extend_from_slice(item.id.as_slice());
        }
        self.odb.write(Kind::Tree, &bytes)
    }

    /// The object behind tags.
    pub fn peel(&self, mut id: Oid) -> Done<(Oid, Kind)> {
        for _ in 0..16 {
            let (kind, bytes) = self.odb.read(id)?;
            if kind != Kind::Tag {
                return Ok((id, kind));
            }
            let tag =
                TagRef::from_bytes(&bytes, Sha1).map_err(|_| fatal(format!("could not parse tag {id}")))?;
            id = Oid::from_hex(tag.target).map_err(|_| fatal(format!("could not parse tag {id}")))?;
        }
        Err(fatal(format!("tags of tags: {id}")))
    }

    /// The tree of a commit, a tag or a tree.
    pub fn tree_of(&self, id: Oid) -> Done<Oid> {
        if id == empty_tree() {
            return Ok(id);
        }
        match self.peel(id)? {
            (id, Kind::Commit) => Ok(self.commit(id)?.tree),
            (id, Kind::Tree) => Ok(id),
            (id, _) => Err(fatal(format!("object {id} is not a tree"))),
        }
    }
}

impl Ord for Item {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        (self.mode, self.id).cmp(&(other.mode, other.id))
    }
}

impl PartialOrd for Item {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

/// The five modes there are.
pub fn usual_mode(mode: u32) -> u32 {
    match mode & 0o170_000 {
        0o040_000 => TREE,
        0o120_000 => LINK,
        0o160_000 => MODULE,
        _ if mode & 0o100 != 0 => PROGRAM,
        _ => FILE,
    }
}

/// The tree with nothing in it, which need not be kept to be known.
pub fn empty_tree() -> Oid {
    Oid::empty_tree(Sha1)
}

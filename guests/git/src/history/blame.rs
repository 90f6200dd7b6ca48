//! Who wrote each line: every line is followed to the commit that brought it.

use std::collections::HashMap;

use bstr::BString;

use crate::Oid;
use crate::diff::lines::{Place, Space, hunks, split};
use crate::diff::{self, rename};
use crate::fail::Done;
use crate::object::empty_tree;
use crate::repo::Repo;

/// Where a line comes from; no commit for one that is only in the work tree.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Origin {
    pub commit: Option<Oid>,
    pub path: BString,
    /// Its number there, from 0.
    pub line: usize,
    /// Nothing is older.
    pub root: bool,
}

/// Lines that a commit may have brought: their places at the end and in its own text.
type Lines = Vec<(usize, usize)>;

/// The origin of each line of a file as it is in `bytes`, which is at `path` in a child of `start` or in it.
pub fn find(repo: &Repo, start: Oid, path: &BString, bytes: &[u8]) -> Done<Vec<Option<Origin>>> {
    let count = split(bytes).len();
    let mut origins: Vec<Option<Origin>> = vec![None; count];
    let mut queue: Vec<(i64, Oid)> = Vec::new();
    let mut waiting: HashMap<(Oid, BString), Lines> = HashMap::new();
    let lines: Lines = (0..count).map(|it| (it, it)).collect();
    let tip = file_at(repo, start, path)?.unwrap_or_default();
    let (kept, own) = pass_on(&tip, bytes, lines);
    for (at, line) in own {
        origins[at] = Some(Origin { commit: None, path: path.clone(), line, root: false });
    }
    waiting.insert((start, path.clone()), kept);
    queue.push((repo.commit(start)?.committer.seconds, start));
    while let Some(newest) = queue.iter().enumerate().max_by_key(|it| it.1.0).map(|it| it.0) {
        let (_, id) = queue.swap_remove(newest);
        let names: Vec<BString> = waiting.keys().filter(|it| it.0 == id).map(|it| it.1.clone()).collect();
        for name in names {
            let Some(lines) = waiting.remove(&(id, name.clone())) else { continue };
            step(repo, id, &name, lines, &mut origins, &mut waiting, &mut queue)?;
        }
    }
    Ok(origins)
}

fn step(
    repo: &Repo,
    id: Oid,
    path: &BString,
    mut lines: Lines,
    origins: &mut [Option<Origin>],
    waiting: &mut HashMap<(Oid, BString), Lines>,
    queue: &mut Vec<(i64, Oid)>,
) -> Done {
    let commit = repo.commit(id)?;
    let text = file_at(repo, id, path)?.unwrap_or_default();
    for parent in &commit.parents {
        if lines.is_empty() {
            break;
        }
        let before = repo.commit(*parent)?;
        let Some(name) = name_in(repo, before.tree, commit.tree, path)? else { continue };
        let old = file_at(repo, *parent, &name)?.unwrap_or_default();
        let (kept, own) = pass_on(&old, &text, lines);
        lines = own;
        if !kept.is_empty() {
            waiting.entry((*parent, name)).or_default().extend(kept);
            if !queue.iter().any(|it| it.1 == *parent) {
                queue.push((before.committer.seconds, *parent));
            }
        }
    }
    for (at, line) in lines {
        origins[at] =
            Some(Origin { commit: Some(id), path: path.clone(), line, root: commit.parents.is_empty() });
    }
    Ok(())
}

/// Parts lines into those that the older text has too, with their places there, and the others.
fn pass_on(old: &[u8], new: &[u8], lines: Lines) -> (Lines, Lines) {
    let (before, after) = (split(old), split(new));
    let found = hunks(&before, &after, Space::Counts, Place::Down);
    let (mut kept, mut own) = (Lines::new(), Lines::new());
    for (at, line) in lines {
        let passed = found.iter().take_while(|it| (it.after.start as usize) <= line).last();
        match passed {
            Some(hunk) if hunk.after.contains(&(line as u32)) => own.push((at, line)),
            Some(hunk) => kept.push((at, line - hunk.after.end as usize + hunk.before.end as usize)),
            None => kept.push((at, line)),
        }
    }
    (kept, own)
}

fn file_at(repo: &Repo, commit: Oid, path: &BString) -> Done<Option<Vec<u8>>> {
    let tree = repo.commit(commit)?.tree;
    match repo.entry_at(tree, path)? {
        Some((mode, id)) if mode != crate::object::TREE && mode != crate::object::MODULE => {
            Ok(Some(repo.odb.blob(id)?))
        }
        _ => Ok(None),
    }
}

/// What a file was called in the tree before, if it was there.
fn name_in(repo: &Repo, old: Oid, new: Oid, path: &BString) -> Done<Option<BString>> {
    if repo.entry_at(old, path)?.is_some() {
        return Ok(Some(path.clone()));
    }
    if old == empty_tree() {
        return Ok(None);
    }
    let changes = rename::find(repo, diff::trees(repo, old, new)?, 50)?;
    Ok(changes.into_iter().find(|it| it.letter == b'R' && it.new.path == *path).map(|it| it.old.path))
}

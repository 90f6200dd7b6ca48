//! Merges two trees that come from one. A file that one side moved and the other changed is followed to its
//! new name; directories are not.

use std::collections::BTreeSet;

use bstr::BString;

use super::text::{Favor, merge as merge_text};
use crate::diff::{compare, is_binary, rename};
use crate::fail::Done;
use crate::index::{Entry, Index};
use crate::object::{FILE, Files, Item, LINK, PROGRAM};
use crate::out;
use crate::repo::Repo;

/// What came of a merge.
#[derive(Debug, Default)]
pub struct Merged {
    /// The files as they are to lie in the work tree; those in conflict have marks in them.
    pub files: Files,
    /// The sides of each conflict, for the index.
    pub conflicts: Vec<Entry>,
}

impl Merged {
    /// Whether nothing collided.
    pub fn is_clean(&self) -> bool {
        self.conflicts.is_empty()
    }

    /// The index that goes with the work tree.
    pub fn index(&self, written: &Index) -> Index {
        let mut index = written.clone();
        let paths: BTreeSet<&BString> = self.conflicts.iter().map(|it| &it.path).collect();
        for path in paths {
            index.remove(path);
        }
        for entry in &self.conflicts {
            index.put_stage(entry.clone());
        }
        index
    }
}

/// How the two sides are called, and which wins.
#[derive(Debug, Clone)]
pub struct How<'l> {
    pub ours: &'l str,
    pub theirs: &'l str,
    pub favor: Favor,
    /// Whether each merged file is told.
    pub tell: bool,
}

/// Merges three sets of files.
pub fn merge(repo: &Repo, base: Files, ours: Files, theirs: Files, how: &How<'_>) -> Done<Merged> {
    let (mut base, mut ours, mut theirs) = (base, ours, theirs);
    follow(repo, &mut base, &ours.clone(), &mut theirs)?;
    follow(repo, &mut base, &theirs.clone(), &mut ours)?;
    let mut merged = Merged::default();
    let paths: BTreeSet<BString> = base.keys().chain(ours.keys()).chain(theirs.keys()).cloned().collect();
    for path in paths {
        let (a, b, c) = (base.get(&path).copied(), ours.get(&path).copied(), theirs.get(&path).copied());
        let taken = match () {
            () if b == c || a == c => b,
            () if a == b => c,
            () => {
                if let Some(item) = collide(repo, &path, (a, b, c), how, &mut merged)? {
                    merged.files.insert(path, item);
                }
                continue;
            }
        };
        if let Some(item) = taken {
            merged.files.insert(path, item);
        }
    }
    Ok(merged)
}

/// Gives what one side moved its new name in the base and on the other side.
fn follow(repo: &Repo, base: &mut Files, moved: &Files, other: &mut Files) -> Done {
    for change in rename::find(repo, compare(base, moved), 50)? {
        if change.letter != b'R' || other.contains_key(&change.new.path) {
            continue;
        }
        if let (Some(old), Some(item)) = (base.remove(&change.old.path), other.remove(&change.old.path)) {
            base.insert(change.new.path.clone(), old);
            other.insert(change.new.path.clone(), item);
        } else {
            base.insert(change.old.path.clone(), Item { mode: change.old.mode, id: change.old.id });
        }
    }
    Ok(())
}

type Sides = (Option<Item>, Option<Item>, Option<Item>);

/// Both sides changed a path: what is to lie there, after it was told and noted.
fn collide(
    repo: &Repo,
    path: &BString,
    sides: Sides,
    how: &How<'_>,
    merged: &mut Merged,
) -> Done<Option<Item>> {
    let (base, ours, theirs) = sides;
    let mut note = |sides: Sides| {
        for (stage, side) in [(1, sides.0), (2, sides.1), (3, sides.2)] {
            if let Some(item) = side {
                merged.conflicts.push(Entry::new(path.clone(), stage, item));
            }
        }
    };
    let (Some(left), Some(right)) = (ours, theirs) else {
        note(sides);
        let (gone, kept) = if ours.is_none() { (how.ours, how.theirs) } else { (how.theirs, how.ours) };
        if how.tell {
            out::line(format!(
                "CONFLICT (modify/delete): {path} deleted in {gone} and modified in {kept}.  Version {kept} of {path} left in tree."
            ));
        }
        return Ok(ours.or(theirs));
    };
    let plain = |it: Item| matches!(it.mode, FILE | PROGRAM);
    let mode = if base.is_some_and(|it| it.mode == left.mode) { right.mode } else { left.mode };
    if left.id == right.id && plain(left) && plain(right) {
        return Ok(Some(Item { mode, id: left.id }));
    }
    if how.tell {
        out::line(format!("Auto-merging {path}"));
    }
    if !plain(left) || !plain(right) || left.mode == LINK {
        note(sides);
        if how.tell {
            out::line(format!("CONFLICT (content): Merge conflict in {path}"));
        }
        return Ok(Some(left));
    }
    let old = base.filter(|it| plain(*it)).map_or(Ok(Vec::new()), |it| repo.odb.blob(it.id))?;
    let (mine, yours) = (repo.odb.blob(left.id)?, repo.odb.blob(right.id)?);
    if is_binary(&old) || is_binary(&mine) || is_binary(&yours) {
        note(sides);
        if how.tell {
            out::note(format!(
                "warning: Cannot merge binary files: {path} ({} vs. {})",
                how.ours, how.theirs
            ));
            out::line(format!("CONFLICT (content): Merge conflict in {path}"));
        }
        return Ok(Some(left));
    }
    let (text, conflicts) = merge_text(&old, &mine, &yours, (how.ours, how.theirs), how.favor);
    let id = repo.odb.write(gix_object::Kind::Blob, &text)?;
    if conflicts > 0 {
        note(sides);
        if how.tell {
            let kind = if base.is_none() { "add/add" } else { "content" };
            out::line(format!("CONFLICT ({kind}): Merge conflict in {path}"));
        }
    }
    Ok(Some(Item { mode, id }))
}

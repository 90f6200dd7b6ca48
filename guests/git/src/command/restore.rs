//! `git restore`, and the part of `checkout` that takes files.

use super::args::Args;
use crate::Oid;
use crate::fail::{Done, fatal};
use crate::index::{Entry, Index};
use crate::object::{Files, empty_tree};
use crate::out;
use crate::pathspec::Paths;
use crate::repo::Repo;
use crate::work::State;

const TABLE: &[&str] = &[
    "s,source=",
    "S,staged",
    "W,worktree",
    "q,quiet",
    "ours",
    "theirs",
    "p,patch",
    "overlay",
    "no-overlay",
    "ignore-unmerged",
    "progress",
    "no-progress",
    "m,merge",
];

pub fn run(repo: &Repo, args: &[String]) -> Done<i32> {
    let args = Args::parse(args, &[TABLE])?;
    if args.has("p") || args.has("m") {
        return Err(fatal("restore -p and -m are not here"));
    }
    let words = args.all_words();
    if words.is_empty() {
        return Err(fatal("you must specify path(s) to restore"));
    }
    let (staged, tree) = (args.has("S"), args.has("W") || !args.has("S"));
    let source = match args.value("s") {
        Some(rev) => match repo.find_rev(rev)? {
            Some(id) => Some(repo.tree_of(id)?),
            None => return Err(fatal(format!("could not resolve '{rev}'"))),
        },
        None if staged => Some(repo.head_id()?.map_or(Ok(empty_tree()), |it| repo.tree_of(it))?),
        None => None,
    };
    let side = if args.has("ours") { Some(2) } else { args.has("theirs").then_some(3) };
    match source {
        Some(id) => from_tree(repo, id, &words, Into { staged, work: tree, exact: true }, false),
        None => from_index(repo, &words, side, true),
    }
}

/// Files of the work tree as the index has them.
pub fn from_index(repo: &Repo, words: &[String], side: Option<u8>, quiet: bool) -> Done<i32> {
    let paths = Paths::new(repo, words)?;
    let mut index = Index::load(repo)?;
    let conflicts = index.conflicts();
    let mut updated = 0;
    for path in conflicts.keys().filter(|it| paths.has(it)) {
        let stage = side.ok_or_else(|| crate::fail::error(format!("path '{path}' is unmerged")))?;
        let entry = index.stage(path, stage).cloned();
        match entry {
            Some(entry) => drop(repo.write_file(path, entry.item())?),
            None => {
                return Err(crate::fail::error(format!(
                    "path '{path}' does not have {} version",
                    if stage == 2 { "our" } else { "their" }
                )));
            }
        }
        updated += 1;
    }
    for at in 0..index.entries.len() {
        let entry = index.entries[at].clone();
        if entry.stage != 0 || !paths.has(&entry.path) {
            continue;
        }
        if repo.state(&entry, &index)? != State::Same {
            index.entries[at] = repo.write_file(&entry.path, entry.item())?;
            updated += 1;
        }
    }
    paths.all_used()?;
    index.save(repo)?;
    if !quiet {
        out::note(format!("Updated {updated} path{} from the index", if updated == 1 { "" } else { "s" }));
    }
    Ok(0)
}

/// Where files of a tree go, and whether what it does not have goes away.
pub struct Into {
    pub staged: bool,
    pub work: bool,
    pub exact: bool,
}

/// Files as a tree has them, in the index, in the work tree, or in both.
pub fn from_tree(repo: &Repo, tree: Oid, words: &[String], into: Into, tell: bool) -> Done<i32> {
    let Into { staged, work, exact } = into;
    let paths = Paths::new(repo, words)?;
    let mut index = Index::load(repo)?;
    let files: Files = repo.files(tree)?.into_iter().filter(|(path, _)| paths.has(path)).collect();
    let gone: Vec<_> = index
        .entries
        .iter()
        .filter(|it| paths.has(&it.path) && !files.contains_key(&it.path))
        .map(|it| it.path.clone())
        .collect();
    paths.all_used()?;
    repo.check_paths(&files)?;
    let mut updated = 0;
    // `checkout` adds to what is there; `restore` makes it the same.
    if exact {
        for path in gone {
            if work {
                repo.remove_file(&path)?;
            }
            if staged {
                index.remove(&path);
            }
        }
    }
    for (path, item) in &files {
        let known = index.get(path).cloned();
        let same = known.as_ref().is_some_and(|it| it.item() == *item);
        let entry = match work {
            true if same
                && known
                    .as_ref()
                    .map_or(Ok(false), |it| repo.state(it, &index).map(|it| it == State::Same))? =>
            {
                continue;
            }
            true => repo.write_file(path, *item)?,
            false if same => continue,
            false => Entry::new(path.clone(), 0, *item),
        };
        updated += 1;
        if staged {
            index.put(entry);
        }
    }
    index.save(repo)?;
    if tell {
        out::note(format!(
            "Updated {updated} path{} from {}",
            if updated == 1 { "" } else { "s" },
            repo.odb.short(tree)
        ));
    }
    Ok(0)
}

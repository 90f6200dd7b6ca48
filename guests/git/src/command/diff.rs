//! `git diff`.

use super::args::Args;
use crate::diff::options::{Options, TABLE};
use crate::diff::summary::{prepare, show};
use crate::diff::{Change, compare};
use crate::fail::{Done, fatal, usage};
use crate::history::rev::{Range, ambiguous};
use crate::index::Index;
use crate::object::{Files, empty_tree};
use crate::pathspec::Paths;
use crate::repo::Repo;

const OWN: &[&str] = &["cached,staged", "merge-base", "no-index", "check", "1,base", "2,ours", "3,theirs"];

pub fn run(repo: &Repo, args: &[String]) -> Done<i32> {
    let args = Args::parse(args, &[TABLE, OWN])?;
    for absent in ["no-index", "check"] {
        if args.has(absent) {
            return Err(fatal(format!("diff --{absent}: not here")));
        }
    }
    let mut options = Options { renames: renames(repo), ..Options::default() };
    take(repo, &args, &mut options)?;
    if !options.any() {
        options.patch = true;
    }
    let (range, paths) = revisions(repo, &args)?;
    let paths = Paths::new(repo, &paths)?;
    let changes = match (&range.ends, range.wanted.as_slice(), args.has("cached")) {
        (Some((left, right, symmetric)), _, _) => {
            let left = match symmetric {
                true => {
                    repo.merge_bases(*left, *right)?.first().copied().ok_or_else(|| fatal("no merge base"))?
                }
                false => *left,
            };
            between(repo, left, *right)?
        }
        (None, [left, right], _) => between(repo, *left, *right)?,
        (None, tips, true) => {
            let old = match tips.first() {
                Some(id) => repo.tree_of(*id)?,
                None => repo.head_id()?.map_or(Ok(empty_tree()), |it| repo.tree_of(it))?,
            };
            against_index(repo, old)?
        }
        (None, [tip], false) => {
            let index = Index::load(repo)?;
            let base = match args.has("merge-base") {
                true => repo.merge_bases(*tip, repo.rev_commit("HEAD")?)?.first().copied().unwrap_or(*tip),
                false => *tip,
            };
            compare(&repo.files(repo.tree_of(base)?)?, &repo.tracked(&index)?)
        }
        (None, [], false) => of_work_tree(repo)?,
        _ => return Err(usage("too many revisions")),
    };
    let changes: Vec<Change> = changes.into_iter().filter(|it| paths.has(it.path())).collect();
    let changes = prepare(repo, changes, &options)?;
    show(repo, &changes, &options)?;
    Ok(i32::from(options.exit_code && !changes.is_empty()))
}

/// The options all commands share.
pub fn take(repo: &Repo, args: &Args, options: &mut Options) -> Done {
    for (id, value) in args.flags() {
        options.take(id, value).map_err(fatal)?;
    }
    if options.relative.as_ref().is_some_and(|it| it.is_empty()) {
        options.relative = Some(repo.prefix.clone());
    }
    Ok(())
}

/// Whether renames are looked for by default.
pub fn renames(repo: &Repo) -> Option<u32> {
    (repo.config.truth("diff.renames") != Some(false)).then_some(50)
}

fn between(repo: &Repo, old: crate::Oid, new: crate::Oid) -> Done<Vec<Change>> {
    crate::diff::trees(repo, repo.tree_of(old)?, repo.tree_of(new)?)
}

fn against_index(repo: &Repo, tree: crate::Oid) -> Done<Vec<Change>> {
    let index = Index::load(repo)?;
    let conflicts = index.conflicts();
    let mut old = repo.files(tree)?;
    old.retain(|path, _| !conflicts.contains_key(path));
    Ok(with_conflicts(compare(&old, &index.files()), conflicts.keys()))
}

fn of_work_tree(repo: &Repo) -> Done<Vec<Change>> {
    let index = Index::load(repo)?;
    let conflicts = index.conflicts();
    let mut old: Files = index.files();
    let mut now = repo.tracked(&index)?;
    // A path in conflict is told as such, and compared with our side of it.
    for entry in index.entries.iter().filter(|it| it.stage == 2) {
        old.insert(entry.path.clone(), entry.item());
        if let crate::work::State::Changed(item) = repo.state(entry, &index)? {
            now.insert(entry.path.clone(), item);
        }
    }
    let mut changes = with_conflicts(compare(&old, &now), conflicts.keys());
    changes.sort_by_key(|it| (it.path().clone(), it.letter != b'U'));
    Ok(changes)
}

fn with_conflicts<'p>(
    mut changes: Vec<Change>,
    paths: impl Iterator<Item = &'p bstr::BString>,
) -> Vec<Change> {
    changes.extend(paths.map(Change::unmerged));
    changes.sort_by(|a, b| a.path().cmp(b.path()));
    changes
}

/// The revisions and the paths of a line: words are revisions until one is not.
pub fn revisions(repo: &Repo, args: &Args) -> Done<(Range, Vec<String>)> {
    let mut range = Range::default();
    let mut paths = Vec::new();
    for (at, word) in args.words.iter().enumerate() {
        if paths.is_empty() {
            if repo.add_range(word, &mut range)? {
                continue;
            }
            // Trees and blobs are no commits, and may be compared all the same.
            if let Some(id) = repo.find_rev(word)? {
                range.wanted.push(id);
                continue;
            }
        }
        if args.dashes {
            return Err(fatal(format!("bad revision '{word}'")));
        }
        let file = facts::name::path(word);
        let exists = crate::repo::current_dir()?.join(&file).symlink_metadata().is_ok();
        if !exists && word.find(['*', '?', '[']).is_none() && !word.starts_with(':') {
            return Err(ambiguous(&args.words[at]));
        }
        paths.push(word.clone());
    }
    paths.extend(args.after.iter().cloned());
    Ok((range, paths))
}

//! `git reset`.

use super::args::Args;
use crate::fail::{Done, fatal};
use crate::index::{Entry, Index};
use crate::object::{Files, empty_tree};
use crate::out;
use crate::pathspec::Paths;
use crate::repo::Repo;
use crate::work::State;

const TABLE: &[&str] = &[
    "soft",
    "mixed",
    "hard",
    "keep",
    "merge",
    "q,quiet",
    "p,patch",
    "N,intent-to-add",
    "refresh",
    "no-refresh",
];

pub fn run(repo: &Repo, args: &[String]) -> Done<i32> {
    let args = Args::parse(args, &[TABLE])?;
    for absent in ["keep", "merge", "p"] {
        if args.has(absent) {
            return Err(fatal(format!("reset --{absent}: not here")));
        }
    }
    let mut words = args.words.clone();
    let mut rev = "HEAD".to_owned();
    if let Some(first) = words.first().cloned() {
        if repo.find_rev(&first)?.is_some() {
            rev = first;
            words.remove(0);
        } else if args.dashes {
            return Err(fatal(format!("Failed to resolve '{first}' as a valid revision.")));
        } else if !repo
            .path(&crate::pathspec::inside(repo, &repo.prefix, &facts::name::bytes(&first), &first)?)?
            .exists()
            && Index::load(repo)?.entries.iter().all(|it| it.path != first.as_bytes())
        {
            return Err(crate::history::rev::ambiguous(&first));
        }
    }
    words.extend(args.after.iter().cloned());
    if !words.is_empty() {
        for mode in ["hard", "soft"] {
            if args.has(mode) {
                return Err(fatal(format!("Cannot do {mode} reset with paths.")));
            }
        }
        return paths(repo, &rev, &words, args.has("q"));
    }
    let head = repo.head_id()?;
    let target = match (head, rev.as_str()) {
        (None, "HEAD") => None,
        _ => Some(repo.rev_commit(&rev)?),
    };
    let tree = target.map_or(Ok(empty_tree()), |it| repo.tree_of(it))?;
    let files = repo.files(tree)?;
    let index = Index::load(repo)?;
    if args.has("hard") {
        repo.force(&files, &index)?.save(repo)?;
    } else if !args.has("soft") {
        Index::of_files(&files, &index).save(repo)?;
    } else if repo.git_dir.join("MERGE_HEAD").exists() {
        return Err(fatal("Cannot do a soft reset in the middle of a merge."));
    }
    if let Some(id) = target {
        if let Some(old) = head {
            crate::file::replace(&repo.git_dir.join("ORIG_HEAD"), format!("{old}\n").as_bytes())?;
        }
        repo.move_head(id, &format!("reset: moving to {rev}"))?;
        if args.has("hard") && !args.has("q") {
            out::line(
                [format!("HEAD is now at {} ", repo.odb.short(id)).as_bytes(), &repo.commit(id)?.subject()]
                    .concat(),
            );
        }
    }
    if !args.has("soft") {
        super::commit::forget_state(repo);
    }
    if !args.has("hard") && !args.has("soft") {
        tell_unstaged(repo, args.has("q"))?;
    }
    Ok(0)
}

fn paths(repo: &Repo, rev: &str, words: &[String], quiet: bool) -> Done<i32> {
    let tree = match repo.find_rev(rev)? {
        Some(id) => repo.tree_of(id)?,
        None => empty_tree(),
    };
    let paths = Paths::new(repo, words)?;
    let mut index = Index::load(repo)?;
    let files: Files = repo.files(tree)?.into_iter().filter(|(path, _)| paths.has(path)).collect();
    let gone: Vec<_> = index
        .entries
        .iter()
        .filter(|it| paths.has(&it.path) && !files.contains_key(&it.path))
        .map(|it| it.path.clone())
        .collect();
    for path in &gone {
        index.remove(path);
    }
    for (path, item) in &files {
        if index.get(path).is_none_or(|it| it.item() != *item) {
            index.put(Entry::new(path.clone(), 0, *item));
        }
    }
    index.save(repo)?;
    tell_unstaged(repo, quiet)?;
    Ok(0)
}

fn tell_unstaged(repo: &Repo, quiet: bool) -> Done {
    if quiet || repo.is_bare() {
        return Ok(());
    }
    let mut index = Index::load(repo)?;
    let mut rows = Vec::new();
    for at in 0..index.entries.len() {
        let entry = index.entries[at].clone();
        match repo.state(&entry, &index)? {
            State::Gone => rows.push((b"D", entry.path)),
            State::Changed(_) => rows.push((b"M", entry.path)),
            State::Same => {
                if let Ok(facts) = facts::of(&repo.path(&entry.path)?, facts::Follow::No) {
                    index.entries[at].seen = crate::index::Seen::of(&facts);
                }
            }
        }
    }
    index.save(repo)?;
    if !rows.is_empty() {
        out::line("Unstaged changes after reset:");
        rows.iter().for_each(|(letter, path)| out::line([letter.as_slice(), b"\t", path].concat()));
    }
    Ok(())
}

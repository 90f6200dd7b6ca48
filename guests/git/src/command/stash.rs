//! `git stash`: changes put aside as commits, the newest first.

use super::args::Args;
use crate::Oid;
use crate::diff::compare;
use crate::diff::options::{Options, TABLE};
use crate::diff::summary::{prepare, show};
use crate::fail::{Done, Fail, fatal};
use crate::index::Index;
use crate::merge::text::Favor;
use crate::merge::tree::{How, merge};
use crate::object::Files;
use crate::out;
use crate::pathspec::Paths;
use crate::person::Person;
use crate::repo::Repo;
use crate::work::walk::{Show, untracked};

const REF: &str = "refs/stash";

pub fn run(repo: &Repo, args: &[String]) -> Done<i32> {
    let (verb, rest) = match args.split_first() {
        None => ("push", args),
        Some((first, _)) if first.starts_with('-') => ("push", args),
        Some((first, rest)) => (first.as_str(), rest),
    };
    match verb {
        "push" | "save" => push(repo, rest, verb == "save"),
        "pop" => pop(repo, rest, true),
        "apply" => pop(repo, rest, false),
        "list" => list(repo),
        "drop" => {
            let args = Args::parse(rest, &[&["q,quiet"]])?;
            drop_one(repo, which(&args.all_words())?, args.has("q"))
        }
        "clear" => {
            repo.remove_ref(REF)?;
            Ok(0)
        }
        "show" => show_one(repo, rest),
        "branch" | "create" | "store" => Err(fatal(format!("stash {verb}: not here"))),
        other => Err(crate::fail::usage(format!("unknown subcommand: {other}"))),
    }
}

fn push(repo: &Repo, args: &[String], save: bool) -> Done<i32> {
    let args = Args::parse(
        args,
        &[&[
            "m,message=",
            "u,include-untracked",
            "k,keep-index",
            "no-keep-index",
            "q,quiet",
            "a,all",
            "p,patch",
            "S,staged",
        ]],
    )?;
    for absent in ["a", "p", "S"] {
        if args.has(absent) {
            return Err(fatal(format!("stash push -{absent}: not here")));
        }
    }
    let Some(head) = repo.head_id()? else {
        return Err(Fail { status: 1, text: "You do not have the initial commit yet".to_owned() });
    };
    let (words, mut said) = match save {
        true => (Vec::new(), Some(args.all_words().join(" ")).filter(|it| !it.is_empty())),
        false => (args.all_words(), None),
    };
    said = args.value("m").map(str::to_owned).or(said);
    let paths = Paths::new(repo, &words)?;
    let index = Index::load(repo)?;
    if !index.conflicts().is_empty() {
        let names: String = index.conflicts().keys().map(|it| format!("{it}: needs merge\n")).collect();
        return Err(Fail { status: 1, text: names.trim_end().to_owned() });
    }
    let before = repo.files(repo.tree_of(head)?)?;
    let mut now = repo.tracked(&index)?;
    let mut staged = index.files();
    for files in [&mut now, &mut staged] {
        only(files, &before, &paths);
    }
    let extra = match args.has("u") {
        true => untracked(repo, &index, Show::Files, false, &paths)?.untracked,
        false => Vec::new(),
    };
    if now == before && staged == before && extra.is_empty() {
        if let Some(word) = paths.unused() {
            return Err(Fail {
                status: 1,
                text: format!(
                    "error: pathspec ':(,prefix:0){word}' did not match any file(s) known to git\nDid you forget to 'git add'?"
                ),
            });
        }
        out::line("No local changes to save");
        return Ok(0);
    }
    for item in now.values() {
        // What was only lent is to be kept.
        let (kind, bytes) = repo.odb.read(item.id)?;
        repo.odb.write(kind, &bytes)?;
    }
    let commit = repo.commit(head)?;
    let place = repo.branch()?.unwrap_or_else(|| "(no branch)".to_owned());
    let about = format!("{place}: {} {}", repo.odb.short(head), commit.subject());
    let who = Person::committer(&repo.config)?;
    let author = Person::author(&repo.config)?;
    let kept = repo.write_commit(
        repo.write_tree(&staged)?,
        &[head],
        &author,
        &who,
        format!("index on {about}\n").as_bytes(),
    )?;
    let mut parents = vec![head, kept];
    if !extra.is_empty() {
        let mut files = Files::new();
        for path in &extra {
            files.insert(path.clone(), repo.take_in(path, None)?.item());
        }
        let tree = repo.write_tree(&files)?;
        parents.push(repo.write_commit(
            tree,
            &[],
            &author,
            &who,
            format!("untracked files on {about}\n").as_bytes(),
        )?);
    }
    let message = said.map_or_else(|| format!("WIP on {about}"), |it| format!("On {place}: {it}"));
    let tree = repo.write_tree(&now)?;
    let id = repo.write_commit(tree, &parents, &author, &who, message.as_bytes())?;
    let old = repo.find_ref(REF)?;
    repo.set_ref(REF, id)?;
    repo.log_ref(REF, old, id, &message)?;
    clean_up(repo, &index, &before, &staged, &paths, args.has("k"))?;
    for path in &extra {
        repo.remove_file(path)?;
    }
    if !args.has("q") {
        out::line(format!("Saved working directory and index state {message}"));
    }
    Ok(0)
}

/// Leaves out the changes of paths that are not meant.
fn only(files: &mut Files, before: &Files, paths: &Paths) {
    if paths.is_empty() {
        return;
    }
    files.retain(|path, _| paths.has(path));
    for (path, item) in before {
        if !paths.has(path) {
            files.insert(path.clone(), *item);
        }
    }
}

fn clean_up(repo: &Repo, index: &Index, before: &Files, staged: &Files, paths: &Paths, keep: bool) -> Done {
    let target = if keep { staged } else { before };
    if paths.is_empty() {
        return repo.force(target, index)?.save(repo);
    }
    let mut next = index.clone();
    let chosen: Vec<_> = index
        .entries
        .iter()
        .map(|it| it.path.clone())
        .chain(target.keys().cloned())
        .filter(|it| paths.has(it))
        .collect();
    for path in chosen {
        match target.get(&path) {
            Some(item) => next.put(repo.write_file(&path, *item)?),
            None => {
                next.remove(&path);
                repo.remove_file(&path)?;
            }
        }
    }
    next.save(repo)
}

/// `stash@{1}`, `1` or nothing.
fn which(words: &[String]) -> Done<usize> {
    let Some(word) = words.first() else { return Ok(0) };
    let digits = word.strip_prefix("stash@{").and_then(|it| it.strip_suffix('}')).unwrap_or(word);
    match digits {
        "stash" => Ok(0),
        digits => digits
            .parse()
            .map_err(|_| Fail { status: 1, text: format!("error: {word} is not a valid reference") }),
    }
}

fn find(repo: &Repo, at: usize) -> Done<Oid> {
    let moves = repo.moves(REF);
    if moves.is_empty() || repo.find_ref(REF)?.is_none() {
        return Err(Fail { status: 1, text: "No stash entries found.".to_owned() });
    }
    moves
        .get(at)
        .map(|it| it.to)
        .ok_or_else(|| Fail { status: 1, text: format!("error: stash@{{{at}}} is not a valid reference") })
}

fn list(repo: &Repo) -> Done<i32> {
    for (at, it) in repo.moves(REF).iter().enumerate() {
        out::line(format!("stash@{{{at}}}: {}", it.why));
    }
    Ok(0)
}

fn drop_one(repo: &Repo, at: usize, quiet: bool) -> Done<i32> {
    let id = find(repo, at)?;
    let mut moves = repo.moves(REF);
    moves.remove(at);
    match moves.first() {
        Some(newest) => {
            repo.set_ref(REF, newest.to)?;
            repo.rewrite_log(REF, &moves)?;
        }
        None => repo.remove_ref(REF)?,
    }
    if !quiet {
        out::line(format!("Dropped refs/stash@{{{at}}} ({id})"));
    }
    Ok(0)
}

fn pop(repo: &Repo, args: &[String], drop_it: bool) -> Done<i32> {
    let args = Args::parse(args, &[&["q,quiet", "index"]])?;
    let at = which(&args.all_words())?;
    let id = find(repo, at)?;
    let stash = repo.commit(id)?;
    let base =
        stash.parents.first().copied().ok_or_else(|| fatal(format!("'{id}' is not a stash-like commit")))?;
    let index = Index::load(repo)?;
    if !index.conflicts().is_empty() {
        return Err(crate::fail::error("could not write index"));
    }
    let mine = index.files();
    let (old, theirs) = (repo.files(repo.tree_of(base)?)?, repo.files(stash.tree)?);
    let how = How { ours: "Updated upstream", theirs: "Stashed changes", favor: Favor::None, tell: true };
    let merged = merge(repo, old.clone(), mine.clone(), theirs, &how)?;
    if let Some(extra) = stash.parents.get(2) {
        let files = repo.files(repo.tree_of(*extra)?)?;
        repo.check_paths(&files)?;
        for path in files.keys() {
            if repo.path(path)?.symlink_metadata().is_ok() {
                return Err(Fail {
                    status: 1,
                    text: format!(
                        "{path} already exists, no checkout\nerror: could not restore untracked files from stash"
                    ),
                });
            }
        }
        for (path, item) in &files {
            repo.write_file(path, *item)?;
        }
    }
    let next = repo.switch_files(&mine, &merged.files, &index, "merge")?;
    let mut next = merged.index(&next);
    if merged.is_clean() {
        let kept = match (args.has("index"), stash.parents.get(1)) {
            (true, Some(kept)) => repo.files(repo.tree_of(*kept)?)?,
            // Files that are new stay staged; the rest is as it was before.
            _ => {
                let mut files = mine.clone();
                for change in compare(&mine, &merged.files).into_iter().filter(|it| it.letter == b'A') {
                    files.insert(
                        change.new.path,
                        crate::object::Item { mode: change.new.mode, id: change.new.id },
                    );
                }
                files
            }
        };
        next = Index::of_files(&kept, &next);
    }
    next.save(repo)?;
    if !args.has("q") {
        super::status::run(repo, &[])?;
    }
    if !merged.is_clean() {
        if drop_it {
            out::line("The stash entry is kept in case you need it again.");
        }
        return Ok(1);
    }
    if drop_it {
        return drop_one(repo, at, args.has("q"));
    }
    Ok(0)
}

fn show_one(repo: &Repo, args: &[String]) -> Done<i32> {
    let args = Args::parse(args, &[TABLE, &["include-untracked"]])?;
    let mut options = Options::default();
    super::diff::take(repo, &args, &mut options)?;
    if !options.any() {
        options.stat = true;
    }
    let stash = repo.commit(find(repo, which(&args.all_words())?)?)?;
    let base = stash.parents.first().copied().ok_or_else(|| fatal("not a stash-like commit"))?;
    let changes = crate::diff::trees(repo, repo.tree_of(base)?, stash.tree)?;
    show(repo, &prepare(repo, changes, &options)?, &options)?;
    Ok(0)
}

//! `git switch` and `git checkout`: another branch, another commit, or files from one.

use super::args::Args;
use super::{branch, restore, status};
use crate::Oid;
use crate::fail::{Done, Fail, error, fatal};
use crate::index::Index;
use crate::object::empty_tree;
use crate::out;
use crate::repo::Repo;
use crate::repo::refs::{Head, short};

const CHECKOUT: &[&str] = &[
    "b=",
    "B=",
    "f,force",
    "q,quiet",
    "d,detach",
    "orphan=",
    "ours",
    "theirs",
    "t,track?",
    "no-track",
    "m,merge",
    "p,patch",
    "progress",
    "no-progress",
    "guess",
    "no-guess",
    "overlay",
    "no-overlay",
];
const SWITCH: &[&str] = &[
    "c,create=",
    "C,force-create=",
    "f,force",
    "discard-changes",
    "q,quiet",
    "d,detach",
    "orphan=",
    "t,track?",
    "no-track",
    "m,merge",
    "guess",
    "no-guess",
    "progress",
    "no-progress",
];

pub fn checkout(repo: &Repo, args: &[String]) -> Done<i32> {
    let args = Args::parse(args, &[CHECKOUT])?;
    if args.has("p") || args.has("m") {
        return Err(fatal("checkout -p and -m are not here"));
    }
    let how = How { force: args.has("f"), quiet: args.has("q"), detach: args.has("d") };
    if let Some(name) = args.value("orphan") {
        return orphan(repo, name);
    }
    if let Some(name) = args.value("b").or_else(|| args.value("B")) {
        let start = args.words.first().map_or("HEAD", String::as_str);
        return create(repo, name, start, args.has("B"), &how);
    }
    let side = if args.has("ours") { Some(2) } else { args.has("theirs").then_some(3) };
    match args.words.as_slice() {
        [] if args.dashes => restore::from_index(repo, &args.after, side, true),
        [] => {
            if let Some(id) = repo.head_id()?.filter(|_| how.force) {
                move_files(repo, Some(id), id, true)?;
            }
            if !how.quiet {
                status::local_changes(repo)?;
            }
            Ok(0)
        }
        [word] if !args.dashes && side.is_none() => {
            let rev = if word == "-" { "@{-1}" } else { word };
            if repo.find_rev(rev)?.is_some() || is_unborn(repo, word)? {
                return to(repo, word, &how);
            }
            restore::from_index(repo, std::slice::from_ref(word), None, how.quiet)
        }
        [word, rest @ ..] => {
            let paths: Vec<String> = rest.iter().chain(&args.after).cloned().collect();
            match repo.find_rev(word)? {
                Some(_) if paths.is_empty() => to(repo, word, &how),
                Some(id) => restore::from_tree(
                    repo,
                    repo.tree_of(id)?,
                    &paths,
                    restore::Into { staged: true, work: true, exact: false },
                    !how.quiet && !args.dashes,
                ),
                None if args.dashes => Err(fatal(format!("invalid reference: {word}"))),
                None => restore::from_index(repo, &args.all_words(), side, how.quiet),
            }
        }
    }
}

pub fn switch(repo: &Repo, args: &[String]) -> Done<i32> {
    let args = Args::parse(args, &[SWITCH])?;
    let how = How {
        force: args.has("f") || args.has("discard-changes"),
        quiet: args.has("q"),
        detach: args.has("d"),
    };
    if let Some(name) = args.value("orphan") {
        return orphan(repo, name);
    }
    if let Some(name) = args.value("c").or_else(|| args.value("C")) {
        let start = args.words.first().map_or("HEAD", String::as_str);
        return create(repo, name, start, args.has("C"), &how);
    }
    let words = args.all_words();
    let [word] = words.as_slice() else { return Err(fatal("missing branch or commit argument")) };
    let rev = if word == "-" {
        repo.branch_before(1).ok_or_else(|| fatal("invalid reference: @{-1}"))?
    } else {
        word.clone()
    };
    if how.detach {
        return to(repo, &rev, &how);
    }
    if repo.find_ref(&format!("refs/heads/{rev}"))?.is_none() && !is_unborn(repo, &rev)? {
        return match repo.find_rev(&rev)? {
            Some(_) => Err(fatal(format!(
                "a branch is expected, got commit '{rev}'\nhint: If you want to detach HEAD at the commit, try again with the --detach option."
            ))),
            None => Err(fatal(format!("invalid reference: {rev}"))),
        };
    }
    to(repo, &rev, &how)
}

struct How {
    force: bool,
    quiet: bool,
    detach: bool,
}

fn is_unborn(repo: &Repo, word: &str) -> Done<bool> {
    Ok(repo.head()? == Head::Branch(format!("refs/heads/{word}")))
}

fn tell(how: &How, text: String) {
    if !how.quiet {
        out::note(text);
    }
}

fn create(repo: &Repo, name: &str, start: &str, force: bool, how: &How) -> Done<i32> {
    let before = repo.head_id()?;
    if before.is_none() && start == "HEAD" {
        repo.set_head(&Head::Branch(format!("refs/heads/{name}")))?;
        tell(how, format!("Switched to a new branch '{name}'"));
        return Ok(0);
    }
    let existed = repo.find_ref(&format!("refs/heads/{name}"))?.is_some();
    let id = match repo.find_rev(start)? {
        Some(_) => repo.rev_commit(start)?,
        None => {
            return Err(fatal(format!(
                "'{start}' is not a commit and a branch '{name}' cannot be created from it"
            )));
        }
    };
    if existed && !force {
        return Err(fatal(format!("a branch named '{name}' already exists")));
    }
    move_files(repo, before, id, how.force)?;
    if repo.branch()?.as_deref() == Some(name) {
        repo.move_head(id, &format!("checkout: moving from {name} to {name}"))?;
    } else {
        branch::create(repo, name, start, force)?;
        attach(repo, name, id)?;
    }
    if start != "HEAD" && !how.quiet {
        status::local_changes(repo)?;
    }
    tell(how, format!("Switched to {} branch '{name}'", if existed { "and reset" } else { "a new" }));
    Ok(0)
}

fn orphan(repo: &Repo, name: &str) -> Done<i32> {
    let full = format!("refs/heads/{name}");
    if repo.find_ref(&full)?.is_some() {
        return Err(fatal(format!("a branch named '{name}' already exists")));
    }
    repo.set_head(&Head::Branch(full))?;
    out::note(format!("Switched to a new branch '{name}'"));
    Ok(0)
}

/// Puts the files of a commit into the work tree.
pub fn move_files(repo: &Repo, from: Option<Oid>, to: Oid, force: bool) -> Done {
    let index = Index::load(repo)?;
    let tree = |id: Option<Oid>| id.map_or(Ok(empty_tree()), |it| repo.tree_of(it));
    let new = repo.files(tree(Some(to))?)?;
    if force {
        return repo.force(&new, &index)?.save(repo);
    }
    if !index.conflicts().is_empty() && from != Some(to) {
        let names: String = index.conflicts().keys().map(|it| format!("{it}: needs merge\n")).collect();
        return Err(Fail {
            status: 1,
            text: format!("{names}error: you need to resolve your current index first"),
        });
    }
    if from == Some(to) {
        return Ok(());
    }
    repo.switch_files(&repo.files(tree(from)?)?, &new, &index, "checkout")?.save(repo)
}

fn attach(repo: &Repo, name: &str, id: Oid) -> Done {
    let from = place_name(repo)?;
    let before = repo.head_id()?;
    repo.set_head(&Head::Branch(format!("refs/heads/{name}")))?;
    repo.log_ref("HEAD", before, id, &format!("checkout: moving from {from} to {name}"))
}

fn place_name(repo: &Repo) -> Done<String> {
    Ok(match repo.head()? {
        Head::Branch(name) => short(&name).to_owned(),
        Head::Detached(id) => id.to_string(),
    })
}

fn to(repo: &Repo, word: &str, how: &How) -> Done<i32> {
    let name = match word {
        "-" => repo
            .branch_before(1)
            .ok_or_else(|| error("pathspec '-' did not match any file(s) known to git"))?,
        word => word.to_owned(),
    };
    let before = repo.head_id()?;
    let full = format!("refs/heads/{name}");
    let on_branch = !how.detach && repo.find_ref(&full)?.is_some();
    if repo.head()? == Head::Branch(full) && !how.detach {
        if how.force
            && let Some(id) = before
        {
            move_files(repo, before, id, true)?;
        }
        if before.is_some() && !how.quiet {
            status::local_changes(repo)?;
        }
        tell(how, format!("Already on '{name}'"));
        return Ok(0);
    }
    let id = repo.rev_commit(&name)?;
    let left = match (repo.head()?, before) {
        (Head::Detached(_), Some(old)) => Some(old),
        _ => None,
    };
    move_files(repo, before, id, how.force)?;
    if !how.quiet && !how.force {
        // What was changed and not committed came along.
        let from = place_name(repo)?;
        if on_branch {
            attach(repo, &name, id)?;
        } else {
            repo.set_head(&Head::Detached(id))?;
            repo.log_ref("HEAD", before, id, &format!("checkout: moving from {from} to {name}"))?;
        }
        status::local_changes(repo)?;
    } else if on_branch {
        attach(repo, &name, id)?;
    } else {
        let from = place_name(repo)?;
        repo.set_head(&Head::Detached(id))?;
        repo.log_ref("HEAD", before, id, &format!("checkout: moving from {from} to {name}"))?;
    }
    if let Some(old) = left.filter(|it| *it != id || on_branch) {
        let commit = repo.commit(old)?;
        tell(how, format!("Previous HEAD position was {} {}", repo.odb.short(old), commit.subject()));
    }
    if on_branch {
        tell(how, format!("Switched to branch '{name}'"));
        return Ok(0);
    }
    let subject = repo.commit(id)?.subject();
    if left.is_none() && !how.detach {
        tell(
            how,
            format!(
                "Note: switching to '{name}'.\n\nYou are in 'detached HEAD' state. You can look around, make experimental\nchanges and commit them, and you can discard any commits you make in this\nstate without impacting any branches by switching back to a branch.\n\nIf you want to create a new branch to retain commits you create, you may\ndo so (now or later) by using -c with the switch command. Example:\n\n  git switch -c <new-branch-name>\n\nOr undo this operation with:\n\n  git switch -\n\nTurn off this advice by setting config variable advice.detachedHead to false\n"
            ),
        );
    }
    tell(how, format!("HEAD is now at {} {subject}", repo.odb.short(id)));
    Ok(0)
}

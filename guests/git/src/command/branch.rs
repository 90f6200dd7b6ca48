//! `git branch`.

use super::args::Args;
use crate::fail::{Done, Fail, error, fatal};
use crate::out;
use crate::repo::Repo;
use crate::repo::refs::{Head, is_legal, short};

const TABLE: &[&str] = &[
    "d,delete",
    "D",
    "m,move",
    "M",
    "c,copy",
    "C",
    "f,force",
    "l,list",
    "a,all",
    "r,remotes",
    "v,verbose",
    "show-current",
    "q,quiet",
    "merged?",
    "no-merged?",
    "contains?",
    "format=",
    "sort=",
    "t,track?",
    "no-track",
    "u,set-upstream-to=",
    "unset-upstream",
    "edit-description",
    "color?",
    "no-color",
    "column?",
    "no-column",
    "points-at=",
];

pub fn run(repo: &Repo, args: &[String]) -> Done<i32> {
    let args = Args::parse(args, &[TABLE])?;
    for absent in ["u", "unset-upstream", "edit-description", "c", "C", "format", "sort", "points-at"] {
        if args.has(absent) {
            return Err(fatal(format!("branch --{absent}: not here")));
        }
    }
    let words = args.all_words();
    if args.has("show-current") {
        repo.branch()?.into_iter().for_each(out::line);
        return Ok(0);
    }
    if args.has("d") || args.has("D") {
        return delete(repo, &words, args.has("D") || args.has("f"), args.has("q"));
    }
    if args.has("m") || args.has("M") {
        return rename(repo, &words, args.has("M") || args.has("f"));
    }
    let filtered = ["l", "a", "r", "merged", "no-merged", "contains", "v"].iter().any(|it| args.has(it));
    match words.as_slice() {
        [name] if !filtered => create(repo, name, "HEAD", args.has("f")),
        [name, start] if !filtered => create(repo, name, start, args.has("f")),
        words if words.is_empty() || filtered => list(repo, &args, words),
        _ => Err(crate::fail::usage("too many arguments")),
    }
}

/// Makes a branch.
pub fn create(repo: &Repo, name: &str, start: &str, force: bool) -> Done<i32> {
    let full = format!("refs/heads/{name}");
    if !is_legal(&full) || name.starts_with('-') || name == "HEAD" {
        return Err(fatal(format!(
            "'{name}' is not a valid branch name\nhint: See `man git check-ref-format`\nhint: Disable this message with \"git config advice.refSyntax false\""
        )));
    }
    let before = repo.find_ref(&full)?;
    if before.is_some() && !force {
        return Err(fatal(format!("a branch named '{name}' already exists")));
    }
    if force && repo.branch()?.as_deref() == Some(name) {
        return Err(fatal(format!(
            "cannot force update the branch '{name}' used by worktree at '{}'",
            repo.root()?.display()
        )));
    }
    let id = match repo.find_rev(start)? {
        Some(_) => repo.rev_commit(start)?,
        None => {
            return Err(fatal(format!(
                "not a valid object name: '{}'",
                if start == "HEAD" { repo.branch()?.unwrap_or_default() } else { start.to_owned() }
            )));
        }
    };
    repo.set_ref(&full, id)?;
    repo.log_ref(&full, before, id, &format!("branch: Created from {start}"))?;
    Ok(0)
}

fn delete(repo: &Repo, words: &[String], force: bool, quiet: bool) -> Done<i32> {
    if words.is_empty() {
        return Err(fatal("branch name required"));
    }
    let mut status = 0;
    for name in words {
        let full = format!("refs/heads/{name}");
        let Some(id) = repo.find_ref(&full)? else {
            out::note(format!("error: branch '{name}' not found"));
            status = 1;
            continue;
        };
        if repo.branch()?.as_deref() == Some(name) {
            out::note(format!(
                "error: cannot delete branch '{name}' used by worktree at '{}'",
                repo.root()?.display()
            ));
            status = 1;
            continue;
        }
        let merged = match repo.head_id()? {
            Some(head) => repo.is_ancestor(id, head)?,
            None => true,
        };
        if !force && !merged {
            out::note(format!(
                "error: the branch '{name}' is not fully merged\nhint: If you are sure you want to delete it, run 'git branch -D {name}'\nhint: Disable this message with \"git config advice.forceDeleteBranch false\""
            ));
            status = 1;
            continue;
        }
        repo.remove_ref(&full)?;
        if !quiet {
            out::line(format!("Deleted branch {name} (was {}).", repo.odb.short(id)));
        }
    }
    Ok(status)
}

fn rename(repo: &Repo, words: &[String], force: bool) -> Done<i32> {
    let current = repo.branch()?;
    let (old, new) = match words {
        [new] => (
            current.clone().ok_or_else(|| fatal("cannot rename the current branch while not on any"))?,
            new.clone(),
        ),
        [old, new] => (old.clone(), new.clone()),
        _ => return Err(fatal("branch name required")),
    };
    let (from, to) = (format!("refs/heads/{old}"), format!("refs/heads/{new}"));
    if !is_legal(&to) {
        return Err(fatal(format!("'{new}' is not a valid branch name")));
    }
    if repo.find_ref(&to)?.is_some() && !force && old != new {
        return Err(fatal(format!("a branch named '{new}' already exists")));
    }
    let head = repo.head()?;
    match repo.find_ref(&from)? {
        Some(id) if old != new => {
            let moves = repo.moves(&from);
            repo.remove_ref(&from)?;
            repo.set_ref(&to, id)?;
            repo.rewrite_log(&to, &moves)?;
            repo.log_ref(&to, Some(id), id, &format!("Branch: renamed {from} to {to}"))?;
        }
        Some(_) => {}
        None if head == Head::Branch(from.clone()) => {}
        None => return Err(fatal(format!("no branch named '{old}'"))),
    }
    if head == Head::Branch(from) {
        repo.set_head(&Head::Branch(to))?;
    }
    Ok(0)
}

fn list(repo: &Repo, args: &Args, words: &[String]) -> Done<i32> {
    let mut names = Vec::new();
    if !args.has("r") {
        names.extend(repo.list_refs("refs/heads/")?);
    }
    if args.has("r") || args.has("a") {
        names.extend(repo.list_refs("refs/remotes/")?);
    }
    // `--merged main` and `--merged=main` are the same.
    let limited =
        ["merged", "no-merged", "contains"].iter().any(|it| args.has(it) && args.value(it).is_none());
    let (named, words) = match words.split_first() {
        Some((first, rest)) if limited => (first.as_str(), rest),
        _ => ("HEAD", words),
    };
    let tip = |id: &str| -> Done<Option<crate::Oid>> {
        match args.has(id) {
            true => Ok(Some(repo.rev_commit(args.value(id).unwrap_or(named))?)),
            false => Ok(None),
        }
    };
    let (merged, unmerged, contains) = (tip("merged")?, tip("no-merged")?, tip("contains")?);
    let mut rows = Vec::new();
    if let Head::Detached(id) = repo.head()? {
        let moves = repo.moves("HEAD");
        let last = moves.iter().find_map(|it| {
            it.why
                .strip_prefix("checkout: moving from ")?
                .split_once(" to ")
                .map(|to| (to.1.to_owned(), it.to))
        });
        let text = last.map_or("(no branch)".to_owned(), |(name, at)| {
            let known = repo.full_name(&name).ok().flatten().is_some();
            let word = if at == id { "at" } else { "from" };
            format!("(HEAD detached {word} {})", if known { name } else { repo.odb.short(at) })
        });
        rows.push(("* ", text, id));
    }
    let current = repo.branch()?;
    for (name, id) in names {
        let shown = match name.strip_prefix("refs/heads/") {
            Some(branch) => branch.to_owned(),
            None if args.has("a") => name.trim_start_matches("refs/").to_owned(),
            None => short(&name).to_owned(),
        };
        if !words.is_empty() && !words.iter().any(|it| facts::pattern::fits(it, &shown)) {
            continue;
        }
        let keep = merged.map_or(Ok(true), |it| repo.is_ancestor(id, it))?
            && unmerged.map_or(Ok(true), |it| repo.is_ancestor(id, it).map(|it| !it))?
            && contains.map_or(Ok(true), |it| repo.is_ancestor(it, id))?;
        if keep {
            rows.push((
                if current.as_ref() == Some(&shown) && name.starts_with("refs/heads/") { "* " } else { "  " },
                shown,
                id,
            ));
        }
    }
    let width = rows.iter().map(|it| it.1.chars().count()).max().unwrap_or(0);
    for (mark, name, id) in rows {
        if args.has("v") {
            let commit = repo.commit(id)?;
            out::line(
                [format!("{mark}{name:width$} {} ", repo.odb.short(id)).as_bytes(), &commit.subject()]
                    .concat(),
            );
        } else {
            out::line(format!("{mark}{name}"));
        }
    }
    Ok(0)
}

/// A branch that does not exist.
pub fn unknown(name: &str) -> Fail {
    error(format!("pathspec '{name}' did not match any file(s) known to git"))
}

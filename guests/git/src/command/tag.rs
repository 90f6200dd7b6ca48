//! `git tag` and `git describe`.

use gix_object::Kind;

use super::args::Args;
use crate::fail::{Done, Fail, fatal};
use crate::out;
use crate::person::Person;
use crate::repo::Repo;
use crate::repo::refs::is_legal;

pub fn run(repo: &Repo, args: &[String]) -> Done<i32> {
    let args = Args::parse(
        args,
        &[&[
            "a,annotate",
            "m,message=",
            "d,delete",
            "f,force",
            "l,list",
            "n?",
            "s,sign",
            "contains?",
            "points-at=",
            "sort=",
            "F,file=",
            "format=",
            "v,verify",
        ]],
    )?;
    for absent in ["s", "v", "F", "format", "sort", "contains"] {
        if args.has(absent) {
            return Err(fatal(format!("tag --{absent}: not here")));
        }
    }
    let words = args.all_words();
    if args.has("d") {
        let mut status = 0;
        for name in &words {
            let full = format!("refs/tags/{name}");
            match repo.find_ref(&full)? {
                Some(id) => {
                    repo.remove_ref(&full)?;
                    out::line(format!("Deleted tag '{name}' (was {})", repo.odb.short(id)));
                }
                None => {
                    out::note(format!("error: tag '{name}' not found."));
                    status = 1;
                }
            }
        }
        return Ok(status);
    }
    if words.is_empty() || args.has("l") || args.has("points-at") {
        return list(repo, &args, &words);
    }
    create(repo, &args, &words)
}

fn list(repo: &Repo, args: &Args, words: &[String]) -> Done<i32> {
    let at = match args.value("points-at") {
        Some(rev) => Some(repo.rev_commit(rev)?),
        None => None,
    };
    for (name, id) in repo.list_refs("refs/tags/")? {
        let name = name.trim_start_matches("refs/tags/");
        let wanted = words.is_empty() || words.iter().any(|it| facts::pattern::fits(it, name));
        if !wanted || (at.is_some() && Some(repo.peel(id)?.0) != at) {
            continue;
        }
        match args.has("n") {
            true => {
                let (kind, bytes) = repo.odb.read(id)?;
                let body =
                    bytes.windows(2).position(|it| it == b"\n\n").map_or(&[][..], |it| &bytes[it + 2..]);
                let line = if matches!(kind, Kind::Tag | Kind::Commit) {
                    crate::object::subject(body)
                } else {
                    Default::default()
                };
                out::line(format!("{name:<15} {line}"));
            }
            false => out::line(name),
        }
    }
    Ok(0)
}

fn create(repo: &Repo, args: &Args, words: &[String]) -> Done<i32> {
    let name = &words[0];
    let full = format!("refs/tags/{name}");
    if !is_legal(&full) || name.starts_with('-') {
        return Err(fatal(format!("'{name}' is not a valid tag name.")));
    }
    let before = repo.find_ref(&full)?;
    if before.is_some() && !args.has("f") {
        return Err(fatal(format!("tag '{name}' already exists")));
    }
    let rev = words.get(1).map_or("HEAD", String::as_str);
    let target =
        repo.find_rev(rev)?.ok_or_else(|| fatal(format!("Failed to resolve '{rev}' as a valid ref.")))?;
    let said = args.values("m");
    let id = match (said.is_empty(), args.has("a")) {
        (true, false) => target,
        (true, true) => {
            return Err(Fail { status: 1, text: "error: Terminal is dumb, but EDITOR unset\nPlease supply the message using either -m or -F option.".to_owned() });
        }
        _ => {
            let kind = repo.odb.read(target)?.0;
            let message = super::commit::tidy(said.join("\n\n").as_bytes());
            let head = format!(
                "object {target}\ntype {kind}\ntag {name}\ntagger {}\n\n",
                Person::committer(&repo.config)?
            );
            repo.odb.write(Kind::Tag, &[head.as_bytes(), &message].concat())?
        }
    };
    repo.set_ref(&full, id)?;
    if let Some(old) = before.filter(|it| *it != id) {
        out::line(format!("Updated tag '{name}' (was {})", repo.odb.short(old)));
    }
    Ok(0)
}

/// `git describe [--tags] [--always] [--abbrev=N]`.
pub fn describe(repo: &Repo, args: &[String]) -> Done<i32> {
    let args = Args::parse(
        args,
        &[&["tags", "always", "abbrev=", "long", "dirty?", "all", "match=", "exact-match"]],
    )?;
    let words = args.all_words();
    let start = repo.rev_commit(words.first().map_or("HEAD", String::as_str))?;
    let mut names = std::collections::HashMap::new();
    for (name, id) in repo.list_refs("refs/tags/")? {
        let annotated = repo.odb.read(id)?.0 == Kind::Tag;
        let short = name.trim_start_matches("refs/tags/").to_owned();
        if (annotated || args.has("tags"))
            && args.value("match").is_none_or(|it| facts::pattern::fits(it, &short))
        {
            names.insert(repo.peel(id)?.0, short);
        }
    }
    let digits = args.value("abbrev").and_then(|it| it.parse().ok());
    let short = match digits {
        Some(0) => String::new(),
        Some(least) => repo.odb.short_from(start, least),
        None => repo.odb.short(start),
    };
    let walk = crate::history::walk::Wanted { tips: vec![start], ..Default::default() };
    let found = crate::history::walk::list(repo, &walk)?
        .into_iter()
        .find_map(|it| names.get(&it.commit.id).map(|name| (it.commit.id, name.clone())));
    match found {
        Some((id, name)) if id == start && !args.has("long") => out::line(name),
        Some((_, name)) if digits == Some(0) => out::line(name),
        Some((id, name)) => {
            let behind = repo.ancestors(&[id])?;
            let count = repo.ancestors(&[start])?.iter().filter(|it| !behind.contains(*it)).count();
            out::line(format!("{name}-{count}-g{short}"));
        }
        None if args.has("always") => out::line(short),
        None if names.is_empty() => return Err(fatal("No names found, cannot describe anything.")),
        None => {
            return Err(fatal(format!(
                "No tags can describe '{start}'.\nTry --always, or create some tags."
            )));
        }
    }
    Ok(0)
}

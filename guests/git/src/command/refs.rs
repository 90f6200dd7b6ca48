//! References by their names: listed, asked for and moved, as scripts do it.

use super::args::Args;
use crate::fail::{Done, fatal, quiet};
use crate::out;
use crate::repo::Repo;
use crate::repo::refs::{Head, is_legal, short};

pub fn show_ref(repo: &Repo, args: &[String]) -> Done<i32> {
    let args = Args::parse(
        args,
        &[&["heads,branches", "tags", "q,quiet", "verify", "d,dereference", "s,hash?", "head"]],
    )?;
    let words = args.all_words();
    let mut found = false;
    for (name, id) in repo.list_refs("refs/")? {
        let kinds = [("heads", "refs/heads/"), ("tags", "refs/tags/")];
        let limited = kinds.iter().any(|it| args.has(it.0));
        if limited && !kinds.iter().any(|it| args.has(it.0) && name.starts_with(it.1)) {
            continue;
        }
        if !words.is_empty()
            && !words
                .iter()
                .any(|it| name == *it || (!args.has("verify") && name.ends_with(&format!("/{it}"))))
        {
            continue;
        }
        found = true;
        if !args.has("q") {
            out::line(if args.has("s") { id.to_string() } else { format!("{id} {name}") });
        }
    }
    if !found && args.has("verify") && !args.has("q") {
        return Err(fatal(format!("'{}' - not a valid ref", words.first().map_or("", String::as_str))));
    }
    Ok(i32::from(!found))
}

pub fn for_each_ref(repo: &Repo, args: &[String]) -> Done<i32> {
    let args = Args::parse(args, &[&["format=", "sort=", "count="]])?;
    let words = args.all_words();
    let format = args.value("format").unwrap_or("%(objectname) %(objecttype)\t%(refname)");
    for (name, id) in repo.list_refs("refs/")? {
        if !words.is_empty()
            && !words
                .iter()
                .any(|it| name == *it || name.starts_with(&format!("{}/", it.trim_end_matches('/'))))
        {
            continue;
        }
        let kind = repo.odb.read(id)?.0.to_string();
        let subject = || {
            repo.peel(id)
                .and_then(|it| repo.commit(it.0))
                .map(|it| it.subject().to_string())
                .unwrap_or_default()
        };
        let text = format
            .replace("%(refname:short)", short(&name))
            .replace("%(refname)", &name)
            .replace("%(objectname:short)", &repo.odb.short(id))
            .replace("%(objectname)", &id.to_string())
            .replace("%(objecttype)", &kind);
        out::line(if text.contains("%(subject)") { text.replace("%(subject)", &subject()) } else { text });
    }
    Ok(0)
}

pub fn symbolic_ref(repo: &Repo, args: &[String]) -> Done<i32> {
    let args = Args::parse(args, &[&["short", "q,quiet", "d,delete"]])?;
    let words = args.all_words();
    match (words.as_slice(), repo.head()?) {
        ([name], Head::Branch(full)) if name == "HEAD" => {
            out::line(if args.has("short") { short(&full) } else { &full });
            Ok(0)
        }
        ([name], _) if args.has("q") => Err(quiet(i32::from(!name.is_empty()))),
        ([name], _) => Err(fatal(format!("ref {name} is not a symbolic ref"))),
        ([name, target], _) if name == "HEAD" && target.starts_with("refs/") && is_legal(target) => {
            repo.set_head(&Head::Branch(target.clone())).map(|()| 0)
        }
        _ => Err(fatal("Refusing to point HEAD outside of refs/")),
    }
}

pub fn update_ref(repo: &Repo, args: &[String]) -> Done<i32> {
    let args = Args::parse(args, &[&["d,delete", "m=", "no-deref"]])?;
    let words = args.all_words();
    match words.as_slice() {
        [name, ..] if args.has("d") => repo.remove_ref(name).map(|()| 0),
        [name, value, ..] if name == "HEAD" => {
            let id = repo.rev(value)?;
            repo.move_head(id, args.value("m").unwrap_or_default()).map(|()| 0)
        }
        [name, value, ..] if name.starts_with("refs/") => {
            let id = repo.rev(value)?;
            let before = repo.find_ref(name)?;
            repo.set_ref(name, id)?;
            repo.log_ref(name, before, id, args.value("m").unwrap_or_default()).map(|()| 0)
        }
        _ => Err(crate::fail::usage("usage: git update-ref [-d] <refname> <new-oid>")),
    }
}

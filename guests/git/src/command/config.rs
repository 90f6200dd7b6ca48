//! `git config` and the part of `git remote` that only writes configuration.

use std::path::PathBuf;

use super::args::Args;
use crate::fail::{Done, Fail, fatal, quiet};
use crate::out;
use crate::repo::config::{Change, Config, bad_name, canonical, change, read, user_file};
use crate::repo::{Repo, Where};

const TABLE: &[&str] = &[
    "global",
    "local",
    "system",
    "f,file=",
    "get",
    "get-all",
    "get-regexp",
    "add",
    "unset",
    "unset-all",
    "replace-all",
    "l,list",
    "e,edit",
    "show-origin",
    "show-scope",
    "z,null",
    "name-only",
    "bool",
    "int",
    "path",
    "type=",
    "default=",
    "all",
    "includes",
    "no-includes",
];

pub fn run(args: &[String], place: &Where) -> Done<i32> {
    let args = Args::parse(args, &[TABLE])?;
    for absent in ["e", "show-origin", "show-scope", "get-regexp", "system"] {
        if args.has(absent) {
            return Err(fatal(format!("config --{absent}: not here")));
        }
    }
    let repo = Repo::discover(place);
    let file: Option<PathBuf> = match (args.value("f"), args.has("global"), &repo) {
        (Some(path), _, _) => Some(crate::repo::current_dir()?.join(path)),
        (_, true, _) => Some(user_file().ok_or_else(|| fatal("$HOME not set"))?),
        (_, _, Ok(repo)) => Some(repo.git_dir.join("config")),
        _ => None,
    };
    let scoped = args.has("f") || args.has("global") || args.has("local");
    let settings: Vec<(String, String)> = match (&file, &repo, scoped) {
        (Some(file), _, true) => {
            if args.has("l") && !file.exists() {
                return Err(fatal(format!(
                    "unable to read config file '{}': No such file or directory",
                    file.display()
                )));
            }
            read(file)?.into_iter().map(|it| (it.name, it.value.unwrap_or_default())).collect()
        }
        (_, Ok(repo), _) => repo.config.list().map(|it| (it.0.to_owned(), it.1.to_owned())).collect(),
        _ => Config::outside()?.list().map(|it| (it.0.to_owned(), it.1.to_owned())).collect(),
    };
    let words = args.all_words();
    // The newer spelling: `git config set name value`.
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    let (verb, words) = match words.as_slice() {
        [verb @ ("get" | "set" | "unset" | "list"), rest @ ..] if !args.has("get") && !args.has("l") => {
            (*verb, rest.to_vec())
        }
        words => ("", words.to_vec()),
    };
    if args.has("l") || verb == "list" {
        for (name, value) in settings {
            out::line(if args.has("name-only") { name } else { format!("{name}={value}") });
        }
        return Ok(0);
    }
    let target = || file.clone().ok_or_else(|| fatal("not in a git directory"));
    match (verb, words.as_slice()) {
        ("unset", [name]) => change(&target()?, name, &Change::Unset).map(|()| 0),
        ("" | "set", [name]) if args.has("unset") || args.has("unset-all") => {
            change(&target()?, name, &Change::Unset).map(|()| 0)
        }
        ("" | "set", [name, value]) if !args.has("get") && !args.has("get-all") => {
            if args.has("replace-all") {
                while read(&target()?)?.iter().any(|it| canonical(name).as_ref() == Some(&it.name)) {
                    change(&target()?, name, &Change::Unset)?;
                }
            }
            let how = if args.has("add") { Change::Add(value) } else { Change::Set(value) };
            change(&target()?, name, &how).map(|()| 0)
        }
        ("" | "get", [name, ..]) => {
            let wanted = canonical(name).ok_or_else(|| Fail { status: 1, ..bad_name(name) })?;
            let all: Vec<&(String, String)> = settings.iter().filter(|it| it.0 == wanted).collect();
            let many = args.has("get-all") || args.has("all");
            let shown = if many { all.as_slice() } else { &all[all.len().saturating_sub(1)..] };
            shown.iter().for_each(|it| out::line(typed(&it.1, &args)));
            match (all.is_empty(), args.value("default")) {
                (true, Some(text)) => out::line(text),
                (true, None) => return Err(quiet(1)),
                _ => {}
            }
            Ok(0)
        }
        _ => Err(Fail { status: 129, text: "usage: git config [<options>]".to_owned() }),
    }
}

fn typed(value: &str, args: &Args) -> String {
    let bool_wanted = args.has("bool") || args.value("type") == Some("bool");
    match value.to_ascii_lowercase().as_str() {
        "" | "true" | "yes" | "on" | "1" if bool_wanted => "true".to_owned(),
        "false" | "no" | "off" | "0" if bool_wanted => "false".to_owned(),
        _ => value.to_owned(),
    }
}

/// `git remote [-v] | add NAME URL | remove NAME | get-url NAME | set-url NAME URL`.
pub fn remote(repo: &Repo, args: &[String]) -> Done<i32> {
    let args = Args::parse(args, &[&["v,verbose", "f", "t=", "m="]])?;
    let words = args.all_words();
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    let file = repo.git_dir.join("config");
    let url = |name: &str| repo.config.get(&format!("remote.{name}.url")).map(str::to_owned);
    let missing = |name: &str| Fail { status: 2, text: format!("error: No such remote '{name}'") };
    match words.as_slice() {
        [] => {
            let mut names: Vec<(String, String)> = Vec::new();
            for (name, value) in repo.config.list() {
                if let Some(name) = name.strip_prefix("remote.").and_then(|it| it.strip_suffix(".url")) {
                    names.push((name.to_owned(), value.to_owned()));
                }
            }
            names.sort();
            for (name, value) in names {
                match args.has("v") {
                    true => out::put(format!("{name}\t{value} (fetch)\n{name}\t{value} (push)\n")),
                    false => out::line(name),
                }
            }
            Ok(0)
        }
        ["add", name, value] => {
            if url(name).is_some() {
                return Err(Fail { status: 3, text: format!("error: remote {name} already exists.") });
            }
            change(&file, &format!("remote.{name}.url"), &Change::Set(value))?;
            change(
                &file,
                &format!("remote.{name}.fetch"),
                &Change::Set(&format!("+refs/heads/*:refs/remotes/{name}/*")),
            )?;
            Ok(0)
        }
        ["remove" | "rm", name] => {
            url(name).ok_or_else(|| missing(name))?;
            for key in ["url", "fetch"] {
                let _ = change(&file, &format!("remote.{name}.{key}"), &Change::Unset);
            }
            Ok(0)
        }
        ["get-url", name] => {
            out::line(url(name).ok_or_else(|| missing(name))?);
            Ok(0)
        }
        ["set-url", name, value] => {
            url(name).ok_or_else(|| missing(name))?;
            change(&file, &format!("remote.{name}.url"), &Change::Set(value)).map(|()| 0)
        }
        [verb, ..] => Err(fatal(format!("remote {verb}: not here; there is no network"))),
    }
}

//! The commands that scripts use: `rev-parse`, `ls-files`, `cat-file` and the like.

use bstr::{BString, ByteSlice as _};
use gix_object::Kind;

use super::args::Args;
use crate::fail::{Done, error, fatal, quiet};
use crate::index::Index;
use crate::object::{MODULE, TREE};
use crate::out;
use crate::pathspec::Paths;
use crate::quote::{Non, path as quoted};
use crate::repo::Repo;
use crate::repo::refs::{Head, short};
use crate::work::State;
use crate::work::ignore::Ignore;
use crate::work::walk::{Show, untracked};

/// Whether `rev-parse` is asked something it can answer without a repository.
pub fn is_about_nothing(args: &[String]) -> bool {
    args.is_empty()
}

pub fn rev_parse(repo: &Repo, args: &[String]) -> Done<i32> {
    let (mut verify, mut brief, mut named, mut silent) = (false, None, false, false);
    for arg in args {
        match arg.as_str() {
            "--verify" => verify = true,
            "-q" | "--quiet" => silent = true,
            "--abbrev-ref" => named = true,
            "--short" => brief = Some(0),
            "--show-toplevel" => out::line(repo.root()?.as_os_str().as_encoded_bytes()),
            "--git-dir" => out::line(git_dir(repo)?),
            "--absolute-git-dir" => out::line(repo.git_dir.as_os_str().as_encoded_bytes()),
            "--git-common-dir" => out::line(git_dir(repo)?),
            "--show-prefix" => out::line(&repo.prefix),
            "--show-cdup" => out::line("../".repeat(repo.prefix.iter().filter(|it| **it == b'/').count())),
            "--is-inside-work-tree" => out::line((!repo.is_bare()).to_string()),
            "--is-inside-git-dir" => {
                out::line(crate::repo::current_dir()?.starts_with(&repo.git_dir).to_string())
            }
            "--is-bare-repository" => out::line(repo.is_bare().to_string()),
            "--is-shallow-repository" => out::line(repo.git_dir.join("shallow").exists().to_string()),
            "--show-object-format" => out::line("sha1"),
            "--all" => repo.list_refs("refs/")?.iter().for_each(|it| out::line(it.1.to_string())),
            "--" => {}
            flag if flag.starts_with("--short=") => brief = Some(flag[8..].parse().unwrap_or(7)),
            flag if flag.starts_with("--") => out::line(flag),
            word => one(repo, word, verify, brief, named)
                .map_err(|problem| if silent { quiet(1) } else { problem })?,
        }
    }
    Ok(0)
}

fn git_dir(repo: &Repo) -> Done<Vec<u8>> {
    let usual = repo.root().is_ok_and(|it| it.join(".git") == repo.git_dir) && repo.prefix.is_empty();
    if repo.is_bare() && crate::repo::current_dir()? == repo.git_dir {
        return Ok(b".".to_vec());
    }
    Ok(if usual { b".git".to_vec() } else { repo.git_dir.as_os_str().as_encoded_bytes().to_vec() })
}

fn one(repo: &Repo, word: &str, verify: bool, brief: Option<usize>, named: bool) -> Done {
    if named {
        let name = match (word, repo.head()?) {
            ("HEAD" | "@", Head::Branch(name)) if repo.head_id()?.is_some() => short(&name).to_owned(),
            ("HEAD" | "@", Head::Detached(_)) => "HEAD".to_owned(),
            _ => repo
                .full_name(word)?
                .map(|it| short(&it).to_owned())
                .ok_or_else(|| crate::history::rev::ambiguous(word))?,
        };
        out::line(name);
        return Ok(());
    }
    let found = match word.strip_prefix('^') {
        Some(rest) => repo.find_rev(rest)?.map(|it| format!("^{it}")),
        None => match (repo.find_rev(word)?, brief) {
            (Some(id), Some(0)) => Some(repo.odb.short(id)),
            (Some(id), Some(least)) => Some(repo.odb.short_from(id, least)),
            (Some(id), None) => Some(id.to_string()),
            (None, _) => None,
        },
    };
    match found {
        Some(text) => out::line(text),
        None if verify => return Err(fatal("Needed a single revision")),
        None => {
            let mut range = Default::default();
            if repo.add_range(word, &mut range)? {
                range.wanted.iter().for_each(|it| out::line(it.to_string()));
                range.unwanted.iter().for_each(|it| out::line(format!("^{it}")));
                return Ok(());
            }
            out::line(word);
            return Err(crate::history::rev::ambiguous(word));
        }
    }
    Ok(())
}

pub fn ls_files(repo: &Repo, args: &[String]) -> Done<i32> {
    let args = Args::parse(
        args,
        &[&[
            "c,cached",
            "o,others",
            "m,modified",
            "d,deleted",
            "s,stage",
            "u,unmerged",
            "i,ignored",
            "exclude-standard",
            "z",
            "t",
            "error-unmatch",
            "full-name",
            "directory",
            "x,exclude=",
            "k",
            "abbrev?",
        ]],
    )?;
    let paths = Paths::new(repo, &args.all_words())?;
    let index = Index::load(repo)?;
    let end: &[u8] = if args.has("z") { b"\0" } else { b"\n" };
    let show = |path: &BString| {
        let path = if args.has("full-name") { path.clone() } else { repo.relative(path) };
        let path = if args.has("z") { path } else { quoted(&path, Non::Escaped) };
        out::put([path.as_slice(), end].concat());
    };
    let inside = |path: &BString| paths.has(path) && (!paths.is_empty() || path.starts_with(&repo.prefix));
    if args.has("o") {
        let mode = if args.has("directory") { Show::Folders } else { Show::Files };
        let found = untracked(repo, &index, mode, true, &paths)?;
        let mut all = if args.has("i") { Vec::new() } else { found.untracked };
        if args.has("i") || !args.has("exclude-standard") {
            all.extend(found.ignored);
        }
        all.sort();
        all.iter().filter(|it| inside(it)).for_each(show);
    }
    let plain = !(args.has("o") || args.has("m") || args.has("d"));
    for entry in index.entries.iter().filter(|it| inside(&it.path)) {
        let listed = match () {
            () if args.has("u") => entry.stage > 0,
            () if args.has("c") || plain => true,
            () => match repo.state(entry, &index)? {
                State::Gone => args.has("d") || args.has("m"),
                State::Changed(_) => args.has("m"),
                State::Same => false,
            },
        };
        if listed && (args.has("s") || args.has("u")) {
            out::put(format!("{:06o} {} {}\t", entry.mode, entry.id, entry.stage));
        }
        if listed {
            show(&entry.path);
        }
    }
    if args.has("error-unmatch")
        && let Some(word) = paths.unused()
    {
        return Err(error(format!(
            "pathspec '{word}' did not match any file(s) known to git\nDid you forget to 'git add'?"
        )));
    }
    Ok(0)
}

pub fn ls_tree(repo: &Repo, args: &[String]) -> Done<i32> {
    let args = Args::parse(
        args,
        &[&["r", "t", "d", "l,long", "z", "name-only,name-status", "full-tree", "full-name", "abbrev?"]],
    )?;
    let words = args.all_words();
    let (rev, rest) = words
        .split_first()
        .ok_or_else(|| crate::fail::usage("usage: git ls-tree [<options>] <tree-ish> [<path>...]"))?;
    let id = repo.find_rev(rev)?.ok_or_else(|| fatal(format!("Not a valid object name {rev}")))?;
    let paths = Paths::new(repo, rest)?;
    list_tree(repo, repo.tree_of(id)?, b"", &args, &paths)?;
    Ok(0)
}

fn list_tree(repo: &Repo, tree: crate::Oid, prefix: &[u8], args: &Args, paths: &Paths) -> Done {
    let end: &[u8] = if args.has("z") { b"\0" } else { b"\n" };
    for (name, item) in repo.entries(tree)? {
        let path = BString::from([prefix, &name].concat());
        let folder = item.mode == TREE;
        let inside = paths.has(&path);
        if folder && (args.has("r") || (!inside && paths.may_be_below(&path))) && paths.may_be_below(&path) {
            if args.has("t") {
                out::line(format!("{:06o} tree {}\t{path}", item.mode, item.id));
            }
            list_tree(repo, item.id, &[path.as_slice(), b"/"].concat(), args, paths)?;
            continue;
        }
        if !inside || (args.has("d") && !folder) {
            continue;
        }
        if !args.has("name-only") {
            let kind = match item.mode {
                TREE => "tree",
                MODULE => "commit",
                _ => "blob",
            };
            let size = match (args.has("l"), kind) {
                (false, _) => String::new(),
                (true, "blob") => format!(" {:>7}", repo.odb.blob(item.id)?.len()),
                (true, _) => format!(" {:>7}", "-"),
            };
            out::put(format!("{:06o} {kind} {}{size}\t", item.mode, item.id));
        }
        let shown = if args.has("z") { path } else { quoted(&path, Non::Escaped) };
        out::put([shown.as_slice(), end].concat());
    }
    Ok(())
}

pub fn cat_file(repo: &Repo, args: &[String]) -> Done<i32> {
    let args = Args::parse(args, &[&["p", "t", "s", "e", "batch", "batch-check"]])?;
    let words = args.all_words();
    if args.has("batch") || args.has("batch-check") {
        return batch(repo, args.has("batch"));
    }
    let (kind, word) = match words.as_slice() {
        [word] => (None, word),
        [kind, word] => (Some(kind.as_str()), word),
        _ => return Err(crate::fail::usage("usage: git cat-file <type> <object>")),
    };
    let Some(mut id) = repo.find_rev(word)? else {
        return Err(if args.has("e") { quiet(1) } else { fatal(format!("Not a valid object name {word}")) });
    };
    if args.has("e") {
        return if repo.odb.has(id) { Ok(0) } else { Err(quiet(1)) };
    }
    let (mut found, mut bytes) = repo.odb.read(id)?;
    match (args.has("t"), args.has("s"), kind) {
        (true, _, _) => out::line(found.to_string()),
        (_, true, _) => out::line(bytes.len().to_string()),
        (_, _, Some(kind)) => {
            if kind == "tree" && found != Kind::Tree {
                id = repo.tree_of(id)?;
                (found, bytes) = repo.odb.read(id)?;
            } else if kind != "tag" && found == Kind::Tag {
                id = repo.peel(id)?.0;
                (found, bytes) = repo.odb.read(id)?;
            }
            if found.to_string() != kind {
                return Err(fatal(format!("git cat-file {word}: bad file")));
            }
            out::put(bytes);
        }
        _ if found == Kind::Tree => list_tree(repo, id, b"", &Args::default(), &Paths::default())?,
        _ => out::put(bytes),
    }
    Ok(0)
}

fn batch(repo: &Repo, whole: bool) -> Done<i32> {
    for line in std::io::stdin().lines() {
        let line = line.map_err(|cause| fatal(format!("could not read standard input: {cause}")))?;
        match repo.find_rev(line.trim())?.map(|id| repo.odb.find(id).map(|it| (id, it))).transpose()? {
            Some((id, Some((kind, bytes)))) => {
                out::line(format!("{id} {kind} {}", bytes.len()));
                if whole {
                    out::line(bytes);
                }
            }
            _ => out::line(format!("{line} missing")),
        }
    }
    Ok(0)
}

pub fn hash_object(repo: &Repo, args: &[String]) -> Done<i32> {
    let args = Args::parse(args, &[&["w", "stdin", "t=", "no-filters", "path="]])?;
    let kind = Kind::from_bytes(args.value("t").unwrap_or("blob").as_bytes())
        .map_err(|_| fatal("invalid object type"))?;
    let mut texts = Vec::new();
    if args.has("stdin") {
        let mut text = Vec::new();
        std::io::Read::read_to_end(&mut std::io::stdin(), &mut text)
            .map_err(|cause| fatal(format!("{cause}")))?;
        texts.push(text);
    }
    for word in args.all_words() {
        let path = facts::name::path(&word);
        texts.push(std::fs::read(path).map_err(|cause| {
            fatal(format!("could not open '{word}' for reading: {}", place::reason(&cause)))
        })?);
    }
    for text in texts {
        let id = if args.has("w") { repo.odb.write(kind, &text)? } else { crate::odb::hash(kind, &text)? };
        out::line(id.to_string());
    }
    Ok(0)
}

pub fn check_ignore(repo: &Repo, args: &[String]) -> Done<i32> {
    let args = Args::parse(args, &[&["v,verbose", "q,quiet", "n,non-matching", "no-index", "stdin", "z"]])?;
    let ignore = Ignore::new(repo);
    let index = Index::load(repo)?;
    let mut found = false;
    for word in args.all_words() {
        let path = crate::pathspec::inside(repo, &repo.prefix, &facts::name::bytes(&word), &word)?;
        let folder = word.ends_with('/') || repo.path(&path)?.is_dir();
        let reason =
            ignore.reason(&path, folder).filter(|_| args.has("no-index") || index.get(&path).is_none());
        let hit = reason.as_ref().is_some_and(|it| it.ignored || args.has("v"));
        found |= hit;
        match (&reason, args.has("v"), args.has("q")) {
            (_, _, true) => {}
            (Some(it), true, _) => out::line(format!("{}:{}:{}\t{word}", it.source, it.line, it.text)),
            (None, true, _) if args.has("n") => out::line(format!("::\t{word}")),
            (Some(_), false, _) if hit => out::line(&word),
            _ => {}
        }
    }
    Ok(i32::from(!found))
}

pub fn merge_base(repo: &Repo, args: &[String]) -> Done<i32> {
    let args = Args::parse(args, &[&["a,all", "is-ancestor", "fork-point", "octopus"]])?;
    let words = args.all_words();
    let [left, right] = words.as_slice() else {
        return Err(crate::fail::usage("usage: git merge-base [-a | --all] <commit> <commit>"));
    };
    let valid =
        |word: &str| repo.find_rev(word)?.ok_or_else(|| fatal(format!("Not a valid object name {word}")));
    valid(left)?;
    valid(right)?;
    let (left, right) = (repo.rev_commit(left)?, repo.rev_commit(right)?);
    if args.has("is-ancestor") {
        return Ok(i32::from(!repo.is_ancestor(left, right)?));
    }
    let bases = repo.merge_bases(left, right)?;
    let count = if args.has("a") { bases.len() } else { 1 };
    bases.iter().take(count).for_each(|it| out::line(it.to_string()));
    Ok(i32::from(bases.is_empty()))
}

pub fn write_tree(repo: &Repo, _: &[String]) -> Done<i32> {
    let index = Index::load(repo)?;
    if let Some(path) = index.conflicts().keys().next() {
        return Err(fatal(format!("{path}: unmerged\nfatal: git-write-tree: error building trees")));
    }
    out::line(repo.write_tree(&index.files())?.to_string());
    Ok(0)
}

pub fn commit_tree(repo: &Repo, args: &[String]) -> Done<i32> {
    use crate::person::Person;
    let args = Args::parse(args, &[&["p=", "m="]])?;
    let words = args.all_words();
    let word = words.first().ok_or_else(|| crate::fail::usage("usage: git commit-tree <tree>"))?;
    let tree = repo.tree_of(repo.rev(word)?)?;
    let parents = args.values("p").iter().map(|it| repo.rev_commit(it)).collect::<Done<Vec<_>>>()?;
    let mut text = args.values("m").join("\n\n").into_bytes();
    if text.is_empty() {
        std::io::Read::read_to_end(&mut std::io::stdin(), &mut text)
            .map_err(|cause| fatal(format!("{cause}")))?;
    }
    if !text.ends_with(b"\n") {
        text.push(b'\n');
    }
    let id = repo.write_commit(
        tree,
        &parents,
        &Person::author(&repo.config)?,
        &Person::committer(&repo.config)?,
        text.trim_start_with(|it| it == '\n'),
    )?;
    out::line(id.to_string());
    Ok(0)
}

//! `git rm` and `git mv`.

use bstr::{BString, ByteSlice as _};

use super::args::Args;
use crate::fail::{Done, Fail, fatal};
use crate::index::Index;
use crate::object::empty_tree;
use crate::out;
use crate::pathspec::{Paths, inside};
use crate::repo::Repo;
use crate::work::State;

pub fn rm(repo: &Repo, args: &[String]) -> Done<i32> {
    let args = Args::parse(args, &[&["cached", "f,force", "r", "q,quiet", "n,dry-run", "ignore-unmatch"]])?;
    let words = args.all_words();
    if words.is_empty() {
        return Err(fatal("No pathspec was given. Which files should I remove?"));
    }
    let paths = Paths::new(repo, &words)?;
    let mut index = Index::load(repo)?;
    let mut chosen: Vec<BString> =
        index.entries.iter().filter(|it| paths.has(&it.path)).map(|it| it.path.clone()).collect();
    chosen.dedup();
    if let Some(word) = paths.unused().filter(|_| !args.has("ignore-unmatch")) {
        return Err(fatal(format!("pathspec '{word}' did not match any files")));
    }
    for (word, path) in paths.literals() {
        if !args.has("r")
            && !path.is_empty()
            && index.get(path).is_none()
            && chosen.iter().any(|it| it.starts_with(path))
        {
            return Err(fatal(format!("not removing '{word}' recursively without -r")));
        }
    }
    if !args.has("f") {
        refuse_changed(repo, &index, &chosen, args.has("cached"))?;
    }
    for path in &chosen {
        if !args.has("q") {
            out::line(format!("rm '{path}'"));
        }
        if !args.has("n") {
            index.remove(path);
            if !args.has("cached") {
                repo.remove_file(path)?;
            }
        }
    }
    if !args.has("n") {
        index.save(repo)?;
    }
    Ok(0)
}

/// What is only in the index or only in the work tree would be lost.
fn refuse_changed(repo: &Repo, index: &Index, chosen: &[BString], cached: bool) -> Done {
    let tree = repo.head_id()?.map_or(Ok(empty_tree()), |it| repo.tree_of(it))?;
    let head = repo.files(tree)?;
    let (mut both, mut staged, mut local) = (Vec::new(), Vec::new(), Vec::new());
    for path in chosen {
        let Some(entry) = index.get(path) else { continue };
        let in_index = head.get(path) != Some(&entry.item());
        let in_tree = matches!(repo.state(entry, index)?, State::Changed(_));
        match (in_index, in_tree) {
            (true, true) => both.push(path),
            (true, false) if !cached => staged.push(path),
            (false, true) if !cached => local.push(path),
            _ => {}
        }
    }
    let mut text = String::new();
    let mut tell = |list: &[&BString], what: &str, hint: &str| {
        if !list.is_empty() {
            let (file, have) = if list.len() == 1 { ("file", "has") } else { ("files", "have") };
            let names: String = list.iter().map(|it| format!("    {it}\n")).collect();
            text.push_str(&format!("error: the following {file} {have} {what}:\n{names}({hint})\n"));
        }
    };
    tell(&both, "staged content different from both the\nfile and the HEAD", "use -f to force removal");
    tell(&staged, "changes staged in the index", "use --cached to keep the file, or -f to force removal");
    tell(&local, "local modifications", "use --cached to keep the file, or -f to force removal");
    if text.is_empty() { Ok(()) } else { Err(Fail { status: 1, text: text.trim_end().to_owned() }) }
}

pub fn mv(repo: &Repo, args: &[String]) -> Done<i32> {
    let args = Args::parse(args, &[&["f,force", "k", "n,dry-run", "v,verbose"]])?;
    let mut words = args.all_words();
    let Some(last) = words.pop().filter(|_| !words.is_empty()) else {
        return Err(crate::fail::usage("usage: git mv [-v] [-f] [-n] [-k] <source> <destination>"));
    };
    let mut index = Index::load(repo)?;
    let path_of = |word: &str| inside(repo, &repo.prefix, &facts::name::bytes(word), word);
    let to = path_of(&last)?;
    let into = to.is_empty() || repo.path(&to)?.is_dir();
    if words.len() > 1 && !into {
        return Err(fatal(format!("destination '{last}' is not a directory")));
    }
    for word in &words {
        let from = path_of(word)?;
        let mut target = to.clone();
        if into {
            let name = from.rsplit_str("/").next().unwrap_or(&from).to_vec();
            target = if to.is_empty() { name.into() } else { [to.as_slice(), b"/", &name].concat().into() };
        }
        let bad = |why: &str| fatal(format!("{why}, source={from}, destination={target}"));
        let folder = BString::from([from.as_slice(), b"/"].concat());
        let below: Vec<_> = index.entries[index.below(&folder)].to_vec();
        let (old, new) = (repo.path(&from)?, repo.path(&target)?);
        if old.symlink_metadata().is_err() {
            return Err(bad("bad source"));
        }
        if index.get(&from).is_none() && below.is_empty() {
            return Err(bad(if old.is_dir() {
                "source directory is empty"
            } else {
                "not under version control"
            }));
        }
        if new.symlink_metadata().is_ok() && !args.has("f") {
            return Err(bad("destination exists"));
        }
        if !crate::work::checkout::is_safe(&target, crate::object::FILE) || repo.is_behind_link(&target)? {
            return Err(bad("destination is not in this tree"));
        }
        if args.has("n") || args.has("v") {
            out::line(format!("Renaming {from} to {target}"));
        }
        if args.has("n") {
            continue;
        }
        std::fs::rename(&old, &new)
            .map_err(|cause| fatal(format!("renaming '{from}' failed: {}", place::reason(&cause))))?;
        let moved = index.get(&from).cloned().into_iter().chain(below);
        for mut entry in moved.collect::<Vec<_>>() {
            index.remove(&entry.path);
            entry.path = BString::from([target.as_slice(), &entry.path[from.len()..]].concat());
            index.put(entry);
        }
    }
    if !args.has("n") {
        index.save(repo)?;
    }
    Ok(0)
}

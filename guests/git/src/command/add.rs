//! `git add`.

use bstr::BString;

use super::args::Args;
use crate::fail::{Done, Fail, fatal};
use crate::index::Index;
use crate::out;
use crate::pathspec::Paths;
use crate::repo::Repo;
use crate::work::State;
use crate::work::ignore::Ignore;
use crate::work::walk::{Show, untracked};

const TABLE: &[&str] = &[
    "A,all",
    "u,update",
    "n,dry-run",
    "v,verbose",
    "f,force",
    "N,intent-to-add",
    "p,patch",
    "i,interactive",
    "ignore-errors",
    "refresh",
    "ignore-removal",
    "no-all",
    "no-ignore-removal",
    "chmod=",
    "e,edit",
    "renormalize",
];

pub fn run(repo: &Repo, args: &[String]) -> Done<i32> {
    let args = Args::parse(args, &[TABLE])?;
    if args.has("p") || args.has("i") || args.has("e") {
        return Err(fatal("interactive add is not here: there is nobody to ask"));
    }
    let words = args.all_words();
    if words.is_empty() && !args.has("A") && !args.has("u") {
        return Err(Fail {
            status: 0,
            text: "Nothing specified, nothing added.\nhint: Maybe you wanted to say 'git add .'?\nhint: Disable this message with \"git config advice.addEmptyPathspec false\"".to_owned(),
        });
    }
    tell_filters(repo);
    let paths = Paths::new(repo, &words)?;
    for (word, path) in paths.literals() {
        if !path.is_empty() && repo.is_behind_link(path)? {
            return Err(fatal(format!("pathspec '{word}' is beyond a symbolic link")));
        }
    }
    let index = Index::load(repo)?;
    let mut todo = Vec::new();
    for entry in &index.entries {
        if paths.has(&entry.path) && todo.last().is_none_or(|it: &Todo| *it.path() != entry.path) {
            match repo.state(entry, &index)? {
                State::Same if entry.stage == 0 => {}
                State::Gone if args.has("ignore-removal") || args.has("no-all") => {}
                State::Gone => todo.push(Todo::Remove(entry.path.clone())),
                _ => todo.push(Todo::Take(entry.path.clone())),
            }
        }
    }
    if !args.has("u") {
        let found = untracked(repo, &index, Show::Files, args.has("f"), &paths)?;
        todo.extend(found.untracked.into_iter().map(Todo::Take));
        if args.has("f") {
            todo.extend(forced(repo, &index, found.ignored, &paths)?);
        } else {
            refuse_ignored(repo, &index, &paths)?;
        }
    }
    if let Some(word) = paths.unused() {
        return Err(fatal(format!("pathspec '{word}' did not match any files")));
    }
    apply(repo, index, todo, &args)
}

enum Todo {
    Take(BString),
    Remove(BString),
}

impl Todo {
    fn path(&self) -> &BString {
        match self {
            Self::Take(path) | Self::Remove(path) => path,
        }
    }
}

fn apply(repo: &Repo, mut index: Index, mut todo: Vec<Todo>, args: &Args) -> Done<i32> {
    todo.sort_by(|a, b| a.path().cmp(b.path()));
    let tell = args.has("v") || args.has("n");
    for it in &todo {
        let path = it.path().strip_suffix(b"/").map_or_else(|| it.path().clone(), BString::from);
        match it {
            Todo::Take(_) if args.has("n") => {}
            Todo::Take(whole) if args.has("N") && index.get(&path).is_none() && !whole.ends_with(b"/") => {
                let id = repo.odb.write(gix_object::Kind::Blob, b"")?;
                let mode = repo.take_in(&path, None)?.mode;
                let mut entry = crate::index::Entry::new(path.clone(), 0, crate::object::Item { mode, id });
                entry.intent_to_add = true;
                index.put(entry);
            }
            Todo::Take(whole) => {
                if whole.ends_with(b"/") && index.get(&path).is_none() {
                    out::note(format!("warning: adding embedded git repository: {path}"));
                }
                let known = index.get(&path).cloned();
                index.put(repo.take_in(&path, known.as_ref())?);
            }
            Todo::Remove(_) if args.has("n") => {}
            Todo::Remove(_) => {
                index.remove(&path);
            }
        }
        if tell {
            let verb = if matches!(it, Todo::Take(_)) { "add" } else { "remove" };
            out::line(format!("{verb} '{path}'"));
        }
    }
    if let Some(mode) = args.value("chmod") {
        let wanted = match mode {
            "+x" => crate::object::PROGRAM,
            "-x" => crate::object::FILE,
            other => return Err(fatal(format!("--chmod param '{other}' must be either -x or +x"))),
        };
        let paths = Paths::new(repo, &args.all_words())?;
        for entry in index.entries.iter_mut().filter(|it| paths.has(&it.path)) {
            entry.mode = wanted;
        }
    }
    if !args.has("n") {
        index.save(repo)?;
    }
    Ok(0)
}

fn forced(repo: &Repo, index: &Index, ignored: Vec<BString>, paths: &Paths) -> Done<Vec<Todo>> {
    let mut all = Vec::new();
    for path in ignored {
        if !path.ends_with(b"/") {
            all.push(Todo::Take(path));
            continue;
        }
        files_below(repo, index, &path, paths, &mut all)?;
    }
    Ok(all)
}

fn files_below(repo: &Repo, index: &Index, folder: &BString, paths: &Paths, all: &mut Vec<Todo>) -> Done {
    for entry in std::fs::read_dir(repo.path(folder)?).into_iter().flatten().flatten() {
        let mut path = folder.clone();
        path.extend_from_slice(entry.file_name().as_encoded_bytes());
        let Ok(kind) = entry.file_type() else { continue };
        if kind.is_dir() && entry.file_name() != ".git" {
            path.push(b'/');
            files_below(repo, index, &path, paths, all)?;
        } else if !kind.is_dir() && paths.has(&path) && index.get(&path).is_none() {
            all.push(Todo::Take(path));
        }
    }
    Ok(())
}

/// A path that was named and is ignored is an error, not a file that was passed over.
fn refuse_ignored(repo: &Repo, index: &Index, paths: &Paths) -> Done {
    let ignore = Ignore::new(repo);
    let mut refused = Vec::new();
    for (word, path) in paths.literals() {
        let place = repo.path(path)?;
        if path.is_empty() || index.get(path).is_some() || place.symlink_metadata().is_err() {
            continue;
        }
        if ignore.skips_deep(path, place.is_dir())? {
            refused.push(word.trim_end_matches('/').to_owned());
        }
    }
    if refused.is_empty() {
        return Ok(());
    }
    Err(Fail {
        status: 1,
        text: format!(
            "The following paths are ignored by one of your .gitignore files:\n{}\nhint: Use -f if you really want to add them.\nhint: Disable this message with \"git config advice.addIgnoredFile false\"",
            refused.join("\n")
        ),
    })
}

/// Says once that programs a repository names for its files are not run.
pub fn tell_filters(repo: &Repo) {
    let runs = |name: &str| {
        name.starts_with("filter.") && [".clean", ".smudge", ".process"].iter().any(|it| name.ends_with(it))
    };
    if let Some((name, _)) = repo.config.list().find(|it| runs(it.0)) {
        out::note(format!(
            "warning: {name} names a program, and none is run here: files are taken as they are"
        ));
    }
}

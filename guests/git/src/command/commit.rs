//! `git commit`.

use bstr::{BString, ByteSlice as _};

use super::args::Args;
use super::status::{Status, Untracked, long};
use crate::Oid;
use crate::date;
use crate::diff::options::Options;
use crate::diff::summary::{mode_line, prepare};
use crate::diff::{stat, trees};
use crate::fail::{Done, Fail, error, fatal, quiet};
use crate::index::Index;
use crate::object::{Commit, empty_tree};
use crate::out;
use crate::pathspec::Paths;
use crate::person::Person;
use crate::repo::Repo;
use crate::repo::refs::{Head, short};
use crate::work::State;

const TABLE: &[&str] = &[
    "m,message=",
    "F,file=",
    "a,all",
    "amend",
    "allow-empty",
    "allow-empty-message",
    "q,quiet",
    "author=",
    "date=",
    "no-edit",
    "n,no-verify",
    "C,reuse-message=",
    "s,signoff",
    "v,verbose",
    "e,edit",
    "no-gpg-sign",
    "S,gpg-sign?",
    "o,only",
    "i,include",
    "dry-run",
    "reset-author",
    "cleanup=",
    "t,template=",
    "no-post-rewrite",
    "status",
    "no-status",
    "u,untracked-files?",
    "short",
    "fixup=",
    "squash=",
    "p,patch",
    "trailer=",
];

pub fn run(repo: &Repo, args: &[String]) -> Done<i32> {
    let args = Args::parse(args, &[TABLE])?;
    for absent in ["p", "S", "fixup", "squash", "trailer"] {
        if args.has(absent) {
            return Err(fatal(format!("commit --{absent}: not here")));
        }
    }
    let mut index = Index::load(repo)?;
    if !index.conflicts().is_empty() {
        for path in index.conflicts().keys() {
            out::line([b"U\t".as_slice(), path].concat());
        }
        return Err(Fail { status: 128, text: "error: Committing is not possible because you have unmerged files.\nhint: Fix them up in the work tree, and then use 'git add/rm <file>'\nhint: as appropriate to mark resolution and make a commit.\nfatal: Exiting because of an unresolved conflict.".to_owned() });
    }
    let words = args.all_words();
    let head = repo.head_id()?;
    let mut whole = index.clone();
    if args.has("a") {
        update_all(repo, &mut index)?;
        whole = index.clone();
    } else if !words.is_empty() {
        (index, whole) = only(repo, &index, &words, args.has("i"))?;
    }
    let tree = repo.write_tree(&index.files())?;
    let amended = match (args.has("amend"), head) {
        (true, Some(id)) => Some(repo.commit(id)?),
        (true, None) => return Err(fatal("You have nothing to amend.")),
        _ => None,
    };
    let merging = repo.pseudo("MERGE_HEAD");
    if merging.is_some() && amended.is_some() {
        return Err(fatal("You are in the middle of a merge -- cannot amend."));
    }
    let parents: Vec<Oid> = match &amended {
        Some(commit) => commit.parents.clone(),
        None => head.into_iter().chain(merges(repo)).collect(),
    };
    let before = match parents.first() {
        Some(id) => repo.commit(*id)?.tree,
        None => empty_tree(),
    };
    let empty = tree == before && merging.is_none() && amended.is_none() && !args.has("allow-empty");
    if empty || args.has("dry-run") {
        whole.save(repo)?;
        let status = Status::load(repo, &index, Untracked::Normal, false, &Paths::default())?;
        long(repo, &status, Untracked::Normal, true)?;
        return Err(quiet(i32::from(empty)));
    }
    let message = message(repo, &args, amended.as_ref())?;
    let author = author(repo, &args, amended.as_ref())?;
    let committer = Person::committer(&repo.config)?;
    let id = repo.write_commit(tree, &parents, &author, &committer, &message)?;
    whole.save(repo)?;
    let kind = match () {
        () if amended.is_some() => " (amend)",
        () if head.is_none() => " (initial)",
        () if merging.is_some() => " (merge)",
        () if repo.pseudo("CHERRY_PICK_HEAD").is_some() => " (cherry-pick)",
        () => "",
    };
    repo.move_head(id, &format!("commit{kind}: {}", crate::object::subject(&message)))?;
    forget_state(repo);
    if !args.has("q") {
        let dated = amended.is_some() || args.has("date") || args.has("C");
        summary(repo, &repo.commit(id)?, dated)?;
    }
    Ok(0)
}

/// The further parents that a merge in progress brings.
fn merges(repo: &Repo) -> Vec<Oid> {
    let text = std::fs::read(repo.git_dir.join("MERGE_HEAD")).unwrap_or_default();
    text.lines().filter_map(|it| Oid::from_hex(it.trim()).ok()).collect()
}

/// What a merge, a pick or a revert left behind is done with.
pub fn forget_state(repo: &Repo) {
    for name in ["MERGE_HEAD", "MERGE_MSG", "MERGE_MODE", "CHERRY_PICK_HEAD", "REVERT_HEAD", "SQUASH_MSG"] {
        let _ = std::fs::remove_file(repo.git_dir.join(name));
    }
}

fn update_all(repo: &Repo, index: &mut Index) -> Done {
    super::add::tell_filters(repo);
    for entry in index.entries.clone() {
        match repo.state(&entry, index)? {
            State::Gone => drop(index.remove(&entry.path)),
            State::Changed(_) => index.put(repo.take_in(&entry.path, Some(&entry))?),
            State::Same => {}
        }
    }
    Ok(())
}

/// The index to commit and the one to keep, where only some paths are committed.
fn only(repo: &Repo, index: &Index, words: &[String], include: bool) -> Done<(Index, Index)> {
    let paths = Paths::new(repo, words)?;
    let tree = repo.head_id()?.map_or(Ok(empty_tree()), |it| repo.tree_of(it))?;
    let mut partial = if include { index.clone() } else { Index::of_files(&repo.files(tree)?, index) };
    let mut whole = index.clone();
    for entry in &index.entries {
        if !paths.has(&entry.path) {
            continue;
        }
        match repo.state(entry, index)? {
            State::Gone => {
                partial.remove(&entry.path);
                whole.remove(&entry.path);
            }
            _ => {
                let taken = repo.take_in(&entry.path, Some(entry))?;
                partial.put(taken.clone());
                whole.put(taken);
            }
        }
    }
    let gone: Vec<BString> = partial.entries.iter().map(|it| it.path.clone()).collect();
    for path in gone.iter().filter(|it| paths.has(it) && index.get(it).is_none()) {
        partial.remove(path);
    }
    paths.all_used()?;
    Ok((partial, whole))
}

fn message(repo: &Repo, args: &Args, amended: Option<&Commit>) -> Done<Vec<u8>> {
    let given = args.values("m");
    let mut text: Vec<u8> = match (given.is_empty(), args.value("F"), args.value("C")) {
        (false, _, _) => {
            given.iter().map(|it| facts::name::bytes(it).into_owned()).collect::<Vec<_>>().join(&b"\n\n"[..])
        }
        (_, Some("-"), _) => {
            let mut text = Vec::new();
            std::io::Read::read_to_end(&mut std::io::stdin(), &mut text)
                .map_err(|cause| fatal(format!("could not read log from standard input: {cause}")))?;
            text
        }
        (_, Some(file), _) => std::fs::read(file)
            .map_err(|cause| fatal(format!("could not read log file '{file}': {}", place::reason(&cause))))?,
        (_, _, Some(rev)) => repo.commit(repo.rev_commit(rev)?)?.message.to_vec(),
        _ => {
            let merge = std::fs::read(repo.git_dir.join("MERGE_MSG")).ok();
            let kept = amended.map(|it| it.message.to_vec()).or(merge);
            match kept {
                Some(kept) if args.has("no-edit") => kept,
                Some(kept) if editor_keeps(repo) => without_comments(&kept),
                _ => {
                    return Err(error(
                        "Terminal is dumb, but EDITOR unset\nPlease supply the message using either -m or -F option.",
                    ));
                }
            }
        }
    };
    if args.has("s") {
        let who = Person::committer(&repo.config)?;
        let line = format!("Signed-off-by: {} <{}>", who.name, who.email);
        let lines: Vec<&[u8]> = text.trim_end().lines().collect();
        if !lines.contains(&line.as_bytes()) {
            let trailer = lines.len() > 1 && lines.last().is_some_and(|it| it.find(b": ").is_some());
            let gap = if trailer { "\n" } else { "\n\n" };
            text = [text.trim_end(), gap.as_bytes(), line.as_bytes(), b"\n"].concat();
        }
    }
    let text = tidy(&text);
    if text.is_empty() && !args.has("allow-empty-message") {
        return Err(Fail { status: 1, text: "Aborting commit due to empty commit message.".to_owned() });
    }
    Ok(text)
}

/// Whether the editor that is set would leave a message as it is.
pub fn editor_keeps(repo: &Repo) -> bool {
    let editor = ["GIT_EDITOR", "VISUAL", "EDITOR"].iter().find_map(|it| std::env::var(it).ok());
    let editor = editor.or_else(|| repo.config.get("core.editor").map(str::to_owned));
    editor.is_some_and(|it| matches!(it.trim(), "true" | ":" | "cat"))
}

fn without_comments(text: &[u8]) -> Vec<u8> {
    text.lines_with_terminator().filter(|it| !it.starts_with(b"#")).collect::<Vec<_>>().concat()
}

/// Without white space at the ends of lines and of the whole, and with one empty line where there are many.
pub fn tidy(text: &[u8]) -> Vec<u8> {
    let mut all: Vec<u8> = Vec::new();
    let mut blank = false;
    for line in text.lines() {
        let line = line.trim_end();
        if line.is_empty() {
            blank = true;
            continue;
        }
        if blank && !all.is_empty() {
            all.push(b'\n');
        }
        blank = false;
        all.extend_from_slice(line);
        all.push(b'\n');
    }
    all
}

fn author(repo: &Repo, args: &Args, amended: Option<&Commit>) -> Done<Person> {
    let mut who = match amended {
        Some(commit) if !args.has("reset-author") => commit.author.clone(),
        _ => Person::author(&repo.config)?,
    };
    if let Some(rev) = args.value("C") {
        who = repo.commit(repo.rev_commit(rev)?)?.author;
    }
    if let Some(id) =
        repo.pseudo("CHERRY_PICK_HEAD").filter(|_| amended.is_none() && !args.has("reset-author"))
    {
        who = repo.commit(id)?.author;
    }
    if let Some(text) = args.value("author") {
        let named = Person::parse(text.as_bytes()).ok_or_else(|| {
            fatal(format!("--author '{text}' is not 'Name <email>' and matches no existing author"))
        })?;
        (who.name, who.email) = (named.name, named.email);
    }
    if let Some(text) = args.value("date") {
        (who.seconds, who.zone) =
            date::parse(text).ok_or_else(|| fatal(format!("invalid date format: {text}")))?;
    }
    Ok(who)
}

/// What git prints of a new commit.
pub fn summary(repo: &Repo, commit: &Commit, dated: bool) -> Done {
    let branch = match repo.head()? {
        Head::Branch(name) => short(&name).to_owned(),
        Head::Detached(_) => "detached HEAD".to_owned(),
    };
    let root = if commit.parents.is_empty() { " (root-commit)" } else { "" };
    let head = format!("[{branch}{root} {}] ", repo.odb.short(commit.id));
    out::line([head.as_bytes(), &commit.subject()].concat());
    let (author, committer) = (&commit.author, &commit.committer);
    if (&author.name, &author.email) != (&committer.name, &committer.email) {
        out::line(format!(" Author: {} <{}>", author.name, author.email));
    }
    if dated {
        out::line(format!(" Date: {}", date::show(author.seconds, author.zone, &date::Style::Usual)));
    }
    if commit.parents.len() > 1 {
        return Ok(());
    }
    let before = match commit.parents.first() {
        Some(id) => repo.commit(*id)?.tree,
        None => empty_tree(),
    };
    changes(repo, before, commit.tree)
}

/// How many lines changed, and which files came and went.
pub fn changes(repo: &Repo, before: Oid, after: Oid) -> Done {
    let options = Options::default();
    let changes = prepare(repo, trees(repo, before, after)?, &options)?;
    if !changes.is_empty() {
        stat::total(&stat::count(repo, &changes, &options)?);
        changes.iter().for_each(mode_line);
    }
    Ok(())
}

//! `git merge`.

use super::args::Args;
use super::commit::forget_state;
use crate::Oid;
use crate::diff::options::Options;
use crate::diff::summary::{mode_line, prepare};
use crate::diff::{stat, trees};
use crate::fail::{Done, Fail, error, fatal};
use crate::index::Index;
use crate::merge::text::Favor;
use crate::merge::tree::{How, Merged, merge};
use crate::object::empty_tree;
use crate::out;
use crate::person::Person;
use crate::repo::Repo;

const TABLE: &[&str] = &[
    "m,message=",
    "no-ff",
    "ff",
    "ff-only",
    "no-commit",
    "commit",
    "squash",
    "abort",
    "continue",
    "quit",
    "q,quiet",
    "no-edit",
    "e,edit",
    "s,strategy=",
    "X,strategy-option=",
    "stat",
    "n,no-stat",
    "no-verify",
    "allow-unrelated-histories",
    "v,verbose",
    "log?",
    "no-log",
    "F,file=",
];

pub fn run(repo: &Repo, args: &[String]) -> Done<i32> {
    let args = Args::parse(args, &[TABLE])?;
    if args.has("abort") {
        return abort(repo);
    }
    if args.has("continue") {
        if repo.pseudo("MERGE_HEAD").is_none() {
            return Err(fatal("There is no merge in progress (MERGE_HEAD missing)."));
        }
        return super::commit::run(repo, &["--no-edit".to_owned()]);
    }
    let words = args.all_words();
    let [word] = words.as_slice() else {
        return match words.is_empty() {
            true => Err(fatal("No remote for the current branch.")),
            false => Err(fatal("merging more than one branch at once is not here")),
        };
    };
    if repo.pseudo("MERGE_HEAD").is_some() {
        return Err(Fail { status: 128, text: "fatal: You have not concluded your merge (MERGE_HEAD exists).\nPlease, commit your changes before you merge.".to_owned() });
    }
    let rev = if word == "-" { "@{-1}" } else { word };
    let Some(_) = repo.find_rev(rev)? else {
        return Err(Fail { status: 1, text: format!("merge: {word} - not something we can merge") });
    };
    let theirs = repo.rev_commit(rev)?;
    let Some(ours) = repo.head_id()? else {
        super::switch::move_files(repo, None, theirs, false)?;
        repo.move_head(theirs, "initial pull")?;
        return Ok(0);
    };
    if repo.is_ancestor(theirs, ours)? {
        out::line("Already up to date.");
        return Ok(0);
    }
    if repo.is_ancestor(ours, theirs)? && !args.has("no-ff") && !args.has("squash") {
        return fast_forward(repo, ours, theirs, word, args.has("q"));
    }
    if args.has("ff-only") {
        return Err(Fail { status: 128, text: "hint: Diverging branches can't be fast-forwarded, you need to either:\nhint:\nhint: \tgit merge --no-ff\nhint:\nhint: or:\nhint:\nhint: \tgit rebase\nhint:\nhint: Disable this message with \"git config advice.diverging false\"\nfatal: Not possible to fast-forward, aborting.".to_owned() });
    }
    diverged(repo, ours, theirs, word, &args)
}

fn fast_forward(repo: &Repo, ours: Oid, theirs: Oid, word: &str, quiet: bool) -> Done<i32> {
    if !quiet {
        out::line(format!("Updating {}..{}", repo.odb.short(ours), repo.odb.short(theirs)));
    }
    let index = Index::load(repo)?;
    let (old, new) = (repo.files(repo.tree_of(ours)?)?, repo.files(repo.tree_of(theirs)?)?);
    repo.switch_files(&old, &new, &index, "merge")?.save(repo)?;
    crate::file::replace(&repo.git_dir.join("ORIG_HEAD"), format!("{ours}\n").as_bytes())?;
    repo.move_head(theirs, &format!("merge {word}: Fast-forward"))?;
    if !quiet {
        out::line("Fast-forward");
        show_stat(repo, repo.tree_of(ours)?, repo.tree_of(theirs)?)?;
    }
    Ok(0)
}

fn show_stat(repo: &Repo, old: Oid, new: Oid) -> Done {
    let options = Options::default();
    let changes = prepare(repo, trees(repo, old, new)?, &options)?;
    if !changes.is_empty() {
        stat::show(&stat::count(repo, &changes, &options)?, options.stat_width);
        changes.iter().for_each(mode_line);
    }
    Ok(())
}

fn favor(args: &Args) -> Done<Favor> {
    match args.value("X") {
        None => Ok(Favor::None),
        Some("ours") => Ok(Favor::Ours),
        Some("theirs") => Ok(Favor::Theirs),
        Some(other) => Err(fatal(format!("merge -X {other}: not here"))),
    }
}

fn diverged(repo: &Repo, ours: Oid, theirs: Oid, word: &str, args: &Args) -> Done<i32> {
    let index = Index::load(repo)?;
    refuse_staged(repo, &index, ours)?;
    let bases = repo.merge_bases(ours, theirs)?;
    let base = match bases.first() {
        Some(id) => repo.tree_of(*id)?,
        None if args.has("allow-unrelated-histories") => empty_tree(),
        None => return Err(fatal("refusing to merge unrelated histories")),
    };
    if bases.len() > 1 {
        out::note("warning: there are several common ancestors; the newest is taken");
    }
    let (mine, yours) = (repo.files(repo.tree_of(ours)?)?, repo.files(repo.tree_of(theirs)?)?);
    let how = How { ours: "HEAD", theirs: word, favor: favor(args)?, tell: true };
    let merged = merge(repo, repo.files(base)?, mine.clone(), yours, &how)?;
    let next = repo.switch_files(&mine, &merged.files, &index, "merge")?;
    merged.index(&next).save(repo)?;
    let message = message(repo, word, args)?;
    if args.has("squash") {
        out::line("Squash commit -- not updating HEAD");
        if merged.is_clean() {
            out::note("Automatic merge went well; stopped before committing as requested");
            return Ok(0);
        }
        return Ok(failed(&merged));
    }
    if !merged.is_clean() || args.has("no-commit") {
        crate::file::replace(&repo.git_dir.join("ORIG_HEAD"), format!("{ours}\n").as_bytes())?;
        crate::file::replace(&repo.git_dir.join("MERGE_HEAD"), format!("{theirs}\n").as_bytes())?;
        crate::file::replace(
            &repo.git_dir.join("MERGE_MODE"),
            if args.has("no-ff") { b"no-ff" } else { b"" },
        )?;
        let mut text = message;
        if !merged.is_clean() {
            text.push_str("\n# Conflicts:\n");
            let mut paths: Vec<_> = merged.conflicts.iter().map(|it| &it.path).collect();
            paths.dedup();
            paths.iter().for_each(|it| text.push_str(&format!("#\t{it}\n")));
        }
        crate::file::replace(&repo.git_dir.join("MERGE_MSG"), text.as_bytes())?;
        if merged.is_clean() {
            out::line("Automatic merge went well; stopped before committing as requested");
            return Ok(0);
        }
        return Ok(failed(&merged));
    }
    let tree = repo.write_tree(&merged.files)?;
    let (author, committer) = (Person::author(&repo.config)?, Person::committer(&repo.config)?);
    let id = repo.write_commit(tree, &[ours, theirs], &author, &committer, message.as_bytes())?;
    crate::file::replace(&repo.git_dir.join("ORIG_HEAD"), format!("{ours}\n").as_bytes())?;
    repo.move_head(id, &format!("merge {word}: Merge made by the 'ort' strategy."))?;
    if !args.has("q") {
        out::line("Merge made by the 'ort' strategy.");
        show_stat(repo, repo.tree_of(ours)?, tree)?;
    }
    Ok(0)
}

fn failed(_: &Merged) -> i32 {
    out::line("Automatic merge failed; fix conflicts and then commit the result.");
    1
}

fn message(repo: &Repo, word: &str, args: &Args) -> Done<String> {
    if let Some(text) = args.value("m") {
        return Ok(format!("{}\n", text.trim_end()));
    }
    let what = match repo.full_name(word)? {
        Some(name) if name.starts_with("refs/heads/") => format!("branch '{word}'"),
        Some(name) if name.starts_with("refs/tags/") => format!("tag '{word}'"),
        Some(name) if name.starts_with("refs/remotes/") => format!("remote-tracking branch '{word}'"),
        _ => format!("commit '{word}'"),
    };
    let into = repo.branch()?.unwrap_or_else(|| "HEAD".to_owned());
    Ok(match into.as_str() {
        "master" | "main" => format!("Merge {what}\n"),
        into => format!("Merge {what} into {into}\n"),
    })
}

/// A merge would mix what is staged with what it brings.
pub fn refuse_staged(repo: &Repo, index: &Index, head: Oid) -> Done {
    if !index.conflicts().is_empty() {
        return Err(Fail { status: 128, text: "error: Merging is not possible because you have unmerged files.\nhint: Fix them up in the work tree, and then use 'git add/rm <file>'\nhint: as appropriate to mark resolution and make a commit.\nfatal: Exiting because of an unresolved conflict.".to_owned() });
    }
    let changed = crate::diff::compare(&repo.files(repo.tree_of(head)?)?, &index.files());
    if changed.is_empty() {
        return Ok(());
    }
    let names: String = changed.iter().map(|it| format!("\n\t{}", it.path())).collect();
    Err(error(format!(
        "Your local changes to the following files would be overwritten by merge:{names}\nPlease commit your changes or stash them before you merge.\nAborting"
    )))
}

fn abort(repo: &Repo) -> Done<i32> {
    if repo.pseudo("MERGE_HEAD").is_none() {
        return Err(fatal("There is no merge to abort (MERGE_HEAD missing)."));
    }
    let head = repo.rev_commit("HEAD")?;
    let index = Index::load(repo)?;
    repo.force(&repo.files(repo.tree_of(head)?)?, &index)?.save(repo)?;
    forget_state(repo);
    Ok(0)
}

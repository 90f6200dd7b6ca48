//! `git cherry-pick` and `git revert`: one commit's change, made again or undone.

use super::args::Args;
use super::commit::{forget_state, summary};
use super::merge::refuse_staged;
use crate::Oid;
use crate::fail::{Done, Fail, fatal};
use crate::index::Index;
use crate::merge::text::Favor;
use crate::merge::tree::{How, merge};
use crate::object::{Commit, empty_tree};
use crate::person::Person;
use crate::repo::Repo;

const TABLE: &[&str] = &[
    "n,no-commit",
    "x",
    "m,mainline=",
    "abort",
    "continue",
    "quit",
    "skip",
    "no-edit",
    "e,edit",
    "s,signoff",
    "allow-empty",
    "X,strategy-option=",
    "ff",
];

#[derive(Clone, Copy, PartialEq, Eq)]
enum Verb {
    Pick,
    Revert,
}

pub fn cherry_pick(repo: &Repo, args: &[String]) -> Done<i32> {
    run(repo, args, Verb::Pick)
}

pub fn revert(repo: &Repo, args: &[String]) -> Done<i32> {
    run(repo, args, Verb::Revert)
}

impl Verb {
    fn name(self) -> &'static str {
        if self == Self::Pick { "cherry-pick" } else { "revert" }
    }

    fn head(self) -> &'static str {
        if self == Self::Pick { "CHERRY_PICK_HEAD" } else { "REVERT_HEAD" }
    }
}

fn run(repo: &Repo, args: &[String], verb: Verb) -> Done<i32> {
    let args = Args::parse(args, &[TABLE])?;
    let name = verb.name();
    if args.has("abort") || args.has("quit") || args.has("skip") {
        if repo.pseudo(verb.head()).is_none() {
            return Err(Fail {
                status: 128,
                text: format!("error: no cherry-pick or revert in progress\nfatal: {name} failed"),
            });
        }
        if !args.has("quit") {
            let head = repo.rev_commit("HEAD")?;
            repo.force(&repo.files(repo.tree_of(head)?)?, &Index::load(repo)?)?.save(repo)?;
        }
        forget_state(repo);
        return Ok(0);
    }
    if args.has("continue") {
        if repo.pseudo(verb.head()).is_none() {
            return Err(Fail {
                status: 128,
                text: format!("error: no cherry-pick or revert in progress\nfatal: {name} failed"),
            });
        }
        return super::commit::run(repo, &["--no-edit".to_owned()]);
    }
    let mut ids = Vec::new();
    for word in args.all_words() {
        let mut range = crate::history::rev::Range::default();
        if !repo.add_range(&word, &mut range)? {
            return Err(fatal(format!("bad revision '{word}'")));
        }
        if range.unwanted.is_empty() {
            ids.extend(range.wanted);
            continue;
        }
        let wanted = crate::history::walk::Wanted {
            tips: range.wanted,
            without: range.unwanted,
            reverse: verb == Verb::Pick,
            ..Default::default()
        };
        ids.extend(crate::history::walk::list(repo, &wanted)?.into_iter().map(|it| it.commit.id));
    }
    if ids.is_empty() {
        return Err(crate::fail::usage(format!("usage: git {name} [<options>] <commit>...")));
    }
    for id in ids {
        let status = one(repo, id, verb, &args)?;
        if status != 0 {
            return Ok(status);
        }
    }
    Ok(0)
}

fn one(repo: &Repo, id: Oid, verb: Verb, args: &Args) -> Done<i32> {
    let commit = repo.commit(id)?;
    let head = repo.head_id()?.ok_or_else(|| fatal("there is no commit to build on"))?;
    let index = Index::load(repo)?;
    if !args.has("n") {
        refuse_staged(repo, &index, head).map_err(|_| Fail { status: 128, text: format!("error: your local changes would be overwritten by {0}.\nhint: commit your changes or stash them to proceed.\nfatal: {0} failed", verb.name()) })?;
    }
    let parent = match (args.value("m").and_then(|it| it.parse::<usize>().ok()), commit.parents.len()) {
        (None, 0) => empty_tree(),
        (None, 1) => repo.tree_of(commit.parents[0])?,
        (Some(which), count) if (1..=count).contains(&which) => repo.tree_of(commit.parents[which - 1])?,
        (None, _) => {
            return Err(Fail {
                status: 128,
                text: format!(
                    "error: commit {id} is a merge but no -m option was given.\nfatal: {} failed",
                    verb.name()
                ),
            });
        }
        _ => return Err(fatal(format!("commit {id} does not have that parent"))),
    };
    let label = format!("{} ({})", repo.odb.short(id), commit.subject());
    let parent_label = format!("parent of {label}");
    let (base, theirs, label) = match verb {
        Verb::Pick => (parent, commit.tree, label.as_str()),
        Verb::Revert => (commit.tree, parent, parent_label.as_str()),
    };
    let mine = index.files();
    let how = How { ours: "HEAD", theirs: label, favor: Favor::None, tell: true };
    let merged = merge(repo, repo.files(base)?, mine.clone(), repo.files(theirs)?, &how)?;
    let next = repo.switch_files(&mine, &merged.files, &index, "merge")?;
    merged.index(&next).save(repo)?;
    let text = message(repo, &commit, verb, args)?;
    if !merged.is_clean() {
        crate::file::replace(&repo.git_dir.join(verb.head()), format!("{id}\n").as_bytes())?;
        crate::file::replace(&repo.git_dir.join("MERGE_MSG"), text.as_bytes())?;
        let verb = verb.name();
        return Err(Fail {
            status: 1,
            text: format!(
                "error: could not {} {}... {}\nhint: After resolving the conflicts, mark them with\nhint: \"git add/rm <pathspec>\", then run\nhint: \"git {verb} --continue\".\nhint: You can instead skip this commit with \"git {verb} --skip\".\nhint: To abort and get back to the state before \"git {verb}\",\nhint: run \"git {verb} --abort\".\nhint: Disable this message with \"git config advice.mergeConflict false\"",
                if verb == "revert" { "revert" } else { "apply" },
                repo.odb.short(id),
                commit.subject()
            ),
        });
    }
    if args.has("n") {
        return Ok(0);
    }
    let tree = repo.write_tree(&merged.files)?;
    if tree == repo.tree_of(head)? && !args.has("allow-empty") {
        return Err(Fail {
            status: 1,
            text: format!(
                "The previous {} is now empty, possibly due to conflict resolution.\nIf you wish to commit it anyway, use:\n\n    git commit --allow-empty\n",
                verb.name()
            ),
        });
    }
    let author = if verb == Verb::Pick { commit.author.clone() } else { Person::author(&repo.config)? };
    let new =
        repo.write_commit(tree, &[head], &author, &Person::committer(&repo.config)?, text.as_bytes())?;
    let why = crate::object::subject(text.as_bytes());
    repo.move_head(new, &format!("{}: {why}", verb.name()))?;
    summary(repo, &repo.commit(new)?, true)?;
    Ok(0)
}

fn message(repo: &Repo, commit: &Commit, verb: Verb, args: &Args) -> Done<String> {
    let mut text = match verb {
        Verb::Pick => commit.message.to_string(),
        Verb::Revert => format!("Revert \"{}\"\n\nThis reverts commit {}.\n", commit.subject(), commit.id),
    };
    if args.has("x") && verb == Verb::Pick {
        text = format!("{}\n\n(cherry picked from commit {})\n", text.trim_end(), commit.id);
    }
    if args.has("s") {
        let who = Person::committer(&repo.config)?;
        text = format!("{}\n\nSigned-off-by: {} <{}>\n", text.trim_end(), who.name, who.email);
    }
    Ok(text)
}

//! The commands, one file for each kind of work, and the words around them.

pub mod add;
pub mod args;
pub mod blame;
pub mod branch;
pub mod clean;
pub mod commit;
pub mod config;
pub mod diff;
pub mod init;
pub mod log;
pub mod merge;
pub mod pick;
pub mod plumbing;
pub mod refs;
pub mod reset;
pub mod restore;
pub mod rm;
pub mod show;
pub mod stash;
pub mod status;
pub mod switch;
pub mod tag;

use crate::fail::{Done, Fail, fatal};
use crate::out;
use crate::repo::{Repo, Where};

/// What `git --version` says: ours, in the form that programs look for.
const VERSION: &str = "git version 2.47.3 (drydock)";

const HELP: &str = "usage: git [-v | --version] [-h | --help] [-C <path>] [-c <name>=<value>]
           [--git-dir=<path>] [--work-tree=<path>] <command> [<args>]

Here are: init add rm mv restore status diff log show commit branch checkout switch
merge reset stash tag blame cherry-pick revert clean config rev-parse rev-list ls-files
ls-tree cat-file hash-object show-ref symbolic-ref merge-base reflog describe shortlog
check-ignore and other plumbing. Hooks, filters, editors and pagers never run.
What needs the network (clone, fetch, pull, push) is not here.";

/// Needs the network.
const REMOTE: [&str; 7] = ["clone", "fetch", "pull", "push", "ls-remote", "fetch-pack", "send-pack"];

/// Commands of git that are not here, so that they are told from slips of the finger.
const ABSENT: [&str; 26] = [
    "am",
    "apply",
    "archive",
    "bisect",
    "bundle",
    "daemon",
    "difftool",
    "fast-export",
    "fast-import",
    "filter-branch",
    "format-patch",
    "gc",
    "grep",
    "gui",
    "instaweb",
    "maintenance",
    "mergetool",
    "notes",
    "prune",
    "rebase",
    "repack",
    "request-pull",
    "send-email",
    "submodule",
    "svn",
    "worktree",
];

/// Runs a command line without the program's name, and answers the status.
pub fn run(args: &[String]) -> i32 {
    let done = start(args);
    out::flush();
    match done {
        Ok(status) => status,
        Err(Fail { status, text }) => {
            if !text.is_empty() {
                out::note(text);
            }
            status
        }
    }
}

fn start(args: &[String]) -> Done<i32> {
    let mut place = Where::default();
    let mut rest = args;
    while let [first, more @ ..] = rest {
        let take = |name: &str| -> Option<(String, usize)> {
            match first.strip_prefix(name) {
                Some("") => more.first().map(|it| (it.clone(), 2)),
                Some(value) => value.strip_prefix('=').map(|it| (it.to_owned(), 1)),
                None => None,
            }
        };
        if let Some((value, used)) = take("--git-dir") {
            place.git_dir = Some(value);
            rest = &rest[used..];
        } else if let Some((value, used)) = take("--work-tree") {
            place.work_tree = Some(value);
            rest = &rest[used..];
        } else if let (true, Some(path)) = (first == "-C", more.first()) {
            enter(path)?;
            rest = &rest[2..];
        } else if let (true, Some(setting)) = (first == "-c", more.first()) {
            let (name, value) = setting.split_once('=').unwrap_or((setting, "true"));
            place.settings.push((name.to_owned(), value.to_owned()));
            rest = &rest[2..];
        } else if matches!(
            first.as_str(),
            "--no-pager" | "-p" | "--paginate" | "-P" | "--no-optional-locks" | "--literal-pathspecs"
        ) {
            rest = more;
        } else {
            break;
        }
    }
    let Some((name, args)) = rest.split_first() else {
        out::line(HELP);
        return Ok(1);
    };
    match name.as_str() {
        "--version" | "-v" | "version" => out::line(VERSION),
        "--help" | "-h" | "help" => out::line(HELP),
        "--exec-path" => out::line("/usr/lib/git-core"),
        _ => return command(name, args, &place),
    }
    Ok(0)
}

fn enter(path: &str) -> Done {
    let cannot = |why: &str| fatal(format!("cannot change to '{path}': {why}"));
    let place = crate::repo::current_dir()?.join(path);
    if !place.exists() {
        return Err(cannot("No such file or directory"));
    }
    if !place.is_dir() {
        return Err(cannot("Not a directory"));
    }
    std::env::set_current_dir(crate::repo::clean(&place)).map_err(|cause| cannot(&place::reason(&cause)))
}

fn command(name: &str, args: &[String], place: &Where) -> Done<i32> {
    match name {
        "init" => return init::run(args, place),
        "config" => return config::run(args, place),
        "rev-parse" if Repo::discover(place).is_err() && plumbing::is_about_nothing(args) => return Ok(0),
        name if REMOTE.contains(&name) => {
            return Err(fatal(format!("{name}: there is no network here, so nothing is sent or fetched")));
        }
        name if ABSENT.contains(&name) => {
            return Err(fatal(format!("{name}: not here; `git help` lists what is")));
        }
        _ => {}
    }
    let Some(run) = find(name) else {
        let mut text = format!("git: '{name}' is not a git command. See 'git --help'.");
        if let Some(alias) = Repo::discover(place)
            .ok()
            .and_then(|it| it.config.get(&format!("alias.{name}")).map(str::to_owned))
        {
            if alias.starts_with('!') {
                return Err(fatal(format!("alias '{name}' starts a program, and none is started here")));
            }
            let mut words: Vec<String> = alias.split_whitespace().map(str::to_owned).collect();
            words.extend_from_slice(args);
            if words.first().is_some_and(|it| find(it).is_some()) {
                return command(&words[0].clone(), &words[1..], place);
            }
            text = format!("fatal: expansion of alias '{name}' failed");
        }
        return Err(Fail { status: 1, text });
    };
    let repo = Repo::discover(place)?;
    run(&repo, args)
}

type Run = fn(&Repo, &[String]) -> Done<i32>;

fn find(name: &str) -> Option<Run> {
    Some(match name {
        "add" | "stage" => add::run,
        "blame" | "annotate" => blame::run,
        "branch" => branch::run,
        "cat-file" => plumbing::cat_file,
        "check-ignore" => plumbing::check_ignore,
        "checkout" => switch::checkout,
        "cherry-pick" => pick::cherry_pick,
        "clean" => clean::run,
        "commit" => commit::run,
        "commit-tree" => plumbing::commit_tree,
        "describe" => tag::describe,
        "diff" => diff::run,
        "for-each-ref" => refs::for_each_ref,
        "hash-object" => plumbing::hash_object,
        "log" | "whatchanged" => log::run,
        "ls-files" => plumbing::ls_files,
        "ls-tree" => plumbing::ls_tree,
        "merge" => merge::run,
        "merge-base" => plumbing::merge_base,
        "mv" => rm::mv,
        "reflog" => log::reflog,
        "remote" => config::remote,
        "reset" => reset::run,
        "restore" => restore::run,
        "rev-list" => log::rev_list,
        "rev-parse" => plumbing::rev_parse,
        "revert" => pick::revert,
        "rm" => rm::rm,
        "shortlog" => log::shortlog,
        "show" => show::run,
        "show-ref" => refs::show_ref,
        "stash" => stash::run,
        "status" => status::run,
        "switch" => switch::switch,
        "symbolic-ref" => refs::symbolic_ref,
        "tag" => tag::run,
        "update-ref" => refs::update_ref,
        "write-tree" => plumbing::write_tree,
        _ => return None,
    })
}

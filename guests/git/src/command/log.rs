//! `git log`, `reflog`, `rev-list` and `shortlog`.

use std::collections::BTreeMap;

use bstr::ByteSlice as _;

use super::args::Args;
use super::diff::{renames, revisions, take};
use crate::date::Style;
use crate::diff::options::{Options, TABLE};
use crate::diff::summary::{prepare, show};
use crate::fail::{Done, fatal};
use crate::history::graph::{Graph, Rows};
use crate::history::names::Names;
use crate::history::pretty::{Format, Pretty};
use crate::history::walk::{Step, Wanted, changes_among, list};
use crate::object::{Commit, empty_tree};
use crate::out;
use crate::pathspec::Paths;
use crate::repo::Repo;
use crate::repo::refs::Head;

/// Options of everything that lists commits.
pub const WALK: &[&str] = &[
    "n,max-count=",
    "skip=",
    "oneline",
    "pretty,format?",
    "date=",
    "decorate?",
    "no-decorate",
    "graph",
    "all",
    "branches",
    "tags",
    "remotes",
    "author=",
    "committer=",
    "grep=",
    "i,regexp-ignore-case",
    "since,after=",
    "until,before=",
    "reverse",
    "topo-order",
    "date-order",
    "author-date-order",
    "first-parent",
    "merges",
    "no-merges",
    "follow",
    "abbrev-commit",
    "no-abbrev-commit",
    "abbrev?",
    "S=",
    "G=",
    "E,extended-regexp",
    "F,fixed-strings",
    "P,perl-regexp",
    "full-history",
    "simplify-merges",
    "m",
    "c",
    "cc",
    "no-notes",
    "notes?",
    "show-signature",
    "left-right",
    "cherry-pick",
    "cherry-mark",
    "count",
    "quiet-walk",
    "g,walk-reflogs",
    "L=",
    "no-mailmap",
    "use-mailmap",
    "root",
    "no-walk?",
    "parents",
    "children",
    "diff-merges=",
    "no-diff-merges",
];

pub fn run(repo: &Repo, args: &[String]) -> Done<i32> {
    let args = Args::parse(args, &[WALK, TABLE])?;
    for absent in ["G", "L", "g", "c", "cc", "m", "cherry-pick", "left-right"] {
        if args.has(absent) {
            return Err(fatal(format!("log -{}{absent}: not here", if absent.len() > 1 { "-" } else { "" })));
        }
    }
    let mut options = Options { renames: renames(repo), ..Options::default() };
    take(repo, &args, &mut options)?;
    let wanted = wanted(repo, &args)?;
    let pretty = pretty(repo, &args)?;
    let mut graph = args.has("graph").then(Graph::default);
    let mut first = true;
    for step in list(repo, &wanted)? {
        if !first && !pretty.format.ends_lines() {
            out::line(graph.as_ref().map(Graph::padding).unwrap_or_default());
        }
        first = false;
        let rows = graph.as_mut().map(|it| it.next(step.commit.id, &step.parents));
        one(&pretty, &options, &wanted, &step, rows)?;
    }
    Ok(0)
}

/// What a line asks to be listed.
pub fn wanted(repo: &Repo, args: &Args) -> Done<Wanted> {
    let (range, paths) = revisions(repo, args)?;
    let mut tips = Vec::new();
    for id in range.wanted {
        tips.push(repo.peel(id)?.0);
    }
    let prefixes =
        [("all", "refs/"), ("branches", "refs/heads/"), ("tags", "refs/tags/"), ("remotes", "refs/remotes/")];
    let some = prefixes.iter().any(|it| args.has(it.0));
    for (flag, prefix) in prefixes {
        if args.has(flag) {
            for (_, id) in repo.list_refs(prefix)? {
                let (id, kind) = repo.peel(id)?;
                if kind == gix_object::Kind::Commit && !tips.contains(&id) {
                    tips.push(id);
                }
            }
        }
    }
    if args.has("all") {
        tips.extend(repo.head_id()?.filter(|it| !tips.contains(it)));
    }
    if tips.is_empty() && !some {
        match (repo.head_id()?, repo.head()?) {
            (Some(id), _) => tips.push(id),
            (None, Head::Branch(name)) => {
                let name = crate::repo::refs::short(&name);
                return Err(fatal(format!("your current branch '{name}' does not have any commits yet")));
            }
            _ => {}
        }
    }
    let number = |id: &str| -> Done<Option<usize>> {
        let Some(text) = args.value(id) else { return Ok(None) };
        match text.parse::<i64>() {
            Ok(number) => Ok(usize::try_from(number).ok()),
            Err(_) => Err(fatal(format!("'{text}': not an integer"))),
        }
    };
    let moment = |id: &str| -> Done<Option<i64>> {
        let Some(text) = args.value(id) else { return Ok(None) };
        Ok(Some(crate::date::parse(text).ok_or_else(|| fatal(format!("invalid date: {text}")))?.0))
    };
    Ok(Wanted {
        tips,
        without: range.unwanted,
        count_max: number("n")?,
        skip: number("skip")?.unwrap_or(0),
        paths: Paths::new(repo, &paths)?,
        topo: args.has("graph") || args.has("topo-order"),
        reverse: args.has("reverse"),
        first_parent: args.has("first-parent"),
        merges: if args.has("merges") { Some(true) } else { args.has("no-merges").then_some(false) },
        author: args.values("author"),
        committer: args.values("committer"),
        grep: args.values("grep"),
        ignore_case: args.has("i"),
        since: moment("since")?,
        until: moment("until")?,
        occurs: args.value("S").map(|it| it.as_bytes().to_vec()),
        follow: args.has("follow"),
    })
}

/// How a line asks commits to be shown.
pub fn pretty<'r>(repo: &'r Repo, args: &Args) -> Done<Pretty<'r>> {
    let mut format = Format::Medium;
    let mut short = args.has("abbrev-commit");
    for (id, value) in args.flags() {
        match id {
            "oneline" => (format, short) = (Format::Oneline, true),
            "pretty" => format = value.map_or(Ok(Format::Medium), Format::named)?,
            _ => {}
        }
    }
    let date = match args.value("date").or_else(|| repo.config.get("log.date")) {
        Some(text) => Style::named(text).ok_or_else(|| fatal(format!("unknown date format {text}")))?,
        None => Style::Usual,
    };
    let own = matches!(&format, Format::Own(text, _) if text.contains("%d") || text.contains("%D"));
    let decorated = args.has("decorate")
        && !args.has("no-decorate")
        && !matches!(args.value("decorate"), Some("no" | "auto"));
    let names = if own || decorated { Some(Names::load(repo)?) } else { None };
    Ok(Pretty { repo, format, date, short, names })
}

/// Shows one commit, with what parts it from the one before.
fn one(pretty: &Pretty<'_>, options: &Options, wanted: &Wanted, step: &Step, rows: Option<Rows>) -> Done {
    let commit = &step.commit;
    let text = pretty.show(commit);
    match rows {
        Some(rows) => beside(&text, &rows),
        None => {
            out::put(&text);
            if pretty.format.ends_lines() && !text.is_empty() {
                out::put("\n");
            }
        }
    }
    if !options.any() || commit.parents.len() > 1 {
        return Ok(());
    }
    let changes = changes_of(pretty.repo, commit, options, &wanted.paths)?;
    after(pretty, options, &changes)
}

/// The changes of a commit against its first parent.
pub fn changes_of(
    repo: &Repo,
    commit: &Commit,
    options: &Options,
    paths: &Paths,
) -> Done<Vec<crate::diff::Change>> {
    let before = match commit.parents.first() {
        Some(id) => repo.commit(*id)?.tree,
        None => empty_tree(),
    };
    let changes = changes_among(repo, before, commit.tree, paths)?.collect();
    prepare(repo, changes, options)
}

/// The changes below a commit's text.
pub fn after(pretty: &Pretty<'_>, options: &Options, changes: &[crate::diff::Change]) -> Done {
    if changes.is_empty() || options.none {
        return Ok(());
    }
    if pretty.format != Format::Oneline && pretty.format != Format::Own(String::new(), true) {
        out::line(if options.stat && options.patch { "---" } else { "" });
    }
    show(pretty.repo, changes, options)
}

/// A commit's text with the graph before each line.
fn beside(text: &[u8], rows: &Rows) {
    let mut once = rows.once.iter();
    for (at, line) in text.lines().enumerate() {
        let lead = if at == 0 { &rows.first } else { once.next().unwrap_or(&rows.rest) };
        out::line([lead.as_bytes(), line].concat());
    }
    once.for_each(out::line);
}

/// `git reflog [show] [NAME]`.
pub fn reflog(repo: &Repo, args: &[String]) -> Done<i32> {
    let args = Args::parse(args, &[WALK, TABLE])?;
    let mut words = args.all_words();
    match words.first().map(String::as_str) {
        Some("show") => drop(words.remove(0)),
        Some(verb @ ("expire" | "delete" | "drop")) => return Err(fatal(format!("reflog {verb}: not here"))),
        _ => {}
    }
    let name = words.first().map_or("HEAD", String::as_str);
    let full = match name {
        "HEAD" => "HEAD".to_owned(),
        name => repo.full_name(name)?.ok_or_else(|| crate::history::rev::ambiguous(name))?,
    };
    let most = args.value("n").and_then(|it| it.parse().ok()).unwrap_or(usize::MAX);
    let pretty = pretty(repo, &args)?;
    for (at, it) in repo.moves(&full).iter().enumerate().take(most) {
        match &pretty.format {
            Format::Own(text, _) => {
                let place = format!("{name}@{{{at}}}");
                out::line(pretty.expand(text, &repo.commit(it.to)?, Some((&place, &it.why))));
            }
            _ => out::line(format!("{} {name}@{{{at}}}: {}", repo.odb.short(it.to), it.why)),
        }
    }
    Ok(0)
}

/// `git rev-list`.
pub fn rev_list(repo: &Repo, args: &[String]) -> Done<i32> {
    let args = Args::parse(args, &[WALK, TABLE])?;
    if args.words.is_empty() && !args.has("all") && !args.has("branches") {
        return Err(crate::fail::usage("usage: git rev-list [<options>] <commit>... [--] [<path>...]"));
    }
    let steps = list(repo, &wanted(repo, &args)?)?;
    if args.has("count") {
        out::line(steps.len().to_string());
        return Ok(0);
    }
    let pretty = pretty(repo, &args)?;
    for step in steps {
        match &pretty.format {
            Format::Medium if args.has("parents") => {
                let ids = std::iter::once(step.commit.id).chain(step.commit.parents);
                out::line(ids.map(|it| it.to_string()).collect::<Vec<_>>().join(" "));
            }
            Format::Medium if pretty.short => out::line(repo.odb.short(step.commit.id)),
            Format::Medium => out::line(step.commit.id.to_string()),
            Format::Oneline => out::line(pretty.show(&step.commit)),
            _ => {
                out::line(format!("commit {}", step.commit.id));
                out::line(pretty.show(&step.commit));
            }
        }
    }
    Ok(0)
}

/// `git shortlog [-s] [-n] [-e]`.
pub fn shortlog(repo: &Repo, args: &[String]) -> Done<i32> {
    let numbered: Vec<String> = args
        .iter()
        .map(|it| it.replace("-sn", "-s --numbered").replace("-ns", "-s --numbered"))
        .flat_map(|it| it.split(' ').map(str::to_owned).collect::<Vec<_>>())
        .collect();
    let args = Args::parse(
        &numbered,
        &[&["s,summary", "numbered", "e,email"], &["all", "no-merges", "since,after=", "until,before=", "n"]],
    )?;
    let walk = Wanted {
        tips: wanted_tips(repo, &args)?,
        merges: args.has("no-merges").then_some(false),
        ..Wanted::default()
    };
    let mut all: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for step in list(repo, &walk)? {
        let who = &step.commit.author;
        let name = if args.has("e") { format!("{} <{}>", who.name, who.email) } else { who.name.to_string() };
        all.entry(name).or_default().push(step.commit.subject().to_string());
    }
    let mut rows: Vec<_> = all.into_iter().collect();
    if args.has("numbered") || args.has("n") {
        rows.sort_by_key(|it| std::cmp::Reverse(it.1.len()));
    }
    for (name, subjects) in rows {
        if args.has("s") {
            out::line(format!("{:6}\t{name}", subjects.len()));
            continue;
        }
        out::line(format!("{name} ({}):", subjects.len()));
        subjects.iter().rev().for_each(|it| out::line(format!("      {it}")));
        out::line("");
    }
    Ok(0)
}

fn wanted_tips(repo: &Repo, args: &Args) -> Done<Vec<crate::Oid>> {
    let (range, _) = revisions(repo, args)?;
    match range.wanted.is_empty() {
        true => Ok(vec![repo.rev_commit("HEAD")?]),
        false => Ok(range.wanted),
    }
}

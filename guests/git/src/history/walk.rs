//! Walks through history: newest first, or parents after all their children; with limits.

use std::collections::{BinaryHeap, HashMap, HashSet};

use bstr::ByteSlice as _;

use crate::Oid;
use crate::diff::{self, Change};
use crate::fail::Done;
use crate::object::{Commit, empty_tree};
use crate::pathspec::Paths;
use crate::repo::Repo;

/// What is looked for.
#[derive(Debug, Default)]
pub struct Wanted {
    pub tips: Vec<Oid>,
    pub without: Vec<Oid>,
    pub count_max: Option<usize>,
    pub skip: usize,
    pub paths: Paths,
    pub topo: bool,
    pub reverse: bool,
    pub first_parent: bool,
    pub merges: Option<bool>,
    pub author: Vec<String>,
    pub committer: Vec<String>,
    pub grep: Vec<String>,
    pub ignore_case: bool,
    pub since: Option<i64>,
    pub until: Option<i64>,
    /// `-S`: how often this occurs changed.
    pub occurs: Option<Vec<u8>>,
    /// `--follow`: one file through its renames.
    pub follow: bool,
}

/// A commit to be shown, and the parents it has among those that are shown.
#[derive(Debug, Clone)]
pub struct Step {
    pub commit: Commit,
    pub parents: Vec<Oid>,
}

/// The commits that are looked for, in order.
pub fn list(repo: &Repo, wanted: &Wanted) -> Done<Vec<Step>> {
    let hidden = repo.ancestors(&wanted.without)?;
    let mut steps = collect(repo, wanted, &hidden)?;
    if wanted.follow {
        steps = followed(repo, steps, &wanted.paths)?;
    }
    if wanted.topo {
        steps = in_topological_order(steps);
    }
    steps.retain(|it| passes(&it.commit, wanted));
    if let Some(text) = &wanted.occurs {
        let mut kept = Vec::new();
        for step in steps {
            if occurs_otherwise(repo, &step.commit, text, &wanted.paths)? {
                kept.push(step);
            }
        }
        steps = kept;
    }
    let count_max = wanted.count_max.unwrap_or(usize::MAX);
    let mut steps: Vec<Step> = steps.into_iter().skip(wanted.skip).take(count_max).collect();
    if wanted.reverse {
        steps.reverse();
    }
    Ok(steps)
}

/// Whether the walk may end as soon as it has enough.
fn is_plain(wanted: &Wanted) -> bool {
    !wanted.topo
        && wanted.merges.is_none()
        && wanted.author.is_empty()
        && wanted.committer.is_empty()
        && wanted.grep.is_empty()
        && wanted.since.is_none()
        && wanted.until.is_none()
        && wanted.occurs.is_none()
        && !wanted.follow
}

fn collect(repo: &Repo, wanted: &Wanted, hidden: &HashSet<Oid>) -> Done<Vec<Step>> {
    let mut queue = BinaryHeap::new();
    let mut seen = HashSet::new();
    let mut order = u64::MAX;
    let mut commits: HashMap<Oid, Commit> = HashMap::new();
    let push =
        |id: Oid, queue: &mut BinaryHeap<_>, commits: &mut HashMap<Oid, Commit>, order: &mut u64| -> Done {
            let commit = repo.commit(id)?;
            queue.push((commit.committer.seconds, *order, id));
            *order -= 1;
            commits.insert(id, commit);
            Ok(())
        };
    for id in &wanted.tips {
        if !hidden.contains(id) && seen.insert(*id) {
            push(*id, &mut queue, &mut commits, &mut order)?;
        }
    }
    let enough = wanted.count_max.filter(|_| is_plain(wanted)).map(|it| it.saturating_add(wanted.skip));
    let mut steps = Vec::new();
    while let Some((_, _, id)) = queue.pop() {
        if enough.is_some_and(|it| steps.len() >= it) {
            break;
        }
        let Some(commit) = commits.remove(&id) else { continue };
        let mut parents = commit.parents.clone();
        if wanted.first_parent {
            parents.truncate(1);
        }
        let shown = match wanted.paths.is_empty() || wanted.follow {
            true => true,
            false => touches(repo, &commit, &mut parents, &wanted.paths)?,
        };
        for parent in &parents {
            if !hidden.contains(parent) && seen.insert(*parent) {
                push(*parent, &mut queue, &mut commits, &mut order)?;
            }
        }
        if shown {
            steps.push(Step { parents, commit });
        }
    }
    Ok(steps)
}

/// The commits that changed one file, whatever it was called then.
fn followed(repo: &Repo, steps: Vec<Step>, paths: &Paths) -> Done<Vec<Step>> {
    let Some(mut path) = paths.literals().map(|it| it.1.clone()).next() else { return Ok(steps) };
    let mut kept = Vec::new();
    for step in steps {
        let before = match step.commit.parents.as_slice() {
            [] => empty_tree(),
            [parent] => repo.commit(*parent)?.tree,
            _ => continue,
        };
        let changes = diff::rename::find(repo, diff::trees(repo, before, step.commit.tree)?, 50)?;
        if let Some(change) = changes.into_iter().find(|it| *it.path() == path) {
            path = change.old.path;
            kept.push(step);
        }
    }
    Ok(kept)
}

/// Whether a commit changed one of the paths. A merge that took them from one parent leads there only.
fn touches(repo: &Repo, commit: &Commit, parents: &mut Vec<Oid>, paths: &Paths) -> Done<bool> {
    if parents.is_empty() {
        return Ok(changes_among(repo, empty_tree(), commit.tree, paths)?.next().is_some());
    }
    for parent in parents.clone() {
        let tree = repo.commit(parent)?.tree;
        if changes_among(repo, tree, commit.tree, paths)?.next().is_none() {
            *parents = vec![parent];
            return Ok(false);
        }
    }
    Ok(true)
}

/// The changes between two trees that concern these paths.
pub fn changes_among<'p>(
    repo: &Repo,
    old: Oid,
    new: Oid,
    paths: &'p Paths,
) -> Done<impl Iterator<Item = Change> + use<'p>> {
    Ok(diff::trees(repo, old, new)?.into_iter().filter(|it| paths.has(it.path())))
}

fn passes(commit: &Commit, wanted: &Wanted) -> bool {
    let fits = |text: &str, words: &[String]| {
        let lower = |it: &str| if wanted.ignore_case { it.to_lowercase() } else { it.to_owned() };
        words.is_empty() || words.iter().any(|it| simple_match(&lower(it), &lower(text)))
    };
    let person = |it: &crate::person::Person| format!("{} <{}>", it.name, it.email);
    wanted.merges.is_none_or(|it| it == (commit.parents.len() > 1))
        && fits(&person(&commit.author), &wanted.author)
        && fits(&person(&commit.committer), &wanted.committer)
        && fits(&commit.message.to_str_lossy(), &wanted.grep)
        && wanted.since.is_none_or(|it| commit.committer.seconds >= it)
        && wanted.until.is_none_or(|it| commit.committer.seconds <= it)
}

/// A pattern of `--grep`: text, with `^`, `$`, `.` and `.*`; what else patterns have is not here.
fn simple_match(pattern: &str, text: &str) -> bool {
    text.lines().any(|line| {
        let (start, rest) = pattern.strip_prefix('^').map_or((false, pattern), |it| (true, it));
        let (end, rest) = rest.strip_suffix('$').map_or((false, rest), |it| (true, it));
        if !start && !end && !rest.contains('.') && !rest.contains('\\') {
            return line.contains(rest);
        }
        let rest = rest.replace(".*", "\u{1}").replace("\\.", "\u{2}").replace('.', "?");
        let rest = rest.replace('\u{1}', "*").replace('\u{2}', ".");
        let whole = format!("{}{rest}{}", if start { "" } else { "*" }, if end { "" } else { "*" });
        facts::pattern::fits(&whole, line)
    })
}

fn occurs_otherwise(repo: &Repo, commit: &Commit, text: &[u8], paths: &Paths) -> Done<bool> {
    let old = match commit.parents.first() {
        Some(parent) => repo.commit(*parent)?.tree,
        None => empty_tree(),
    };
    if commit.parents.len() > 1 {
        return Ok(false);
    }
    for change in changes_among(repo, old, commit.tree, paths)? {
        let count = |bytes: Vec<u8>| bytes.find_iter(text).count();
        if count(change.old.bytes(repo)?) != count(change.new.bytes(repo)?) {
            return Ok(true);
        }
    }
    Ok(false)
}

/// No parent before all of its children; each line of development together.
fn in_topological_order(steps: Vec<Step>) -> Vec<Step> {
    let mut children: HashMap<Oid, usize> = HashMap::new();
    let position: HashMap<Oid, usize> = steps.iter().enumerate().map(|(at, it)| (it.commit.id, at)).collect();
    for step in &steps {
        step.parents.iter().for_each(|it| *children.entry(*it).or_insert(0) += 1);
    }
    let tips = steps.iter().filter(|it| !children.contains_key(&it.commit.id));
    let mut stack: Vec<Oid> = tips.map(|it| it.commit.id).collect();
    stack.reverse();
    let mut ordered = Vec::with_capacity(steps.len());
    while let Some(id) = stack.pop() {
        let Some(at) = position.get(&id) else { continue };
        for parent in &steps[*at].parents {
            if let Some(left) = children.get_mut(parent) {
                *left -= 1;
                if *left == 0 {
                    stack.push(*parent);
                }
            }
        }
        ordered.push(*at);
    }
    let mut slots: Vec<Option<Step>> = steps.into_iter().map(Some).collect();
    ordered.into_iter().filter_map(|at| slots[at].take()).collect()
}

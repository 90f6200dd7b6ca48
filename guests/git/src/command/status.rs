//! `git status`, and the same text where a commit has nothing to commit.

use std::collections::BTreeMap;

use bstr::BString;

use super::args::Args;
use crate::diff::{Change, compare, rename};
use crate::fail::{Done, fatal};
use crate::index::Index;
use crate::object::{Files, empty_tree};
use crate::out;
use crate::pathspec::Paths;
use crate::quote::{Non, path as quoted, short as quoted_short};
use crate::repo::Repo;
use crate::repo::refs::{Head, short};
use crate::work::walk::{Show, untracked};

const TABLE: &[&str] = &[
    "s,short",
    "porcelain?",
    "b,branch",
    "u,untracked-files?",
    "long",
    "z",
    "ignored?",
    "v,verbose",
    "ahead-behind",
    "no-ahead-behind",
    "renames",
    "no-renames",
    "M,find-renames?",
    "column?",
    "no-column",
    "show-stash",
    "ignore-submodules?",
];

/// Everything there is to say.
pub struct Status {
    pub staged: Vec<Change>,
    pub unstaged: Vec<Change>,
    pub conflicts: BTreeMap<BString, u8>,
    pub untracked: Vec<BString>,
    pub ignored: Vec<BString>,
    pub first: bool,
}

/// Which untracked files are shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Untracked {
    No,
    Normal,
    All,
}

impl Status {
    /// Looks at everything.
    pub fn load(repo: &Repo, index: &Index, which: Untracked, ignored: bool, paths: &Paths) -> Done<Self> {
        let head = repo.head_id()?;
        let tree = head.map_or(Ok(empty_tree()), |it| repo.tree_of(it))?;
        let conflicts = index.conflicts();
        let mut before = repo.files(tree)?;
        before.retain(|path, _| !conflicts.contains_key(path));
        let staged = rename::find(repo, compare(&before, &index.files()), 50)?;
        let mut noted: Files = index.files();
        let now = repo.tracked(index)?;
        // What is only meant to be added counts as new in the work tree.
        noted.retain(|path, _| !conflicts.contains_key(path));
        let unstaged = compare(&noted, &now);
        let found = match which {
            Untracked::No => Default::default(),
            Untracked::Normal => untracked(repo, index, Show::Folders, ignored, paths)?,
            Untracked::All => untracked(repo, index, Show::Files, ignored, paths)?,
        };
        let mut all = Self {
            staged,
            unstaged,
            conflicts,
            untracked: found.untracked,
            ignored: found.ignored,
            first: head.is_none(),
        };
        if !paths.is_empty() {
            all.staged.retain(|it| paths.has(it.path()));
            all.unstaged.retain(|it| paths.has(it.path()));
            all.conflicts.retain(|it, _| paths.has(it));
        }
        Ok(all)
    }
}

pub fn run(repo: &Repo, args: &[String]) -> Done<i32> {
    let args = Args::parse(args, &[TABLE])?;
    let which = match args
        .value("u")
        .or_else(|| repo.config.get("status.showuntrackedfiles").filter(|_| !args.has("u")))
    {
        Some("no" | "false") => Untracked::No,
        Some("all") => Untracked::All,
        Some("normal" | "true") => Untracked::Normal,
        Some(other) => return Err(fatal(format!("Invalid untracked files mode '{other}'"))),
        None if args.has("u") => Untracked::All,
        None => Untracked::Normal,
    };
    repo.root()?;
    let paths = Paths::new(repo, &args.all_words())?;
    let index = Index::load(repo)?;
    let status = Status::load(repo, &index, which, args.has("ignored"), &paths)?;
    if args.value("porcelain") == Some("v2") {
        return Err(fatal("--porcelain=v2 is not here; --porcelain is"));
    }
    let machine = args.has("porcelain") || args.has("z");
    if (args.has("s") || machine) && !args.has("long") {
        if args.has("b") {
            branch_line(repo, &status)?;
        }
        brief(repo, &status, machine, args.has("z"));
    } else {
        long(repo, &status, which, false)?;
    }
    Ok(0)
}

fn branch_line(repo: &Repo, status: &Status) -> Done {
    let text = match repo.head()? {
        Head::Branch(name) if status.first => format!("No commits yet on {}", short(&name)),
        Head::Branch(name) => short(&name).to_owned(),
        Head::Detached(_) => "HEAD (no branch)".to_owned(),
    };
    out::line(format!("## {text}"));
    Ok(())
}

/// `XY path`.
fn brief(repo: &Repo, status: &Status, machine: bool, zero: bool) {
    let name = |path: &BString| match (zero, machine) {
        (true, _) => path.clone(),
        (_, true) => quoted_short(path, Non::Escaped),
        _ => quoted_short(&repo.relative(path), Non::Escaped),
    };
    let mut rows: BTreeMap<BString, ([u8; 2], Option<BString>)> = BTreeMap::new();
    for change in &status.staged {
        let from = (change.letter == b'R').then(|| change.old.path.clone());
        rows.insert(change.path().clone(), ([change.letter, b' '], from));
    }
    for change in &status.unstaged {
        rows.entry(change.path().clone()).or_insert(([b' ', b' '], None)).0[1] = change.letter;
    }
    for (path, stages) in &status.conflicts {
        let letters = match stages {
            1 => *b"DD",
            2 => *b"AU",
            3 => *b"UD",
            4 => *b"UA",
            5 => *b"DU",
            6 => *b"AA",
            _ => *b"UU",
        };
        rows.insert(path.clone(), (letters, None));
    }
    let end = if zero { b"\0" } else { b"\n" };
    for (path, (letters, from)) in &rows {
        let mut line = letters.to_vec();
        line.push(b' ');
        match (from, zero) {
            (Some(from), false) => {
                line.extend_from_slice(&[name(from).as_slice(), b" -> ", &name(path)].concat())
            }
            (Some(from), true) => line.extend_from_slice(&[path.as_slice(), b"\0", from].concat()),
            _ => line.extend_from_slice(&name(path)),
        }
        out::put([&line, end.as_slice()].concat());
    }
    for (sign, list) in [("?? ", &status.untracked), ("!! ", &status.ignored)] {
        list.iter().for_each(|it| out::put([sign.as_bytes(), &name(it), end].concat()));
    }
}

/// The text for people. `commit` if it is shown instead of a commit.
pub fn long(repo: &Repo, status: &Status, which: Untracked, commit: bool) -> Done {
    heading(repo)?;
    let merging = repo.git_dir.join("MERGE_HEAD").exists();
    let picking = repo
        .pseudo("CHERRY_PICK_HEAD")
        .map(|it| (it, "cherry-pick"))
        .or(repo.pseudo("REVERT_HEAD").map(|it| (it, "revert")));
    let open = !status.conflicts.is_empty();
    if merging && open {
        out::put(
            "You have unmerged paths.\n  (fix conflicts and run \"git commit\")\n  (use \"git merge --abort\" to abort the merge)\n\n",
        );
    } else if merging {
        out::put(
            "All conflicts fixed but you are still merging.\n  (use \"git commit\" to conclude merge)\n\n",
        );
    } else if let Some((id, verb)) = picking {
        let doing = if verb == "revert" { "reverting" } else { "cherry-picking" };
        out::line(format!("You are currently {doing} commit {}.", repo.odb.short(id)));
        match open {
            true => out::line(format!("  (fix conflicts and run \"git {verb} --continue\")")),
            false => out::line(format!("  (all conflicts fixed: run \"git {verb} --continue\")")),
        }
        out::put(format!(
            "  (use \"git {verb} --skip\" to skip this patch)\n  (use \"git {verb} --abort\" to cancel the {verb} operation)\n\n"
        ));
    }
    if status.first {
        out::put(if commit { "\nInitial commit\n\n" } else { "\nNo commits yet\n\n" });
    }
    sections(repo, status, merging || picking.is_some());
    footer(status, which);
    Ok(())
}

fn heading(repo: &Repo) -> Done {
    match repo.head()? {
        Head::Branch(name) => out::line(format!("On branch {}", short(&name))),
        Head::Detached(id) => {
            let moves = repo.moves("HEAD");
            let last = moves.iter().find_map(|it| {
                it.why.strip_prefix("checkout: moving from ")?.split_once(" to ").map(|to| (to.1, it.to))
            });
            let Some((name, at)) = last else {
                out::line("Not currently on any branch.");
                return Ok(());
            };
            let known = repo.full_name(name)?.is_some();
            let shown = if known { name.to_owned() } else { repo.odb.short(at) };
            let word = if at == id { "at" } else { "from" };
            out::line(format!("HEAD detached {word} {shown}"));
        }
    }
    Ok(())
}

fn sections(repo: &Repo, status: &Status, merging: bool) {
    let name = |path: &BString| quoted(&repo.relative(path), Non::Escaped);
    let row = |label: &str, path: &[u8]| out::line([b"\t", label.as_bytes(), path].concat());
    let labelled = |change: &Change| match change.letter {
        b'A' => row("new file:   ", &name(&change.new.path)),
        b'D' => row("deleted:    ", &name(&change.old.path)),
        b'T' => row("typechange: ", &name(&change.new.path)),
        b'R' => row(
            "renamed:    ",
            &[name(&change.old.path).as_slice(), b" -> ", &name(&change.new.path)].concat(),
        ),
        _ => row("modified:   ", &name(&change.new.path)),
    };
    if !status.staged.is_empty() {
        out::line("Changes to be committed:");
        if !merging {
            out::line(match status.first {
                true => "  (use \"git rm --cached <file>...\" to unstage)",
                false => "  (use \"git restore --staged <file>...\" to unstage)",
            });
        }
        status.staged.iter().for_each(labelled);
        out::line("");
    }
    if !status.conflicts.is_empty() {
        out::line("Unmerged paths:");
        if !merging {
            out::line("  (use \"git restore --staged <file>...\" to unstage)");
        }
        let gone = status.conflicts.values().any(|it| matches!(it, 1 | 3 | 5));
        out::line(if gone {
            "  (use \"git add/rm <file>...\" as appropriate to mark resolution)"
        } else {
            "  (use \"git add <file>...\" to mark resolution)"
        });
        for (path, stages) in &status.conflicts {
            let label = match stages {
                1 => "both deleted:    ",
                2 => "added by us:     ",
                3 => "deleted by them: ",
                4 => "added by them:   ",
                5 => "deleted by us:   ",
                6 => "both added:      ",
                _ => "both modified:   ",
            };
            row(label, &name(path));
        }
        out::line("");
    }
    if !status.unstaged.is_empty() {
        let gone = status.unstaged.iter().any(|it| it.letter == b'D');
        out::line("Changes not staged for commit:");
        out::line(match gone {
            true => "  (use \"git add/rm <file>...\" to update what will be committed)",
            false => "  (use \"git add <file>...\" to update what will be committed)",
        });
        out::line("  (use \"git restore <file>...\" to discard changes in working directory)");
        status.unstaged.iter().for_each(labelled);
        out::line("");
    }
    let lists = [
        ("Untracked files:", "git add", &status.untracked),
        ("Ignored files:", "git add -f", &status.ignored),
    ];
    for (title, verb, list) in lists.into_iter().filter(|it| !it.2.is_empty()) {
        out::line(title);
        out::line(format!("  (use \"{verb} <file>...\" to include in what will be committed)"));
        list.iter().for_each(|it| row("", &name(it)));
        out::line("");
    }
}

fn footer(status: &Status, which: Untracked) {
    if which == Untracked::No && (!status.staged.is_empty() || !status.unstaged.is_empty()) {
        out::line("Untracked files not listed (use -u option to show untracked files)");
    }
    if !status.staged.is_empty() {
        return;
    }
    out::line(match () {
        () if !status.unstaged.is_empty() || !status.conflicts.is_empty() => {
            "no changes added to commit (use \"git add\" and/or \"git commit -a\")"
        }
        () if !status.untracked.is_empty() => {
            "nothing added to commit but untracked files present (use \"git add\" to track)"
        }
        () if status.first => "nothing to commit (create/copy files and use \"git add\" to track)",
        () if which == Untracked::No => "nothing to commit (use -u to show untracked files)",
        () => "nothing to commit, working tree clean",
    });
}

/// The lines of `M\tpath` that a switch of branches leaves behind.
pub fn local_changes(repo: &Repo) -> Done {
    let index = Index::load(repo)?;
    let tree = repo.head_id()?.map_or(Ok(empty_tree()), |it| repo.tree_of(it))?;
    let now = repo.tracked(&index)?;
    for change in compare(&repo.files(tree)?, &now) {
        out::line([&[change.letter][..], b"\t", &quoted(change.path(), Non::Escaped)].concat());
    }
    Ok(())
}

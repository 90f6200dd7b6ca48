//! Goes through the trees, and asks the expression about everything it meets.

use super::eval::Search;
use super::expr::Links;
use facts::{Facts, Follow, Kind, name};
use std::cell::OnceCell;
use std::path::PathBuf;

/// One file, with the facts about it that somebody asked for.
pub(super) struct Entry<'a> {
    /// As it is printed, but for bytes that are not UTF-8: see `facts::name`.
    pub path: String,
    /// The starting point it was found below.
    pub start: &'a str,
    pub depth: usize,
    follow: Follow,
    /// What the directory said it is.
    told: Option<Kind>,
    facts: OnceCell<Option<Facts>>,
}

impl Entry<'_> {
    /// The last name of the path.
    pub(super) fn name(&self) -> &str {
        let path = match self.path.trim_end_matches('/') {
            "" => return &self.path,
            other => other,
        };
        path.rsplit('/').next().unwrap_or(path)
    }

    /// Where it is.
    pub(super) fn place(&self) -> PathBuf {
        name::path(&self.path)
    }

    /// The facts; those of a link itself if it leads nowhere.
    pub(super) fn facts(&self) -> Option<Facts> {
        let place = self.place();
        let ask = |follow| facts::of(&place, follow).ok();
        *self.facts.get_or_init(|| match self.follow {
            Follow::Yes => ask(Follow::Yes).or_else(|| ask(Follow::No)),
            Follow::No => ask(Follow::No),
        })
    }

    pub(super) fn kind(&self) -> Option<Kind> {
        match self.told {
            Some(kind) if self.follow == Follow::No || kind != Kind::Symlink => Some(kind),
            _ => self.facts().map(|it| it.kind),
        }
    }

    /// What a link leads to; `None` if nowhere.
    pub(super) fn target_kind(&self) -> Option<Kind> {
        match self.kind() {
            Some(Kind::Symlink) => facts::of(&self.place(), Follow::Yes).ok().map(|it| it.kind),
            other => other,
        }
    }

    pub(super) fn link_text(&self) -> Option<String> {
        let target = std::fs::read_link(self.place()).ok()?;
        Some(name::text(target.as_os_str()))
    }
}

/// What is to happen after an entry.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Next {
    Descend,
    /// Not into this directory.
    Skip,
    Quit,
}

/// The directories above an entry, as devices and inodes, and their paths.
type Above = Vec<((u64, u64), String)>;

/// Walks below one starting point.
pub(super) fn start(search: &mut Search<'_>, start: &str) -> Next {
    let follow = if search.plan.links == Links::Never { Follow::No } else { Follow::Yes };
    let entry = Entry { path: start.to_owned(), start, depth: 0, follow, told: None, facts: OnceCell::new() };
    if entry.facts().is_none() {
        let why = facts::of(&name::path(start), Follow::No).err();
        search.fail(&format!("'{start}': {}", why.as_ref().map(place::reason).unwrap_or_default()));
        return Next::Descend;
    }
    visit(search, &entry, &mut Vec::new())
}

fn visit(search: &mut Search<'_>, entry: &Entry<'_>, above: &mut Above) -> Next {
    let plan = search.plan;
    let asked = entry.depth >= plan.depth_min;
    let mut next = Next::Descend;
    if asked && !plan.children_first {
        next = search.meet(entry);
    }
    if next == Next::Descend && entry.depth < plan.depth_max && entry.kind() == Some(Kind::Directory) {
        next = match descend(search, entry, above) {
            Next::Quit => Next::Quit,
            _ => Next::Descend,
        };
    }
    if next != Next::Quit && asked && plan.children_first {
        next = search.meet(entry);
    }
    next
}

fn descend(search: &mut Search<'_>, entry: &Entry<'_>, above: &mut Above) -> Next {
    let follow = if search.plan.links == Links::Always { Follow::Yes } else { Follow::No };
    // Only links can lead back up.
    if follow == Follow::Yes
        && let Some(facts) = entry.facts()
    {
        let own = (facts.device, facts.inode);
        if let Some((_, path)) = above.iter().find(|it| it.0 == own) {
            let own = &entry.path;
            search.fail(&format!(
                "File system loop detected; '{own}' is part of the same file system loop as '{path}'."
            ));
            return Next::Descend;
        }
        above.push((own, entry.path.clone()));
    }
    let next = children(search, entry, follow, above);
    if follow == Follow::Yes {
        above.pop();
    }
    next
}

fn children(search: &mut Search<'_>, entry: &Entry<'_>, follow: Follow, above: &mut Above) -> Next {
    let listing = match std::fs::read_dir(entry.place()) {
        Ok(listing) => listing,
        Err(error) => {
            search.fail(&format!("'{}': {}", entry.path, place::reason(&error)));
            return Next::Descend;
        }
    };
    let base = if entry.path.ends_with('/') { entry.path.clone() } else { format!("{}/", entry.path) };
    // All of it first: what an action does to the directory must not change what is met in it.
    let names: Vec<(String, Option<Kind>)> = listing
        .flatten()
        .map(|it| (name::text(&it.file_name()), it.file_type().ok().and_then(kind_of)))
        .collect();
    for (name, told) in names {
        let child = Entry {
            path: format!("{base}{name}"),
            start: entry.start,
            depth: entry.depth + 1,
            follow,
            told,
            facts: OnceCell::new(),
        };
        if visit(search, &child, above) == Next::Quit {
            return Next::Quit;
        }
    }
    Next::Descend
}

fn kind_of(file: std::fs::FileType) -> Option<Kind> {
    match () {
        () if file.is_dir() => Some(Kind::Directory),
        () if file.is_symlink() => Some(Kind::Symlink),
        () if file.is_file() => Some(Kind::File),
        () => None,
    }
}

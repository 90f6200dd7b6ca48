//! Files or directories: which are compared with which.

use super::input::Side;
use super::settings::Settings;
use super::{SAME, push};
use crate::TROUBLE;
use std::collections::BTreeSet;
use std::path::Path;

/// Deeper trees are loops of links.
const DEPTH_MAX: usize = 200;

#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    Missing,
    File,
    Directory,
}

fn kind(name: &str) -> Kind {
    if name == "-" {
        return Kind::File;
    }
    match facts::of(Path::new(name), facts::Follow::Yes) {
        Ok(facts) if facts.kind == facts::Kind::Directory => Kind::Directory,
        Ok(_) => Kind::File,
        Err(_) => Kind::Missing,
    }
}

/// Compares the two operands.
pub(super) fn compare(settings: &Settings, out: &mut Vec<u8>) -> i32 {
    let [left, right] = settings.files.as_slice() else { return TROUBLE };
    // Standard input can be read once, and is equal to itself.
    if left == "-" && right == "-" {
        if settings.report_same {
            push(out, "Files - and - are identical\n");
        }
        return SAME;
    }
    let (mut left, mut right) = (left.clone(), right.clone());
    // A file and a directory: the file of that name in the directory.
    match (kind(&left), kind(&right)) {
        (Kind::Directory, Kind::File) if right != "-" => left = inside(&left, base(&right)),
        (Kind::File, Kind::Directory) if left != "-" => right = inside(&right, base(&left)),
        (Kind::Directory, Kind::Directory) => {
            let mut in_tree = settings.clone();
            in_tree.in_tree = true;
            return directories(&in_tree, &left, &right, 0, out);
        }
        _ => {}
    }
    let (a, b) = (kind(&left), kind(&right));
    let mut failed = false;
    for (name, kind, other) in [(&left, a, b), (&right, b, a)] {
        if kind == Kind::Missing && (!settings.new_file || other == Kind::Missing) {
            crate::complain("diff", &format!("{name}: No such file or directory"));
            failed = true;
        }
    }
    if failed {
        return TROUBLE;
    }
    let (left, right) = (side(&left, a), side(&right, b));
    super::files(settings, &left, &right, out)
}

fn side(name: &str, kind: Kind) -> Side {
    Side { name: name.to_owned(), absent: kind == Kind::Missing }
}

fn directories(settings: &Settings, left: &str, right: &str, depth: usize, out: &mut Vec<u8>) -> i32 {
    if depth > DEPTH_MAX {
        return crate::complain("diff", &format!("{left}: recursive directory loop"));
    }
    let mut names = BTreeSet::new();
    for folder in [left, right] {
        match std::fs::read_dir(folder) {
            Ok(listing) => {
                names.extend(listing.flatten().map(|it| it.file_name().to_string_lossy().into_owned()));
            }
            // One that is missing counts as empty where new files do.
            Err(_) if settings.new_file && kind(folder) == Kind::Missing => {}
            Err(error) => return crate::complain("diff", &format!("{folder}: {}", place::reason(&error))),
        }
    }
    names.retain(|name| !settings.exclude.iter().any(|pattern| facts::pattern::fits(pattern, name)));
    let mut status = SAME;
    for name in names {
        let (a, b) = (inside(left, &name), inside(right, &name));
        status = status.max(pair(settings, (left, right), &name, (&a, &b), depth, out));
    }
    status
}

fn pair(
    settings: &Settings,
    folders: (&str, &str),
    name: &str,
    (a, b): (&str, &str),
    depth: usize,
    out: &mut Vec<u8>,
) -> i32 {
    let kinds = (kind(a), kind(b));
    let only = |folder: &str, out: &mut Vec<u8>| {
        push(out, &format!("Only in {folder}: {name}\n"));
        1
    };
    match kinds {
        (Kind::Missing, Kind::Missing) => SAME,
        (Kind::Directory, Kind::Missing) | (Kind::Missing, Kind::Directory)
            if settings.new_file && settings.recursive =>
        {
            directories(settings, a, b, depth + 1, out)
        }
        (_, Kind::Missing) if !settings.new_file || kinds.0 == Kind::Directory => only(folders.0, out),
        (Kind::Missing, _) if !settings.new_file || kinds.1 == Kind::Directory => only(folders.1, out),
        (Kind::Directory, Kind::Directory) if settings.recursive => {
            directories(settings, a, b, depth + 1, out)
        }
        (Kind::Directory, Kind::Directory) => {
            push(out, &format!("Common subdirectories: {a} and {b}\n"));
            SAME
        }
        (Kind::Directory, _) | (_, Kind::Directory) => {
            let word = |kind| if kind == Kind::Directory { "directory" } else { "regular file" };
            let text = format!("File {a} is a {} while file {b} is a {}\n", word(kinds.0), word(kinds.1));
            push(out, &text);
            1
        }
        _ => super::files(settings, &side(a, kinds.0), &side(b, kinds.1), out),
    }
}

fn inside(folder: &str, name: &str) -> String {
    format!("{}/{name}", folder.trim_end_matches('/'))
}

fn base(path: &str) -> &str {
    path.rsplit('/').next().unwrap_or(path)
}

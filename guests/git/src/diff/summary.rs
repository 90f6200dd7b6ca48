//! The short lists: `--name-only`, `--name-status`, `--raw`, `--summary`; and everything that was asked for, in
//! git's order.

use bstr::BString;

use super::options::Options;
use super::{Change, Side, patch, rename, stat};
use crate::fail::Done;
use crate::out;
use crate::quote::{Non, path as quoted};
use crate::repo::Repo;

/// Finds renames, turns the sides round and leaves out what is not wanted.
pub fn prepare(repo: &Repo, changes: Vec<Change>, options: &Options) -> Done<Vec<Change>> {
    let mut changes = changes;
    if options.reverse {
        for change in &mut changes {
            std::mem::swap(&mut change.old, &mut change.new);
            change.letter = match change.letter {
                b'A' => b'D',
                b'D' => b'A',
                other => other,
            };
        }
    }
    if let Some(least) = options.renames {
        changes = rename::find(repo, changes, least)?;
    }
    if let Some(filter) = &options.filter {
        let upper = filter.bytes().any(|it| it.is_ascii_uppercase());
        changes.retain(|it| {
            let out = filter.bytes().any(|letter| letter == it.letter.to_ascii_lowercase());
            !out && (!upper || filter.as_bytes().contains(&it.letter))
        });
    }
    if let Some(prefix) = &options.relative {
        changes.retain(|it| it.new.path.starts_with(prefix.as_slice()));
        for side in changes.iter_mut().flat_map(|it| [&mut it.old, &mut it.new]) {
            side.path =
                side.path.strip_prefix(prefix.as_slice()).map_or_else(|| side.path.clone(), BString::from);
        }
    }
    Ok(changes)
}

/// Shows changes that were prepared, in every way that was asked for.
pub fn show(repo: &Repo, changes: &[Change], options: &Options) -> Done {
    if changes.is_empty() || options.quiet || options.none {
        return Ok(());
    }
    let mut before = false;
    if options.raw || options.name_only || options.name_status {
        changes.iter().for_each(|it| names(repo, it, options));
        before = true;
    }
    if options.stat || options.shortstat || options.numstat {
        let rows = stat::count(repo, changes, options)?;
        if options.numstat {
            stat::numbers(&rows);
        }
        if options.stat {
            stat::show(&rows, options.stat_width);
        }
        if options.shortstat {
            stat::total(&rows);
        }
        before = true;
    }
    if options.summary {
        changes.iter().for_each(mode_line);
        before = true;
    }
    if options.patch {
        if before {
            out::line("");
        }
        for change in changes {
            patch::show(repo, change, options)?;
        }
    }
    Ok(())
}

fn names(repo: &Repo, change: &Change, options: &Options) {
    let (end, tab) = if options.zero { (b"\0", b"\0") } else { (b"\n", b"\t") };
    let name = |path: &BString| if options.zero { path.clone() } else { quoted(path, Non::Escaped) };
    if options.name_only {
        out::put([name(change.path()).as_slice(), end].concat());
        return;
    }
    let mut row = Vec::new();
    if options.raw {
        let short = |side: &Side| match side.mode {
            0 => crate::null().to_string()[..7].to_owned(),
            _ if repo.odb.is_lent(side.id) => crate::null().to_string()[..7].to_owned(),
            _ => repo.odb.short(side.id),
        };
        let (old, new) = (&change.old, &change.new);
        row.extend_from_slice(
            format!(":{:06o} {:06o} {} {} ", old.mode, new.mode, short(old), short(new)).as_bytes(),
        );
    }
    row.push(change.letter);
    if matches!(change.letter, b'R' | b'C') {
        row.extend_from_slice(format!("{:03}", change.score).as_bytes());
        row.extend_from_slice(tab);
        row.extend_from_slice(&name(&change.old.path));
    }
    row.extend_from_slice(tab);
    row.extend_from_slice(&name(change.path()));
    row.extend_from_slice(end);
    out::put(row);
}

/// ` create mode 100644 a` and the like; nothing if just the content changed.
pub fn mode_line(change: &Change) {
    let (old, new) = (&change.old, &change.new);
    match change.letter {
        b'A' => out::line(
            [format!(" create mode {:06o} ", new.mode).as_bytes(), &quoted(&new.path, Non::Escaped)].concat(),
        ),
        b'D' => out::line(
            [format!(" delete mode {:06o} ", old.mode).as_bytes(), &quoted(&old.path, Non::Escaped)].concat(),
        ),
        b'R' => {
            let name = stat::renamed(&old.path, &new.path);
            out::line([b" rename ".as_slice(), &name, format!(" ({}%)", change.score).as_bytes()].concat());
            if old.mode != new.mode {
                out::line(format!(" mode change {:06o} => {:06o}", old.mode, new.mode));
            }
        }
        b'M' | b'T' if old.mode != new.mode => {
            let text = format!(" mode change {:06o} => {:06o} ", old.mode, new.mode);
            out::line([text.as_bytes(), &quoted(&new.path, Non::Escaped)].concat());
        }
        _ => {}
    }
}

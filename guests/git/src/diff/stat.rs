//! `--stat`, `--numstat` and `--shortstat`: how many lines came and went.

use bstr::{BString, ByteSlice as _};

use super::lines::{Place, hunks, split};
use super::options::Options;
use super::{Change, is_binary};
use crate::fail::Done;
use crate::out;
use crate::quote::{Non, path as quoted};
use crate::repo::Repo;

/// The counts of one path.
#[derive(Debug, Clone)]
pub struct Row {
    pub name: BString,
    pub added: usize,
    pub removed: usize,
    /// Counts are bytes then.
    pub binary: bool,
    unmerged: bool,
}

/// Counts every change.
pub fn count(repo: &Repo, changes: &[Change], options: &Options) -> Done<Vec<Row>> {
    let mut rows = Vec::new();
    for change in changes {
        let name = match change.letter {
            b'R' | b'C' => renamed(&change.old.path, &change.new.path),
            _ => quoted(change.path(), Non::Escaped),
        };
        if change.letter == b'U' {
            rows.push(Row { name, added: 0, removed: 0, binary: false, unmerged: true });
            continue;
        }
        let (old, new) = (change.old.bytes(repo)?, change.new.bytes(repo)?);
        let binary = is_binary(&old) || is_binary(&new);
        let (added, removed) = match binary {
            true if change.old.id == change.new.id => (0, 0),
            true => (new.len(), old.len()),
            false => {
                let found = hunks(&split(&old), &split(&new), options.space, Place::Indent);
                let sum = |it: &dyn Fn(&imara_diff::Hunk) -> usize| found.iter().map(it).sum();
                (sum(&|it| it.after.len()), sum(&|it| it.before.len()))
            }
        };
        let spaced = options.space != Default::default();
        if spaced && added + removed == 0 && change.letter == b'M' && change.old.mode == change.new.mode {
            continue;
        }
        rows.push(Row { name, added, removed, binary, unmerged: false });
    }
    Ok(rows)
}

/// `dir/{old => new}/file`.
pub fn renamed(old: &[u8], new: &[u8]) -> BString {
    let (old_quoted, new_quoted) = (quoted(old, Non::Escaped), quoted(new, Non::Escaped));
    if old_quoted != old || new_quoted != new {
        return [&old_quoted, b" => ".as_slice(), &new_quoted].concat().into();
    }
    let same = old.iter().zip(new).take_while(|(a, b)| a == b).count();
    let prefix = old[..same].rfind_byte(b'/').map_or(0, |it| it + 1);
    let mut suffix = 0;
    // A common end begins with a slash, which it may share with the common beginning.
    let least = prefix.saturating_sub(1);
    for count in 1..=old.len().min(new.len()).saturating_sub(least) {
        let (a, b) = (old[old.len() - count], new[new.len() - count]);
        if a != b {
            break;
        }
        if a == b'/' {
            suffix = count;
        }
    }
    let middle = |it: &[u8]| it.get(prefix..it.len().saturating_sub(suffix)).unwrap_or_default().to_vec();
    if prefix + suffix == 0 {
        return [old, b" => ", new].concat().into();
    }
    let (a, b) = (middle(old), middle(new));
    [&old[..prefix], b"{", &a, b" => ", &b, b"}", &old[old.len() - suffix..]].concat().into()
}

/// `--stat`.
pub fn show(rows: &[Row], width: usize) {
    if rows.is_empty() {
        return;
    }
    let change = |row: &Row| if row.binary { 0 } else { row.added + row.removed };
    let longest = rows.iter().map(|it| columns(&it.name)).max().unwrap_or(0);
    let most = rows.iter().map(change).max().unwrap_or(0);
    let any_binary = rows.iter().any(|it| it.binary);
    let digits = |it: usize| it.to_string().len();
    let binary = |row: &Row| if row.binary { 14 + digits(row.added) + digits(row.removed) } else { 0 };
    let binary_width = rows.iter().map(binary).max().unwrap_or(0);
    let number = if any_binary { digits(most).max(3) } else { digits(most) };
    let width = width.max(16 + 6 + number);
    let mut graph = if most + 4 > binary_width { most } else { binary_width - 4 };
    let mut name = longest;
    if name + number + 6 + graph > width {
        graph = graph.min((width * 3 / 8).saturating_sub(number + 6).max(6));
        if name > width - number - 6 - graph {
            name = width - number - 6 - graph;
        } else {
            graph = width - number - 6 - name;
        }
    }
    for row in rows {
        one(row, name, number, graph, most);
    }
    total(rows);
}

fn one(row: &Row, name: usize, number: usize, graph: usize, most: usize) {
    let (mut shown, mut dots) = (row.name.to_vec(), "");
    if columns(&row.name) > name {
        dots = "...";
        let room = name.saturating_sub(3);
        while columns(&shown) > room && !shown.is_empty() {
            shown.remove(0);
        }
        if let Some(slash) = shown.find_byte(b'/') {
            shown.drain(..slash);
        }
    }
    let used = dots.len() + columns(&shown);
    let padding = " ".repeat(name.saturating_sub(used));
    out::put([b" ", dots.as_bytes(), &shown, padding.as_bytes(), b" | "].concat());
    if row.unmerged {
        out::line("Unmerged");
        return;
    }
    if row.binary {
        out::put(format!("{:>number$}", "Bin"));
        if row.added + row.removed > 0 {
            out::put(format!(" {} -> {} bytes", row.removed, row.added));
        }
        out::line("");
        return;
    }
    let (mut added, mut removed) = (row.added, row.removed);
    out::put(format!("{:>number$}", added + removed));
    if graph <= most && added + removed > 0 {
        let scale = |it: usize| if it == 0 { 0 } else { 1 + it * (graph - 1) / most };
        let mut both = scale(added + removed);
        if both < 2 && added > 0 && removed > 0 {
            both = 2;
        }
        if added < removed {
            added = scale(added);
            removed = both - added;
        } else {
            removed = scale(removed);
            added = both - removed;
        }
    }
    if added + removed > 0 {
        out::put(format!(" {}{}", "+".repeat(added), "-".repeat(removed)));
    }
    out::line("");
}

fn columns(name: &[u8]) -> usize {
    name.chars().map(|it| usize::from(!it.is_control())).sum()
}

/// ` 2 files changed, 1 insertion(+)`.
pub fn total(rows: &[Row]) {
    let counted = rows.iter().filter(|it| !it.unmerged);
    let (mut files, mut added, mut removed) = (0, 0, 0);
    for row in counted {
        files += 1;
        if !row.binary {
            added += row.added;
            removed += row.removed;
        }
    }
    let plural = |count: usize| if count == 1 { "" } else { "s" };
    if files == 0 {
        out::line(" 0 files changed");
        return;
    }
    let mut text = format!(" {files} file{} changed", plural(files));
    if added > 0 || removed == 0 {
        text.push_str(&format!(", {added} insertion{}(+)", plural(added)));
    }
    if removed > 0 || added == 0 {
        text.push_str(&format!(", {removed} deletion{}(-)", plural(removed)));
    }
    out::line(text);
}

/// `--numstat`.
pub fn numbers(rows: &[Row]) {
    for row in rows {
        match row.binary {
            true => out::put("-\t-\t"),
            false => out::put(format!("{}\t{}\t", row.added, row.removed)),
        }
        out::line(&row.name);
    }
}

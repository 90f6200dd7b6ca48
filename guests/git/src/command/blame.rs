//! `git blame`.

use bstr::BString;

use super::args::Args;
use crate::Oid;
use crate::date::{Style, show};
use crate::diff::lines::split;
use crate::fail::{Done, fatal};
use crate::history::blame::{Origin, find};
use crate::out;
use crate::pathspec::inside;
use crate::repo::Repo;

pub fn run(repo: &Repo, args: &[String]) -> Done<i32> {
    let args = Args::parse(
        args,
        &[&[
            "L=",
            "s",
            "l",
            "e,show-email",
            "f,show-name",
            "n,show-number",
            "porcelain",
            "p",
            "w",
            "M?",
            "C?",
            "date=",
            "abbrev=",
            "t",
            "root",
        ]],
    )?;
    for absent in ["porcelain", "p", "w", "M", "C"] {
        if args.has(absent) {
            return Err(fatal(format!("blame -{absent}: not here")));
        }
    }
    let mut words = args.words.clone();
    let file = args
        .after
        .first()
        .cloned()
        .or_else(|| words.pop())
        .ok_or_else(|| crate::fail::usage("usage: git blame [<options>] [<rev>] [--] <file>"))?;
    let path = inside(repo, &repo.prefix, &facts::name::bytes(&file), &file)?;
    let start = repo.rev_commit(words.first().map_or("HEAD", String::as_str))?;
    let tree = repo.tree_of(start)?;
    let Some((mode, id)) = repo.entry_at(tree, &path)?.filter(|it| it.0 != crate::object::TREE) else {
        return Err(fatal(format!(
            "no such path '{path}' in {}",
            words.first().map_or("HEAD", String::as_str)
        )));
    };
    let bytes = match words.is_empty() && !repo.is_bare() {
        true => {
            let place = repo.path(&path)?;
            let kind = if mode == crate::object::LINK { facts::Kind::Symlink } else { facts::Kind::File };
            if place.symlink_metadata().is_err() {
                return Err(fatal(format!("Cannot lstat '{path}': No such file or directory")));
            }
            repo.file_bytes(&place, kind)?
        }
        false => repo.odb.blob(id)?,
    };
    let origins = find(repo, start, &path, &bytes)?;
    let range = lines_of(args.value("L"), origins.len())?;
    print(repo, &args, &path, &bytes, &origins, range)?;
    Ok(0)
}

/// `-L from,to`, `-L from,+count`.
fn lines_of(text: Option<&str>, count: usize) -> Done<(usize, usize)> {
    let Some(text) = text else { return Ok((0, count)) };
    let bad = || fatal(format!("-L argument not 'start,end' in numbers: {text}"));
    let (from, to) = text.split_once(',').unwrap_or((text, ""));
    let start: usize = if from.is_empty() { 1 } else { from.parse().map_err(|_| bad())? };
    let end = match to.strip_prefix('+') {
        _ if to.is_empty() => count,
        Some(more) => start + more.parse::<usize>().map_err(|_| bad())? - 1,
        None => to.parse().map_err(|_| bad())?,
    };
    if start > count || start == 0 {
        return Err(fatal(format!("file has only {count} line{}", if count == 1 { "" } else { "s" })));
    }
    Ok((start - 1, end.min(count)))
}

struct Row {
    id: String,
    name: String,
    date: String,
    path: BString,
    line: usize,
}

fn row(repo: &Repo, args: &Args, origin: Option<&Origin>, path: &BString, at: usize) -> Done<Row> {
    let style = match args.value("date") {
        Some(text) => Style::named(text).ok_or_else(|| fatal(format!("unknown date format {text}")))?,
        None => Style::Iso,
    };
    let digits = if args.has("l") {
        40
    } else {
        args.value("abbrev").and_then(|it| it.parse().ok()).unwrap_or_else(|| repo.odb.short_len()) + 1
    };
    let hash = |id: Oid, root: bool| match root && !args.has("root") {
        true => format!("^{}", &id.to_string()[..(digits - 1).min(40)]),
        false => id.to_string()[..digits.min(40)].to_owned(),
    };
    let Some(Origin { commit: Some(id), path, line, root }) = origin else {
        let name = if args.has("e") { "<not.committed.yet>" } else { "Not Committed Yet" };
        return Ok(Row {
            id: hash(crate::null(), false),
            name: name.to_owned(),
            date: show(crate::date::now(), 0, &style),
            path: path.clone(),
            line: at,
        });
    };
    let who = repo.commit(*id)?.author;
    let name = if args.has("e") { format!("<{}>", who.email) } else { who.name.to_string() };
    Ok(Row {
        id: hash(*id, *root),
        name,
        date: show(who.seconds, who.zone, &style),
        path: path.clone(),
        line: *line,
    })
}

fn print(
    repo: &Repo,
    args: &Args,
    path: &BString,
    bytes: &[u8],
    origins: &[Option<Origin>],
    range: (usize, usize),
) -> Done {
    let mut rows = Vec::new();
    for (at, origin) in origins.iter().enumerate().take(range.1).skip(range.0) {
        rows.push(row(repo, args, origin.as_ref(), path, at)?);
    }
    let moved = args.has("f") || rows.iter().any(|it| it.path != *path);
    let width = |of: &dyn Fn(&Row) -> usize| rows.iter().map(of).max().unwrap_or(0);
    let names = width(&|it| it.name.chars().count());
    let paths = width(&|it| it.path.len());
    let numbers = range.1.to_string().len();
    let theirs = width(&|it| (it.line + 1).to_string().len());
    let lines = split(bytes);
    for (offset, row) in rows.iter().enumerate() {
        let at = range.0 + offset;
        let mut text = row.id.clone();
        if moved {
            text.push_str(&format!(" {:paths$}", row.path.to_string()));
        }
        if args.has("n") {
            text.push_str(&format!(" {:>theirs$}", row.line + 1));
        }
        match args.has("s") {
            true => text.push_str(&format!(" {:>numbers$}) ", at + 1)),
            false => text.push_str(&format!(" ({:names$} {} {:>numbers$}) ", row.name, row.date, at + 1)),
        }
        out::put(text);
        out::put(lines[at]);
        if !lines[at].ends_with(b"\n") {
            out::put("\n");
        }
    }
    Ok(())
}

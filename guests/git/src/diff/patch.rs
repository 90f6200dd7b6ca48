//! Changes as a patch.

use bstr::{BString, ByteSlice as _};
use imara_diff::Hunk;

use super::lines::{Place, hunks, split};
use super::options::Options;
use super::{Change, is_binary};
use crate::fail::Done;
use crate::out;
use crate::quote::{Non, prefixed};
use crate::repo::Repo;

/// What a hunk's first line says about where it is.
const CONTEXT_BYTES_MAX: usize = 80;

/// Prints one change.
pub fn show(repo: &Repo, change: &Change, options: &Options) -> Done {
    if options.reverse {
        let (old, new) = options.prefixes.clone();
        let turned = Options { reverse: false, prefixes: (new, old), ..options.clone() };
        return show(repo, change, &turned);
    }
    if change.letter == b'U' {
        out::line(format!("* Unmerged path {}", change.new.path));
        return Ok(());
    }
    // A file that became a link, or the other way round, is shown as gone and come.
    if change.letter == b'T' {
        let (mut gone, mut came) = (change.clone(), change.clone());
        gone.letter = b'D';
        (gone.new.mode, gone.new.id) = (0, crate::null());
        came.letter = b'A';
        (came.old.mode, came.old.id) = (0, crate::null());
        show(repo, &gone, options)?;
        return show(repo, &came, options);
    }
    let (old, new) = (change.old.bytes(repo)?, change.new.bytes(repo)?);
    let binary = !options.as_text && (is_binary(&old) || is_binary(&new));
    let (before, after) = (split(&old), split(&new));
    let found = match binary {
        true => Vec::new(),
        false => hunks(&before, &after, options.space, Place::Indent),
    };
    let spaced = options.space != Default::default();
    if spaced && found.is_empty() && !binary && change.letter == b'M' && change.old.mode == change.new.mode {
        return Ok(());
    }
    head(repo, change, options);
    if binary && old != new {
        let (left, right) = names(change, options);
        out::line([b"Binary files ".as_slice(), &left, b" and ", &right, b" differ"].concat());
        return Ok(());
    }
    if found.is_empty() {
        return Ok(());
    }
    let (left, right) = names(change, options);
    let tab = |path: &BString, name: &BString| {
        if path.contains(&b' ') && !name.starts_with(b"\"") { "\t" } else { "" }
    };
    out::line([b"--- ".as_slice(), &left, tab(&change.old.path, &left).as_bytes()].concat());
    out::line([b"+++ ".as_slice(), &right, tab(&change.new.path, &right).as_bytes()].concat());
    Printer { before, after, context: options.context }.all(&found);
    Ok(())
}

fn names(change: &Change, options: &Options) -> (BString, BString) {
    let name = |prefix: &str, path: &BString, there: bool| match there {
        true => prefixed(prefix, path, Non::Escaped),
        false => BString::from("/dev/null"),
    };
    let (before, after) = (&options.prefixes.0, &options.prefixes.1);
    (
        name(before, &change.old.path, change.old.mode != 0),
        name(after, &change.new.path, change.new.mode != 0),
    )
}

fn head(repo: &Repo, change: &Change, options: &Options) {
    let (old, new) = (&change.old, &change.new);
    let (left, right) = (
        prefixed(&options.prefixes.0, &old.path, Non::Escaped),
        prefixed(&options.prefixes.1, &new.path, Non::Escaped),
    );
    out::line([b"diff --git ".as_slice(), &left, b" ", &right].concat());
    match (old.mode, new.mode) {
        (0, mode) => out::line(format!("new file mode {mode:06o}")),
        (mode, 0) => out::line(format!("deleted file mode {mode:06o}")),
        (before, after) if before != after => {
            out::line(format!("old mode {before:06o}\nnew mode {after:06o}"));
        }
        _ => {}
    }
    if change.letter == b'R' {
        out::line(format!("similarity index {}%", change.score));
        out::line([b"rename from ".as_slice(), &crate::quote::path(&old.path, Non::Escaped)].concat());
        out::line([b"rename to ".as_slice(), &crate::quote::path(&new.path, Non::Escaped)].concat());
    }
    if old.id != new.id {
        let short = |side: &super::Side| match (side.mode, options.full_index) {
            (_, true) => side.id.to_string(),
            (0, false) => crate::null().to_string()[..repo.odb.short_len()].to_owned(),
            _ => repo.odb.short(side.id),
        };
        let mode = if old.mode == new.mode { format!(" {:06o}", old.mode) } else { String::new() };
        out::line(format!("index {}..{}{mode}", short(old), short(new)));
    }
}

/// Prints the hunks of two texts.
pub struct Printer<'t> {
    pub before: Vec<&'t [u8]>,
    pub after: Vec<&'t [u8]>,
    pub context: usize,
}

impl Printer<'_> {
    /// All hunks, those that touch each other's context as one.
    pub fn all(&self, found: &[Hunk]) {
        let mut at = 0;
        let mut heading: Vec<u8> = Vec::new();
        let mut searched = None;
        while at < found.len() {
            let mut end = at + 1;
            while end < found.len()
                && (found[end].before.start - found[end - 1].before.end) as usize <= 2 * self.context
            {
                end += 1;
            }
            self.one(&found[at..end], &mut heading, &mut searched);
            at = end;
        }
    }

    fn one(&self, group: &[Hunk], heading: &mut Vec<u8>, searched: &mut Option<usize>) {
        let (Some(first), Some(last)) = (group.first(), group.last()) else { return };
        let start = (first.before.start as usize).saturating_sub(self.context);
        let lead = first.before.start as usize - start;
        let after_start = first.after.start as usize - lead.min(first.after.start as usize);
        let tail = self.context.min(self.before.len() - last.before.end as usize);
        let (end, after_end) = (last.before.end as usize + tail, last.after.end as usize + tail);
        self.heading(start, heading, searched);
        let range = |from: usize, to: usize| match to - from {
            0 => format!("{from},0"),
            1 => format!("{}", from + 1),
            count => format!("{},{count}", from + 1),
        };
        let mut line =
            format!("@@ -{} +{} @@", range(start, end), range(after_start, after_end)).into_bytes();
        if !heading.is_empty() {
            line.push(b' ');
            line.extend_from_slice(heading);
        }
        out::line(line);
        // What did not change is shown as it is now, which differs where white space does not count.
        let mut at = after_start;
        for hunk in group {
            self.lines(b' ', &self.after[at..hunk.after.start as usize]);
            self.lines(b'-', &self.before[hunk.before.start as usize..hunk.before.end as usize]);
            self.lines(b'+', &self.after[hunk.after.start as usize..hunk.after.end as usize]);
            at = hunk.after.end as usize;
        }
        self.lines(b' ', &self.after[at..after_end]);
    }

    /// The last line before a hunk that begins like a definition; the one found before if there is none.
    fn heading(&self, start: usize, heading: &mut Vec<u8>, searched: &mut Option<usize>) {
        let limit = searched.map_or(0, |it| it + 1);
        let begins = |line: &&[u8]| {
            line.first().is_some_and(|it| it.is_ascii_alphabetic() || *it == b'_' || *it == b'$')
        };
        if let Some(line) = self.before.get(limit..start).into_iter().flatten().rev().find(|it| begins(it)) {
            *heading = line[..line.len().min(CONTEXT_BYTES_MAX)].trim_end().to_vec();
        }
        *searched = start.checked_sub(1);
    }

    fn lines(&self, sign: u8, lines: &[&[u8]]) {
        for line in lines {
            out::put([sign]);
            out::put(line);
            if !line.ends_with(b"\n") {
                out::put(b"\n\\ No newline at end of file\n");
            }
        }
    }
}

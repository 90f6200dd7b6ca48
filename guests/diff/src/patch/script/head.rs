//! What stands before the hunks of a file: names, git's words, and mail that means nothing.

use super::{FilePatch, Lines, normal, trimmed};

/// A name from a head.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Name {
    pub path: String,
    /// The time beside it is the beginning of time, or it is `/dev/null`: there is no such file.
    pub absent: bool,
}

/// What git says of a file.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Git {
    /// The names of the `diff --git` line.
    pub names: Option<(String, String)>,
    pub rename: Option<(String, String)>,
    pub copy: Option<(String, String)>,
    pub created: bool,
    pub deleted: bool,
    /// The permissions before and after.
    pub old_mode: Option<u32>,
    pub new_mode: Option<u32>,
}

impl Git {
    /// Whether there is something to do even without a hunk.
    pub(crate) fn says_something(&self) -> bool {
        self.rename.is_some()
            || self.copy.is_some()
            || self.created
            || self.deleted
            || self.new_mode.is_some()
    }
}

/// How the hunks are written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Format {
    Unified,
    Context,
    Normal,
    None,
}

/// Reads up to the first hunk, or to the end.
pub(super) fn read(lines: &mut Lines<'_>, patch: &mut FilePatch) -> Format {
    let mut from = (None, None);
    while let Some(line) = lines.peek() {
        let text = String::from_utf8_lossy(trimmed(line)).into_owned();
        if let Some(names) = text.strip_prefix("diff --git ") {
            // The next file starts, and this one had no hunk.
            if patch.git.names.is_some() {
                return Format::None;
            }
            patch.git.names = git_names(names);
        } else if is_unified(lines) {
            return Format::Unified;
        } else if is_context(lines) {
            return Format::Context;
        } else if normal::starts(line) && patch.git.names.is_none() {
            return Format::Normal;
        }
        note(&text, patch, &mut from);
        patch.head.push(text);
        lines.at += 1;
    }
    Format::None
}

fn note(text: &str, patch: &mut FilePatch, from: &mut (Option<String>, Option<String>)) {
    let git = &mut patch.git;
    if let Some(name) = text.strip_prefix("Index: ") {
        patch.index = Some(name.trim().to_owned());
    } else if git.names.is_none() {
    } else if let Some(mode) = text.strip_prefix("new file mode ") {
        git.created = true;
        git.new_mode = octal(mode);
    } else if let Some(mode) = text.strip_prefix("deleted file mode ") {
        git.deleted = true;
        git.old_mode = octal(mode);
    } else if let Some(mode) = text.strip_prefix("old mode ") {
        git.old_mode = octal(mode);
    } else if let Some(mode) = text.strip_prefix("new mode ") {
        git.new_mode = octal(mode);
    } else if let Some(name) = text.strip_prefix("rename from ") {
        from.0 = Some(name.to_owned());
    } else if let Some(name) = text.strip_prefix("copy from ") {
        from.1 = Some(name.to_owned());
    } else if let Some(name) = text.strip_prefix("rename to ") {
        git.rename = from.0.take().map(|from| (from, name.to_owned()));
    } else if let Some(name) = text.strip_prefix("copy to ") {
        git.copy = from.1.take().map(|from| (from, name.to_owned()));
    }
}

/// The permissions of a mode as git writes it; nothing if it is none, or not a file's.
fn octal(text: &str) -> Option<u32> {
    let mode = u32::from_str_radix(text.trim(), 8).ok()?;
    (mode & !0o777 == 0o100_000).then_some(mode & 0o777)
}

/// `a/x b/x`: both names are the same behind their first folder, so the middle blank divides them.
fn git_names(text: &str) -> Option<(String, String)> {
    let middle = text.len() / 2;
    if text.is_char_boundary(middle) && text.as_bytes().get(middle) == Some(&b' ') {
        return Some((text[..middle].to_owned(), text[middle + 1..].to_owned()));
    }
    text.split_once(' ').map(|(old, new)| (old.to_owned(), new.to_owned()))
}

fn is_unified(lines: &Lines<'_>) -> bool {
    let starts = |ahead: usize, with: &[u8]| lines.ahead(ahead).is_some_and(|it| it.starts_with(with));
    (starts(0, b"--- ") && starts(1, b"+++ ") && starts(2, b"@@ -")) || starts(0, b"@@ -")
}

fn is_context(lines: &Lines<'_>) -> bool {
    let starts = |ahead: usize, with: &[u8]| lines.ahead(ahead).is_some_and(|it| it.starts_with(with));
    (starts(0, b"*** ") && starts(1, b"--- ") && starts(2, b"***************"))
        || (starts(0, b"***************") && starts(1, b"*** "))
}

/// The name after a mark such as `--- `.
pub(super) fn name(line: &[u8]) -> Option<Name> {
    let text = String::from_utf8_lossy(trimmed(line)).into_owned();
    let text = text.get(4..)?.trim_start().trim_end_matches('\r').to_owned();
    let (path, time) = match quoted(&text) {
        Some((path, rest)) => (path, rest),
        None => match text.split_once('\t').or_else(|| text.split_once(' ')) {
            Some((path, time)) => (path.to_owned(), time.to_owned()),
            None => (text, String::new()),
        },
    };
    let absent = path == "/dev/null" || is_beginning(&time);
    Some(Name { path, absent })
}

/// A name in quotes, as C writes it, and what follows.
fn quoted(text: &str) -> Option<(String, String)> {
    let mut letters = text.strip_prefix('"')?.char_indices();
    let mut name = String::new();
    while let Some((at, letter)) = letters.next() {
        match letter {
            '"' => return Some((name, text.get(at + 2..).unwrap_or_default().to_owned())),
            '\\' => match letters.next()?.1 {
                'n' => name.push('\n'),
                't' => name.push('\t'),
                other => name.push(other),
            },
            other => name.push(other),
        }
    }
    None
}

/// Midnight of the first of January 1970, in any zone.
fn is_beginning(time: &str) -> bool {
    let time = time.trim();
    let zero = |text: &str| text.bytes().all(|it| matches!(it, b'0' | b':' | b'.'));
    match time.split_once(' ') {
        Some(("1970-01-01", clock)) => zero(clock.split(' ').next().unwrap_or_default()),
        _ => time.starts_with("Thu Jan  1 00:00:00 1970"),
    }
}

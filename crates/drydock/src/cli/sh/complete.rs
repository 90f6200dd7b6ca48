//! What a half-typed word could become: a command where one stands, a path elsewhere.
//!
//! The line is not parsed: this looks back for the last blank or operator, knows no quotes and expands nothing. What it
//! finds is only offered to whoever typed it, and what they send is read by the shell's guest.

use drydock_embed::{
    Dock, DockShell,
    contract::port::{FileKind, Files, Follow, Registry as _, TreePath},
};

use crate::show;

/// More than this no one reads.
const CANDIDATES_MAX: usize = 500;

/// Nobody types more; what was pasted is not looked at.
const TYPED_BYTES_MAX: usize = 64 << 10;

/// The commands there are.
pub(super) struct Names(Vec<String>);

impl Names {
    pub(super) fn of(dock: &Dock) -> Self {
        Self(dock.registry().names().iter().map(ToString::to_string).collect())
    }

    pub(super) fn has(&self, name: &str) -> bool {
        self.0.binary_search_by(|it| it.as_str().cmp(name)).is_ok()
    }
}

/// Where the last word of `typed` starts, and what it could be.
pub(super) fn candidates(names: &Names, shell: &DockShell, typed: &str) -> (usize, Vec<String>) {
    let Some(word) = last_word(typed) else { return (typed.len(), Vec::new()) };
    let start = typed.len() - word.len();
    let mut found = match stands_first(&typed[..start]) && !word.contains('/') {
        true => {
            let mut all = shell.names_with(word);
            all.extend(names.0.iter().filter(|it| it.starts_with(word)).cloned());
            all
        }
        false => shell.files().map(|files| paths(&**files, shell.cwd(), word)).unwrap_or_default(),
    };
    found.sort_unstable();
    found.dedup();
    found.truncate(CANDIDATES_MAX);
    (start, found)
}

/// What stands behind the last blank or operator; nothing of a line that is too long. A blank may have several bytes.
fn last_word(typed: &str) -> Option<&str> {
    let ends = |it: char| it.is_whitespace() || "|&;()<>".contains(it);
    (typed.len() <= TYPED_BYTES_MAX).then(|| typed.rsplit(ends).next().unwrap_or_default())
}

/// Whether a command is expected after this text.
fn stands_first(before: &str) -> bool {
    let before = before.trim_end();
    let keywords = ["then", "do", "else", "elif", "if", "while", "until", "!", "{", "time"];
    before.is_empty()
        || before.ends_with(['|', ';', '&', '('])
        || keywords.iter().any(|word| before.rsplit(char::is_whitespace).next() == Some(word))
}

/// Paths that start like `word`; directories end in a slash.
fn paths(files: &dyn Files, cwd: &str, word: &str) -> Vec<String> {
    let (folder, stem) = word.rsplit_once('/').map_or(("", word), |(folder, stem)| (folder, stem));
    let full = match word.starts_with('/') {
        true => folder.to_owned(),
        false => format!("{cwd}/{folder}"),
    };
    let Ok(path) = TreePath::new(full.trim_start_matches('/')) else { return Vec::new() };
    let entries = files.read_dir(&path).unwrap_or_default();
    let starts = |name: &str| name.starts_with(stem) && (stem.starts_with('.') || !name.starts_with('.'));
    // A name that would draw on the terminal is not offered.
    let plain = |name: &str| show::plain(name) == name && !name.contains(char::is_whitespace);
    let found = entries.into_iter().filter(|it| starts(&it.name) && plain(&it.name));
    found
        .map(|it| {
            let slash = if it.kind == FileKind::Directory { "/" } else { "" };
            let head = &word[..word.len() - stem.len()];
            format!("{head}{}{slash}", it.name)
        })
        .collect()
}

/// Whether a word names a file of the shell's.
pub(super) fn is_file(shell: &DockShell, word: &str) -> bool {
    let full = if word.starts_with('/') { word.to_owned() } else { format!("{}/{word}", shell.cwd()) };
    let path = TreePath::new(full.trim_start_matches('/'));
    let found = path.ok().and_then(|it| shell.files().and_then(|files| files.stat(&it, Follow::Yes).ok()));
    found.is_some_and(|it| it.kind == FileKind::File)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_command_is_expected_at_the_start_and_after_separators() {
        for text in ["", "a | ", "a && ", "if ", "x; do ", "(", "! "] {
            assert!(stands_first(text), "{text}");
        }
        for text in ["cat ", "echo a b ", "x < "] {
            assert!(!stands_first(text), "{text}");
        }
    }

    #[test]
    fn the_last_word_begins_behind_any_blank_or_operator() {
        let cases =
            [("", ""), ("upp", "upp"), ("a b", "b"), ("a\u{a0}é", "é"), ("a\u{3000}", ""), ("x>f", "f")];
        for (typed, word) in cases {
            assert_eq!(last_word(typed), Some(word), "{typed}");
        }
        assert_eq!(last_word(&"a ".repeat(TYPED_BYTES_MAX)), None);
    }
}

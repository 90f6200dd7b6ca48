//! What a half-typed word could become: a command where one stands, a path elsewhere. Which word that is, and what it
//! is, the shell's guest says.

use drydock_embed::{
    Dock, DockShell,
    contract::port::{FileKind, Files, Follow, Registry as _, TreePath},
    shell::WordRole,
};

use crate::show;

/// More than this no one reads.
const CANDIDATES_MAX: usize = 500;

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

/// What a word could be.
pub(super) fn candidates(names: &Names, shell: &DockShell, word: &str, role: WordRole) -> Vec<String> {
    let mut found = match role == WordRole::Command && !word.contains('/') {
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
    found
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

//! Which files nobody asked about: `.gitignore` files, `info/exclude` and `core.excludesFile`.

use std::cell::RefCell;
use std::collections::HashMap;
use std::rc::Rc;

use bstr::{BStr, BString, ByteSlice as _};
use gix_glob::pattern::Case;
use gix_glob::{Pattern, wildmatch::Mode};

use crate::fail::Done;
use crate::repo::Repo;

/// The lines of one file.
#[derive(Debug, Default)]
struct Rules {
    rows: Vec<(Pattern, usize, BString)>,
    source: String,
}

/// A line that decided.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Reason {
    pub source: String,
    pub line: usize,
    pub text: BString,
    pub ignored: bool,
}

/// All rules, read as directories are entered.
pub struct Ignore<'r> {
    repo: &'r Repo,
    everywhere: Vec<Rules>,
    folders: RefCell<HashMap<BString, Rc<Rules>>>,
}

impl<'r> Ignore<'r> {
    /// The rules of a repository.
    pub fn new(repo: &'r Repo) -> Self {
        let read = |path: &std::path::Path, source: &str| {
            let bytes = std::fs::read(path).unwrap_or_default();
            parse(&bytes, source)
        };
        let mut everywhere = vec![read(&repo.git_dir.join("info/exclude"), ".git/info/exclude")];
        if let Some(path) = repo.config.get("core.excludesfile") {
            let home = std::env::var("HOME").unwrap_or_default();
            let path = path.strip_prefix("~/").map_or_else(|| path.to_owned(), |it| format!("{home}/{it}"));
            everywhere.push(read(std::path::Path::new(&path), &path));
        }
        Self { repo, everywhere, folders: RefCell::default() }
    }

    fn folder(&self, folder: &[u8]) -> Rc<Rules> {
        if let Some(found) = self.folders.borrow().get(BStr::new(folder)) {
            return Rc::clone(found);
        }
        let mut name = BString::from(folder);
        name.extend_from_slice(b".gitignore");
        let path = self.repo.path(&name).unwrap_or_default();
        // A link would lead to rules of somebody else.
        let plain = std::fs::symlink_metadata(&path).is_ok_and(|it| it.is_file());
        let bytes = if plain { std::fs::read(&path).unwrap_or_default() } else { Vec::new() };
        let rules = Rc::new(parse(&bytes, &name.to_str_lossy()));
        self.folders.borrow_mut().insert(folder.into(), Rc::clone(&rules));
        rules
    }

    /// The line that decides about one path, without those above it.
    fn decides(&self, path: &[u8], is_dir: bool) -> Option<Reason> {
        let mut folder_end = path.rfind_byte(b'/').map_or(0, |it| it + 1);
        loop {
            let rules = self.folder(&path[..folder_end]);
            if let Some(reason) = rules.decide(&path[folder_end..], is_dir) {
                return Some(reason);
            }
            if folder_end == 0 {
                break;
            }
            folder_end = path[..folder_end - 1].rfind_byte(b'/').map_or(0, |it| it + 1);
        }
        self.everywhere.iter().find_map(|it| it.decide(path, is_dir))
    }

    /// Why a path is left out or not, which may be because of a directory above it.
    pub fn reason(&self, path: &[u8], is_dir: bool) -> Option<Reason> {
        for at in path.find_iter(b"/").collect::<Vec<_>>() {
            if let Some(reason) = self.decides(&path[..at], true).filter(|it| it.ignored) {
                return Some(reason);
            }
        }
        self.decides(path, is_dir)
    }

    /// Whether a path is left out, whose directories are not.
    pub fn skips(&self, path: &[u8], is_dir: bool) -> bool {
        self.decides(path, is_dir).is_some_and(|it| it.ignored)
    }

    /// Whether a path or a directory above it is left out.
    pub fn skips_deep(&self, path: &[u8], is_dir: bool) -> Done<bool> {
        Ok(self.reason(path, is_dir).is_some_and(|it| it.ignored))
    }
}

impl Rules {
    fn decide(&self, path: &[u8], is_dir: bool) -> Option<Reason> {
        let base = path.rfind_byte(b'/').map(|it| it + 1);
        let fits = |it: &Pattern| {
            it.matches_repo_relative_path(
                BStr::new(path),
                base,
                Some(is_dir),
                Case::Sensitive,
                Mode::NO_MATCH_SLASH_LITERAL,
            )
        };
        let (pattern, line, text) = self.rows.iter().rev().find(|it| fits(&it.0))?;
        Some(Reason {
            source: self.source.clone(),
            line: *line,
            text: text.clone(),
            ignored: !pattern.is_negative(),
        })
    }
}

fn parse(bytes: &[u8], source: &str) -> Rules {
    let bytes = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes);
    let mut rows = Vec::new();
    for (at, line) in bytes.lines().enumerate() {
        let mut line = line;
        // Spaces at the end do not count unless a backslash says so.
        while line.ends_with(b" ") && !line.ends_with(b"\\ ") {
            line = &line[..line.len() - 1];
        }
        if line.is_empty() || line.starts_with(b"#") {
            continue;
        }
        if let Some(pattern) = Pattern::from_bytes(line) {
            rows.push((pattern, at + 1, BString::from(line)));
        }
    }
    Rules { rows, source: source.to_owned() }
}

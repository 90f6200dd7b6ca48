//! The files of the house, read once. What a build leaves behind is not among them.

use std::{
    fs,
    path::{Path, PathBuf},
};

use anyhow::Context as _;

/// Folders that hold what was made and not what was written, by name or by path.
const MADE: &[&str] = &[".git", "target", "node_modules", "fuzz/artifacts", "fuzz/corpus"];

/// A file, by its path from the root with `/` between the names.
pub(super) struct File {
    pub(super) path: String,
    pub(super) bytes: Vec<u8>,
}

impl File {
    /// The content, if it is text.
    pub(super) fn text(&self) -> Option<&str> {
        std::str::from_utf8(&self.bytes).ok()
    }

    pub(super) fn is_rust(&self) -> bool {
        self.path.ends_with(".rs")
    }

    /// Whether the whole file is tests, by where it lies.
    pub(super) fn is_test(&self) -> bool {
        self.path.ends_with("/tests.rs") || self.path.contains("/tests/")
    }
}

/// All files, sorted by path.
pub(super) struct Tree {
    pub(super) root: PathBuf,
    pub(super) files: Vec<File>,
}

impl Tree {
    pub(super) fn read(root: &Path) -> anyhow::Result<Self> {
        let mut files = Vec::new();
        walk(root, "", &mut files)?;
        files.sort_by(|a, b| a.path.cmp(&b.path));
        Ok(Self { root: root.to_path_buf(), files })
    }

    pub(super) fn rust(&self) -> impl Iterator<Item = &File> {
        self.files.iter().filter(|file| file.is_rust())
    }

    pub(super) fn file(&self, path: &str) -> Option<&File> {
        let at = self.files.binary_search_by(|file| file.path.as_str().cmp(path)).ok()?;
        Some(&self.files[at])
    }

    pub(super) fn text(&self, path: &str) -> Option<&str> {
        self.file(path)?.text()
    }

    /// Files below a folder, by the rest of their path.
    pub(super) fn below<'a>(&'a self, folder: &'a str) -> impl Iterator<Item = (&'a str, &'a File)> {
        let rest = move |file: &'a File| Some((file.path.strip_prefix(folder)?.strip_prefix('/')?, file));
        self.files.iter().filter_map(rest)
    }

    /// A tree of made-up files in a temporary folder, which lives as long as the first half.
    #[cfg(test)]
    pub(super) fn fixture(files: &[(&str, &str)]) -> (tempfile::TempDir, Self) {
        let folder = tempfile::tempdir().unwrap();
        for (path, text) in files {
            let path = folder.path().join(path);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        }
        let tree = Self::read(folder.path()).unwrap();
        (folder, tree)
    }
}

fn walk(folder: &Path, prefix: &str, files: &mut Vec<File>) -> anyhow::Result<()> {
    let entries = fs::read_dir(folder).with_context(|| format!("could not list {}", folder.display()))?;
    for entry in entries {
        let entry = entry?;
        let name = entry.file_name().to_string_lossy().into_owned();
        let path = if prefix.is_empty() { name.clone() } else { format!("{prefix}/{name}") };
        let kind = entry.file_type()?;
        if kind.is_dir() && ![name.as_str(), path.as_str()].iter().any(|it| MADE.contains(it)) {
            walk(&entry.path(), &path, files)?;
        }
        if kind.is_file() {
            // A file that vanishes between listing and reading belonged to a running build.
            if let Ok(bytes) = fs::read(entry.path()) {
                files.push(File { path, bytes });
            }
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_build_makes_is_not_part_of_the_tree() {
        let (_folder, tree) = Tree::fixture(&[
            ("a/src/lib.rs", ""),
            ("target/x.rs", ""),
            ("a/target/y.rs", ""),
            ("fuzz/corpus/z", ""),
            (".ci/run", ""),
        ]);
        let paths: Vec<&str> = tree.files.iter().map(|file| file.path.as_str()).collect();
        assert_eq!(paths, [".ci/run", "a/src/lib.rs"]);
        assert!(tree.file("a/src/lib.rs").is_some());
        assert_eq!(tree.below("a").map(|(rest, _)| rest).collect::<Vec<_>>(), ["src/lib.rs"]);
    }
}

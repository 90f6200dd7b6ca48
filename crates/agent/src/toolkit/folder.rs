//! The files of a toolkit as somebody read them: paths and bytes, bounded, and no path that leads anywhere.

use std::{collections::BTreeMap, sync::Arc};

use drydock_contract::Digest;

use crate::text::{TEXT_BYTES_MAX, shown};

/// The most files of one toolkit.
pub const FOLDER_FILES_MAX: usize = 1_000;
/// The most bytes of one toolkit.
pub const FOLDER_BYTES_MAX: u64 = 64 << 20;
const PATH_BYTES_MAX: usize = 512;
const PATH_DEPTH_MAX: usize = 16;

/// A folder cannot be taken.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum FolderError {
    /// A path leads out of it, or is none.
    #[error("`{shown}` leads out of the folder of its toolkit, or is no plain path in it")]
    PathOutside {
        /// As it was written.
        shown: String,
    },
    /// A path is there twice.
    #[error("`{shown}` is there twice")]
    Twice {
        /// Which.
        shown: String,
    },
    /// A path names nothing.
    #[error("there is no file `{shown}` in the folder")]
    Missing {
        /// Which.
        shown: String,
    },
    /// There are too many files.
    #[error("more than {max} files are in the folder")]
    TooMany {
        /// How many there may be.
        max: usize,
    },
    /// There are too many bytes.
    #[error("{what} has more than {max} bytes")]
    TooLarge {
        /// The folder, or a text in it.
        what: String,
        /// How many it may have.
        max: u64,
    },
    /// A file that is read as text is none.
    #[error("`{shown}` is no text in UTF-8")]
    NotText {
        /// Which.
        shown: String,
    },
}

impl FolderError {
    /// The stable code.
    pub const fn code(&self) -> &'static str {
        match self {
            Self::PathOutside { .. } => "path_outside",
            Self::Twice { .. } => "duplicate_path",
            Self::Missing { .. } => "no_such_file",
            Self::TooMany { .. } => "too_many_files",
            Self::TooLarge { .. } => "toolkit_too_large",
            Self::NotText { .. } => "not_text",
        }
    }
}

/// A folder by its name, with everything in it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Folder {
    name: String,
    files: BTreeMap<String, Arc<[u8]>>,
    bytes: u64,
}

impl Folder {
    /// An empty one.
    pub fn new(name: impl Into<String>) -> Self {
        Self { name: name.into(), files: BTreeMap::new(), bytes: 0 }
    }

    /// Puts a file into it.
    pub fn put(&mut self, path: &str, bytes: impl Into<Arc<[u8]>>) -> Result<(), FolderError> {
        if !is_inside(path) {
            return Err(FolderError::PathOutside { shown: shown(path) });
        }
        if self.files.contains_key(path) {
            return Err(FolderError::Twice { shown: shown(path) });
        }
        if self.files.len() >= FOLDER_FILES_MAX {
            return Err(FolderError::TooMany { max: FOLDER_FILES_MAX });
        }
        let bytes = bytes.into();
        let all = self.bytes.saturating_add(bytes.len() as u64);
        if all > FOLDER_BYTES_MAX {
            let what = format!("the folder `{}`", shown(&self.name));
            return Err(FolderError::TooLarge { what, max: FOLDER_BYTES_MAX });
        }
        self.bytes = all;
        self.files.insert(path.to_owned(), bytes);
        Ok(())
    }

    /// What it is called.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Its files, by path.
    pub fn files(&self) -> impl Iterator<Item = (&str, &Arc<[u8]>)> {
        self.files.iter().map(|(path, bytes)| (path.as_str(), bytes))
    }

    /// How many bytes its files have together.
    pub fn bytes(&self) -> u64 {
        self.bytes
    }

    /// Whether the file is there.
    pub fn has(&self, path: &str) -> bool {
        self.files.contains_key(path)
    }

    /// The bytes of a file that some text names.
    pub fn get(&self, path: &str) -> Result<&Arc<[u8]>, FolderError> {
        let path = path.strip_prefix("./").unwrap_or(path);
        if !is_inside(path) {
            return Err(FolderError::PathOutside { shown: shown(path) });
        }
        self.files.get(path).ok_or_else(|| FolderError::Missing { shown: shown(path) })
    }

    /// A file that is read as text.
    pub fn text(&self, path: &str) -> Result<&str, FolderError> {
        let bytes = self.get(path)?;
        if bytes.len() > TEXT_BYTES_MAX {
            let what = format!("the text `{}`", shown(path));
            return Err(FolderError::TooLarge { what, max: TEXT_BYTES_MAX as u64 });
        }
        std::str::from_utf8(bytes).map_err(|_| FolderError::NotText { shown: shown(path) })
    }

    /// A line for each file but some: hash, size and path. The same files make the same text.
    pub(super) fn listing<'f>(&'f self, other: impl Fn(&'f str) -> Listed<'f>) -> String {
        let mut lines = String::new();
        for (path, bytes) in self.files() {
            let bytes: &[u8] = match other(path) {
                Listed::AsItIs => bytes,
                Listed::LeftOut => continue,
                Listed::As(text) => &text.into_owned().into_bytes(),
            };
            lines.push_str(&format!("{} {} {path}\n", Digest::of(bytes), bytes.len()));
        }
        lines
    }
}

/// How a file stands in a listing.
pub(super) enum Listed<'f> {
    AsItIs,
    LeftOut,
    /// As if it had this text.
    As(std::borrow::Cow<'f, str>),
}

/// Plain names, separated by slashes: no `..`, no `.`, nothing hidden from a person who reads a list of them.
fn is_inside(path: &str) -> bool {
    let plain = |name: &str| {
        !matches!(name, "" | "." | "..")
            && !name.chars().any(|it| it.is_control() || matches!(it, '\\' | ':'))
    };
    (1..=PATH_BYTES_MAX).contains(&path.len())
        && path.split('/').count() <= PATH_DEPTH_MAX
        && path.split('/').all(plain)
}

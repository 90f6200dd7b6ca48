//! Where a tree is mounted: an absolute path of plain names, checked once.

use std::{fmt, str::FromStr};

use drydock_contract::port::{FileError, TreePath};

/// The most names a mount point may have.
const NAMES_MAX: usize = 32;

/// Why a tree cannot be mounted there.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum MountError {
    /// It is no path of plain names.
    #[error(
        "`{0}` is no place for a mount: use a path of plain names, such as /data or /data/in, without `..`"
    )]
    Path(String),
    /// Another tree has that place.
    #[error("something is mounted at `{0}` already; choose another place")]
    Taken(MountPoint),
}

impl From<MountError> for FileError {
    fn from(error: MountError) -> Self {
        match error {
            MountError::Path(_) => Self::Invalid,
            MountError::Taken(_) => Self::Exists,
        }
    }
}

/// A place: the root, or one below it. `data/in`, `/data/in` and `/data//in/` are the same one.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct MountPoint(String);

impl MountPoint {
    /// Whether it is `/`.
    pub fn is_root(&self) -> bool {
        self.0.is_empty()
    }

    /// The path without a slash in front.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// The names, from the root down.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.0.split('/').filter(|it| !it.is_empty())
    }

    /// The directory it is in; empty if that is the root.
    pub fn parent(&self) -> &str {
        self.0.rsplit_once('/').map_or("", |it| it.0)
    }
}

impl FromStr for MountPoint {
    type Err = MountError;

    fn from_str(text: &str) -> Result<Self, MountError> {
        let bad = || MountError::Path(text.to_owned());
        let path = TreePath::new(text).map_err(|_| bad())?;
        let names: Vec<&str> = path.names().collect();
        // `.` says nothing in a path, but someone who mounts there means something by it.
        if names.contains(&"..") || text.split('/').any(|it| it == ".") || names.len() > NAMES_MAX {
            return Err(bad());
        }
        match (names.is_empty(), text.is_empty()) {
            (true, true) => Err(bad()),
            _ => Ok(Self(names.join("/"))),
        }
    }
}

impl fmt::Display for MountPoint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "/{}", self.0)
    }
}

#[test]
fn a_mount_point_is_a_path_of_plain_names() {
    for (text, want) in [("a", "a"), ("/a", "a"), ("a/", "a"), ("/a//b/", "a/b"), ("a b/ü", "a b/ü")] {
        assert_eq!(text.parse::<MountPoint>().unwrap().as_str(), want, "{text:?}");
    }
    let (long, deep) = ("n".repeat(256), "d/".repeat(NAMES_MAX + 1));
    for bad in ["", ".", "..", "a/..", "../a", "a/./b", "a\0", long.as_str(), deep.as_str()] {
        assert!(matches!(bad.parse::<MountPoint>(), Err(MountError::Path(_))), "{bad:?}");
    }
    for root in ["/", "//"] {
        assert!(root.parse::<MountPoint>().unwrap().is_root());
    }
}

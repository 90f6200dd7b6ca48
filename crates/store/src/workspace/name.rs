//! Names of workspaces, snapshots and mounts: they become names of files.

use std::{fmt, str::FromStr};

use crate::OpenWorkspaceError;

/// The longest name, in bytes.
const NAME_BYTES_MAX: usize = 64;

/// The name of a workspace or of a snapshot: 1 to 64 of `A-Z a-z 0-9 _ . -`, not starting with a dot.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct WorkspaceName(String);

impl WorkspaceName {
    /// The name as text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl FromStr for WorkspaceName {
    type Err = OpenWorkspaceError;

    fn from_str(text: &str) -> Result<Self, OpenWorkspaceError> {
        let plain = |b: u8| b.is_ascii_alphanumeric() || matches!(b, b'_' | b'.' | b'-');
        let legal =
            (1..=NAME_BYTES_MAX).contains(&text.len()) && text.bytes().all(plain) && !text.starts_with('.');
        if !legal {
            return Err(OpenWorkspaceError::Name(text.to_owned()));
        }
        Ok(Self(text.to_owned()))
    }
}

impl fmt::Display for WorkspaceName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

#[test]
fn a_name_is_never_a_path() {
    for bad in ["", ".", "..", ".x", "a/b", "a@b", "a b", "ü", "a\0", &"n".repeat(65), &".".repeat(128)] {
        assert!(bad.parse::<WorkspaceName>().is_err(), "{bad:?}");
    }
    assert_eq!("a.b-c_9".parse::<WorkspaceName>().unwrap().as_str(), "a.b-c_9");
}

//! Names of sessions: they become names of files.

use std::{fmt, str::FromStr};

/// The longest name, in bytes.
const NAME_BYTES_MAX: usize = 64;

/// The name of a session: 1 to 64 of `A-Z a-z 0-9 _ . -`, not starting with a dot.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct SessionName(String);

/// The text is not the name of a session.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` is not the name of a session: use 1 to 64 of `A-Z a-z 0-9 _ . -`, and no dot in front")]
pub struct BadSessionName(String);

impl SessionName {
    /// The name as text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl FromStr for SessionName {
    type Err = BadSessionName;

    fn from_str(text: &str) -> Result<Self, BadSessionName> {
        let plain = |b: u8| b.is_ascii_alphanumeric() || matches!(b, b'_' | b'.' | b'-');
        let legal =
            (1..=NAME_BYTES_MAX).contains(&text.len()) && text.bytes().all(plain) && !text.starts_with('.');
        if !legal {
            let shown: String = text.chars().take(NAME_BYTES_MAX).collect();
            return Err(BadSessionName(shown.escape_debug().to_string()));
        }
        Ok(Self(text.to_owned()))
    }
}

impl fmt::Display for SessionName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

#[test]
fn a_session_name_is_never_a_path() {
    for bad in ["", ".", "..", ".x", "a/b", "a@b", "a b", "ü", "a\0", &"n".repeat(65), &".".repeat(128)] {
        assert!(bad.parse::<SessionName>().is_err(), "{bad:?}");
    }
    for good in ["a", "a.b-c_9", "-rf", "x.lock", "x.checkpoint", &"n".repeat(64)] {
        assert_eq!(good.parse::<SessionName>().unwrap().as_str(), good);
    }
}

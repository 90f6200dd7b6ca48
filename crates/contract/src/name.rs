//! The name of a command: parsed once, trusted after.

use std::{fmt, str::FromStr, sync::Arc};

/// 1 to 64 of `A-Z a-z 0-9 _ . -`, not starting with a dot. Two plus signs may end it, as in `g++`: such names are
/// built in, and nobody can register one (decision 0053).
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, serde::Serialize)]
#[serde(transparent)]
pub struct CommandName(Arc<str>);

/// The text is not a command name.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` is not a command name: use 1 to 64 of A-Z a-z 0-9 _ . - and no leading dot")]
pub struct BadCommandName(String);

impl CommandName {
    /// The longest name, in bytes.
    pub const BYTES_MAX: usize = 64;

    /// The name as text.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// The shared text, so that an audit record can hold the name without copying it.
    pub fn shared(&self) -> Arc<str> {
        Arc::clone(&self.0)
    }

    /// Whether the text would parse, without allocating.
    pub fn is_legal(text: &str) -> bool {
        let plain = |b: u8| b.is_ascii_alphanumeric() || matches!(b, b'_' | b'.' | b'-');
        let stem = text.strip_suffix("++").unwrap_or(text);
        text.len() <= Self::BYTES_MAX && !stem.is_empty() && stem.bytes().all(plain) && !text.starts_with('.')
    }

    /// A name that somebody may register: the seed's own characters and no others.
    pub fn registrable(text: &str) -> Result<Self, BadCommandName> {
        match text.ends_with('+') {
            true => Err(BadCommandName::of(text)),
            false => text.parse(),
        }
    }
}

impl BadCommandName {
    fn of(text: &str) -> Self {
        let shown: String = text.chars().take(80).collect();
        Self(shown.escape_default().to_string())
    }
}

impl FromStr for CommandName {
    type Err = BadCommandName;

    fn from_str(text: &str) -> Result<Self, BadCommandName> {
        if !Self::is_legal(text) {
            return Err(BadCommandName::of(text));
        }
        Ok(Self(text.into()))
    }
}

impl fmt::Display for CommandName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::borrow::Borrow<str> for CommandName {
    fn borrow(&self) -> &str {
        &self.0
    }
}

impl<'de> serde::Deserialize<'de> for CommandName {
    fn deserialize<D: serde::Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        <std::borrow::Cow<'de, str>>::deserialize(from)?.parse().map_err(serde::de::Error::custom)
    }
}

/// How a command takes its arguments.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum ArgMode {
    /// As a real argument list.
    #[default]
    Argv,
    /// Joined by single blanks into a first line of stdin, with no argument list at all. With no
    /// arguments stdin passes untouched. An older protocol that some interpreters expect.
    Stdin1,
}

/// The text names no argument mode.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` is not an argument mode: use argv or stdin1")]
pub struct UnknownArgMode(String);

impl ArgMode {
    /// The name used in the registry file and on the command line.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Argv => "argv",
            Self::Stdin1 => "stdin1",
        }
    }
}

impl FromStr for ArgMode {
    type Err = UnknownArgMode;

    fn from_str(text: &str) -> Result<Self, UnknownArgMode> {
        match text {
            "argv" => Ok(Self::Argv),
            "stdin1" => Ok(Self::Stdin1),
            other => Err(UnknownArgMode(other.escape_default().to_string())),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_plain_short_and_never_starts_with_a_dot() {
        let longest = "n".repeat(64);
        let too_long = "n".repeat(65);
        for (text, want) in [
            ("jq", true),
            ("wasm-objdump", true),
            ("a.b_c-9", true),
            ("-", true),
            (longest.as_str(), true),
            (too_long.as_str(), false),
            ("", false),
            (".", false),
            ("..", false),
            (".hidden", false),
            ("a/b", false),
            ("../x", false),
            ("a b", false),
            ("a\0b", false),
            ("naïve", false),
        ] {
            assert_eq!(text.parse::<CommandName>().is_ok(), want, "{text:?}");
            assert_eq!(CommandName::registrable(text).is_ok(), want, "{text:?}");
        }
    }

    #[test]
    fn only_built_in_names_end_with_two_plus_signs() {
        for (text, want) in
            [("g++", true), ("c++", true), ("++", false), ("g+", false), ("a++b", false), (".c++", false)]
        {
            assert_eq!(text.parse::<CommandName>().is_ok(), want, "{text:?}");
            assert!(CommandName::registrable(text).is_err(), "{text:?}");
        }
    }
}

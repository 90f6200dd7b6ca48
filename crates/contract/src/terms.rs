//! What a grant of tools is good for: which tools, and with which arguments. Plain data; comparing
//! it with a request is the business of the power that can read one.

use std::{fmt, str::FromStr};

/// Which tools: `provider.tool`, `provider.*` or `*`.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ToolPattern(String);

/// The text names no tools.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` names no tools: write `provider.tool`, `provider.*` or `*`")]
pub struct BadToolPattern(String);

impl ToolPattern {
    /// Whether the tool `provider.name` is meant.
    pub fn admits(&self, name: &str) -> bool {
        match self.0.strip_suffix('*') {
            Some(head) => name.starts_with(head),
            None => self.0 == name,
        }
    }

    /// The pattern as it was written.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl FromStr for ToolPattern {
    type Err = BadToolPattern;

    fn from_str(text: &str) -> Result<Self, BadToolPattern> {
        let name = |part: &str| {
            let legal = |b: u8| b.is_ascii_alphanumeric() || matches!(b, b'_' | b'$');
            !part.is_empty() && part.bytes().all(legal)
        };
        let legal = match text.split_once('.') {
            _ if text.len() > 256 => false,
            Some((provider, tool)) => name(provider) && (tool == "*" || name(tool)),
            None => text == "*",
        };
        if !legal {
            let shown: String = text.chars().take(80).collect();
            return Err(BadToolPattern(shown.escape_default().to_string()));
        }
        Ok(Self(text.to_owned()))
    }
}

impl fmt::Display for ToolPattern {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// A JSON value that has no parts.
#[derive(Debug, Clone, PartialEq)]
pub enum Scalar {
    /// `null`.
    Null,
    /// `true` or `false`.
    Bool(bool),
    /// Any number.
    Number(f64),
    /// Any string.
    Text(String),
}

/// What must be true of one argument.
#[derive(Debug, Clone, PartialEq)]
pub enum Must {
    /// It is this.
    Equal(Scalar),
    /// It is one of these.
    OneOf(Vec<Scalar>),
    /// It is a string that starts like this. Compared as text: `/data/../etc` starts with `/data/`.
    StartWith(String),
    /// It is a number within these bounds, both included.
    LieBetween {
        /// The least.
        least: Option<f64>,
        /// The most.
        most: Option<f64>,
    },
    /// It is a string of at most so many characters, or a list of at most so many items.
    HaveLengthAtMost(u64),
}

/// Whether an argument that is not there is fine.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum IfAbsent {
    /// Then the rule is broken.
    #[default]
    Refuse,
    /// Then the rule has nothing to say.
    Allow,
}

/// One rule about one argument.
#[derive(Debug, Clone, PartialEq)]
pub struct ArgumentRule {
    /// Where in the input, as a JSON pointer: `/path`, `/items/0`; empty for the input itself.
    pub pointer: String,
    /// What must be true there.
    pub must: Must,
    /// And if nothing is there.
    pub if_absent: IfAbsent,
}

impl ArgumentRule {
    /// A rule that an absent argument breaks.
    pub fn new(pointer: impl Into<String>, must: Must) -> Self {
        Self { pointer: pointer.into(), must, if_absent: IfAbsent::Refuse }
    }
}

/// The terms of a grant of tools. Without tools it is good for nothing.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct ToolTerms {
    /// Any of these.
    pub tools: Vec<ToolPattern>,
    /// And every one of these.
    pub arguments: Vec<ArgumentRule>,
}

impl ToolTerms {
    /// Whether some pattern means this tool.
    pub fn name(&self, tool: &str) -> bool {
        self.tools.iter().any(|pattern| pattern.admits(tool))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pattern_is_a_tool_a_provider_or_everything() {
        for (text, tool, want) in [
            ("files.read", "files.read", Some(true)),
            ("files.read", "files.readAll", Some(false)),
            ("files.*", "files.readAll", Some(true)),
            ("files.*", "filesystem.read", Some(false)),
            ("*", "any.thing", Some(true)),
            ("$a._1", "$a._1", Some(true)),
            ("", "", None),
            ("files", "files.read", None),
            ("files.", "files.", None),
            (".*", "a.b", None),
            ("fi*.read", "files.read", None),
            ("a.b.c", "a.b.c", None),
            ("a b.*", "a b.c", None),
        ] {
            let pattern = text.parse::<ToolPattern>().ok();
            assert_eq!(pattern.map(|it| it.admits(tool)), want, "{text:?} {tool:?}");
        }
    }
}

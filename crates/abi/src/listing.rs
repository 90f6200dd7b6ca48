//! A request for all names that begin with a text, and what a grant is asked about it.
//!
//! A pattern admits a listing if it admits every name that could be listed. The subject is the text with a character behind
//! it that no pattern can spell: whatever admits it does so by a star that stands for any other rest as well. So `app/*`
//! admits a listing of `app/` and of `app/x`, and none of `app`; `app/*.json` admits no listing, and neither does a grant of
//! the one name `app/`.

use serde::Deserialize;

/// Names that one listing tells at most, and tells if it is not said how many.
pub const ROWS_MAX: u32 = 1_000;

/// A control character: patterns have none.
const ANY_REST: char = '\u{1}';

/// Which names there are.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(from = "Wire")]
pub struct Listing {
    prefix: String,
    /// Only those behind this one.
    pub after: Option<String>,
    /// How many at most.
    pub limit: u32,
    subject: String,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Wire {
    #[serde(default)]
    prefix: String,
    #[serde(default)]
    after: Option<String>,
    #[serde(default = "rows_max")]
    limit: u32,
}

const fn rows_max() -> u32 {
    ROWS_MAX
}

impl From<Wire> for Listing {
    fn from(wire: Wire) -> Self {
        Self::new(wire.prefix, wire.after, wire.limit)
    }
}

impl Listing {
    /// All that begin so; every character stands for itself.
    pub fn new(prefix: String, after: Option<String>, limit: u32) -> Self {
        let subject = format!("{prefix}{ANY_REST}");
        Self { prefix, after, limit, subject }
    }

    /// How they begin.
    pub fn prefix(&self) -> &str {
        &self.prefix
    }

    /// What a grant must admit.
    pub fn subject(&self) -> &str {
        &self.subject
    }
}

#[cfg(test)]
mod tests {
    use drydock_contract::Pattern;

    use super::*;

    #[test]
    fn a_listing_is_admitted_by_patterns_that_admit_all_it_could_tell() {
        for (pattern, prefix, want) in [
            ("*", "", true),
            ("*", "app/", true),
            ("app/*", "app/", true),
            ("app/*", "app/x", true),
            ("app/*", "app", false),
            ("app/*", "", false),
            ("app/", "app/", false),
            ("app/*.json", "app/", false),
            ("app/*.json", "app/a.json", false),
            ("app/\\*", "app/", false),
            ("app/\\*", "app/*", false),
            ("*x*", "ax", true),
            ("*x*", "a", false),
        ] {
            let pattern: Pattern = pattern.parse().unwrap();
            let listing = Listing::new(prefix.into(), None, 1);
            assert_eq!(pattern.admits(listing.subject()), want, "{} {prefix:?}", pattern.as_str());
        }
        assert!(ANY_REST.to_string().parse::<Pattern>().is_err(), "no pattern spells it");
    }
}

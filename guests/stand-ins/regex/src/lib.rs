//! `regex-lite` under the name that `nl`, `csplit`, `ptx` and `pr` call.
//!
//! The whole engine is half of a module that uses it for a few lines of text: tables for every
//! alphabet, and automata that pay off over megabytes. What is lost is `\p{…}` and letters beyond ASCII
//! in `\w`; GNU's programs know neither.

pub use regex_lite::{Captures, Error, Match, Regex, escape};

/// Patterns over bytes that need not be text.
pub mod bytes {
    /// A pattern. Bytes that are no text match as the replacement character.
    #[derive(Debug, Clone)]
    pub struct Regex(super::Regex);

    impl Regex {
        /// Reads a pattern.
        pub fn new(pattern: &str) -> Result<Self, super::Error> {
            super::Regex::new(pattern).map(Self)
        }

        /// Whether it fits anywhere.
        pub fn is_match(&self, text: &[u8]) -> bool {
            self.0.is_match(&String::from_utf8_lossy(text))
        }
    }
}

#[cfg(test)]
mod tests {
    #[test]
    fn bytes_match_as_text() {
        let pattern = super::bytes::Regex::new("^b.r").unwrap();
        assert!(pattern.is_match(b"bar") && pattern.is_match(b"b\xffr") && !pattern.is_match(b"abar"));
    }
}

//! The values a caller fills a sentence with.

use std::borrow::Cow;

/// One value: a number can choose between sentences, text cannot.
#[derive(Debug, Clone)]
pub enum FluentValue<'a> {
    /// Printed as it is.
    Text(Cow<'a, str>),
    /// Printed plainly, without grouping of digits.
    Number(f64),
}

impl From<String> for FluentValue<'_> {
    fn from(text: String) -> Self {
        Self::Text(Cow::Owned(text))
    }
}

impl<'a> From<&'a str> for FluentValue<'a> {
    fn from(text: &'a str) -> Self {
        Self::Text(Cow::Borrowed(text))
    }
}

impl From<i64> for FluentValue<'_> {
    fn from(number: i64) -> Self {
        // The caller hands over only integers that a double holds exactly.
        Self::Number(number as f64)
    }
}

impl From<f64> for FluentValue<'_> {
    fn from(number: f64) -> Self {
        Self::Number(number)
    }
}

impl std::fmt::Display for FluentValue<'_> {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Text(text) => out.write_str(text),
            Self::Number(number) => write!(out, "{number}"),
        }
    }
}

/// Named values, in the order they were set.
#[derive(Debug, Default, Clone)]
pub struct FluentArgs<'a>(Vec<(Cow<'a, str>, FluentValue<'a>)>);

impl<'a> FluentArgs<'a> {
    /// No values yet.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds one; a later value of the same name wins.
    pub fn set<K: Into<Cow<'a, str>>, V: Into<FluentValue<'a>>>(&mut self, key: K, value: V) {
        self.0.push((key.into(), value.into()));
    }

    /// The value of that name.
    pub fn get(&self, key: &str) -> Option<&FluentValue<'a>> {
        self.0.iter().rev().find(|(name, _)| name == key).map(|(_, value)| value)
    }
}

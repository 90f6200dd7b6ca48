//! Rules, as they were read.

use crate::variable::Assign;

/// A line of a recipe and where it stands.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Line {
    pub text: String,
    pub file: String,
    pub number: usize,
}

/// What one target is made of, all its rules together.
#[derive(Debug, Clone, Default)]
pub struct Target {
    pub needs: Vec<String>,
    /// Needed first, but not newer.
    pub order_only: Vec<String>,
    pub recipe: Option<Vec<Line>>,
    /// The stem of a static pattern.
    pub stem: Option<String>,
    pub double_colon: bool,
    /// Further recipes of `::` rules, with what each needs.
    pub more: Vec<(Vec<String>, Vec<Line>)>,
    /// Named as a target somewhere.
    pub explicit: bool,
    /// The next line of a recipe is the first of its rule.
    pub fresh: bool,
}

/// `%.o: %.c`.
#[derive(Debug, Clone)]
pub struct Pattern {
    pub targets: Vec<String>,
    pub needs: Vec<String>,
    pub order_only: Vec<String>,
    pub recipe: Vec<Line>,
    /// One of those that are always there.
    pub built_in: bool,
}

/// `target: NAME = value`.
#[derive(Debug, Clone)]
pub struct Own {
    pub target: String,
    pub name: String,
    pub how: Assign,
    pub value: String,
    pub overrides: bool,
}

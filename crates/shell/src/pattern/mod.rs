//! Shell patterns: `*`, `?`, `[…]` and the extended `?(…)` family.
//!
//! Matching carries a set of positions through the pattern, so its cost is a polynomial; groups in
//! groups raise its degree, so the work of one pattern is counted, and whoever used it asks whether
//! it was [`tired`](Pattern::tired).

mod class;
mod effort;
mod matcher;
#[cfg(test)]
mod tests;

use class::Class;
use effort::Effort;

/// A compiled pattern.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Pattern {
    nodes: Vec<Node>,
    fold: bool,
    effort: Effort,
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum Node {
    Char(char),
    Any,
    Star,
    Class(Class),
    Group(Kind, Vec<Vec<Node>>),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    /// `?(…)`
    Optional,
    /// `*(…)`
    Many,
    /// `+(…)`
    Some,
    /// `@(…)`
    One,
    /// `!(…)`
    Not,
}

const DEPTH_MAX: u32 = 40;

/// What is said of a pattern that gave up.
pub(crate) const TIRED: &str = "a pattern takes too long to match";

impl Pattern {
    /// Compiles a pattern in which a backslash makes the next character plain; upper and lower case
    /// are alike if `fold`.
    pub(crate) fn with_case(text: &str, fold: bool) -> Self {
        let chars: Vec<char> =
            if fold { text.to_lowercase().chars().collect() } else { text.chars().collect() };
        let mut at = 0;
        let nodes = sequence(&chars, &mut at, false, 0);
        Self { nodes, fold, effort: Effort::default() }
    }

    /// Whether it gave up: what it answered since may be wrong.
    pub(crate) fn tired(&self) -> bool {
        self.effort.is_spent()
    }

    /// The text it stands for, if it stands for only one.
    pub(crate) fn literal(&self) -> Option<String> {
        if self.fold {
            return None;
        }
        self.nodes.iter().map(|it| if let Node::Char(next) = it { Some(*next) } else { None }).collect()
    }

    /// Whether its first character must be a dot: hidden names are matched only by a written dot.
    pub(crate) fn starts_with_dot(&self) -> bool {
        match self.nodes.first() {
            Some(Node::Char('.')) => true,
            Some(Node::Group(_, arms)) => arms.iter().any(|arm| matches!(arm.first(), Some(Node::Char('.')))),
            _ => false,
        }
    }
}

/// Whether the text has a character that makes it a pattern.
pub(crate) fn is_pattern(text: &str) -> bool {
    let mut chars = text.chars().peekable();
    let mut bracket = false;
    while let Some(next) = chars.next() {
        match next {
            '\\' => {
                chars.next();
            }
            '*' | '?' => return true,
            '[' => bracket = true,
            ']' if bracket => return true,
            '+' | '@' | '!' if chars.peek() == Some(&'(') => return true,
            _ => {}
        }
    }
    false
}

/// Puts a backslash before every character that means something in a pattern.
pub(crate) fn escape(text: &str, into: &mut String) {
    for next in text.chars() {
        if matches!(next, '*' | '?' | '[' | ']' | '\\' | '(' | ')' | '|' | '+' | '@' | '!' | '-' | '^') {
            into.push('\\');
        }
        into.push(next);
    }
}

fn sequence(chars: &[char], at: &mut usize, in_group: bool, depth: u32) -> Vec<Node> {
    let mut nodes = Vec::new();
    while let Some(&next) = chars.get(*at) {
        if in_group && matches!(next, '|' | ')') {
            break;
        }
        *at += 1;
        let kind = match next {
            '?' => Some(Kind::Optional),
            '*' => Some(Kind::Many),
            '+' => Some(Kind::Some),
            '@' => Some(Kind::One),
            '!' => Some(Kind::Not),
            _ => None,
        };
        if let Some(kind) = kind
            && chars.get(*at) == Some(&'(')
            && depth < DEPTH_MAX
            && let Some(arms) = group(chars, at, depth)
        {
            nodes.push(Node::Group(kind, arms));
            continue;
        }
        match next {
            '\\' => {
                nodes.push(Node::Char(chars.get(*at).copied().unwrap_or('\\')));
                *at += 1;
            }
            '?' => nodes.push(Node::Any),
            '*' => {
                if nodes.last() != Some(&Node::Star) {
                    nodes.push(Node::Star);
                }
            }
            '[' => match class::parse(chars, at) {
                Some(class) => nodes.push(Node::Class(class)),
                None => nodes.push(Node::Char('[')),
            },
            other => nodes.push(Node::Char(other)),
        }
    }
    nodes
}

/// The arms of a group with `at` on its `(`, or nothing moved if it never closes.
fn group(chars: &[char], at: &mut usize, depth: u32) -> Option<Vec<Vec<Node>>> {
    let mut here = *at + 1;
    let mut arms = Vec::new();
    loop {
        arms.push(sequence(chars, &mut here, true, depth + 1));
        match chars.get(here) {
            Some('|') => here += 1,
            Some(')') => {
                *at = here + 1;
                return Some(arms);
            }
            _ => return None,
        }
    }
}

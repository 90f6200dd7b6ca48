//! A pattern in the syntax of Rust's regular expressions.
//!
//! The result matches the same texts, except that a match found by alternatives is the first that fits
//! and not the longest. Back-references have no translation.

use crate::ast::{Assert, Node, Parsed};
use std::fmt::Write as _;

/// What the ends of the whole text become.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum TextEnds {
    /// The text is one line, whatever is around it.
    OfLine,
    OfText,
}

/// The pattern for a matcher of lines in Rust's syntax; `None` if it has back-references.
pub fn translate(parsed: &Parsed) -> Option<String> {
    (!parsed.back_references).then(|| print(&parsed.node, TextEnds::OfLine))
}

pub(crate) fn print(node: &Node, ends: TextEnds) -> String {
    let mut out = String::new();
    Printer { out: &mut out, ends }.node(node);
    out
}

/// Appends `sign` so that it stands for itself in Rust's syntax.
pub(crate) fn push_literal(out: &mut String, sign: char) {
    // `\<` and `\>` would be the edges of a word, so those two stand as they are.
    if sign.is_ascii_punctuation() && !matches!(sign, '<' | '>') {
        out.push('\\');
    }
    out.push(sign);
}

struct Printer<'a> {
    out: &'a mut String,
    ends: TextEnds,
}

impl Printer<'_> {
    fn node(&mut self, node: &Node) {
        match node {
            Node::Sign(sign) => push_literal(self.out, *sign),
            Node::Byte(byte) => {
                let _ = write!(self.out, "(?-u:\\x{byte:02X})");
            }
            Node::Any => self.out.push('.'),
            Node::Class(class) => self.out.push_str(class),
            Node::Group(node, _) => {
                self.out.push('(');
                self.node(node);
                self.out.push(')');
            }
            Node::Sequence(nodes) => nodes.iter().for_each(|node| self.node(node)),
            Node::Either(nodes) => {
                for (index, node) in nodes.iter().enumerate() {
                    if index > 0 {
                        self.out.push('|');
                    }
                    self.node(node);
                }
            }
            Node::Repeat { node, min, max } => self.repeat(node, *min, *max),
            Node::Assert(kind) => {
                let text = self.assert(*kind);
                let _ = write!(self.out, "(?:{text})");
            }
            // Never asked for: a pattern with back-references is matched otherwise.
            Node::BackReference(_) => self.out.push_str("[a&&b]"),
        }
    }

    fn repeat(&mut self, node: &Node, min: u32, max: Option<u32>) {
        let plain = node.is_single() || matches!(node, Node::Group(..));
        if plain {
            self.node(node);
        } else {
            self.out.push_str("(?:");
            self.node(node);
            self.out.push(')');
        }
        let _ = match (min, max) {
            (0, None) => write!(self.out, "*"),
            (1, None) => write!(self.out, "+"),
            (0, Some(1)) => write!(self.out, "?"),
            (min, None) => write!(self.out, "{{{min},}}"),
            (min, Some(max)) => write!(self.out, "{{{min},{max}}}"),
        };
    }

    fn assert(&self, kind: Assert) -> &'static str {
        match kind {
            Assert::LineStart => "^",
            Assert::LineEnd => "$",
            Assert::TextStart if self.ends == TextEnds::OfLine => "^",
            Assert::TextEnd if self.ends == TextEnds::OfLine => "$",
            Assert::TextStart => r"\A",
            Assert::TextEnd => r"\z",
            Assert::WordEdge => r"\b",
            Assert::NotWordEdge => r"\B",
            Assert::WordStart => r"\b{start}",
            Assert::WordEnd => r"\b{end}",
            Assert::NoWordBefore => r"\b{start-half}",
            Assert::NoWordAfter => r"\b{end-half}",
        }
    }
}

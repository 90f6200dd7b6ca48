//! POSIX regular expressions, basic, extended and awk's, as GNU's tools have them.
//!
//! A pattern is read once ([`parse`]) into a tree. From the tree come a pattern in Rust's syntax, for
//! the fast automata, and a program for the backtracking matcher, which knows back-references and
//! which part of a match a group had. Matches are the longest of the leftmost.
//!
//! Works on bytes. A sign is a character in UTF-8; bytes that are none are matched by nothing but
//! themselves.

mod ascii;
mod ast;
mod backtrack;
mod bracket;
mod error;
mod parse;
mod print;
mod program;
mod regex;
mod set;
mod start;
#[cfg(test)]
mod tests;

pub use ast::Parsed;
pub use error::SyntaxError;
pub use parse::{Flavor, parse};
pub use print::translate;
pub use regex::{Around, Options, Regex, Slots, Span};
pub use set::{is_word_at, is_word_before};

//! Regular expressions with the syntax and the habits of Oniguruma, which jq uses: the leftmost
//! match, alternatives in order, groups by number and name, looking around, backreferences.
//!
//! A pattern is compiled for a small machine that goes back by a list of its own, so no text can
//! exhaust the stack; how many steps it may take is bounded.

mod class;
mod compile;
mod machine;
mod parse;
mod parse_class;
mod syntax;
#[cfg(test)]
mod tests;

use machine::Code;

/// How a pattern is to be read and matched.
#[derive(Default, Clone, Copy)]
pub struct Options {
    pub ignore_case: bool,
    pub extended: bool,
    /// `.` stands for a line end, too.
    pub dot_all: bool,
    /// Matches without a character do not count.
    pub not_empty: bool,
    pub longest: bool,
}

/// A pattern, ready to match.
pub struct Regex {
    code: Code,
    options: Options,
    /// The name of each group, from the first on.
    pub names: Vec<Option<String>>,
}

/// Where the whole and each group lie; nothing for a group that took no part.
pub type Found = Vec<Option<(usize, usize)>>;

/// Why there is no answer, in Oniguruma's words.
pub type Problem = &'static str;

impl Regex {
    /// Compiles a pattern.
    pub fn new(pattern: &str, options: Options) -> Result<Self, Problem> {
        let parsed = parse::parse(pattern, options)?;
        let code = compile::compile(&parsed)?;
        Ok(Self { code, options, names: parsed.names })
    }

    /// The first match that begins at `start` or later.
    pub fn find(&self, text: &str, start: usize) -> Result<Option<Found>, Problem> {
        machine::find(&self.code, self.names.len(), text, start, self.options)
    }
}

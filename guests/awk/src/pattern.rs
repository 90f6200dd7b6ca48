//! Regular expressions that are made when they are first used, with and without regard to case.

use posix_regex::{Flavor, Options, Regex, SyntaxError};
use std::cell::OnceCell;
use std::rc::Rc;

/// A regular expression of the program, or one made from a string.
#[derive(Debug)]
pub struct Pattern {
    pub text: Vec<u8>,
    exact: OnceCell<Rc<Regex>>,
    folded: OnceCell<Rc<Regex>>,
}

impl Pattern {
    /// Of that text, which is not looked at yet.
    pub fn new(text: Vec<u8>) -> Self {
        Self { text, exact: OnceCell::new(), folded: OnceCell::new() }
    }

    /// Ready to be matched.
    pub fn regex(&self, ignore_case: bool) -> Result<&Rc<Regex>, SyntaxError> {
        let cell = if ignore_case { &self.folded } else { &self.exact };
        if let Some(made) = cell.get() {
            return Ok(made);
        }
        let options = Options { ignore_case, ..Options::of(Flavor::Awk) };
        let made = Rc::new(Regex::new(&self.text, options)?);
        Ok(cell.get_or_init(|| made))
    }
}

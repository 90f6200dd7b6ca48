//! TypeScript without its types.
//!
//! Every character stays where it is: what is stripped becomes a blank, so lines and columns are the author's
//! own. Nothing is emitted in its place, but for a semicolon where a statement was, and a bracket that a blank
//! line must not part from its arrow. What needs code of its own (enums, namespaces, parameter properties) is
//! refused.

mod blanks;
mod erase;
mod members;
mod scan;

use blanks::Blanks;
use erase::Eraser;
use oxc_allocator::Allocator;
use oxc_ast_visit::Visit as _;
use oxc_parser::{ParseOptions, Parser};
use oxc_span::SourceType;

/// What is wrong with a text, and where: line and column from one, in characters.
#[derive(Debug, PartialEq, Eq)]
pub struct Wrong {
    pub line: usize,
    pub column: usize,
    pub message: String,
}

impl Wrong {
    fn at(text: &str, offset: usize, message: String) -> Self {
        let before = &text[..text.floor_char_boundary(offset)];
        let start = before.rfind('\n').map_or(0, |it| it + 1);
        Self { line: before.matches('\n').count() + 1, column: before[start..].chars().count() + 1, message }
    }
}

const FENCE: &str = "```";

/// The text without its types.
pub fn strip(text: &str) -> Result<String, Wrong> {
    let (start, end) = within_fence(text);
    let mut blanks = Blanks::new(text);
    blanks.erase(0, start);
    blanks.erase(end, text.len());
    // The same length, so that places in it are places in the text.
    let program = blanks.apply_bytes(text);
    let allocator = Allocator::default();
    let options = ParseOptions { allow_return_outside_function: true, ..ParseOptions::default() };
    let parsed = Parser::new(&allocator, &program, SourceType::ts()).with_options(options).parse();
    if let Some(error) = parsed.diagnostics.first() {
        let offset = error.labels.first().map_or(0, |it| it.offset());
        return Err(Wrong::at(text, offset as usize, error.message.to_string()));
    }
    let mut eraser = Eraser::new(&program, &mut blanks);
    eraser.visit_program(&parsed.program);
    if let Some((offset, message)) = eraser.refused {
        return Err(Wrong::at(text, offset, message.to_owned()));
    }
    Ok(blanks.apply(text))
}

/// Where the program begins and ends within one surrounding Markdown fence, if there is one.
fn within_fence(text: &str) -> (usize, usize) {
    let whole = (0, text.len());
    let trimmed = text.trim();
    let start = text.len() - text.trim_start().len();
    let Some(inner) = trimmed.strip_prefix(FENCE).and_then(|it| it.strip_suffix(FENCE)) else { return whole };
    match inner.split_once('\n') {
        Some((info, body)) if !info.contains('`') => {
            let from = start + FENCE.len() + info.len() + 1;
            (from, from + body.len())
        }
        _ => whole,
    }
}

#[cfg(test)]
mod tests;

//! The body of a function as text that can be read again, in another process too, to the same tree: with the lines and
//! columns it had, so that messages and `LINENO` say what they said.

use std::sync::Arc;

use super::{
    ParseLimits, Parsed, Parser, SyntaxError,
    ast::{Command, Function, FunctionSource},
};

/// What [`read_function`] reads: the text of [`FunctionSource::whole`], and where it stood.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Retold<'t> {
    pub(crate) name: &'t str,
    pub(crate) text: &'t str,
    pub(crate) line: u32,
    pub(crate) column: u32,
    pub(crate) keeps_commands: bool,
}

impl FunctionSource {
    /// The body, and behind it the here-documents that were promised in it and not read there.
    pub(crate) fn whole(&self) -> String {
        let mut all = self.text.clone();
        for (index, here) in self.here.iter().filter_map(|it| it.get()).enumerate() {
            if index == 0 {
                all.push('\n');
            }
            all.push_str(&here.raw);
            all.push_str(&here.delimiter);
            all.push('\n');
        }
        all
    }
}

/// Reads a function again. `lines` says where lines of its body begin, as [`FunctionSource::lines`] does.
pub(crate) fn read_function(
    told: Retold<'_>,
    lines: impl Iterator<Item = u32>,
    limits: ParseLimits,
) -> Parsed<Arc<Function>> {
    let Retold { name, text, line, column, keeps_commands } = told;
    let refused =
        |message: &str| Err(SyntaxError { message: message.to_owned(), line, column, incomplete: false });
    // Behind the body its here-documents stand, and the word that ends one may have been missing.
    if text.len() > 2 * limits.text_bytes_max {
        return refused("the function is too long");
    }
    if line == 0 || column == 0 || column as usize > limits.text_bytes_max {
        return refused("a function stands on no such line or column");
    }
    let line_starts: Vec<usize> = std::iter::once(0).chain(lines.map(|it| it as usize)).collect();
    if !line_starts.is_sorted() || line_starts.last().is_some_and(|it| *it > text.len()) {
        return refused("the lines of the function are out of order");
    }
    let mut parser = Parser::at(text, limits, 0, line_starts);
    parser.before = (line - 1, column - 1);
    parser.keeps_commands = keeps_commands;
    let Command::Function(function) = parser.function_body(name.to_owned(), 0)? else {
        return refused("it is no function");
    };
    if parser.peek() == Some(b'\n') {
        parser.newline()?;
    }
    if parser.at < text.len() || !parser.pending.is_empty() {
        return Err(parser.error("something follows the function, or is missing"));
    }
    Ok(function)
}

impl Parser<'_> {
    /// What the body from `body_at` up to here was read from. `promised` here-documents were open when it began.
    pub(super) fn function_source(&mut self, body_at: usize, promised: usize) -> Parsed<FunctionSource> {
        let (line, column) = self.place(body_at);
        let from = self.line_starts.partition_point(|it| *it <= body_at);
        let to = self.line_starts.partition_point(|it| *it <= self.at).max(from);
        let offset = |it: &usize| u32::try_from(it - body_at).unwrap_or(u32::MAX);
        let lines: Box<[u32]> = self.line_starts[from..to].iter().map(offset).collect();
        self.grow::<u8>(lines.len() / 8)?;
        let here = self.pending.iter().skip(promised).map(|it| Arc::clone(&it.body)).collect();
        let text = self.text[body_at..self.at].to_owned();
        let (base, keeps_commands) = (self.span_from(body_at).start, self.keeps_commands);
        Ok(FunctionSource { text, base, line, column, lines, here, keeps_commands })
    }
}

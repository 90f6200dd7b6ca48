//! Text in, tree out. Bash's grammar by recursive descent, with a bound on depth and on size.
//!
//! Our own and not brush-parser's: there a word stays text and is parsed again, substitution and all,
//! each time it is evaluated, and nothing bounds how deep its grammar recurses. Here a word is pieces,
//! `$(…)` is a tree inside the tree, and 1 MB of nested `$(` is a clear error.

mod arith;
pub(crate) mod ast;
mod brace;
mod command;
mod compound;
mod cond;
mod cursor;
mod dollar;
mod escape;
mod function;
mod heredoc;
mod list;
mod mark;
mod param;
mod redirect;
mod source;
mod weight;
mod word;

pub(crate) use ast::Script;
pub(crate) use cursor::Parser;
pub(crate) use escape::ansi_c;
pub(crate) use function::{Retold, read_function};
pub(crate) use mark::Marks;
pub(crate) use source::{Aliases, Source};

/// What a line may cost to parse.
#[derive(Debug, Clone, Copy)]
pub(crate) struct ParseLimits {
    pub(crate) text_bytes_max: usize,
    pub(crate) depth_max: u32,
    pub(crate) brace_words_max: usize,
    /// What the tree may take, wherever its text is dense: `a|a|a` takes hundreds of times its length.
    pub(crate) tree_bytes_max: usize,
}

pub use drydock_abi::shell::SyntaxError;

pub(crate) type Parsed<T> = Result<T, SyntaxError>;

/// Parses a whole text.
pub(crate) fn parse(text: &str, limits: ParseLimits) -> Parsed<Script> {
    if text.len() > limits.text_bytes_max {
        let (size, max) = (text.len(), limits.text_bytes_max);
        let message = format!("the text has {size} bytes; the limit is {max}");
        return Err(SyntaxError { message, line: 1, column: 1, incomplete: false });
    }
    Parser::new(text, limits, 0).whole()
}

/// The text of a prompt: expansions count, and nothing else does.
pub(crate) fn prompt_word(text: &str, limits: ParseLimits) -> Parsed<ast::Word> {
    let mut parser = Parser::new(text, limits, 0);
    Ok(ast::Word::of(parser.quoted_pieces(word::Stop::End)?))
}

/// Whether the text is a legal variable name.
pub(crate) fn is_name(text: &str) -> bool {
    let mut bytes = text.bytes();
    bytes.next().is_some_and(|b| b.is_ascii_alphabetic() || b == b'_')
        && bytes.all(|b| b.is_ascii_alphanumeric() || b == b'_')
}

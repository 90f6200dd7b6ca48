//! Where the parser is in the text, and how it says what is wrong there.

use std::{cell::Cell, sync::Arc};

use super::{
    ParseLimits, Parsed, Script, SyntaxError,
    ast::{Item, Place, Span},
    heredoc::Pending,
    mark::Marks,
    source::{Aliases, Region},
};

pub(crate) struct Parser<'t> {
    pub(super) text: &'t str,
    pub(super) at: usize,
    pub(super) limits: ParseLimits,
    pub(super) depth: u32,
    /// What the tree takes so far.
    pub(super) tree_bytes: usize,
    pub(super) brace_words: usize,
    pub(super) brace_chars: usize,
    pub(super) pending: Vec<Pending>,
    pub(super) retries: u32,
    /// Names that are assigned, read, declared or unset somewhere in the text.
    pub(super) names: Vec<String>,
    pub(super) line_starts: Vec<usize>,
    /// A place that was asked for and its column, to count on from: a line may be the whole text.
    column_at: Cell<(usize, usize)>,
    /// Names to stop at, where words of commands may be aliases.
    pub(super) aliases: Option<Arc<Aliases>>,
    pub(super) alias_hit: Option<(usize, usize)>,
    pub(super) regions: Vec<Region>,
    /// Whether commands are kept as typed.
    pub(super) keeps_commands: bool,
    /// Whether a line that a backslash continues inside a word is to be joined first, and where.
    pub(super) joins: bool,
    pub(super) joint: Option<usize>,
    /// Command substitutions around here.
    pub(super) substituting: u32,
    /// What was read of words, where somebody types the text.
    pub(crate) marks: Option<Marks>,
    /// Lines, and characters of a line, before the text: a part of another one that is read again has some.
    pub(super) before: (u32, u32),
}

/// What may follow a reserved word or a plain one.
pub(super) const fn ends_word(byte: u8) -> bool {
    matches!(byte, b' ' | b'\t' | b'\n' | b'\r' | b';' | b'&' | b'|' | b'(' | b')' | b'<' | b'>')
}

impl<'t> Parser<'t> {
    pub(crate) fn new(text: &'t str, limits: ParseLimits, depth: u32) -> Self {
        let line_starts =
            std::iter::once(0).chain(text.bytes().enumerate().filter(|it| it.1 == b'\n').map(|it| it.0 + 1));
        Self { depth, ..Self::at(text, limits, 0, line_starts.collect()) }
    }

    /// The parser of a text that was read so far already.
    pub(super) fn at(text: &'t str, limits: ParseLimits, at: usize, line_starts: Vec<usize>) -> Self {
        Self {
            text,
            at,
            limits,
            depth: 0,
            tree_bytes: 0,
            brace_words: 0,
            brace_chars: 0,
            pending: Vec::new(),
            retries: 0,
            names: Vec::new(),
            line_starts,
            column_at: Cell::new((0, 0)),
            aliases: None,
            alias_hit: None,
            regions: Vec::new(),
            keeps_commands: false,
            joins: false,
            joint: None,
            substituting: 0,
            marks: None,
            before: (0, 0),
        }
    }

    /// The whole text as one script.
    pub(crate) fn whole(&mut self) -> Parsed<Script> {
        let mut script = Script::default();
        while let Some(items) = self.line()? {
            script.items.extend(items);
        }
        script.names = std::mem::take(&mut self.names);
        Ok(script)
    }

    /// The next line that has commands: what bash reads before it runs any of it.
    pub(super) fn line(&mut self) -> Parsed<Option<Vec<Item>>> {
        let (script, ended) = self.deeper(|it| it.list_of_commands(true))?;
        if !ended && self.at < self.text.len() {
            let found = self.found();
            return Err(self.error(format!("syntax error near unexpected token `{found}`")));
        }
        Ok((!script.items.is_empty()).then_some(script.items))
    }

    pub(super) fn peek(&self) -> Option<u8> {
        self.text.as_bytes().get(self.at).copied()
    }

    pub(super) fn peek_at(&self, ahead: usize) -> Option<u8> {
        self.text.as_bytes().get(self.at + ahead).copied()
    }

    pub(super) fn rest(&self) -> &'t str {
        &self.text[self.at..]
    }

    /// Moves past `token` if it is next.
    pub(super) fn eat(&mut self, token: &str) -> bool {
        let there = self.text.as_bytes()[self.at..].starts_with(token.as_bytes());
        if there {
            self.at += token.len();
        }
        there
    }

    pub(super) fn next_char(&mut self) -> Option<char> {
        let next = self.rest().chars().next()?;
        self.at += next.len_utf8();
        Some(next)
    }

    /// Blanks, and a backslash with its newline.
    pub(super) fn skip_blanks(&mut self) {
        loop {
            match self.peek() {
                Some(b' ' | b'\t' | b'\r') => self.at += 1,
                Some(b'\\') if self.peek_at(1) == Some(b'\n') => self.at += 2,
                _ => return,
            }
        }
    }

    /// Blanks, newlines and comments: what may stand between commands.
    pub(super) fn skip_space(&mut self) -> Parsed<()> {
        loop {
            self.skip_blanks();
            match self.peek() {
                Some(b'\n') => self.newline()?,
                Some(b'#') => self.skip_comment(),
                _ => return Ok(()),
            }
        }
    }

    pub(super) fn skip_comment(&mut self) {
        let length = self.rest().find('\n').unwrap_or(self.text.len() - self.at);
        self.at += length;
    }

    /// A newline ends the line that here-documents were promised on.
    pub(super) fn newline(&mut self) -> Parsed<()> {
        self.at += 1;
        self.read_heredocs()
    }

    /// The next word as plain text, for telling reserved words; nothing is consumed.
    pub(super) fn peek_word(&self) -> &'t str {
        let rest = self.rest();
        let end = rest.bytes().position(ends_word).unwrap_or(rest.len());
        // `do<(true)` is one word, and no reserved one.
        let tail = &rest[end..];
        if end > 0 && (tail.starts_with("<(") || tail.starts_with(">(")) {
            &rest[..end + 2]
        } else {
            &rest[..end]
        }
    }

    /// Moves past a reserved word if it is next.
    pub(super) fn eat_word(&mut self, word: &str) -> bool {
        let there = self.peek_word() == word;
        if there {
            self.at += word.len();
            // `-p` of `time` is none.
            if !word.starts_with('-') {
                self.mark_keyword(self.at - word.len());
            }
        }
        there
    }

    pub(super) fn expect_word(&mut self, word: &str, of: &str) -> Parsed<()> {
        self.skip_space()?;
        if self.eat_word(word) {
            return Ok(());
        }
        Err(self.expected(&format!("`{word}` of `{of}`")))
    }

    pub(super) fn expected(&self, what: &str) -> SyntaxError {
        if self.at >= self.text.len() {
            return self.unclosed(format!("syntax error: unexpected end, {what} is missing"));
        }
        self.error(format!("syntax error near unexpected token `{}`, expected {what}", self.found()))
    }

    pub(super) fn found(&self) -> String {
        let word = self.peek_word();
        if word.is_empty() {
            return self.rest().chars().next().map_or_else(String::new, |it| it.escape_debug().to_string());
        }
        word.chars().take(40).collect()
    }

    pub(super) fn error(&self, message: impl Into<String>) -> SyntaxError {
        self.error_at(self.at, message)
    }

    pub(super) fn error_at(&self, at: usize, message: impl Into<String>) -> SyntaxError {
        let (line, column) = self.place(at);
        SyntaxError { message: message.into(), line, column, incomplete: false }
    }

    pub(super) fn unclosed(&self, message: impl Into<String>) -> SyntaxError {
        SyntaxError { incomplete: true, ..self.error(message) }
    }

    pub(super) fn unclosed_at(&self, at: usize, message: impl Into<String>) -> SyntaxError {
        SyntaxError { incomplete: true, ..self.error_at(at, message) }
    }

    /// The text from `start` up to here.
    pub(super) fn span_from(&self, start: usize) -> Span {
        let at = |it: usize| u32::try_from(it).unwrap_or(u32::MAX);
        Span { start: at(start), end: at(self.at) }
    }

    pub(super) fn place_from(&self, start: usize) -> Place {
        Place { line: self.line_of(start), span: self.span_from(start) }
    }

    /// The line of a place.
    pub(super) fn line_of(&self, at: usize) -> u32 {
        let line = self.line_starts.partition_point(|start| *start <= at).max(1);
        u32::try_from(line).unwrap_or(u32::MAX).saturating_add(self.before.0)
    }

    /// Line and column of a place.
    pub(super) fn place(&self, at: usize) -> (u32, u32) {
        let line = self.line_of(at);
        let index = (line - self.before.0) as usize - 1;
        let start = self.line_starts.get(index).copied().unwrap_or(0);
        let (known, column) = self.column_at.get();
        let indent = if index == 0 { self.before.1 as usize } else { 0 };
        let is_known = known > 0 && (start..=at).contains(&known);
        let (from, before) = if is_known { (known, column) } else { (start, indent) };
        let column = before + self.text.get(from..at).map_or(0, |text| text.chars().count());
        if self.text.is_char_boundary(at) {
            self.column_at.set((at, column));
        }
        (line, u32::try_from(column + 1).unwrap_or(u32::MAX))
    }

    /// Runs `inner` one level deeper, if there is a level left.
    pub(super) fn deeper<T>(&mut self, inner: impl FnOnce(&mut Self) -> Parsed<T>) -> Parsed<T> {
        if self.depth >= self.limits.depth_max {
            return Err(self.error(format!("constructs are nested deeper than {}", self.limits.depth_max)));
        }
        self.depth += 1;
        let result = inner(self);
        self.depth -= 1;
        result
    }
}

//! Words: text, quotes and expansions side by side.

use std::sync::Arc;

use super::{
    Parsed, Parser,
    ast::{Param, ParamName, ParamOp, Piece, Word},
    cursor::ends_word,
};

/// What ends the pieces being read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Stop {
    /// Anything that ends a word.
    Word,
    /// A blank outside parentheses: the right side of `=~`.
    Regex,
    /// `"`.
    Quote,
    /// The end of the text.
    End,
    /// `}`.
    Brace,
    /// `}` or `/`.
    Slash,
    /// `]`.
    Bracket,
    /// `)` of an extended pattern.
    Group,
}

/// Pieces under construction; neighbouring text is one piece.
#[derive(Default)]
pub(super) struct Pieces(pub(super) Vec<Piece>);

impl Pieces {
    pub(super) fn text(&mut self, text: &str) {
        match self.0.last_mut() {
            Some(Piece::Text(last)) => last.push_str(text),
            _ => self.0.push(Piece::Text(text.to_owned())),
        }
    }

    pub(super) fn quoted(&mut self, text: &str) {
        match self.0.last_mut() {
            Some(Piece::Quoted(last)) => last.push_str(text),
            _ => self.0.push(Piece::Quoted(text.to_owned())),
        }
    }
}

impl Pieces {
    /// Makes `next` part of the plain `$name` before it, if that is what stands there.
    pub(super) fn extends_name(&mut self, next: char) -> bool {
        let Some(Piece::Param(param)) = self.0.last_mut() else { return false };
        let Param { name: ParamName::Var(name), typed, .. } = &**param else { return false };
        if !(next.is_ascii_alphanumeric() || next == '_') || typed.starts_with("${") {
            return false;
        }
        let longer = Param {
            name: ParamName::Var(format!("{name}{next}")),
            index: None,
            indirect: false,
            op: ParamOp::None,
            typed: format!("{typed}{next}"),
        };
        *param = Arc::new(longer);
        true
    }
}

impl Parser<'_> {
    /// A word of a command. Empty if there is none here.
    pub(super) fn word(&mut self) -> Parsed<Word> {
        let start = self.at;
        self.mark_word();
        let mut pieces = self.bare_pieces(Stop::Word)?;
        self.mark_word_end(start, &pieces);
        // `--dir=~/x` does not, `dir=~/x` does stand for home, even as an argument.
        if let Some(Piece::Text(text)) = pieces.first()
            && let Some((name, value)) = text.split_once('=')
            && super::is_name(name)
        {
            if value == "~" || value.starts_with("~/") || value.starts_with("~:") {
                let (head, tail) = (format!("{name}="), value[1..].to_owned());
                let parts = [Piece::Text(head), Piece::Tilde(String::new()), Piece::Text(tail)];
                pieces.splice(0..1, parts);
            }
            pieces = tildes_after_colons(pieces);
        }
        Ok(Word { pieces, span: self.span_from(start) })
    }

    pub(super) fn regex_word(&mut self) -> Parsed<Word> {
        let start = self.at;
        let pieces = self.bare_pieces(Stop::Regex)?;
        Ok(Word { pieces, span: self.span_from(start) })
    }

    pub(super) fn bracket_word(&mut self) -> Parsed<Word> {
        Ok(Word::of(self.bare_pieces(Stop::Bracket)?))
    }

    /// Whether `<(` or `>(` is here.
    pub(super) fn at_process(&self) -> bool {
        matches!(self.peek(), Some(b'<' | b'>')) && self.peek_at(1) == Some(b'(')
    }

    /// Pieces outside double quotes.
    pub(super) fn bare_pieces(&mut self, stop: Stop) -> Parsed<Vec<Piece>> {
        self.deeper(|it| it.bare_pieces_here(stop))
    }

    fn bare_pieces_here(&mut self, stop: Stop) -> Parsed<Vec<Piece>> {
        let mut pieces = Pieces::default();
        let start = self.at;
        let mut open = 0u32;
        while let Some(byte) = self.peek() {
            if open == 0 && self.stops(byte, stop) {
                break;
            }
            match byte {
                b'\\' => match self.peek_at(1) {
                    Some(b'\n') => {
                        if stop == Stop::Word && self.at > start {
                            self.stop_at_joint(0)?;
                        }
                        self.at += 2;
                    }
                    None => {
                        self.at += 1;
                        pieces.quoted("\\");
                    }
                    Some(_) => {
                        self.at += 1;
                        let next = self.next_char().unwrap_or('\\');
                        pieces.quoted(next.encode_utf8(&mut [0; 4]));
                    }
                },
                b'\'' => {
                    let text = self.single_quoted()?;
                    pieces.quoted(&text);
                }
                b'"' => pieces.0.push(self.double_quoted()?),
                b'$' => match self.dollar(false)? {
                    Some(piece) => pieces.0.push(piece),
                    None => {
                        self.at += 1;
                        pieces.text("$");
                    }
                },
                b'`' => pieces.0.push(self.backquoted(false)?),
                b'~' if self.at == start
                    && matches!(stop, Stop::Word | Stop::Brace | Stop::Slash | Stop::Regex) =>
                {
                    pieces.0.push(self.tilde(stop));
                }
                b'<' | b'>' if stop == Stop::Word => pieces.0.push(self.process()?),
                b'<' | b'>' if stop == Stop::Brace && self.at_process() => pieces.0.push(self.process()?),
                b'?' | b'*' | b'+' | b'@' | b'!'
                    if self.peek_at(1) == Some(b'(')
                        && stop != Stop::Regex
                        && stop != Stop::Bracket
                        && !self.group_is_text(stop) =>
                {
                    self.at += 2;
                    pieces.text(&format!("{}(", byte as char));
                    let inner = self.bare_pieces(Stop::Group)?;
                    for piece in inner {
                        match piece {
                            Piece::Text(text) => pieces.text(&text),
                            Piece::Quoted(text) => pieces.quoted(&text),
                            other => pieces.0.push(other),
                        }
                    }
                    if !self.eat(")") {
                        return Err(self.unclosed("the pattern's `(` is never closed"));
                    }
                    pieces.text(")");
                }
                _ => {
                    match (byte, stop) {
                        (b'[', Stop::Bracket) | (b'(', Stop::Regex | Stop::Group) => open += 1,
                        (b']', Stop::Bracket) | (b')', Stop::Regex | Stop::Group) => {
                            open = open.saturating_sub(1);
                        }
                        _ => {}
                    }
                    let end = self.plain_run(stop);
                    let text = &self.text[self.at..end];
                    pieces.text(text);
                    self.at = end;
                }
            }
        }
        self.grow::<Piece>(pieces.0.len())?;
        pieces.0.shrink_to_fit();
        Ok(pieces.0)
    }

    /// Whether the `*(` here is text, as in `${x##*([}`: the brace comes before any parenthesis that would close it.
    fn group_is_text(&self, stop: Stop) -> bool {
        // A pattern is short; what is longer than this is read as one.
        const LOOK_BYTES_MAX: usize = 256;
        if !matches!(stop, Stop::Brace | Stop::Slash) {
            return false;
        }
        let ahead = self.text.as_bytes()[self.at..].iter().take(LOOK_BYTES_MAX);
        ahead.copied().find(|it| matches!(it, b')' | b'}' | b'\'' | b'"' | b'$')) == Some(b'}')
    }

    /// The end of a run of characters that mean nothing here; at least one character.
    fn plain_run(&self, stop: Stop) -> usize {
        let bytes = self.text.as_bytes();
        let mut end = self.at + 1;
        if stop == Stop::Word || stop == Stop::End || stop == Stop::Quote {
            while let Some(&byte) = bytes.get(end) {
                let plain = byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-' | b'.' | b'/' | b',');
                if !plain {
                    break;
                }
                end += 1;
            }
        }
        while !self.text.is_char_boundary(end) {
            end += 1;
        }
        end
    }

    fn stops(&self, byte: u8, stop: Stop) -> bool {
        match stop {
            Stop::Word => ends_word(byte) && !self.at_process(),
            Stop::Regex => matches!(byte, b' ' | b'\t' | b'\n' | b')'),
            Stop::Quote => byte == b'"',
            Stop::End => false,
            Stop::Brace => byte == b'}',
            Stop::Slash => byte == b'}' || byte == b'/',
            Stop::Bracket => byte == b']',
            Stop::Group => byte == b')',
        }
    }

    /// Pieces where only `$`, a backquote and a backslash mean anything.
    pub(super) fn quoted_pieces(&mut self, stop: Stop) -> Parsed<Vec<Piece>> {
        self.deeper(|it| it.quoted_pieces_here(stop))
    }

    fn quoted_pieces_here(&mut self, stop: Stop) -> Parsed<Vec<Piece>> {
        let mut pieces = Pieces::default();
        while let Some(byte) = self.peek() {
            if self.stops(byte, stop) {
                break;
            }
            match byte {
                b'\\' => {
                    let next = self.peek_at(1);
                    let escapes = match next {
                        Some(b'$' | b'`' | b'\\' | b'\n') => true,
                        Some(b'"') => stop != Stop::End,
                        Some(b'}') => stop == Stop::Brace,
                        _ => false,
                    };
                    self.at += 1;
                    if !escapes {
                        pieces.text("\\");
                    } else if next == Some(b'\n') {
                        self.at += 1;
                    } else {
                        let next = self.next_char().unwrap_or('\\');
                        pieces.text(next.encode_utf8(&mut [0; 4]));
                    }
                }
                b'$' => match self.dollar(true)? {
                    Some(piece) => pieces.0.push(piece),
                    None => {
                        self.at += 1;
                        pieces.text("$");
                    }
                },
                b'`' => pieces.0.push(self.backquoted(stop != Stop::End)?),
                b'"' if stop == Stop::Brace => pieces.0.push(self.double_quoted()?),
                b'\'' if stop == Stop::Brace && self.quotes_brace() => {
                    let text = self.single_quoted()?;
                    pieces.text(&format!("'{text}'"));
                }
                _ => {
                    let end = self.plain_run(stop);
                    let text = &self.text[self.at..end];
                    pieces.text(text);
                    self.at = end;
                }
            }
        }
        self.grow::<Piece>(pieces.0.len())?;
        pieces.0.shrink_to_fit();
        Ok(pieces.0)
    }

    /// Whether the single quote here is there to hide a `}`.
    fn quotes_brace(&self) -> bool {
        let inside = self.rest()[1..].split_once('\'').map_or("", |it| it.0);
        inside.contains('}') && !inside.contains(['"', '\n'])
    }

    pub(super) fn single_quoted(&mut self) -> Parsed<String> {
        let start = self.at;
        self.at += 1;
        let Some(length) = self.rest().find('\'') else {
            return Err(self.unclosed_at(start, "the single quote is never closed"));
        };
        let text = self.rest()[..length].to_owned();
        self.at += length + 1;
        Ok(text)
    }

    pub(super) fn double_quoted(&mut self) -> Parsed<Piece> {
        let start = self.at;
        self.at += 1;
        let pieces = self.quoted_pieces(Stop::Quote)?;
        if !self.eat("\"") {
            return Err(self.unclosed_at(start, "the double quote is never closed"));
        }
        Ok(Piece::Double(pieces))
    }

    fn tilde(&mut self, stop: Stop) -> Piece {
        let rest = &self.rest()[1..];
        let plain = |b: u8| b.is_ascii_alphanumeric() || matches!(b, b'_' | b'-' | b'.' | b'+');
        let length = rest.bytes().position(|b| !plain(b)).unwrap_or(rest.len());
        let after = rest.as_bytes().get(length).copied();
        let ends = after.is_none_or(|b| b == b'/' || b == b':' || self.stops(b, stop) || ends_word(b));
        self.at += 1;
        if !ends {
            return Piece::Text("~".into());
        }
        let name = rest[..length].to_owned();
        self.at += length;
        Piece::Tilde(name)
    }
}

/// In `PATH=~/a:~/b` both tildes stand for home.
pub(super) fn tildes_after_colons(pieces: Vec<Piece>) -> Vec<Piece> {
    let mut all = Vec::with_capacity(pieces.len());
    for piece in pieces {
        let Piece::Text(text) = &piece else {
            all.push(piece);
            continue;
        };
        let mut rest = text.as_str();
        while let Some(at) = rest.find(":~") {
            let after = &rest[at + 2..];
            if !(after.is_empty() || after.starts_with('/') || after.starts_with(':')) {
                break;
            }
            all.push(Piece::Text(rest[..=at].to_owned()));
            all.push(Piece::Tilde(String::new()));
            rest = after;
        }
        if !rest.is_empty() {
            all.push(Piece::Text(rest.to_owned()));
        }
    }
    all
}

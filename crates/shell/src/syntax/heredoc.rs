//! Here-documents: promised on one line, read on the lines after it.

use std::sync::{Arc, OnceLock};

use super::{
    Parsed, Parser,
    ast::{Here, Piece, Word},
    word::Stop,
};

/// A here-document whose body is still to come.
pub(super) struct Pending {
    pub(super) delimiter: String,
    pub(super) quoted: bool,
    pub(super) strip_tabs: bool,
    pub(super) body: Arc<OnceLock<Here>>,
}

impl Parser<'_> {
    /// The delimiter after `<<`, and a place for the body.
    pub(super) fn heredoc(&mut self, strip_tabs: bool) -> Parsed<Arc<OnceLock<Here>>> {
        self.skip_blanks();
        let start = self.at;
        let word = self.word()?;
        let raw = &self.text[start..self.at];
        if raw.is_empty() {
            return Err(self.expected("a delimiter after `<<`"));
        }
        let quoted = raw.contains(['\'', '"', '\\']);
        // Expansions are not carried out here; only quotes come off.
        let delimiter = word.literal().unwrap_or_else(|| raw.replace(['\'', '"'], ""));
        self.grow::<(Pending, Here)>(1)?;
        let body = Arc::new(OnceLock::new());
        self.pending.push(Pending { delimiter, quoted, strip_tabs, body: Arc::clone(&body) });
        Ok(body)
    }

    pub(super) fn read_heredocs(&mut self) -> Parsed<()> {
        for pending in std::mem::take(&mut self.pending) {
            let mut text = String::new();
            while self.at < self.text.len() {
                let rest = self.rest();
                let length = rest.find('\n').unwrap_or(rest.len());
                let line_at = self.at;
                let mut line = &rest[..length];
                self.at += (length + 1).min(rest.len());
                if pending.strip_tabs {
                    line = line.trim_start_matches('\t');
                }
                if line == pending.delimiter {
                    break;
                }
                // `$(cat <<X` that ends in `X)`: bash warns, and takes it.
                let closes = self.substituting > 0 && line.strip_prefix(&pending.delimiter) == Some(")");
                if closes {
                    self.at = line_at + length - 1;
                    break;
                }
                text.push_str(line);
                text.push('\n');
            }
            let word = if pending.quoted {
                Word::quoted(text.clone())
            } else {
                let read = self.inner(&text, self.depth, |it| it.quoted_pieces(Stop::End));
                let pieces = read.map_err(|error| {
                    let message = format!("in the here-document `{}`: {}", pending.delimiter, error.message);
                    self.error(message)
                })?;
                Word::of(vec![Piece::Double(pieces)])
            };
            let Pending { delimiter, quoted, strip_tabs, body } = pending;
            let _ = body.set(Here { word, delimiter, quoted, strip_tabs, raw: text });
        }
        Ok(())
    }
}

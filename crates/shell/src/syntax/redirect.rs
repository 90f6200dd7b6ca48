//! Redirections.

use super::{
    Parsed, Parser,
    ast::{FdName, Redirect, RedirectKind, Word},
    is_name,
};

impl Parser<'_> {
    /// The redirection here, if there is one.
    pub(super) fn redirect(&mut self) -> Parsed<Option<Redirect>> {
        let start = self.at;
        let fd = self.redirect_fd();
        let Some(kind) = self.redirect_kind(fd.is_some())? else {
            self.at = start;
            return Ok(None);
        };
        self.grow::<Redirect>(1)?;
        Ok(Some(Redirect { fd, kind }))
    }

    /// `3` or `{name}` right before `<` or `>`.
    fn redirect_fd(&mut self) -> Option<FdName> {
        let rest = self.rest();
        if rest.starts_with('{') {
            let end = rest.find('}')?;
            let name = &rest[1..end];
            if !is_name(name) || !matches!(rest.as_bytes().get(end + 1), Some(b'<' | b'>')) {
                return None;
            }
            self.at += end + 1;
            self.names.push(name.to_owned());
            return Some(FdName::Variable(name.to_owned()));
        }
        let length = rest.bytes().position(|b| !b.is_ascii_digit())?;
        if length == 0 || !matches!(rest.as_bytes()[length], b'<' | b'>') {
            return None;
        }
        let number = rest[..length].parse().ok()?;
        self.at += length;
        Some(FdName::Number(number))
    }

    fn redirect_kind(&mut self, numbered: bool) -> Parsed<Option<RedirectKind>> {
        if !numbered && self.peek() == Some(b'&') && self.peek_at(1) == Some(b'>') {
            let append = self.peek_at(2) == Some(b'>');
            self.at += if append { 3 } else { 2 };
            let target = self.target("&>")?;
            return Ok(Some(RedirectKind::Both { target, append }));
        }
        if !matches!(self.peek(), Some(b'<' | b'>')) || self.at_process() {
            return Ok(None);
        }
        self.stop_at_joint(1)?;
        if matches!(self.peek_at(1), Some(b'<' | b'>')) {
            self.stop_at_joint(2)?;
        }
        let standard = !numbered || self.text[..self.at].ends_with('1');
        let kind = if self.eat("<<<") {
            RedirectKind::HereString(self.target("<<<")?)
        } else if self.eat("<<-") {
            RedirectKind::Here(self.heredoc(true)?)
        } else if self.eat("<<") {
            RedirectKind::Here(self.heredoc(false)?)
        } else if self.eat("<&") {
            RedirectKind::DupIn(self.target("<&")?)
        } else if self.eat("<>") {
            RedirectKind::ReadWrite(self.target("<>")?)
        } else if self.eat("<") {
            RedirectKind::Read(self.target("<")?)
        } else if self.eat(">>") {
            RedirectKind::Append(self.target(">>")?)
        } else if self.eat(">&") {
            let target = self.target(">&")?;
            let numeric = target.bare().is_none_or(|text| {
                text == "-" || text.trim_end_matches('-').bytes().all(|b| b.is_ascii_digit())
            });
            if numeric || !standard {
                RedirectKind::DupOut(target)
            } else {
                RedirectKind::Both { target, append: false }
            }
        } else if self.eat(">|") {
            RedirectKind::Write { target: self.target(">|")?, clobber: true }
        } else {
            self.at += 1;
            RedirectKind::Write { target: self.target(">")?, clobber: false }
        };
        Ok(Some(kind))
    }

    fn target(&mut self, of: &str) -> Parsed<Word> {
        self.skip_blanks();
        let before = self.at;
        let word = self.word()?;
        if self.at == before {
            return Err(self.expected(&format!("a name after `{of}`")));
        }
        Ok(word)
    }
}

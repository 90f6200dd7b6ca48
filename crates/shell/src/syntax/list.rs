//! Lists and pipelines: what joins commands.

use std::sync::Arc;

use super::{
    Parsed, Parser, Script,
    ast::{AndOr, Command, Item, Join, Pipeline, Simple, Stage, Timed},
};

impl Parser<'_> {
    /// Commands until something that is not one; the caller says whether it may stand there.
    pub(super) fn script(&mut self) -> Parsed<Script> {
        self.deeper(|it| it.list_of_commands(false)).map(|read| read.0)
    }

    /// Commands, all of them or those of one line; and whether a newline ended them.
    pub(super) fn list_of_commands(&mut self, one_line: bool) -> Parsed<(Script, bool)> {
        let mut items = Vec::new();
        let mut line = 0;
        loop {
            self.skip_space()?;
            let start = self.at;
            let starts_line = self.line_of(start) > line;
            if self.at_list_end() {
                return Ok((Script { items, names: Vec::new() }, false));
            }
            self.grow::<(Item, AndOr)>(1)?;
            let list = Arc::new(self.and_or()?);
            let end = self.at;
            self.skip_blanks();
            if matches!(self.peek(), Some(b'&' | b';' | b'|')) {
                self.stop_at_joint(1)?;
            }
            let background = self.peek() == Some(b'&') && self.peek_at(1) != Some(b'&');
            line = self.line_of(self.at);
            // What `jobs` shows of it.
            let typed = if background { self.text[start..end].trim().into() } else { Arc::default() };
            items.push(Item { list, background, starts_line, start, typed });
            match self.peek() {
                Some(b'&') if background => self.at += 1,
                Some(b';') if !matches!(self.peek_at(1), Some(b';' | b'&')) => self.at += 1,
                Some(b'\n' | b'#') => {}
                _ => return Ok((Script { items, names: Vec::new() }, false)),
            }
            if one_line {
                self.skip_blanks();
                if self.peek() == Some(b'#') {
                    self.skip_comment();
                }
                if self.peek() == Some(b'\n') {
                    self.newline()?;
                    return Ok((Script { items, names: Vec::new() }, true));
                }
            }
        }
    }

    /// A script that must have a command, as `then` and `do` demand.
    pub(super) fn body(&mut self, of: &str) -> Parsed<Script> {
        let script = self.script()?;
        if script.items.is_empty() {
            return Err(self.expected(&format!("a command in `{of}`")));
        }
        Ok(script)
    }

    fn at_list_end(&self) -> bool {
        match self.peek() {
            None | Some(b')') => true,
            Some(b';' | b'&' | b'|') => true,
            _ => matches!(self.peek_word(), "then" | "else" | "elif" | "fi" | "do" | "done" | "esac" | "}"),
        }
    }

    fn and_or(&mut self) -> Parsed<AndOr> {
        let first = self.pipeline()?;
        let mut rest = Vec::new();
        loop {
            self.skip_blanks();
            if matches!(self.peek(), Some(b'&' | b'|')) {
                self.stop_at_joint(1)?;
            }
            let join = if self.eat("&&") {
                Join::And
            } else if self.eat("||") {
                Join::Or
            } else {
                return Ok(AndOr { first, rest });
            };
            self.skip_space()?;
            self.grow::<(Join, Pipeline)>(1)?;
            rest.push((join, self.pipeline()?));
        }
    }

    fn pipeline(&mut self) -> Parsed<Pipeline> {
        let (mut inverted, mut timed, mut prefixed) = (false, None, false);
        loop {
            self.skip_blanks();
            match self.peek_word() {
                "!" => {
                    self.at += 1;
                    self.mark_keyword(self.at - 1);
                    inverted = !inverted;
                }
                "time" => {
                    self.at += 4;
                    self.mark_keyword(self.at - 4);
                    self.skip_blanks();
                    let is_posix = self.eat_word("-p");
                    self.skip_blanks();
                    // Bash takes `--` for `-p`, too.
                    timed = Some(if self.eat_word("--") || is_posix { Timed::Posix } else { Timed::Own });
                }
                _ => break,
            }
            prefixed = true;
        }
        let mut stages = Vec::new();
        if prefixed && (self.at_list_end() || matches!(self.peek(), Some(b'\n'))) {
            // `!` and `time` alone: as if `true` were there.
            let nothing = Command::Simple(Simple::default());
            stages.push(Stage { command: Arc::new(nothing), both: false });
            return Ok(Pipeline { inverted, timed, stages });
        }
        loop {
            self.grow::<(Stage, Command)>(1)?;
            let command = Arc::new(self.command()?);
            self.skip_blanks();
            if self.peek() == Some(b'|') {
                self.stop_at_joint(1)?;
            }
            let both = self.peek() == Some(b'|') && self.peek_at(1) == Some(b'&');
            let more = self.peek() == Some(b'|') && self.peek_at(1) != Some(b'|');
            stages.push(Stage { command, both });
            if !more {
                stages.shrink_to_fit();
                return Ok(Pipeline { inverted, timed, stages });
            }
            self.at += if both { 2 } else { 1 };
            self.skip_space()?;
        }
    }
}

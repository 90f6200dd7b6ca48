//! Groups, branches and loops.

use std::sync::Arc;

use super::{
    Parsed, Parser,
    ast::{Arm, ArmEnd, Compound, Script, Word},
};

impl Parser<'_> {
    /// The compound command here, if it is one.
    pub(super) fn compound(&mut self) -> Parsed<Option<Compound>> {
        if self.peek() == Some(b'(') {
            return self.paren().map(Some);
        }
        let word = self.peek_word();
        match word {
            "{" | "[[" | "if" | "for" | "while" | "until" | "case" | "select" | "coproc" => {}
            _ => return Ok(None),
        }
        let start = self.at;
        self.at += word.len();
        self.mark_keyword(start);
        let compound = match word {
            "{" => {
                let script = self.body("{")?;
                if !self.eat_word("}") {
                    return Err(self.missing(start, "{", "}"));
                }
                Compound::Group(script)
            }
            "[[" => Compound::Cond(self.deeper(|it| it.cond(start))?),
            "if" => self.branch()?,
            "for" => self.for_loop()?,
            "select" => {
                let (name, words, body) = self.named_loop("select")?;
                Compound::Select { name, words, body }
            }
            "coproc" => self.coproc(start)?,
            "case" => self.case()?,
            _ => {
                let test = self.body(word)?;
                let body = self.do_done(word)?;
                Compound::Loop { until: word == "until", test, body }
            }
        };
        Ok(Some(compound))
    }

    fn missing(&self, start: usize, of: &str, what: &str) -> super::SyntaxError {
        if self.at >= self.text.len() {
            return self.unclosed_at(start, format!("`{of}` is never closed: `{what}` is missing"));
        }
        self.expected(&format!("`{what}`"))
    }

    fn paren(&mut self) -> Parsed<Compound> {
        let start = self.at;
        if self.peek_at(1) == Some(b'(') {
            self.at += 2;
            if let Some(arith) = self.arith_until_parens()? {
                return Ok(Compound::Arith(arith));
            }
            self.at = start;
        }
        self.at += 1;
        let script = self.body("(")?;
        if !self.eat(")") {
            return Err(self.missing(start, "(", ")"));
        }
        Ok(Compound::Subshell(Arc::new(script)))
    }

    fn branch(&mut self) -> Parsed<Compound> {
        let mut arms = Vec::new();
        let mut otherwise = None;
        loop {
            let test = self.body("if")?;
            self.expect_word("then", "if")?;
            let body = self.body("then")?;
            self.grow::<(Script, Script)>(1)?;
            arms.push((test, body));
            self.skip_space()?;
            if self.eat_word("elif") {
                continue;
            }
            if self.eat_word("else") {
                otherwise = Some(self.body("else")?);
            }
            self.expect_word("fi", "if")?;
            return Ok(Compound::If { arms, otherwise });
        }
    }

    /// `do … done`, or bash's `{ … }`.
    fn do_done(&mut self, of: &str) -> Parsed<Script> {
        self.skip_space()?;
        if self.eat_word("{") {
            let body = self.body("{")?;
            self.expect_word("}", of)?;
            return Ok(body);
        }
        self.expect_word("do", of)?;
        let body = self.body("do")?;
        self.expect_word("done", of)?;
        Ok(body)
    }

    fn for_loop(&mut self) -> Parsed<Compound> {
        self.skip_blanks();
        if self.eat("((") {
            return self.arith_for();
        }
        let (name, words, body) = self.named_loop("for")?;
        Ok(Compound::For { name, words, body })
    }

    /// `name in words; do … done`, without the `in` over the arguments.
    fn named_loop(&mut self, of: &str) -> Parsed<(String, Option<Vec<Word>>, Script)> {
        self.skip_blanks();
        self.stop_after_alias()?;
        let name = self.peek_word().to_owned();
        if name.is_empty() || name.contains(['$', '`', '"', '\'', '\\']) {
            return Err(self.error(format!("`{name}` is not a name `{of}` can assign to")));
        }
        self.names.push(name.clone());
        self.at += name.len();
        self.skip_space()?;
        self.stop_after_alias()?;
        let mut words = None;
        if self.eat_word("in") {
            let mut list = Vec::new();
            loop {
                self.skip_blanks();
                if matches!(self.peek(), None | Some(b'\n' | b';' | b'#')) {
                    break;
                }
                self.stop_after_alias()?;
                let before = self.at;
                let word = self.word()?;
                if self.at == before {
                    return Err(self.expected(&format!("a word of `{of}`")));
                }
                let words = self.braces(word)?;
                self.grow::<Word>(words.len())?;
                list.extend(words);
            }
            words = Some(list);
        }
        self.skip_blanks();
        self.eat(";");
        let body = self.do_done(of)?;
        Ok((name, words, body))
    }

    /// `coproc command`, or `coproc name { … }`: only a compound command can be named.
    fn coproc(&mut self, start: usize) -> Parsed<Compound> {
        self.skip_blanks();
        let word = self.peek_word();
        let before = self.at;
        let mut name = "COPROC".to_owned();
        if super::is_name(word) && !is_reserved(word) {
            self.at += word.len();
            self.skip_blanks();
            if self.peek() == Some(b'(') || is_reserved(self.peek_word()) {
                name = word.to_owned();
            } else {
                self.at = before;
            }
        }
        self.names.push(name.clone());
        self.grow::<super::ast::Command>(1)?;
        let command = Arc::new(self.deeper(Self::command)?);
        let typed = self.text[start..self.at].trim().into();
        Ok(Compound::Coproc { name, command, typed })
    }

    fn arith_for(&mut self) -> Parsed<Compound> {
        let from = self.at;
        let start = self.arith_clause(b';')?;
        let test = self.arith_clause(b';')?;
        let step = self.arith_clause(b')')?;
        let mut clauses = self.span_from(from);
        clauses.end = clauses.end.saturating_sub(1);
        if !self.eat(")") {
            return Err(self.expected("`))` of `for ((`"));
        }
        self.skip_blanks();
        self.eat(";");
        let body = self.do_done("for")?;
        Ok(Compound::ArithFor { start, test, step, clauses, body })
    }

    fn case(&mut self) -> Parsed<Compound> {
        self.skip_blanks();
        let before = self.at;
        let subject = self.word()?;
        if self.at == before {
            return Err(self.expected("a word of `case`"));
        }
        self.expect_word("in", "case")?;
        let mut arms = Vec::new();
        loop {
            self.skip_space()?;
            if self.eat_word("esac") {
                return Ok(Compound::Case { subject, arms });
            }
            self.eat("(");
            let mut patterns = Vec::new();
            loop {
                self.skip_blanks();
                let before = self.at;
                let word = self.word()?;
                if self.at == before {
                    return Err(self.expected("a pattern of `case`"));
                }
                self.grow::<Word>(1)?;
                patterns.push(word);
                self.skip_blanks();
                if !self.eat("|") {
                    break;
                }
            }
            if !self.eat(")") {
                return Err(self.expected("`)` after a pattern of `case`"));
            }
            let body = self.script()?;
            self.skip_space()?;
            let then = if self.eat(";;&") {
                ArmEnd::TestNext
            } else if self.eat(";;") {
                ArmEnd::Stop
            } else if self.eat(";&") {
                ArmEnd::FallThrough
            } else if self.peek_word() == "esac" {
                ArmEnd::Stop
            } else {
                return Err(self.expected("`;;` or `esac`"));
            };
            self.grow::<Arm>(1)?;
            patterns.shrink_to_fit();
            arms.push(Arm { patterns, body, then });
        }
    }
}

/// Whether a word begins a compound command.
fn is_reserved(word: &str) -> bool {
    matches!(word, "{" | "[[" | "if" | "for" | "while" | "until" | "case" | "select")
}

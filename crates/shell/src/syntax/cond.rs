//! `[[ … ]]`.

use super::{
    Parsed, Parser,
    ast::{Cond, CondOp},
};

const UNARY: &str = "abcdefghknoprstuvwxzGLNORS";

/// The longest row of `&&` or `||` in one condition.
const CHAIN_MAX: usize = 500;

impl Parser<'_> {
    /// With the parser after `[[`.
    pub(super) fn cond(&mut self, start: usize) -> Parsed<Cond> {
        let cond = self.cond_or()?;
        self.skip_space()?;
        if self.eat_word("]]") {
            return Ok(cond);
        }
        if self.at >= self.text.len() {
            return Err(self.unclosed_at(start, "`[[` is never closed"));
        }
        Err(self.expected("`]]`"))
    }

    fn cond_or(&mut self) -> Parsed<Cond> {
        let (mut left, mut chain) = (self.cond_and()?, 0);
        loop {
            self.skip_space()?;
            if !self.eat("||") {
                return Ok(left);
            }
            chain += 1;
            self.short_enough(chain)?;
            left = Cond::Or(Box::new(left), Box::new(self.cond_and()?));
        }
    }

    /// A row of these is a tree as deep as the row is long.
    fn short_enough(&self, chain: usize) -> Parsed<()> {
        if chain <= CHAIN_MAX {
            return Ok(());
        }
        Err(self.error(format!("a condition has more than {CHAIN_MAX} `&&` or `||` in a row")))
    }

    fn cond_and(&mut self) -> Parsed<Cond> {
        let (mut left, mut chain) = (self.cond_not()?, 0);
        loop {
            self.skip_space()?;
            if !self.eat("&&") {
                return Ok(left);
            }
            chain += 1;
            self.short_enough(chain)?;
            left = Cond::And(Box::new(left), Box::new(self.cond_not()?));
        }
    }

    fn cond_not(&mut self) -> Parsed<Cond> {
        self.skip_space()?;
        if self.eat_word("!") {
            return Ok(Cond::Not(Box::new(self.deeper(Self::cond_not)?)));
        }
        if self.eat("(") {
            let inner = self.deeper(Self::cond_or)?;
            self.skip_space()?;
            if !self.eat(")") {
                return Err(self.expected("`)` in `[[`"));
            }
            return Ok(inner);
        }
        self.cond_primary()
    }

    fn cond_primary(&mut self) -> Parsed<Cond> {
        let word = self.peek_word();
        if let [b'-', letter] = *word.as_bytes()
            && UNARY.contains(char::from(letter))
        {
            let before = self.at;
            self.at += 2;
            self.skip_blanks();
            let next = self.peek_word();
            let alone = next == "]]"
                || matches!(self.peek(), None | Some(b'&' | b'|' | b')' | b'\n'))
                || (cond_op(next).is_some() && letter != b'n' && letter != b'z' && !self.ends_after(next));
            if !alone {
                return Ok(Cond::Unary(char::from(letter), self.cond_operand()?));
            }
            self.at = before;
        }
        let left = self.cond_operand()?;
        self.skip_blanks();
        if self.peek() == Some(b'<') || self.peek() == Some(b'>') {
            let op = if self.peek() == Some(b'<') { CondOp::Less } else { CondOp::Greater };
            self.at += 1;
            self.skip_blanks();
            return Ok(Cond::Binary(left, op, self.cond_operand()?));
        }
        let word = self.peek_word();
        let Some(op) = cond_op(word) else {
            return Ok(Cond::Unary('n', left));
        };
        self.at += word.len();
        self.skip_blanks();
        let right = if op == CondOp::Regex { self.regex_word()? } else { self.cond_operand()? };
        Ok(Cond::Binary(left, op, right))
    }

    /// Whether nothing follows a word that looks like an operator: then it is an operand.
    fn ends_after(&self, word: &str) -> bool {
        self.rest()[word.len()..].trim_start_matches([' ', '\t']).starts_with("]]")
    }

    fn cond_operand(&mut self) -> Parsed<super::ast::Word> {
        let before = self.at;
        if self.peek_word() == "]]" {
            return Err(self.expected("an operand in `[[`"));
        }
        // Its own node, and that of what joins it to the others.
        self.grow::<Cond>(2)?;
        let word = self.word()?;
        if self.at == before {
            return Err(self.expected("an operand in `[[`"));
        }
        Ok(word)
    }
}

fn cond_op(word: &str) -> Option<CondOp> {
    Some(match word {
        "=" | "==" => CondOp::Match,
        "!=" => CondOp::NoMatch,
        "=~" => CondOp::Regex,
        "-eq" => CondOp::Eq,
        "-ne" => CondOp::Ne,
        "-lt" => CondOp::Lt,
        "-le" => CondOp::Le,
        "-gt" => CondOp::Gt,
        "-ge" => CondOp::Ge,
        "-nt" => CondOp::Newer,
        "-ot" => CondOp::Older,
        "-ef" => CondOp::SameFile,
        _ => return None,
    })
}

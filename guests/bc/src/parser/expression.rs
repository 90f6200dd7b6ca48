//! Expressions: one loop over the operators, by how tight they bind.

use super::{Parsed, Parser, wrong};
use crate::code::{Argument, Builtin, Op, Place};
use crate::lexer::Word;

/// How tight each binary operator binds; assignments are treated apart.
fn level(sign: &str) -> Option<u8> {
    Some(match sign {
        "||" => 1,
        "&&" => 2,
        "==" | "!=" | "<" | ">" | "<=" | ">=" => 4,
        "+" | "-" => 6,
        "*" | "/" | "%" => 7,
        "^" => 8,
        _ => return None,
    })
}

/// Below this, `!` takes what follows it.
const NOT: u8 = 4;
/// An assignment's right side goes on as long as operators bind tighter than this.
const ASSIGN: u8 = 5;

/// What an operand turned out to be.
enum Operand {
    Value,
    /// Not read yet, so that it can be assigned to. An element's index is on the stack.
    Place(Place),
}

impl Parser {
    /// Compiles an expression; whether it is an assignment, whose value is not printed.
    pub(super) fn expression(&mut self) -> Parsed<bool> {
        self.binary(0)
    }

    fn binary(&mut self, least: u8) -> Parsed<bool> {
        self.deeper()?;
        let mut assigned = false;
        match self.operand()? {
            Operand::Value => {}
            Operand::Place(place) => assigned = self.assignment(place)?,
        }
        while let Word::Sign(sign) = *self.peek() {
            let Some(tight) = level(sign).filter(|tight| *tight > least) else { break };
            self.at += 1;
            assigned = false;
            match sign {
                "||" | "&&" => self.short_cut(sign, tight)?,
                // Binds to the right.
                "^" => {
                    self.binary(tight - 1)?;
                    self.code.push(Op::Math('^'));
                }
                "+" | "-" | "*" | "/" | "%" => {
                    self.binary(tight)?;
                    self.code.push(Op::Math(sign.chars().next().unwrap_or('+')));
                }
                _ => {
                    self.binary(tight)?;
                    self.code.push(Op::Compare(sign));
                }
            }
        }
        self.depth -= 1;
        Ok(assigned)
    }

    fn short_cut(&mut self, sign: &str, tight: u8) -> Parsed<()> {
        self.code.push(Op::Truth);
        self.code.push(Op::Copy);
        let over = self.emit(if sign == "&&" { Op::JumpIfZero(0) } else { Op::JumpIfNot(0) });
        self.code.push(Op::Drop);
        self.binary(tight)?;
        self.code.push(Op::Truth);
        self.land(over);
        Ok(())
    }

    /// After a place: an assignment, a step, or just its value.
    fn assignment(&mut self, place: Place) -> Parsed<bool> {
        let Word::Sign(sign) = *self.peek() else {
            self.code.push(Op::Get(place));
            return Ok(false);
        };
        match sign {
            "=" => {
                self.at += 1;
                self.binary(ASSIGN)?;
                self.code.push(Op::Set(place));
                Ok(true)
            }
            "+=" | "-=" | "*=" | "/=" | "%=" | "^=" => {
                self.at += 1;
                if matches!(place, Place::Element(_)) {
                    self.code.push(Op::Copy);
                }
                self.code.push(Op::Get(place.clone()));
                self.binary(ASSIGN)?;
                self.code.push(Op::Math(sign.chars().next().unwrap_or('+')));
                self.code.push(Op::Set(place));
                Ok(true)
            }
            "++" | "--" => {
                self.at += 1;
                self.code.push(Op::Step { place, by: if sign == "++" { 1 } else { -1 }, old: true });
                Ok(false)
            }
            _ => {
                self.code.push(Op::Get(place));
                Ok(false)
            }
        }
    }

    fn operand(&mut self) -> Parsed<Operand> {
        let word = self.peek().clone();
        self.at += 1;
        match word {
            Word::Number(text) => self.code.push(Op::Constant(text)),
            Word::Sign("(") => {
                self.expression()?;
                self.expect(")")?;
            }
            Word::Sign("-") => {
                self.negated()?;
                self.code.push(Op::Negate);
            }
            Word::Sign("+") => self.negated()?,
            Word::Sign("!") => {
                self.binary(NOT - 1)?;
                self.code.push(Op::Not);
            }
            Word::Sign(sign @ ("++" | "--")) => match self.operand()? {
                Operand::Place(place) => {
                    self.code.push(Op::Step { place, by: if sign == "++" { 1 } else { -1 }, old: false });
                }
                Operand::Value => return wrong(),
            },
            Word::Sign(".") => return Ok(Operand::Place(Place::Last)),
            Word::Name(name) => return self.named(name),
            Word::Wrong(sign) => return Err(format!("illegal character: {sign}")),
            _ => {
                self.at -= 1;
                return wrong();
            }
        }
        Ok(Operand::Value)
    }

    /// What a sign applies to: an operand alone.
    fn negated(&mut self) -> Parsed<()> {
        self.deeper()?;
        if let Operand::Place(place) = self.operand()? {
            self.assignment(place)?;
        }
        self.depth -= 1;
        Ok(())
    }

    fn named(&mut self, name: String) -> Parsed<Operand> {
        let builtin = match name.as_str() {
            "length" => Some(Builtin::Length),
            "sqrt" => Some(Builtin::SquareRoot),
            "scale" if matches!(self.peek(), Word::Sign("(")) => Some(Builtin::Scale),
            "read" => Some(Builtin::Read),
            _ => None,
        };
        if let Some(builtin) = builtin {
            return self.builtin(builtin);
        }
        if self.take("(") {
            let args = self.arguments()?;
            self.code.push(Op::Call { name, args });
            return Ok(Operand::Value);
        }
        if self.take("[") {
            self.expression()?;
            self.expect("]")?;
            return Ok(Operand::Place(Place::Element(name)));
        }
        Ok(Operand::Place(match name.as_str() {
            "scale" => Place::Scale,
            "ibase" => Place::InputBase,
            "obase" => Place::OutputBase,
            "last" => Place::Last,
            "if" | "else" | "while" | "for" | "define" | "auto" | "return" | "break" | "continue"
            | "print" => {
                return wrong();
            }
            _ => Place::Variable(name),
        }))
    }

    fn builtin(&mut self, builtin: Builtin) -> Parsed<Operand> {
        self.expect("(")?;
        if builtin == Builtin::Length
            && let Some(array) = self.whole_array()
        {
            self.expect(")")?;
            self.code.push(Op::ArrayLength(array));
            return Ok(Operand::Value);
        }
        if builtin != Builtin::Read {
            self.expression()?;
        }
        self.expect(")")?;
        self.code.push(Op::Builtin(builtin));
        Ok(Operand::Value)
    }

    fn arguments(&mut self) -> Parsed<Vec<Argument>> {
        let mut args = Vec::new();
        if self.take(")") {
            return Ok(args);
        }
        loop {
            match self.whole_array() {
                Some(name) => args.push(Argument::Array(name)),
                None => {
                    self.expression()?;
                    args.push(Argument::Value);
                }
            }
            if self.take(")") {
                return Ok(args);
            }
            self.expect(",")?;
        }
    }

    /// `name[]`, if that is what comes.
    fn whole_array(&mut self) -> Option<String> {
        let (Word::Name(name), Some((Word::Sign("["), _)), Some((Word::Sign("]"), _))) =
            (self.peek().clone(), self.words.get(self.at + 1), self.words.get(self.at + 2))
        else {
            return None;
        };
        self.at += 3;
        Some(name)
    }
}

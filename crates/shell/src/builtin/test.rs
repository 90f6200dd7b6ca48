//! `test` and `[`, by POSIX's count of arguments, with `-a`, `-o` and parentheses beyond it.

use crate::{
    state::{Env, Eval},
    syntax::ast::CondOp,
};

const UNARY: &str = "abcdefghknoprstuvwxzGLNORS";

pub(super) async fn run(env: &mut Env, words: &[String]) -> Eval<i32> {
    let mut args = &words[1..];
    if words[0] == "[" {
        match args.split_last() {
            Some((last, rest)) if last == "]" => args = rest,
            _ => {
                env.complain("[: missing `]'").await?;
                return Ok(2);
            }
        }
    }
    let args: Vec<&str> = args.iter().map(String::as_str).collect();
    let mut test = Test { env, args: &args, at: 0, depth: 0 };
    let answer = match args.len() {
        0 => Ok(false),
        _ => test.by_count(),
    };
    match answer {
        Ok(yes) => Ok(i32::from(!yes)),
        Err(text) => {
            let name = words[0].clone();
            env.complain(&format!("{name}: {text}")).await?;
            Ok(2)
        }
    }
}

struct Test<'e, 'a> {
    env: &'e mut Env,
    args: &'a [&'a str],
    at: usize,
    depth: u32,
}

fn is_unary(text: &str) -> bool {
    matches!(text.as_bytes(), [b'-', letter] if UNARY.contains(char::from(*letter)))
}

fn is_binary(text: &str) -> bool {
    matches!(
        text,
        "=" | "==" | "!=" | "<" | ">" | "-eq" | "-ne" | "-lt" | "-le" | "-gt" | "-ge" | "-nt" | "-ot" | "-ef"
    )
}

impl Test<'_, '_> {
    fn by_count(&mut self) -> Result<bool, String> {
        match *self.args {
            [only] => Ok(!only.is_empty()),
            ["!", only] => Ok(only.is_empty()),
            [op, operand] if is_unary(op) => Ok(self.unary(op, operand)),
            [op, _] => Err(format!("{op}: unary operator expected")),
            [left, op, right] if is_binary(op) => self.binary(left, op, right),
            [left, "-a", right] => Ok(!left.is_empty() && !right.is_empty()),
            [left, "-o", right] => Ok(!left.is_empty() || !right.is_empty()),
            ["!", op, operand] if is_unary(op) => Ok(!self.unary(op, operand)),
            ["(", only, ")"] => Ok(!only.is_empty()),
            [_, op, _] => Err(format!("{op}: binary operator expected")),
            ["!", left, op, right] if is_binary(op) => self.binary(left, op, right).map(|yes| !yes),
            _ => {
                let answer = self.or()?;
                if self.at < self.args.len() {
                    return Err("too many arguments".into());
                }
                Ok(answer)
            }
        }
    }

    fn or(&mut self) -> Result<bool, String> {
        let mut left = self.and()?;
        while self.eat("-o") {
            left |= self.and()?;
        }
        Ok(left)
    }

    fn and(&mut self) -> Result<bool, String> {
        let mut left = self.not()?;
        while self.eat("-a") {
            left &= self.not()?;
        }
        Ok(left)
    }

    fn not(&mut self) -> Result<bool, String> {
        self.depth += 1;
        if self.depth > 200 {
            return Err("the expression is nested too deep".into());
        }
        let answer = if self.eat("!") { self.not().map(|yes| !yes) } else { self.primary() };
        self.depth -= 1;
        answer
    }

    fn eat(&mut self, word: &str) -> bool {
        let there = self.args.get(self.at) == Some(&word);
        self.at += usize::from(there);
        there
    }

    fn primary(&mut self) -> Result<bool, String> {
        let rest = &self.args[self.at..];
        match *rest {
            [] => Err("argument expected".into()),
            // In a longer expression a parenthesis that closes is one, whatever stands between.
            ["(", only, ")", ..] if self.args.len() > 4 => {
                self.at += 3;
                Ok(!only.is_empty())
            }
            [left, op, right, ..] if is_binary(op) => {
                self.at += 3;
                self.binary(left, op, right)
            }
            ["(", ..] => {
                self.at += 1;
                let answer = self.or()?;
                if !self.eat(")") {
                    return Err("`)' expected".into());
                }
                Ok(answer)
            }
            [op, operand, ..] if is_unary(op) => {
                self.at += 2;
                Ok(self.unary(op, operand))
            }
            [only, ..] => {
                self.at += 1;
                Ok(!only.is_empty())
            }
        }
    }

    fn unary(&mut self, op: &str, operand: &str) -> bool {
        self.env.unary_test(op.chars().nth(1).unwrap_or('n'), operand)
    }

    fn binary(&mut self, left: &str, op: &str, right: &str) -> Result<bool, String> {
        let number = |text: &str| {
            text.trim().parse::<i64>().map_err(|_| format!("{text}: integer expression expected"))
        };
        Ok(match op {
            "=" | "==" => left == right,
            "!=" => left != right,
            "<" => left < right,
            ">" => left > right,
            "-nt" => self.env.compare_files(left, CondOp::Newer, right),
            "-ot" => self.env.compare_files(left, CondOp::Older, right),
            "-ef" => self.env.compare_files(left, CondOp::SameFile, right),
            _ => {
                let (left, right) = (number(left)?, number(right)?);
                match op {
                    "-eq" => left == right,
                    "-ne" => left != right,
                    "-lt" => left < right,
                    "-le" => left <= right,
                    "-gt" => left > right,
                    _ => left >= right,
                }
            }
        })
    }
}

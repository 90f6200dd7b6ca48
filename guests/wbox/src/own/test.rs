//! `test` and `[`: questions about files, texts and numbers.
//!
//! Every file belongs to the one user, so `-r`, `-w` and `-x` are about the owner's bits.

use crate::stream::{Out, path, text};
use facts::{Facts, Follow, Kind};
use std::io::IsTerminal as _;

/// A question that cannot be read.
const TROUBLE: i32 = 2;

/// The applet `test`.
pub fn main(args: &[&[u8]]) -> i32 {
    status("test", args)
}

/// The applet `[`.
pub mod bracket {
    pub fn main(args: &[&[u8]]) -> i32 {
        match args {
            [b"--help" | b"--version"] => {
                let mut out = super::Out::new("[");
                out.put(b"Usage: [ EXPRESSION ]\nAsks about files, texts and numbers: see test(1).\n");
                out.end(0)
            }
            [inner @ .., b"]"] => super::status("[", inner),
            _ => {
                super::Out::new("[").complain("missing ']'");
                super::TROUBLE
            }
        }
    }
}

fn status(applet: &'static str, args: &[&[u8]]) -> i32 {
    match answer(args) {
        Ok(yes) => i32::from(!yes),
        Err(problem) => {
            Out::new(applet).complain(&problem);
            TROUBLE
        }
    }
}

/// What POSIX says for up to four words, and the grammar beyond.
fn answer(words: &[&[u8]]) -> Result<bool, String> {
    match words {
        [] => Ok(false),
        [one] => Ok(!one.is_empty()),
        [b"!", one] => Ok(one.is_empty()),
        [op, operand] => unary(op, operand).unwrap_or_else(|| missing(op)),
        [left, op, right] if is_binary(op) => binary(left, op, right),
        [left, b"-a", right] => Ok(!left.is_empty() && !right.is_empty()),
        [left, b"-o", right] => Ok(!left.is_empty() || !right.is_empty()),
        [b"!", rest @ ..] if rest.len() < 4 => answer(rest).map(|yes| !yes),
        [b"(", inner @ .., b")"] if inner.len() < 3 => answer(inner),
        [_, op, _] => Err(format!("'{}': binary operator expected", text(op))),
        _ => {
            let mut parser = Parser { words, at: 0, depth: 0 };
            let yes = parser.either()?;
            match parser.words.get(parser.at) {
                None => Ok(yes),
                Some(extra) => Err(format!("extra argument '{}'", text(extra))),
            }
        }
    }
}

fn missing(op: &[u8]) -> Result<bool, String> {
    Err(format!("'{}': unary operator expected", text(op)))
}

struct Parser<'a> {
    words: &'a [&'a [u8]],
    at: usize,
    depth: usize,
}

/// Deeper questions are refused rather than followed until there is no stack left.
const DEPTH_MAX: usize = 200;

impl<'a> Parser<'a> {
    fn next_is(&mut self, word: &[u8]) -> bool {
        let is = self.words.get(self.at) == Some(&word);
        self.at += usize::from(is);
        is
    }

    fn either(&mut self) -> Result<bool, String> {
        let mut yes = self.both()?;
        while self.next_is(b"-o") {
            yes |= self.both()?;
        }
        Ok(yes)
    }

    fn both(&mut self) -> Result<bool, String> {
        let mut yes = self.one()?;
        while self.next_is(b"-a") {
            yes &= self.one()?;
        }
        Ok(yes)
    }

    fn one(&mut self) -> Result<bool, String> {
        self.depth += 1;
        if self.depth > DEPTH_MAX {
            return Err("too deep".to_owned());
        }
        let found = self.primary();
        self.depth -= 1;
        found
    }

    fn primary(&mut self) -> Result<bool, String> {
        let rest: &'a [&'a [u8]] = self.words.get(self.at..).unwrap_or_default();
        match rest {
            [] => Err("argument expected".to_owned()),
            [left, op, right, ..] if is_binary(op) => {
                self.at += 3;
                binary(left, op, right)
            }
            [b"!", ..] => {
                self.at += 1;
                self.one().map(|yes| !yes)
            }
            [b"(", _, ..] => {
                self.at += 1;
                let yes = self.either()?;
                if self.next_is(b")") { Ok(yes) } else { Err("')' expected".to_owned()) }
            }
            [op, operand, ..] if unary_letter(op).is_some() => {
                self.at += 2;
                unary(op, operand).unwrap_or_else(|| missing(op))
            }
            [one, ..] => {
                self.at += 1;
                Ok(!one.is_empty())
            }
        }
    }
}

fn unary_letter(op: &[u8]) -> Option<u8> {
    match op {
        [b'-', letter] if b"bcdefgGhkLNOprsStuwxzn".contains(letter) => Some(*letter),
        _ => None,
    }
}

fn unary(op: &[u8], operand: &[u8]) -> Option<Result<bool, String>> {
    let letter = unary_letter(op)?;
    let follow = if matches!(letter, b'h' | b'L') { Follow::No } else { Follow::Yes };
    let facts = || -> Option<Facts> {
        if operand.is_empty() {
            return None;
        }
        facts::of(path(operand), follow).ok()
    };
    let kind = |kind| facts().is_some_and(|it| it.kind == kind);
    let bit = |bit: u32| facts().is_some_and(|it| it.mode & bit != 0);
    Some(Ok(match letter {
        b'n' => !operand.is_empty(),
        b'z' => operand.is_empty(),
        b't' => match integer(operand) {
            Ok(0) => std::io::stdin().is_terminal(),
            Ok(1) => std::io::stdout().is_terminal(),
            Ok(2) => std::io::stderr().is_terminal(),
            Ok(_) => false,
            Err(problem) => return Some(Err(problem)),
        },
        b'e' | b'O' | b'G' => facts().is_some(),
        b'f' => kind(Kind::File),
        b'd' => kind(Kind::Directory),
        b'h' | b'L' => kind(Kind::Symlink),
        b'p' => kind(Kind::Fifo),
        b'S' => kind(Kind::Socket),
        b'c' => kind(Kind::Character),
        b'b' => kind(Kind::Block),
        b's' => facts().is_some_and(|it| it.size > 0),
        b'N' => facts().is_some_and(|it| it.modified > it.accessed),
        b'r' => bit(0o400),
        b'w' => bit(0o200),
        b'x' => bit(0o100),
        b'u' => bit(0o4000),
        b'g' => bit(0o2000),
        _ => bit(0o1000),
    }))
}

fn is_binary(op: &[u8]) -> bool {
    matches!(
        op,
        b"=" | b"=="
            | b"!="
            | b"<"
            | b">"
            | b"-eq"
            | b"-ne"
            | b"-lt"
            | b"-le"
            | b"-gt"
            | b"-ge"
            | b"-nt"
            | b"-ot"
            | b"-ef"
    )
}

fn binary(left: &[u8], op: &[u8], right: &[u8]) -> Result<bool, String> {
    match op {
        b"=" | b"==" => return Ok(left == right),
        b"!=" => return Ok(left != right),
        b"<" => return Ok(left < right),
        b">" => return Ok(left > right),
        b"-nt" | b"-ot" | b"-ef" => {
            let facts = |name| facts::of(path(name), Follow::Yes).ok();
            return Ok(match (op, facts(left), facts(right)) {
                (b"-nt", Some(left), Some(right)) => left.modified > right.modified,
                (b"-nt", Some(_), None) | (b"-ot", None, Some(_)) => true,
                (b"-ot", Some(left), Some(right)) => left.modified < right.modified,
                (b"-ef", Some(left), Some(right)) => (left.device, left.inode) == (right.device, right.inode),
                _ => false,
            });
        }
        _ => {}
    }
    let (left, right) = (integer(left)?, integer(right)?);
    Ok(match op {
        b"-eq" => left == right,
        b"-ne" => left != right,
        b"-lt" => left < right,
        b"-le" => left <= right,
        b"-gt" => left > right,
        _ => left >= right,
    })
}

fn integer(word: &[u8]) -> Result<i128, String> {
    let shown = text(word);
    let trimmed = shown.trim();
    trimmed.parse().map_err(|_| format!("invalid integer '{shown}'"))
}

#[cfg(test)]
mod tests {
    use super::answer;

    #[test]
    fn questions_are_answered_as_posix_says() {
        let cases = [
            ("", Ok(false)),
            ("x", Ok(true)),
            ("-n x", Ok(true)),
            ("! x", Ok(false)),
            ("a = a", Ok(true)),
            ("3 -lt 2", Ok(false)),
            ("-1 -lt 2", Ok(true)),
            ("! a = b", Ok(true)),
            ("( a = a )", Ok(true)),
            ("a = a -a b = b", Ok(true)),
            ("a = b -o b = b", Ok(true)),
            ("( a = b -o b = b ) -a ! c = c", Ok(false)),
            ("-f /nonexistent", Ok(false)),
            ("-d /", Ok(true)),
            ("-x / -a -r /", Ok(true)),
            ("= = =", Ok(true)),
            ("-n", Ok(true)),
            ("a < b", Ok(true)),
        ];
        for (line, want) in cases {
            let words: Vec<&[u8]> = line.split_whitespace().map(str::as_bytes).collect();
            assert_eq!(answer(&words), want, "{line}");
        }
        for bad in ["a -lt 2", "a b c", "-q x", "( a = b", "a = b c", "a = b -a"] {
            let words: Vec<&[u8]> = bad.split_whitespace().map(str::as_bytes).collect();
            assert!(answer(&words).is_err(), "{bad}");
        }
        let deep: Vec<&[u8]> = std::iter::repeat_n(&b"("[..], 5000).collect();
        assert!(answer(&deep).is_err());
    }
}

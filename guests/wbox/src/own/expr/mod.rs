//! `expr`: sums, comparisons, and texts taken apart.
//!
//! Numbers have up to 38 digits; what is larger is an error. Patterns are POSIX's basic ones, tried from
//! left to right.

pub mod pattern;

use crate::stream::{Out, text};

/// An expression that makes no sense, and one that cannot be computed.
const TROUBLE: i32 = 2;
const HELP: &str = "\
Usage: expr EXPRESSION
Prints the value: A | B, A & B, A < B (<= = != >= >), A + B, A - B, A * B, A / B, A % B, TEXT : PATTERN,
match TEXT PATTERN, substr TEXT FROM COUNT, index TEXT SIGNS, length TEXT, + TOKEN, ( EXPRESSION )
";
/// Deeper expressions are refused rather than followed until there is no stack left.
const DEPTH_MAX: usize = 100;

/// The applet.
pub fn main(args: &[&[u8]]) -> i32 {
    let words: Vec<String> = args.iter().map(|it| text(it).into_owned()).collect();
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    let mut out = Out::new("expr");
    match words.as_slice() {
        ["--help"] => {
            out.put(HELP.as_bytes());
            return out.end(0);
        }
        ["--version"] => {
            out.put(format!("expr (wbox) {}\n", env!("CARGO_PKG_VERSION")).as_bytes());
            return out.end(0);
        }
        _ => {}
    }
    let words = words.strip_prefix(&["--"]).unwrap_or(&words);
    match evaluate(words) {
        Ok(value) => {
            out.put(value.as_bytes());
            out.sign(b'\n');
            let status = i32::from(is_null(&value));
            out.end(status)
        }
        Err(problem) => {
            out.complain(&problem);
            TROUBLE
        }
    }
}

fn evaluate(words: &[&str]) -> Result<String, String> {
    if words.is_empty() {
        return Err("missing operand\nTry 'expr --help' for more information.".to_owned());
    }
    let mut parser = Parser { words, at: 0, depth: 0 };
    let value = parser.either()?;
    match words.get(parser.at) {
        None => Ok(value),
        Some(extra) => Err(format!("syntax error: unexpected argument '{extra}'")),
    }
}

fn is_null(value: &str) -> bool {
    let digits = value.strip_prefix('-').unwrap_or(value);
    value.is_empty() || (!digits.is_empty() && digits.bytes().all(|it| it == b'0'))
}

fn number(text: &str) -> Result<i128, String> {
    let digits = text.strip_prefix('-').unwrap_or(text);
    if digits.is_empty() || !digits.bytes().all(|it| it.is_ascii_digit()) {
        return Err("non-integer argument".to_owned());
    }
    text.parse().map_err(|_| format!("'{text}': Numerical result out of range"))
}

struct Parser<'a> {
    words: &'a [&'a str],
    at: usize,
    depth: usize,
}

impl<'a> Parser<'a> {
    fn next_of(&mut self, known: &[&str]) -> Option<&'a str> {
        let word = *self.words.get(self.at)?;
        known.contains(&word).then(|| {
            self.at += 1;
            word
        })
    }

    fn either(&mut self) -> Result<String, String> {
        let mut value = self.both()?;
        while self.next_of(&["|"]).is_some() {
            let right = self.both()?;
            if is_null(&value) {
                value = if is_null(&right) { "0".to_owned() } else { right };
            }
        }
        Ok(value)
    }

    fn both(&mut self) -> Result<String, String> {
        let mut value = self.comparison()?;
        while self.next_of(&["&"]).is_some() {
            let right = self.comparison()?;
            if is_null(&value) || is_null(&right) {
                value = "0".to_owned();
            }
        }
        Ok(value)
    }

    fn comparison(&mut self) -> Result<String, String> {
        let mut left = self.sum()?;
        while let Some(op) = self.next_of(&["<", "<=", "=", "==", "!=", ">=", ">"]) {
            let right = self.sum()?;
            let order = match (number(&left), number(&right)) {
                (Ok(left), Ok(right)) => left.cmp(&right),
                _ => left.as_bytes().cmp(right.as_bytes()),
            };
            let yes = match op {
                "<" => order.is_lt(),
                "<=" => order.is_le(),
                "=" | "==" => order.is_eq(),
                "!=" => order.is_ne(),
                ">=" => order.is_ge(),
                _ => order.is_gt(),
            };
            left = u8::from(yes).to_string();
        }
        Ok(left)
    }

    fn sum(&mut self) -> Result<String, String> {
        let mut value = self.product()?;
        while let Some(op) = self.next_of(&["+", "-"]) {
            let right = self.product()?;
            let (a, b) = (number(&value)?, number(&right)?);
            let found = if op == "+" { a.checked_add(b) } else { a.checked_sub(b) };
            value = found.ok_or("Numerical result out of range")?.to_string();
        }
        Ok(value)
    }

    fn product(&mut self) -> Result<String, String> {
        let mut value = self.matched()?;
        while let Some(op) = self.next_of(&["*", "/", "%"]) {
            let right = self.matched()?;
            let (a, b) = (number(&value)?, number(&right)?);
            if b == 0 && op != "*" {
                return Err("division by zero".to_owned());
            }
            let found = match op {
                "*" => a.checked_mul(b),
                "/" => a.checked_div(b),
                _ => a.checked_rem(b),
            };
            value = found.ok_or("Numerical result out of range")?.to_string();
        }
        Ok(value)
    }

    fn matched(&mut self) -> Result<String, String> {
        let mut value = self.one()?;
        while self.next_of(&[":"]).is_some() {
            let right = self.one()?;
            value = pattern::matched(&value, &right)?;
        }
        Ok(value)
    }

    fn one(&mut self) -> Result<String, String> {
        self.depth += 1;
        if self.depth > DEPTH_MAX {
            return Err("expression is too deep".to_owned());
        }
        let found = self.primary();
        self.depth -= 1;
        found
    }

    fn take(&mut self) -> Result<&'a str, String> {
        let before = self.at.checked_sub(1).and_then(|at| self.words.get(at)).copied().unwrap_or_default();
        let word =
            self.words.get(self.at).ok_or(format!("syntax error: missing argument after '{before}'"))?;
        self.at += 1;
        Ok(word)
    }

    fn primary(&mut self) -> Result<String, String> {
        let word = self.take()?;
        let more = self.at < self.words.len();
        match word {
            "+" if more => self.take().map(str::to_owned),
            "(" => {
                let value = self.either()?;
                match self.next_of(&[")"]) {
                    Some(_) => Ok(value),
                    None => Err("syntax error: expecting ')'".to_owned()),
                }
            }
            ")" => Err("syntax error: unexpected ')'".to_owned()),
            "length" if more => Ok(self.one()?.chars().count().to_string()),
            "index" if more => {
                let (text, signs) = (self.one()?, self.one()?);
                let at = text.chars().position(|it| signs.contains(it)).map_or(0, |at| at + 1);
                Ok(at.to_string())
            }
            "match" if more => {
                let (text, wanted) = (self.one()?, self.one()?);
                pattern::matched(&text, &wanted)
            }
            "substr" if more => {
                let (text, from, count) = (self.one()?, self.one()?, self.one()?);
                let (Ok(from), Ok(count)) = (number(&from), number(&count)) else { return Ok(String::new()) };
                if from < 1 || count < 1 {
                    return Ok(String::new());
                }
                let skip = usize::try_from(from - 1).unwrap_or(usize::MAX);
                let count = usize::try_from(count).unwrap_or(usize::MAX);
                Ok(text.chars().skip(skip).take(count).collect())
            }
            plain => Ok(plain.to_owned()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::evaluate;

    #[test]
    fn expressions_have_the_values_gnu_gives_them() {
        let cases = [
            ("2 + 3 * 4", "14"),
            ("( 2 + 3 ) * 4", "20"),
            ("7 / 2", "3"),
            ("-7 % 3", "-1"),
            ("abc : a\\(.*\\)", "bc"),
            ("abc : .*", "3"),
            ("abc : x", "0"),
            ("abc : \\(x\\)", ""),
            ("10 < 9", "0"),
            ("abc < abd", "1"),
            ("0 | x", "x"),
            ("1 & 0", "0"),
            ("length hello", "5"),
            ("substr hello 2 3", "ell"),
            ("index hello l", "3"),
            ("match hello h.l", "3"),
            ("+ length", "length"),
            ("a = a", "1"),
            ("100000000000000000000 + 1", "100000000000000000001"),
            ("file.tar.gz : .*\\.\\([a-z]*\\)$", "gz"),
        ];
        for (line, want) in cases {
            let words: Vec<&str> = line.split_whitespace().collect();
            assert_eq!(evaluate(&words).as_deref(), Ok(want), "{line}");
        }
    }

    #[test]
    fn what_makes_no_sense_is_an_error() {
        for bad in [
            "",
            "1 +",
            "1 / 0",
            "a + 1",
            "( 1",
            "1 2",
            "a : \\(b",
            "170141183460469231731687303715884105727 + 1",
        ] {
            let words: Vec<&str> = bad.split_whitespace().collect();
            assert!(evaluate(&words).is_err(), "{bad}");
        }
        let deep: Vec<&str> = std::iter::repeat_n("(", 5000).collect();
        assert!(evaluate(&deep).is_err());
        // Costly patterns are given up, not followed for ever.
        assert!(evaluate(&[&"a".repeat(100_000), ":", "\\(.*\\)*b"]).is_err());
    }
}

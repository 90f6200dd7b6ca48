//! One pass over the pattern: atoms are copied in Rust's spelling, repetitions are applied to the
//! last atom.
//!
//! Basic and extended syntax differ in which signs need a backslash to be operators, and in where
//! an operator stands for itself: a `*` or `\{` with nothing to repeat in basic syntax, `^` and `$`
//! anywhere but at the ends there.

use super::{SyntaxError, bracket};

/// POSIX allows this many repetitions.
const REPEAT_MAX: u32 = 32767;

/// Which of the two syntaxes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Flavor {
    Basic,
    Extended,
}

/// The pattern in Rust's syntax.
pub fn translate(pattern: &str, flavor: Flavor) -> Result<String, SyntaxError> {
    let mut reader =
        Reader { rest: pattern, flavor, out: String::new(), atom: None, fresh: true, groups: Vec::new() };
    while let Some(sign) = reader.take() {
        reader.sign(sign)?;
    }
    if reader.groups.is_empty() { Ok(reader.out) } else { Err(SyntaxError::OpenGroup) }
}

/// The last thing a repetition can apply to.
#[derive(Clone, Copy)]
struct Atom {
    start: usize,
    /// It is repeated already: a second operator must not be read as a mark of laziness.
    repeated: bool,
}

struct Reader<'a> {
    rest: &'a str,
    flavor: Flavor,
    out: String,
    /// `None` where a branch begins, and after an anchor.
    atom: Option<Atom>,
    /// Nothing of the branch has been read.
    fresh: bool,
    /// Where each open group starts in `out`.
    groups: Vec<usize>,
}

impl Reader<'_> {
    fn take(&mut self) -> Option<char> {
        let sign = self.rest.chars().next()?;
        self.rest = &self.rest[sign.len_utf8()..];
        Some(sign)
    }

    fn sign(&mut self, sign: char) -> Result<(), SyntaxError> {
        let extended = self.flavor == Flavor::Extended;
        match sign {
            '\\' => {
                let escaped = self.take().ok_or(SyntaxError::TrailingBackslash)?;
                self.escape(escaped)
            }
            '[' => {
                let (class, rest) = bracket::translate(self.rest)?;
                self.rest = rest;
                self.push(&class);
                Ok(())
            }
            '.' => {
                self.push(".");
                Ok(())
            }
            '*' => self.repeat("*", '*'),
            '^' if extended || self.fresh => self.anchor("^"),
            '$' if extended || self.at_end() => self.anchor("$"),
            '+' if extended => self.repeat("+", '+'),
            '?' if extended => self.repeat("?", '?'),
            '|' if extended => self.alternate(),
            '(' if extended => self.open(),
            ')' if extended => self.close(),
            '{' if extended => self.interval(),
            _ => {
                self.literal(sign);
                Ok(())
            }
        }
    }

    fn escape(&mut self, escaped: char) -> Result<(), SyntaxError> {
        let basic = self.flavor == Flavor::Basic;
        match escaped {
            '(' if basic => self.open(),
            ')' if basic => self.close(),
            '|' if basic => self.alternate(),
            '{' if basic => self.interval(),
            '+' if basic => self.repeat("+", '+'),
            '?' if basic => self.repeat("?", '?'),
            '1'..='9' => Err(SyntaxError::BackReference),
            'w' | 'W' | 's' | 'S' => {
                self.push(&format!("\\{escaped}"));
                Ok(())
            }
            'b' | 'B' => self.anchor(if escaped == 'b' { r"\b" } else { r"\B" }),
            '<' => self.anchor(r"\b{start}"),
            '>' => self.anchor(r"\b{end}"),
            // The buffer is a line, so its ends are the line's.
            '`' => self.anchor("^"),
            '\'' => self.anchor("$"),
            _ => {
                self.literal(escaped);
                Ok(())
            }
        }
    }

    fn literal(&mut self, sign: char) {
        let mut text = String::new();
        push_literal(&mut text, sign);
        self.push(&text);
    }

    fn push(&mut self, text: &str) {
        self.atom = Some(Atom { start: self.out.len(), repeated: false });
        self.fresh = false;
        self.out.push_str(text);
    }

    /// An empty match. To GNU, a repetition after it has nothing to repeat.
    fn anchor(&mut self, text: &str) -> Result<(), SyntaxError> {
        self.out.push_str("(?:");
        self.out.push_str(text);
        self.out.push(')');
        (self.atom, self.fresh) = (None, false);
        Ok(())
    }

    fn open(&mut self) -> Result<(), SyntaxError> {
        self.groups.push(self.out.len());
        self.out.push('(');
        (self.atom, self.fresh) = (None, true);
        Ok(())
    }

    fn close(&mut self) -> Result<(), SyntaxError> {
        let Some(start) = self.groups.pop() else {
            // A lone `)` is an ordinary sign in extended syntax.
            if self.flavor == Flavor::Basic {
                return Err(SyntaxError::CloseGroup);
            }
            self.literal(')');
            return Ok(());
        };
        self.out.push(')');
        (self.atom, self.fresh) = (Some(Atom { start, repeated: false }), false);
        Ok(())
    }

    fn alternate(&mut self) -> Result<(), SyntaxError> {
        self.out.push('|');
        (self.atom, self.fresh) = (None, true);
        Ok(())
    }

    /// Repeats the last atom; with none, the sign stands for itself in basic syntax and for
    /// nothing in extended.
    fn repeat(&mut self, operator: &str, sign: char) -> Result<(), SyntaxError> {
        let Some(atom) = self.atom else {
            if self.flavor == Flavor::Basic {
                self.literal(sign);
            }
            return Ok(());
        };
        if atom.repeated {
            self.out.insert_str(atom.start, "(?:");
            self.out.push(')');
        }
        self.out.push_str(operator);
        self.atom = Some(Atom { repeated: true, ..atom });
        Ok(())
    }

    /// `{2}`, `{2,}`, `{,3}` or `{2,3}`, after the brace.
    fn interval(&mut self) -> Result<(), SyntaxError> {
        let basic = self.flavor == Flavor::Basic;
        let close = if basic { "\\}" } else { "}" };
        let bounds = self.rest.split_once(close).map(|(inside, rest)| (bounds(inside), rest));
        match bounds {
            Some((Some((low, high)), rest)) if self.atom.is_some() => {
                if low > REPEAT_MAX || high.is_some_and(|high| high > REPEAT_MAX) {
                    return Err(SyntaxError::TooBig);
                }
                if high.is_some_and(|high| high < low) {
                    return Err(SyntaxError::BraceContent);
                }
                self.rest = rest;
                let operator = match high {
                    Some(high) => format!("{{{low},{high}}}"),
                    None => format!("{{{low},}}"),
                };
                self.repeat(&operator, '{')
            }
            // With nothing to repeat, GNU passes over it.
            Some((Some(_), rest)) if !basic => {
                self.rest = rest;
                Ok(())
            }
            None if basic => Err(SyntaxError::Brace),
            Some((None, _)) if basic => Err(SyntaxError::BraceContent),
            _ => {
                self.literal('{');
                Ok(())
            }
        }
    }

    /// Whether `$` stands where a basic pattern can end.
    fn at_end(&self) -> bool {
        self.rest.is_empty() || self.rest.starts_with("\\)") || self.rest.starts_with("\\|")
    }
}

/// `low`, `low,`, `,high` or `low,high`; `None` if it is none of these.
fn bounds(inside: &str) -> Option<(u32, Option<u32>)> {
    let number = |text: &str| {
        let plain = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
        plain.then(|| text.parse().unwrap_or(u32::MAX))
    };
    match inside.split_once(',') {
        None => number(inside).map(|low| (low, Some(low))),
        Some(("", "")) => Some((0, None)),
        Some((low, "")) => Some((number(low)?, None)),
        Some(("", high)) => Some((0, Some(number(high)?))),
        Some((low, high)) => Some((number(low)?, Some(number(high)?))),
    }
}

/// Appends `sign` so that it stands for itself in Rust's syntax.
pub fn push_literal(out: &mut String, sign: char) {
    // `\<` and `\>` would be the edges of a word, so those two stand as they are.
    if sign.is_ascii_punctuation() && !matches!(sign, '<' | '>') {
        out.push('\\');
    }
    out.push(sign);
}

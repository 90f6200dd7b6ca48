//! Text to expression, by precedence climbing with a bound on depth.

use super::{Binary, Expr, Place, Unary};

const DEPTH_MAX: u32 = 100;

/// Operators in a row make a tree that leans to one side and is as deep as there are of them.
const OPERATORS_MAX: u32 = 2_000;

/// Parses a whole expression; an empty one is 0.
pub(crate) fn parse(text: &str) -> Result<Expr, String> {
    let mut parser = Parser { text, at: 0, depth: 0, operators: 0 };
    parser.blanks();
    if parser.at == text.len() {
        return Ok(Expr::Number(0));
    }
    let expr = parser.expr(0)?;
    parser.blanks();
    if parser.at < text.len() {
        let rest = &text[parser.at..];
        return Err(format!("{}: syntax error in expression (error token is \"{rest}\")", text.trim()));
    }
    Ok(expr)
}

struct Parser<'t> {
    text: &'t str,
    at: usize,
    depth: u32,
    operators: u32,
}

/// Binding strengths, loosest first.
const COMMA: u8 = 1;
const ASSIGN: u8 = 2;
const TERNARY: u8 = 3;
const OR: u8 = 4;
const AND: u8 = 5;
const POWER: u8 = 14;

/// Operators in an order in which no one hides a longer one.
const INFIX: &[(&str, u8, Option<Binary>)] = &[
    ("**", POWER, Some(Binary::Pow)),
    ("<<", 11, Some(Binary::Shl)),
    (">>", 11, Some(Binary::Shr)),
    ("<=", 10, Some(Binary::Le)),
    (">=", 10, Some(Binary::Ge)),
    ("==", 9, Some(Binary::Eq)),
    ("!=", 9, Some(Binary::Ne)),
    ("&&", AND, None),
    ("||", OR, None),
    ("<", 10, Some(Binary::Lt)),
    (">", 10, Some(Binary::Gt)),
    ("&", 8, Some(Binary::BitAnd)),
    ("^", 7, Some(Binary::BitXor)),
    ("|", 6, Some(Binary::BitOr)),
    ("+", 12, Some(Binary::Add)),
    ("-", 12, Some(Binary::Sub)),
    ("*", 13, Some(Binary::Mul)),
    ("/", 13, Some(Binary::Div)),
    ("%", 13, Some(Binary::Rem)),
    ("?", TERNARY, None),
    (",", COMMA, None),
];

const ASSIGNING: &[(&str, Option<Binary>)] = &[
    ("<<=", Some(Binary::Shl)),
    (">>=", Some(Binary::Shr)),
    ("+=", Some(Binary::Add)),
    ("-=", Some(Binary::Sub)),
    ("*=", Some(Binary::Mul)),
    ("/=", Some(Binary::Div)),
    ("%=", Some(Binary::Rem)),
    ("&=", Some(Binary::BitAnd)),
    ("^=", Some(Binary::BitXor)),
    ("|=", Some(Binary::BitOr)),
];

impl Parser<'_> {
    fn rest(&self) -> &str {
        &self.text[self.at..]
    }

    fn blanks(&mut self) {
        let rest = self.rest();
        self.at += rest.len() - rest.trim_start().len();
    }

    fn eat(&mut self, token: &str) -> bool {
        let there = self.rest().starts_with(token);
        if there {
            self.at += token.len();
        }
        there
    }

    fn error(&self, what: &str) -> String {
        format!("{}: {what} (error token is \"{}\")", self.text.trim(), self.rest())
    }

    fn expr(&mut self, strength: u8) -> Result<Expr, String> {
        self.depth += 1;
        if self.depth > DEPTH_MAX {
            return Err(format!("the expression is nested deeper than {DEPTH_MAX}"));
        }
        let result = self.expr_here(strength);
        self.depth -= 1;
        result
    }

    fn expr_here(&mut self, strength: u8) -> Result<Expr, String> {
        let mut left = self.prefix()?;
        loop {
            self.operators += 1;
            if self.operators > OPERATORS_MAX {
                return Err(format!("the expression has more than {OPERATORS_MAX} operators"));
            }
            self.blanks();
            if strength <= ASSIGN
                && let Some((token, op)) = self.assigning()
            {
                let Expr::Name(place) = left else {
                    return Err(self.error("attempted assignment to non-variable"));
                };
                self.at += token;
                let value = self.expr(ASSIGN)?;
                left = Expr::Assign(place, op, Box::new(value));
                continue;
            }
            let found = INFIX.iter().find(|row| self.rest().starts_with(row.0));
            let Some(&(token, power, op)) = found else { return Ok(left) };
            let compound = matches!(token, "<<" | ">>" | "+" | "-" | "*" | "/" | "%" | "&" | "^" | "|")
                && self.rest()[token.len()..].starts_with('=')
                && !self.rest()[token.len()..].starts_with("==");
            if power < strength || (compound && !matches!(left, Expr::Name(_))) {
                if compound {
                    return Err(self.error("attempted assignment to non-variable"));
                }
                return Ok(left);
            }
            if compound {
                return Ok(left);
            }
            self.at += token.len();
            left = match (token, op) {
                ("?", _) => {
                    let yes = self.expr(COMMA)?;
                    self.blanks();
                    if !self.eat(":") {
                        return Err(self.error("`:' expected for conditional expression"));
                    }
                    let no = self.expr(ASSIGN)?;
                    Expr::Ternary(Box::new(left), Box::new(yes), Box::new(no))
                }
                (",", _) => Expr::Comma(Box::new(left), Box::new(self.expr(COMMA + 1)?)),
                ("&&", _) => Expr::And(Box::new(left), Box::new(self.expr(AND + 1)?)),
                ("||", _) => Expr::Or(Box::new(left), Box::new(self.expr(OR + 1)?)),
                // The only operator that groups to the right.
                (_, Some(Binary::Pow)) => {
                    Expr::Binary(Binary::Pow, Box::new(left), Box::new(self.expr(POWER)?))
                }
                (_, Some(op)) => Expr::Binary(op, Box::new(left), Box::new(self.expr(power + 1)?)),
                (_, None) => return Ok(left),
            };
        }
    }

    /// The assignment operator here: its length and what it does besides assigning.
    fn assigning(&self) -> Option<(usize, Option<Binary>)> {
        let rest = self.rest();
        if let Some((token, op)) = ASSIGNING.iter().find(|row| rest.starts_with(row.0)) {
            return Some((token.len(), *op));
        }
        (rest.starts_with('=') && !rest.starts_with("==")).then_some((1, None))
    }

    fn prefix(&mut self) -> Result<Expr, String> {
        self.blanks();
        let Some(first) = self.rest().chars().next() else {
            return Err(self.error("syntax error: operand expected"));
        };
        for (token, by) in [("++", 1), ("--", -1)] {
            if self.rest().starts_with(token) {
                let before = self.at;
                self.at += 2;
                self.blanks();
                if let Some(place) = self.place()? {
                    return Ok(Expr::Step { place, by, old: false });
                }
                self.at = before;
            }
        }
        let unary = match first {
            '+' => Some(Unary::Plus),
            '-' => Some(Unary::Minus),
            '!' => Some(Unary::Not),
            '~' => Some(Unary::Flip),
            _ => None,
        };
        if let Some(unary) = unary {
            self.at += 1;
            return Ok(Expr::Unary(unary, Box::new(self.expr(POWER + 1)?)));
        }
        if first == '(' {
            self.at += 1;
            let inner = self.expr(0)?;
            self.blanks();
            if !self.eat(")") {
                return Err(self.error("missing `)'"));
            }
            return Ok(inner);
        }
        if first.is_ascii_digit() {
            return self.number();
        }
        let Some(place) = self.place()? else {
            return Err(self.error("syntax error: operand expected"));
        };
        let before = self.at;
        self.blanks();
        for (token, by) in [("++", 1), ("--", -1)] {
            if self.eat(token) {
                return Ok(Expr::Step { place, by, old: true });
            }
        }
        self.at = before;
        Ok(Expr::Name(place))
    }

    fn place(&mut self) -> Result<Option<Place>, String> {
        let rest = self.rest();
        let word = |it: char| it.is_ascii_alphanumeric() || it == '_';
        let length = rest.find(|it| !word(it)).unwrap_or(rest.len());
        if length == 0 || rest.starts_with(|it: char| it.is_ascii_digit()) {
            return Ok(None);
        }
        let name = rest[..length].to_owned();
        self.at += length;
        if !self.rest().starts_with('[') {
            return Ok(Some(Place { name, index: None }));
        }
        let mut depth = 0;
        for (at, next) in self.rest().char_indices() {
            match next {
                '[' => depth += 1,
                ']' => depth -= 1,
                _ => {}
            }
            if depth == 0 {
                let index = self.rest()[1..at].to_owned();
                self.at += at + 1;
                return Ok(Some(Place { name, index: Some(index) }));
            }
        }
        Err(self.error("bad array subscript"))
    }

    fn number(&mut self) -> Result<Expr, String> {
        let rest = self.rest();
        let digit = |it: char| it.is_ascii_alphanumeric() || matches!(it, '_' | '@' | '#');
        let length = rest.find(|it| !digit(it)).unwrap_or(rest.len());
        let text = rest[..length].to_owned();
        let value = number(&text).map_err(|what| format!("{}: {what}", self.text.trim()))?;
        self.at += length;
        Ok(Expr::Number(value))
    }
}

/// `10`, `0x1f`, `017`, `2#101`, `64#@_`.
fn number(text: &str) -> Result<i64, String> {
    let bad = |what: &str| format!("{what} (error token is \"{text}\")");
    let (base, digits) = if let Some((base, digits)) = text.split_once('#') {
        if base.starts_with('0') {
            return Err(bad("invalid number"));
        }
        let base: u32 = base.parse().map_err(|_| bad("invalid number"))?;
        if !(2..=64).contains(&base) {
            return Err(bad("invalid arithmetic base"));
        }
        if digits.is_empty() {
            return Err(bad("invalid integer constant"));
        }
        (base, digits)
    } else if let Some(hex) = text.strip_prefix("0x").or_else(|| text.strip_prefix("0X")) {
        (16, hex)
    } else if text.len() > 1 && text.starts_with('0') {
        (8, &text[1..])
    } else {
        (10, text)
    };
    let mut value = 0i64;
    for next in digits.chars() {
        let digit = match next {
            '0'..='9' => next as u32 - '0' as u32,
            'a'..='z' => next as u32 - 'a' as u32 + 10,
            'A'..='Z' if base <= 36 => next as u32 - 'A' as u32 + 10,
            'A'..='Z' => next as u32 - 'A' as u32 + 36,
            '@' => 62,
            '_' => 63,
            _ => return Err(bad("invalid number")),
        };
        if digit >= base {
            return Err(bad("value too great for base"));
        }
        value = value.wrapping_mul(i64::from(base)).wrapping_add(i64::from(digit));
    }
    Ok(value)
}

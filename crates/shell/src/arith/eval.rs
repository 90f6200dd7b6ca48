//! Carries an expression out over variables it is given.

use super::{Binary, Expr, Place, Unary, parse};

/// Names whose values are expressions, inside one another. Bash allows 1,024; here each takes of the stack.
const DEPTH_MAX: u32 = 128;

/// Why there is no number.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub(crate) struct ArithError(pub(crate) String);

/// Where variables are read and written.
pub(crate) trait Names {
    /// The text of a variable or element; `None` if unset.
    fn get(&mut self, place: &Resolved) -> Result<Option<String>, ArithError>;
    /// Sets it.
    fn set(&mut self, place: &Resolved, value: i64) -> Result<(), ArithError>;
    /// Whether the name is a map, whose subscripts are text.
    fn is_map(&self, name: &str) -> bool;
}

/// A place whose subscript was worked out.
#[derive(Debug, Clone)]
pub(crate) struct Resolved {
    pub(crate) name: String,
    pub(crate) index: Option<Index>,
}

#[derive(Debug, Clone)]
pub(crate) enum Index {
    Number(i64),
    Key(String),
}

/// The value of an expression.
pub(crate) fn evaluate(expr: &Expr, names: &mut dyn Names) -> Result<i64, ArithError> {
    Evaluation { names, depth: 0 }.value(expr)
}

struct Evaluation<'n> {
    names: &'n mut dyn Names,
    depth: u32,
}

impl Evaluation<'_> {
    fn value(&mut self, expr: &Expr) -> Result<i64, ArithError> {
        Ok(match expr {
            Expr::Number(value) => *value,
            Expr::Name(place) => {
                let place = self.resolve(place)?;
                self.read(&place)?
            }
            Expr::Unary(op, inner) => {
                let value = self.value(inner)?;
                match op {
                    Unary::Plus => value,
                    Unary::Minus => value.wrapping_neg(),
                    Unary::Not => i64::from(value == 0),
                    Unary::Flip => !value,
                }
            }
            Expr::Binary(op, left, right) => {
                let left = self.value(left)?;
                let right = self.value(right)?;
                binary(*op, left, right)?
            }
            Expr::And(left, right) => i64::from(self.value(left)? != 0 && self.value(right)? != 0),
            Expr::Or(left, right) => i64::from(self.value(left)? != 0 || self.value(right)? != 0),
            Expr::Ternary(test, yes, no) => {
                if self.value(test)? != 0 {
                    self.value(yes)?
                } else {
                    self.value(no)?
                }
            }
            Expr::Assign(place, op, value) => {
                let place = self.resolve(place)?;
                let value = match op {
                    None => self.value(value)?,
                    Some(op) => {
                        let old = self.read(&place)?;
                        binary(*op, old, self.value(value)?)?
                    }
                };
                self.names.set(&place, value)?;
                value
            }
            Expr::Step { place, by, old } => {
                let place = self.resolve(place)?;
                let before = self.read(&place)?;
                let after = before.wrapping_add(*by);
                self.names.set(&place, after)?;
                if *old { before } else { after }
            }
            Expr::Comma(left, right) => {
                self.value(left)?;
                self.value(right)?
            }
        })
    }

    fn resolve(&mut self, place: &Place) -> Result<Resolved, ArithError> {
        let index = match &place.index {
            None => None,
            Some(text) if self.names.is_map(&place.name) => Some(Index::Key(unquoted(text))),
            Some(text) => Some(Index::Number(self.text(text)?)),
        };
        Ok(Resolved { name: place.name.clone(), index })
    }

    /// A variable's text is an expression in its turn.
    fn read(&mut self, place: &Resolved) -> Result<i64, ArithError> {
        match self.names.get(place)? {
            None => Ok(0),
            Some(text) => match text.parse::<i64>() {
                Ok(value) if !text.starts_with('0') && !text.starts_with("-0") && !text.starts_with('+') => {
                    Ok(value)
                }
                _ if text == "0" => Ok(0),
                _ => self.text(&text),
            },
        }
    }

    fn text(&mut self, text: &str) -> Result<i64, ArithError> {
        if self.depth >= DEPTH_MAX {
            return Err(ArithError(format!("{text}: expression recursion level exceeded")));
        }
        self.depth += 1;
        let expr = parse(text).map_err(ArithError)?;
        let value = self.value(&expr);
        self.depth -= 1;
        value
    }
}

fn unquoted(text: &str) -> String {
    let inner = |quote: char| text.strip_prefix(quote).and_then(|it| it.strip_suffix(quote));
    inner('"').or_else(|| inner('\'')).unwrap_or(text).to_owned()
}

fn binary(op: Binary, left: i64, right: i64) -> Result<i64, ArithError> {
    let zero = || ArithError("division by 0 (error token is \"0\")".into());
    Ok(match op {
        Binary::Add => left.wrapping_add(right),
        Binary::Sub => left.wrapping_sub(right),
        Binary::Mul => left.wrapping_mul(right),
        Binary::Div if right == 0 => return Err(zero()),
        Binary::Rem if right == 0 => return Err(zero()),
        Binary::Div => left.wrapping_div(right),
        Binary::Rem => left.wrapping_rem(right),
        Binary::Pow => {
            if right < 0 {
                return Err(ArithError("exponent less than 0".into()));
            }
            power(left, right)
        }
        Binary::Shl => left.wrapping_shl(right as u32),
        Binary::Shr => left.wrapping_shr(right as u32),
        Binary::BitAnd => left & right,
        Binary::BitOr => left | right,
        Binary::BitXor => left ^ right,
        Binary::Lt => i64::from(left < right),
        Binary::Le => i64::from(left <= right),
        Binary::Gt => i64::from(left > right),
        Binary::Ge => i64::from(left >= right),
        Binary::Eq => i64::from(left == right),
        Binary::Ne => i64::from(left != right),
    })
}

fn power(mut base: i64, mut exponent: i64) -> i64 {
    let mut result = 1i64;
    while exponent > 0 {
        if exponent & 1 == 1 {
            result = result.wrapping_mul(base);
        }
        base = base.wrapping_mul(base);
        exponent >>= 1;
    }
    result
}

//! Integer arithmetic as bash has it: 64 bits that wrap, C's operators, bases, assignments.
//!
//! Its language has variables and no commands: whatever text ends up here can compute, and do
//! nothing else. Bash runs `$(…)` hidden in a subscript's value; this does not.

mod eval;
mod parse;
#[cfg(test)]
mod tests;

pub(crate) use eval::{ArithError, Index, Names, Resolved, evaluate};
pub(crate) use parse::parse;

/// A parsed expression.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Expr {
    Number(i64),
    Name(Place),
    Unary(Unary, Box<Expr>),
    Binary(Binary, Box<Expr>, Box<Expr>),
    And(Box<Expr>, Box<Expr>),
    Or(Box<Expr>, Box<Expr>),
    Ternary(Box<Expr>, Box<Expr>, Box<Expr>),
    /// `a = b`, and `a += b` with the operator.
    Assign(Place, Option<Binary>, Box<Expr>),
    /// `++a`, `a--` …: by how much, and whether the old value counts.
    Step {
        place: Place,
        by: i64,
        old: bool,
    },
    Comma(Box<Expr>, Box<Expr>),
}

/// A variable, or an element of one. The subscript stays text: a map's key is no expression.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Place {
    pub(crate) name: String,
    pub(crate) index: Option<String>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Unary {
    Plus,
    Minus,
    Not,
    Flip,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Binary {
    Add,
    Sub,
    Mul,
    Div,
    Rem,
    Pow,
    Shl,
    Shr,
    BitAnd,
    BitOr,
    BitXor,
    Lt,
    Le,
    Gt,
    Ge,
    Eq,
    Ne,
}

impl Expr {
    /// The names it assigns to.
    pub(crate) fn assigned(&self, into: &mut Vec<String>) {
        match self {
            Self::Number(_) | Self::Name(_) => {}
            Self::Unary(_, inner) => inner.assigned(into),
            Self::Binary(_, left, right)
            | Self::And(left, right)
            | Self::Or(left, right)
            | Self::Comma(left, right) => {
                left.assigned(into);
                right.assigned(into);
            }
            Self::Ternary(test, yes, no) => [test, yes, no].into_iter().for_each(|it| it.assigned(into)),
            Self::Assign(place, _, value) => {
                into.push(place.name.clone());
                value.assigned(into);
            }
            Self::Step { place, .. } => into.push(place.name.clone()),
        }
    }
}

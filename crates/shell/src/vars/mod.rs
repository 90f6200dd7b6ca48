//! Variables: values, attributes and the scopes functions open.
//!
//! Scopes are shared until written to, so a subshell costs a few reference counts.

mod assoc;
mod scope;
mod value;

pub(crate) use assoc::Assoc;
pub(crate) use scope::{Scope, Vars, element};
pub(crate) use value::{Attributes, Value, Var};

/// Why a variable was not set.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(crate) enum SetError {
    #[error("{0}: readonly variable")]
    ReadOnly(String),
    #[error("{0}: bad array subscript")]
    Subscript(String),
    #[error("variables hold more than {0} bytes; --line-memory allows more")]
    Full(usize),
    #[error("{0}")]
    Other(String),
}

//! Why an evaluation does not go on.

use crate::value::Value;

/// What ends it.
pub enum Exit {
    /// An error, which `try` can catch.
    Error(Box<Value>),
    /// `break` out of the label with this number.
    Break(u32),
    /// Whoever asked for outputs has enough of them.
    Enough,
    /// `halt`: the run ends with this status.
    Halt(i32),
}

/// Nothing, or why not.
pub type Flow = Result<(), Exit>;

impl Exit {
    /// An error with a message.
    #[cold]
    pub fn error(message: impl Into<String>) -> Self {
        Self::Error(Box::new(Value::from(message.into())))
    }
}

//! How a command of git ends when it does not end well: a status, and what is said on stderr.

/// What is said, and the status.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fail {
    pub status: i32,
    /// Whole lines without the last newline; nothing is said if it is empty.
    pub text: String,
}

/// What a command comes to.
pub type Done<T = ()> = Result<T, Fail>;

/// `fatal: …` with 128, as git ends when it cannot go on.
pub fn fatal(text: impl std::fmt::Display) -> Fail {
    Fail { status: 128, text: format!("fatal: {text}") }
}

/// `error: …` with 1, as git ends when what was asked for is not to be had.
pub fn error(text: impl std::fmt::Display) -> Fail {
    Fail { status: 1, text: format!("error: {text}") }
}

/// Nothing more to say.
pub fn quiet(status: i32) -> Fail {
    Fail { status, text: String::new() }
}

/// `error: …` and the usage hint, with 129: a wrong command line.
pub fn usage(text: impl std::fmt::Display) -> Fail {
    Fail { status: 129, text: format!("error: {text}") }
}

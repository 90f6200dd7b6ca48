//! `true` and `false`: a status, whatever the arguments.

/// The applet `true`.
pub mod truth {
    pub fn main(_: &[&[u8]]) -> i32 {
        0
    }
}

/// The applet `false`.
pub mod falsehood {
    pub fn main(_: &[&[u8]]) -> i32 {
        1
    }
}

//! The everyday uses of the everyday applets, without an option parser.
//!
//! coreutils' applets describe all of their options before they look at the first, which costs more
//! than most runs do. Here each applet has a small reader of its own that knows the usual options. It
//! either does the work as coreutils would, to the byte, or returns `None` before it touched anything,
//! and the applet of coreutils does it.

mod cat;
mod cut;
mod head;
mod options;
mod paste;
mod path;
mod seq;
mod set;
mod stream;
mod tail;
mod tee;
mod tr;
mod uniq;
mod wc;

/// Takes the arguments after the applet's name; the exit status, or `None` if this is not for it.
pub type Quick = fn(&[&[u8]]) -> Option<i32>;

/// For an applet that has no such reader.
pub fn none(_: &[&[u8]]) -> Option<i32> {
    None
}

pub use cat::{IS_OUTPUT, cat};
pub use cut::cut;
pub use head::head;
pub use paste::paste;
pub use path::{basename, dirname};
pub use seq::seq;
pub use stream::{Input, Out, Piece, path, reason, text};
pub use tail::tail;
pub use tee::tee;
pub use tr::tr;
pub use uniq::uniq;
pub use wc::wc;

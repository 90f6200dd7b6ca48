//! `sort`, as coreutils has it, but for `-c` and `-C`: theirs reads ahead in a thread, and there are
//! none here, so the checking is ours.

mod check;
mod compare;
mod key;

pub use compare::by;
pub use key::{Key, Kind, Order};

use std::ffi::OsString;

/// The applet.
pub fn uumain(args: impl Iterator<Item = OsString>) -> i32 {
    let args: Vec<OsString> = args.collect();
    let words: Vec<String> = args.iter().skip(1).map(|arg| arg.to_string_lossy().into_owned()).collect();
    match check::parse(&words) {
        Some(Ok(options)) => check::run(&options),
        Some(Err(problem)) => {
            eprintln!("sort: {problem}\nTry 'sort --help' for more information.");
            2
        }
        None => uu_sort::uumain(args.into_iter()),
    }
}

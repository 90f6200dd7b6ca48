//! `zip` and `unzip`: members deflated or stored, with modes and times.
//!
//! An archive is hostile: names never lead out of the folder, no member becomes larger than it says,
//! and no two members share bytes. Neither encryption nor archives of more than 4 GiB.

mod create;
mod extract;
pub mod record;
#[cfg(test)]
mod tests;

/// Runs as `zip` or `unzip`; the exit status.
pub fn run(name: &str, args: &[String]) -> i32 {
    match name {
        "unzip" => extract::run(args),
        _ => create::run(args),
    }
}

/// Prints to standard output; a reader that has gone is no reason to complain.
fn say(text: &str) {
    use std::io::Write as _;
    let _ = std::io::stdout().write_all(text.as_bytes());
}

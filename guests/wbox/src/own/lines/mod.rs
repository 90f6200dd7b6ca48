//! What a pipeline is made of: `cat`, `cut`, `head`, `paste`, `tail`, `tee`, `tr`, `uniq`, `wc`,
//! `basename` and `dirname`.
//!
//! Each reads piece by piece and closes a file as soon as it is done with it.

pub mod basename;
pub mod cat;
pub mod cut;
pub mod dirname;
pub mod head;
pub mod paste;
pub mod set;
pub mod tail;
pub mod tee;
pub mod tr;
pub mod uniq;
pub mod wc;

use crate::stream::{Input, Piece};
use std::io;

/// Gives `each` every line without its end; false from it ends the reading.
fn each_line(input: &mut Input, end: u8, mut each: impl FnMut(&[u8]) -> bool) -> io::Result<()> {
    let (mut piece, mut held) = (Piece::default(), Vec::new());
    while input.next(&mut piece)? {
        let mut start = 0;
        for stop in memchr::memchr_iter(end, &piece) {
            let go_on = if held.is_empty() {
                each(&piece[start..stop])
            } else {
                held.extend_from_slice(&piece[start..stop]);
                let go_on = each(&held);
                held.clear();
                go_on
            };
            if !go_on {
                return Ok(());
            }
            start = stop + 1;
        }
        held.extend_from_slice(&piece[start..]);
    }
    if !held.is_empty() {
        each(&held);
    }
    Ok(())
}

/// What is wrong with a number, in GNU's words.
fn bad_number(what: &str, text: &[u8]) -> String {
    format!("invalid number of {what}: '{}'", crate::stream::text(text))
}

/// A name without the slashes at its end.
fn trim_slashes(name: &[u8]) -> &[u8] {
    let end = name.iter().rposition(|byte| *byte != b'/').map_or(0, |at| at + 1);
    &name[..end]
}

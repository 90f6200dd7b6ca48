//! `cat [-u] [FILE]...`

use super::options::Options;
use super::stream::{Input, Out, Piece, reason, text};
use facts::output::Output;
use std::io;

/// What is said of an input that is the output.
pub const IS_OUTPUT: &str = "input file is output file";

pub fn cat(args: &[&[u8]]) -> Option<i32> {
    let mut options = Options::new(args);
    while let Some(letter) = options.next()? {
        if letter != b'u' {
            return None;
        }
    }
    let (mut out, mut status, mut piece) = (Out::new("cat"), 0, Piece::default());
    let output = Output::file();
    for name in options.inputs() {
        let copied = Input::open(name).and_then(|mut input| {
            if input.is(output) {
                return Err(io::Error::other(IS_OUTPUT));
            }
            while input.next(&mut piece)? {
                out.put(&piece);
                // Whoever reads waits for it: what comes next may be long in coming.
                out.flush();
            }
            Ok(())
        });
        if let Err(error) = copied {
            out.complain(&format!("{}: {}", text(name), reason(&error)));
            status = 1;
        }
    }
    Some(out.end(status))
}

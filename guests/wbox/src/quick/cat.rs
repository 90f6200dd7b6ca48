//! `cat [-u] [FILE]...`

use super::options::Options;
use super::stream::{Input, Out, Piece, reason, text};

pub fn cat(args: &[&[u8]]) -> Option<i32> {
    let mut options = Options::new(args);
    while let Some(letter) = options.next()? {
        if letter != b'u' {
            return None;
        }
    }
    let (mut out, mut status, mut piece) = (Out::new("cat"), 0, Piece::default());
    for name in options.inputs() {
        let copied = Input::open(name).and_then(|mut input| {
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

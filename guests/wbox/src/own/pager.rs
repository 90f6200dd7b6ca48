//! `less` and `more`: all of it, at once, for there is no terminal to turn pages on.

use crate::stream::{Input, Out, Piece, reason, text};

/// The applet.
pub fn main(args: &[&[u8]]) -> i32 {
    let help = "Usage: less [OPTION]... [FILE]...\nPrints the files. There is nobody to turn pages for, so options change nothing.\n";
    if args.contains(&&b"--help"[..]) {
        let mut out = Out::new("less");
        out.put(help.as_bytes());
        return out.end(0);
    }
    // What begins with a dash or a plus is about turning pages.
    let is_name = |it: &&&[u8]| **it == b"-" || !(it.starts_with(b"-") || it.starts_with(b"+"));
    let names: Vec<&[u8]> = args.iter().filter(is_name).copied().collect();
    let names = if names.is_empty() { vec![&b"-"[..]] } else { names };
    let (mut out, mut status, mut piece) = (Out::new("less"), 0, Piece::default());
    let many = names.len() > 1;
    for name in names {
        let done = Input::open(name).and_then(|mut input| {
            if many {
                out.put(format!("::::::::::::::\n{}\n::::::::::::::\n", text(name)).as_bytes());
            }
            while input.next(&mut piece)? && out.put(&piece) {}
            Ok(())
        });
        if let Err(error) = done {
            out.complain(&format!("{}: {}", text(name), reason(&error)));
            status = 1;
        }
    }
    out.end(status)
}

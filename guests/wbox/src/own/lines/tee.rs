//! `tee`: standard input to standard output and into files.

use crate::own::arguments;
use crate::stream::{Input, Out, Piece, path, reason, text};
use std::fs::{File, OpenOptions};
use std::io::Write as _;

const HELP: &str = "\
Usage: tee [OPTION]... [FILE]...
Copies standard input to standard output and into files.

  -a, --append             behind what is there
  -i, --ignore-interrupts, -p, --output-error[=MODE]  change nothing: there are no signals here
";

/// The applet.
pub fn main(args: &[&[u8]]) -> i32 {
    let line = match arguments::read(
        "tee",
        HELP,
        args,
        &["a,append", "i,ignore-interrupts", "p", "output-error?"],
        1,
    ) {
        Ok(line) => line,
        Err(status) => return status,
    };
    let append = line.has("a");
    let (mut out, mut status) = (Out::new("tee"), 0);
    let mut files: Vec<(&[u8], File)> = Vec::new();
    for name in &line.operands {
        let opened =
            OpenOptions::new().write(true).create(true).append(append).truncate(!append).open(path(name));
        match opened {
            Ok(file) => files.push((name, file)),
            Err(error) => {
                out.complain(&format!("{}: {}", text(name), reason(&error)));
                status = 1;
            }
        }
    }
    let Ok(mut input) = Input::open(b"-") else { return 1 };
    let mut piece = Piece::default();
    loop {
        match input.next(&mut piece) {
            Ok(true) => {}
            Ok(false) => break,
            Err(error) => {
                out.complain(&format!("read error: {}", reason(&error)));
                status = 1;
                break;
            }
        }
        out.put(&piece);
        let wanted = out.flush();
        files.retain_mut(|(name, file)| {
            let written = file.write_all(&piece);
            if let Err(error) = &written {
                out.complain(&format!("{}: {}", text(name), reason(error)));
                status = 1;
            }
            written.is_ok()
        });
        if !wanted && files.is_empty() {
            break;
        }
    }
    out.end(status)
}

//! `tee [-a] [FILE]...`

use super::options::Options;
use super::stream::{Input, Out, Piece, path, reason, text};
use std::fs::{File, OpenOptions};
use std::io::Write as _;

pub fn tee(args: &[&[u8]]) -> Option<i32> {
    let mut options = Options::new(args);
    let mut append = false;
    while let Some(letter) = options.next()? {
        match letter {
            b'a' => append = true,
            // There are no signals to ignore.
            b'i' => {}
            _ => return None,
        }
    }
    let (mut out, mut status) = (Out::new("tee"), 0);
    let mut files: Vec<(&[u8], File)> = Vec::new();
    for name in &options.operands {
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
    let Ok(mut input) = Input::open(b"-") else { return Some(1) };
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
        let wanted = out.put(&piece);
        out.flush();
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
    Some(out.end(status))
}

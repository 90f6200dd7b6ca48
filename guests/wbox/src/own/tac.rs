//! `tac [-b] [-s SEPARATOR] [FILE]...`: the lines of each file, last first.
//!
//! A file is read from its end, block by block; a pipe that is long goes to the session's scratch first.
//! Regular expressions as separators (`-r`) are refused.

use super::arguments;
use super::sort::Scratch;
use crate::stream::{Input, Out, Piece, reason, text};
use std::fs::File;
use std::io::{self, Read as _, Seek as _, SeekFrom};

const HELP: &str = "\
Usage: tac [OPTION]... [FILE]...
Writes the lines of each file, last first.

  -b, --before          what separates belongs to what follows it
  -s, --separator=TEXT  instead of a line end
";
const BLOCK_BYTES: usize = 64 << 10;
/// A pipe that holds more is kept in a file.
const MEMORY_BYTES_MAX: usize = 16 << 20;

struct Separator<'a> {
    text: &'a [u8],
    attached: Attached,
}

/// Which record a separator belongs to.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Attached {
    After,
    Before,
}

/// The applet.
pub fn main(args: &[&[u8]]) -> i32 {
    let line = match arguments::read("tac", HELP, args, &["b,before", "s,separator="], 1) {
        Ok(line) => line,
        Err(status) => return status,
    };
    let wanted = match line.value("s") {
        None => &b"\n"[..],
        Some(b"") => b"\0",
        Some(other) => other,
    };
    let attached = if line.has("b") { Attached::Before } else { Attached::After };
    let separator = Separator { text: wanted, attached };
    let (mut out, mut status) = (Out::new("tac"), 0);
    for name in line.inputs() {
        if let Err(problem) = input(name, &separator, &mut out) {
            out.complain(&problem);
            status = 1;
        }
    }
    out.end(status)
}

fn input(name: &[u8], separator: &Separator<'_>, out: &mut Out) -> Result<(), String> {
    let say = |error: io::Error| format!("{}: {}", text(name), reason(&error));
    let opened = Input::open(name)
        .map_err(|error| format!("failed to open '{}' for reading: {}", text(name), reason(&error)))?;
    let mut input = match opened {
        Input::Opened(mut file) => match file.seek(SeekFrom::End(0)) {
            Ok(length) => return backwards(&mut file, length, separator, out).map_err(say),
            Err(_) => Input::Opened(file),
        },
        standard => standard,
    };
    let (mut all, mut piece) = (Vec::new(), Piece::default());
    while all.len() <= MEMORY_BYTES_MAX {
        if !input.next(&mut piece).map_err(say)? {
            let rest = records(&all, all.len(), separator, out);
            out.put(&all[..rest]);
            return Ok(());
        }
        all.extend_from_slice(&piece);
    }
    let folder = std::env::var_os("TMPDIR").map_or(b"/tmp".to_vec(), |it| it.into_encoded_bytes());
    let (run, mut held) = Scratch::new(folder).run()?;
    held.put(&all);
    drop(all);
    while input.next(&mut piece).map_err(say)? {
        held.put(&piece);
    }
    super::sort::finish(held)?;
    let mut file = run.open()?;
    let length = file.seek(SeekFrom::End(0)).map_err(say)?;
    backwards(&mut file, length, separator, out).map_err(say)
}

/// Reads a file from its end.
fn backwards(file: &mut File, length: u64, separator: &Separator<'_>, out: &mut Out) -> io::Result<()> {
    let (mut left, mut carry) = (length, Vec::new());
    while left > 0 {
        // As much again as waits, so that a long line is not copied for every block.
        let size = (BLOCK_BYTES.max(carry.len()) as u64).min(left);
        left -= size;
        let mut block = vec![0; size as usize];
        file.seek(SeekFrom::Start(left))?;
        file.read_exact(&mut block)?;
        let new = block.len();
        block.append(&mut carry);
        // A separator may lie across the blocks.
        let looked = (new + separator.text.len() - 1).min(block.len());
        let rest = records(&block, looked, separator, out);
        block.truncate(rest);
        carry = block;
    }
    out.put(&carry);
    Ok(())
}

/// Writes the records whose separators begin before `looked`, last first; where the rest ends.
fn records(text: &[u8], looked: usize, separator: &Separator<'_>, out: &mut Out) -> usize {
    let mut end = text.len();
    for at in memchr::memmem::rfind_iter(&text[..looked], separator.text) {
        let cut = if separator.attached == Attached::After { at + separator.text.len() } else { at };
        if cut < end {
            out.put(&text[cut..end]);
            end = cut;
        }
    }
    end
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tac(content: &str, separator: &str, attached: Attached) -> String {
        let name = format!("wbox-tac-{}-{}-{}", content.len(), separator.len(), std::process::id());
        let [source, target] = ["in", "out"].map(|it| std::env::temp_dir().join(format!("{name}-{it}")));
        std::fs::write(&source, content).unwrap();
        let mut out = Out::into_file("tac", File::create(&target).unwrap());
        let separator = Separator { text: separator.as_bytes(), attached };
        input(source.to_string_lossy().as_bytes(), &separator, &mut out).unwrap();
        assert_eq!(out.end(0), 0);
        let written = std::fs::read_to_string(&target).unwrap();
        std::fs::remove_file(source).unwrap();
        std::fs::remove_file(target).unwrap();
        written
    }

    #[test]
    fn separators_stay_with_the_record_they_end_or_begin() {
        assert_eq!(tac("a\nb\nc", "\n", Attached::After), "cb\na\n");
        assert_eq!(tac("a\nb\n", "\n", Attached::After), "b\na\n");
        assert_eq!(tac("a--b--", "--", Attached::Before), "----ba");
        assert_eq!(tac("", "\n", Attached::After), "");
    }

    #[test]
    fn long_files_are_read_in_blocks() {
        let lines: Vec<String> = (0..60_000).map(|at| format!("line {at}\r\n")).collect();
        let want: String = lines.iter().rev().cloned().collect();
        assert_eq!(tac(&lines.concat(), "\r\n", Attached::After), want);
        let long = "x".repeat(300_000);
        assert_eq!(tac(&format!("{long}\ny\n"), "\n", Attached::After), format!("y\n{long}\n"));
    }
}

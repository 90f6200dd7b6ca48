//! `cat`: files one after the other, with numbers and marks where they are wanted.

use crate::own::arguments;
use crate::stream::{Input, Out, Piece, reason, text};
use facts::output::Output;
use std::io;

const HELP: &str = "\
Usage: cat [OPTION]... [FILE]...
Writes files one after the other.

  -A, --show-all           -vET
  -b, --number-nonblank    number lines that are not empty
  -e                       -vE
  -E, --show-ends          $ at the end of each line
  -n, --number             number all lines
  -s, --squeeze-blank      only one of several empty lines
  -t                       -vT
  -T, --show-tabs          ^I for tabs
  -u                       changes nothing
  -v, --show-nonprinting   ^ and M- for what does not print
";
/// What is said of an input that is the output.
const IS_OUTPUT: &str = "input file is output file";

#[derive(Default)]
struct Marks {
    number: bool,
    number_filled: bool,
    squeeze: bool,
    ends: bool,
    tabs: bool,
    control: bool,
}

#[derive(Default)]
struct State {
    number: u64,
    inside: bool,
    empty_before: usize,
}

/// The applet.
pub fn main(args: &[&[u8]]) -> i32 {
    let table = &[
        "A,show-all",
        "b,number-nonblank",
        "e",
        "E,show-ends",
        "n,number",
        "s,squeeze-blank",
        "t",
        "T,show-tabs",
        "u",
        "v,show-nonprinting",
    ];
    let line = match arguments::read("cat", HELP, args, table, 1) {
        Ok(line) => line,
        Err(status) => return status,
    };
    let any = |ids: &[&str]| ids.iter().any(|id| line.has(id));
    let marks = Marks {
        number: line.has("n") && !line.has("b"),
        number_filled: line.has("b"),
        squeeze: line.has("s"),
        ends: any(&["A", "e", "E"]),
        tabs: any(&["A", "t", "T"]),
        control: any(&["A", "e", "t", "v"]),
    };
    let plain = !any(&["A", "b", "e", "E", "n", "s", "t", "T", "v"]);
    let (mut out, mut status, mut piece) = (Out::new("cat"), 0, Piece::default());
    let (output, mut state) = (Output::file(), State::default());
    for name in line.inputs() {
        let copied = Input::open(name).and_then(|mut input| {
            if input.is(output) {
                return Err(io::Error::other(IS_OUTPUT));
            }
            while input.next(&mut piece)? {
                if plain {
                    out.put(&piece);
                } else {
                    marks.piece(&piece, &mut state, &mut out);
                }
                // Whoever reads waits for it: what comes next may be long in coming.
                if !out.flush() {
                    break;
                }
            }
            Ok(())
        });
        if let Err(error) = copied {
            out.complain(&format!("{}: {}", text(name), reason(&error)));
            status = 1;
        }
        if out.is_closed() {
            break;
        }
    }
    out.end(status)
}

impl Marks {
    fn piece(&self, piece: &[u8], state: &mut State, out: &mut Out) {
        for byte in piece {
            if !state.inside {
                let empty = *byte == b'\n';
                state.empty_before = if empty { state.empty_before + 1 } else { 0 };
                if empty && self.squeeze && state.empty_before > 1 {
                    continue;
                }
                if self.number || (self.number_filled && !empty) {
                    state.number += 1;
                    out.put(format!("{:6}\t", state.number).as_bytes());
                }
                state.inside = true;
            }
            match byte {
                b'\n' => {
                    if self.ends {
                        out.sign(b'$');
                    }
                    out.sign(b'\n');
                    state.inside = false;
                }
                b'\t' if self.tabs => {
                    out.put(b"^I");
                }
                b'\t' => out.sign(b'\t'),
                other if self.control => self.shown(*other, out),
                other => out.sign(*other),
            }
        }
    }

    fn shown(&self, byte: u8, out: &mut Out) {
        let low = byte & 0x7f;
        if byte >= 0x80 {
            out.put(b"M-");
        }
        match low {
            0..=31 => out.put(&[b'^', low + 64]),
            127 => out.put(b"^?"),
            _ => out.put(&[low]),
        };
    }
}

//! `iconv`: text from one encoding to another, piece by piece.

pub mod charset;

use super::arguments::{self, refuse};
use crate::stream::{Input, Out, Piece, path, reason, text};
use charset::{Charset, Found};
use std::fs::File;

const HELP: &str = "\
Usage: iconv [OPTION...] [FILE...]
Convert encoding of given files from one encoding to another.

  -f, --from-code=NAME  encoding of original text
  -t, --to-code=NAME    encoding for output; with //TRANSLIT or //IGNORE behind it
  -l, --list            list all known coded character sets
  -c                    omit invalid characters from output
  -o, --output=FILE     output file
  -s, --silent          suppress warnings
";
const TABLE: &[&str] = &["f,from-code=", "t,to-code=", "l,list", "c", "o,output=", "s,silent", "verbose"];

/// What happens to a character that the other encoding lacks, and to bytes that are no character.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Lack {
    Fail,
    Omit,
    Replace,
}

/// The applet.
pub fn main(args: &[&[u8]]) -> i32 {
    let line = match arguments::read("iconv", HELP, args, TABLE, 64) {
        Ok(line) => line,
        Err(status) => return status,
    };
    if line.has("l") {
        let mut out = Out::new("iconv");
        let shown = |names: &str| names.split(' ').map(|it| format!("{it}//")).collect::<Vec<_>>().join(" ");
        charset::NAMES.iter().for_each(|(_, names)| {
            out.put(format!("{}\n", shown(names)).as_bytes());
        });
        return out.end(0);
    }
    let mut lack = if line.has("c") { Lack::Omit } else { Lack::Fail };
    let mut named = |option: &str, what: &str| {
        let given = line.value(option).map(|it| text(it).into_owned()).unwrap_or_default();
        let (name, suffix) = given.split_once("//").unwrap_or((&given, ""));
        match suffix.to_ascii_uppercase().as_str() {
            "TRANSLIT" if option == "t" && lack == Lack::Fail => lack = Lack::Replace,
            "IGNORE" if option == "t" => lack = Lack::Omit,
            _ => {}
        }
        // Without a name it is the session's own encoding.
        let name = if name.is_empty() { "UTF-8" } else { name };
        Charset::named(name).ok_or_else(|| format!("conversion {what} `{name}' is not supported"))
    };
    let (from, to) = match (named("f", "from"), named("t", "to")) {
        (Ok(from), Ok(to)) => (from, to),
        (Err(problem), _) | (_, Err(problem)) => return refuse("iconv", &problem, 1),
    };
    let mut out = match line.value("o").filter(|it| *it != b"-").map(|name| (name, File::create(path(name))))
    {
        None => Out::new("iconv"),
        Some((_, Ok(file))) => Out::into_file("iconv", file),
        Some((name, Err(error))) => {
            let problem = format!("unable to open output file `{}': {}", text(name), reason(&error));
            Out::new("iconv").complain(&problem);
            return 1;
        }
    };
    let mut conversion = Conversion::new(from, to, lack);
    for name in line.inputs() {
        if let Err(problem) = convert(name, &mut conversion, &mut out) {
            out.complain(&problem);
            return out.end(1);
        }
    }
    match conversion.end() {
        Ok(()) => out.end(0),
        Err(problem) => {
            out.complain(&problem);
            out.end(1)
        }
    }
}

fn convert(name: &[u8], conversion: &mut Conversion, out: &mut Out) -> Result<(), String> {
    let cannot =
        |error: std::io::Error| format!("cannot open input file `{}': {}", text(name), reason(&error));
    let mut input = Input::open(name).map_err(cannot)?;
    let mut piece = Piece::default();
    while input.next(&mut piece).map_err(|error| format!("unable to read input: {}", reason(&error)))? {
        let (bytes, done) = conversion.feed(&piece);
        if !out.put(&bytes) {
            break;
        }
        done?;
    }
    Ok(())
}

/// A conversion under way.
struct Conversion {
    from: Charset,
    to: Charset,
    lack: Lack,
    /// The beginning of a character whose end has not been read.
    held: Vec<u8>,
    /// Bytes that were converted.
    position: u64,
    begun: bool,
}

impl Conversion {
    fn new(from: Charset, to: Charset, lack: Lack) -> Self {
        Self { from, to, lack, held: Vec::new(), position: 0, begun: false }
    }

    /// What a piece becomes as far as it can be converted, and what stopped it.
    fn feed(&mut self, piece: &[u8]) -> (Vec<u8>, Result<(), String>) {
        let mut out = Vec::with_capacity(piece.len());
        let mut bytes = std::mem::take(&mut self.held);
        bytes.extend_from_slice(piece);
        let mut rest = bytes.as_slice();
        if !self.begun {
            // Until the mark of the order is there or cannot be any more.
            if rest.len() < self.from.unit_bytes() {
                self.held = bytes;
                return (out, Ok(()));
            }
            self.begun = true;
            let (from, mark) = self.from.marked(rest);
            (self.from, rest) = (from, &rest[mark..]);
            self.position += mark as u64;
            self.to.mark(&mut out);
        }
        while !rest.is_empty() {
            let (length, fine) = match self.from.decode(rest) {
                Found::Character(character, length) => (length, self.put(character, &mut out)),
                Found::Wrong(length) => (length, self.lack == Lack::Omit),
                Found::Unfinished => break,
            };
            if !fine {
                return (out, Err(format!("illegal input sequence at position {}", self.position)));
            }
            self.position += length as u64;
            rest = &rest[length..];
        }
        self.held = rest.to_vec();
        (out, Ok(()))
    }

    /// Whether the character could be written, or need not be.
    fn put(&self, character: char, out: &mut Vec<u8>) -> bool {
        if self.to.encode(character, out) {
            return true;
        }
        if self.lack == Lack::Replace {
            charset::likeness(character).chars().for_each(|it| {
                self.to.encode(it, out);
            });
        }
        self.lack != Lack::Fail
    }

    fn end(&self) -> Result<(), String> {
        match self.held.is_empty() {
            true => Ok(()),
            false => Err("incomplete character or shift sequence at end of buffer".to_owned()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn converted(input: &[u8], from: &str, to: &str, lack: Lack) -> (Vec<u8>, String) {
        let (Some(from), Some(to)) = (Charset::named(from), Charset::named(to)) else {
            return (Vec::new(), "no such encoding".to_owned());
        };
        let mut conversion = Conversion::new(from, to, lack);
        let mut all = Vec::new();
        // Byte by byte, so that every character is cut somewhere.
        for piece in input.chunks(1) {
            let (bytes, done) = conversion.feed(piece);
            all.extend(bytes);
            if let Err(problem) = done {
                return (all, problem);
            }
        }
        (all, conversion.end().err().unwrap_or_default())
    }

    /// Input, encodings, what happens to what is lacking; output and complaint.
    type Case = (&'static [u8], &'static str, &'static str, Lack, &'static [u8], String);

    #[test]
    fn texts_change_their_encoding() {
        let wrong = |at: u32| format!("illegal input sequence at position {at}");
        let unfinished = "incomplete character or shift sequence at end of buffer".to_owned();
        let none = String::new;
        let cases: &[Case] = &[
            ("aé€".as_bytes(), "utf8", "ISO-8859-15", Lack::Fail, b"a\xe9\xa4", none()),
            (b"a\xe9\xa4", "LATIN9", "UTF-8", Lack::Fail, "aé€".as_bytes(), none()),
            (b"\x80\x99", "CP1252", "UTF-8", Lack::Fail, "€™".as_bytes(), none()),
            (b"\x80\x81", "CP1252", "UTF-8", Lack::Fail, "€".as_bytes(), wrong(1)),
            ("a😀".as_bytes(), "UTF-8", "UTF-16LE", Lack::Fail, b"a\0\x3d\xd8\0\xde", none()),
            (b"\0a\xd8\x3d\xde\0", "UTF-16BE", "UTF-8", Lack::Fail, "a😀".as_bytes(), none()),
            (b"a", "UTF-8", "UTF-16", Lack::Fail, b"\xff\xfea\0", none()),
            (b"\xfe\xff\0a", "UTF-16", "UTF-8", Lack::Fail, b"a", none()),
            (b"a\0", "UTF-16", "UTF-8", Lack::Fail, b"a", none()),
            (b"a", "ASCII", "UTF-32", Lack::Fail, b"\xff\xfe\0\0a\0\0\0", none()),
            (b"\0\0\0a", "UTF-32BE", "ASCII", Lack::Fail, b"a", none()),
            ("aéb".as_bytes(), "UTF-8", "ASCII", Lack::Fail, b"a", wrong(1)),
            ("aéb".as_bytes(), "UTF-8", "ASCII", Lack::Omit, b"ab", none()),
            ("“é€…ß☃".as_bytes(), "UTF-8", "ASCII", Lack::Replace, b"\"eEUR...ss?", none()),
            (b"a\xffb", "UTF-8", "ASCII", Lack::Fail, b"a", wrong(1)),
            (b"a\xffb", "UTF-8", "ASCII", Lack::Omit, b"ab", none()),
            (b"a\xc3", "UTF-8", "ASCII", Lack::Fail, b"a", unfinished.clone()),
            (b"\0\xd8", "UTF-16LE", "UTF-8", Lack::Fail, b"", unfinished),
            (b"\0\xdc", "UTF-16LE", "UTF-8", Lack::Fail, b"", wrong(0)),
            (b"\0\0\x11\0", "UTF-32LE", "UTF-8", Lack::Fail, b"", wrong(0)),
            (b"\x80", "ASCII", "UTF-8", Lack::Fail, b"", wrong(0)),
        ];
        for (input, from, to, lack, want, problem) in cases {
            let got = converted(input, from, to, *lack);
            assert_eq!(got, (want.to_vec(), problem.clone()), "{input:?} {from} {to}");
        }
    }

    #[test]
    fn whatever_one_byte_stands_for_comes_back() {
        for name in ["ISO-8859-1", "ISO-8859-15", "WINDOWS-1252"] {
            for byte in 0..=255 {
                let (text, problem) = converted(&[byte], name, "UTF-8", Lack::Fail);
                if problem.is_empty() {
                    let back = converted(&text, "UTF-8", name, Lack::Fail);
                    assert_eq!(back, (vec![byte], String::new()), "{name} {byte}");
                }
            }
        }
    }
}

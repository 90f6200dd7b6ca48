//! `uniq [-c] [-d | -u] [-i] [FILE]`

use super::options::Options;
use super::stream::{Input, Out, Piece, reason, text};

#[derive(Default)]
struct Wanted {
    counts: bool,
    only_repeated: bool,
    only_unique: bool,
    ignore_case: bool,
}

pub fn uniq(args: &[&[u8]]) -> Option<i32> {
    let (mut options, mut wanted) = (Options::new(args), Wanted::default());
    while let Some(letter) = options.next()? {
        match letter {
            b'c' => wanted.counts = true,
            b'd' => wanted.only_repeated = true,
            b'u' => wanted.only_unique = true,
            b'i' => wanted.ignore_case = true,
            _ => return None,
        }
    }
    let name = options.one_input()?;
    // The old spelling of a number of characters to skip.
    if name.first() == Some(&b'+') {
        return None;
    }
    let mut out = Out::new("uniq");
    let mut groups = Groups { wanted, line: Vec::new(), count: 0 };
    let read = Input::open(name).and_then(|mut input| {
        let (mut piece, mut held) = (Piece::default(), Vec::new());
        while input.next(&mut piece)? {
            let mut start = 0;
            for end in memchr::memchr_iter(b'\n', &piece) {
                if held.is_empty() {
                    groups.line(&piece[start..end], &mut out);
                } else {
                    held.extend_from_slice(&piece[start..end]);
                    groups.line(&held, &mut out);
                    held.clear();
                }
                start = end + 1;
            }
            held.extend_from_slice(&piece[start..]);
        }
        if !held.is_empty() {
            groups.line(&held, &mut out);
        }
        Ok(())
    });
    if let Err(error) = read {
        out.complain(&format!("{}: {}", text(name), reason(&error)));
        return Some(out.end(1));
    }
    groups.print(&mut out);
    Some(out.end(0))
}

struct Groups {
    wanted: Wanted,
    line: Vec<u8>,
    count: usize,
}

impl Groups {
    fn line(&mut self, line: &[u8], out: &mut Out) {
        let same = self.count > 0
            && if self.wanted.ignore_case { self.line.eq_ignore_ascii_case(line) } else { self.line == line };
        if same {
            self.count += 1;
            return;
        }
        self.print(out);
        self.line.clear();
        self.line.extend_from_slice(line);
        self.count = 1;
    }

    fn print(&mut self, out: &mut Out) {
        let (unique, repeated) = (self.count == 1, self.count > 1);
        if self.count == 0 || self.wanted.only_repeated && !repeated || self.wanted.only_unique && !unique {
            return;
        }
        if self.wanted.counts {
            out.put(format!("{:7} ", self.count).as_bytes());
        }
        out.put(&self.line);
        out.sign(b'\n');
    }
}

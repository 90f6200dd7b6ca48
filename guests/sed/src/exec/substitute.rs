//! The command `s`.

use super::Machine;
use crate::script::{Case, Piece, Substitution};
use posix_regex::{Regex, Slots, Span};

impl Machine {
    pub(super) fn substitute(&mut self, wanted: &Substitution) -> Result<(), String> {
        let regex = self.regex(&wanted.regex)?;
        let text = &self.space.text;
        let find = |at: usize, slots: &mut Slots| find(&regex, wanted, text, at, slots);
        let Some(mut found) = find(0, &mut self.slots) else { return Ok(()) };
        self.scratch.clear();
        // `done` bytes of the text have been copied or replaced.
        let (mut done, mut count, mut replaced) = (0, 0, false);
        let mut last_end = None;
        loop {
            self.scratch.extend_from_slice(&text[done..found.start]);
            done = found.start;
            // An empty match right after a match is none.
            let empty = found.start == found.end;
            if !(empty && last_end == Some(found.start)) {
                count += 1;
                if count >= wanted.number {
                    replace(&mut self.scratch, &wanted.replacement, text, &self.slots, found);
                    replaced = true;
                    done = found.end;
                    if !wanted.global {
                        break;
                    }
                } else {
                    self.scratch.extend_from_slice(&text[found.start..found.end]);
                    done = found.end;
                }
                last_end = Some(found.end);
            }
            if empty {
                let length = sign_length(&text[done..]);
                self.scratch.extend_from_slice(&text[done..done + length]);
                done += length;
                if length == 0 {
                    break;
                }
            }
            match find(done, &mut self.slots) {
                Some(next) => found = next,
                None => break,
            }
        }
        if !replaced {
            return Ok(());
        }
        self.scratch.extend_from_slice(&text[done..]);
        std::mem::swap(&mut self.space.text, &mut self.scratch);
        self.replaced = true;
        for _ in 0..wanted.print {
            self.print_space();
        }
        if let Some(target) = wanted.write {
            let line = std::mem::take(&mut self.space.text);
            let ended = self.space.ended;
            self.write(target, &line, ended);
            self.space.text = line;
        }
        Ok(())
    }
}

fn find(regex: &Regex, wanted: &Substitution, text: &[u8], at: usize, slots: &mut Slots) -> Option<Span> {
    if wanted.groups { regex.captures_at(text, at, slots) } else { regex.find_at(text, at) }
}

/// How long the first character is; a byte that is none counts for one.
fn sign_length(text: &[u8]) -> usize {
    let Some(first) = text.first() else { return 0 };
    let length = match first {
        0xc2..=0xdf => 2,
        0xe0..=0xef => 3,
        0xf0..=0xf4 => 4,
        _ => 1,
    };
    if text.get(..length).is_some_and(|it| std::str::from_utf8(it).is_ok()) { length } else { 1 }
}

fn replace(out: &mut Vec<u8>, pieces: &[Piece], text: &[u8], slots: &Slots, whole: Span) {
    // What `\U` or `\L` asks for, and what `\u` or `\l` asks for the next character.
    let (mut all, mut next) = (None, None);
    for piece in pieces {
        let bytes = match piece {
            Piece::Text(bytes) => bytes.as_slice(),
            Piece::Group(0) => &text[whole.start..whole.end],
            Piece::Group(group) => match slots.get(*group) {
                Some(span) => &text[span.start..span.end],
                None => continue,
            },
            Piece::Case(Case::End) => {
                (all, next) = (None, None);
                continue;
            }
            Piece::Case(case @ (Case::Upper | Case::Lower)) => {
                all = Some(*case);
                continue;
            }
            Piece::Case(case) => {
                next = Some(*case);
                continue;
            }
        };
        if all.is_none() && next.is_none() {
            out.extend_from_slice(bytes);
        } else if !bytes.is_empty() {
            push_cased(out, bytes, all, next.take());
        }
    }
}

fn push_cased(out: &mut Vec<u8>, bytes: &[u8], all: Option<Case>, mut next: Option<Case>) {
    for chunk in bytes.utf8_chunks() {
        for sign in chunk.valid().chars() {
            let mut buffer = [0; 4];
            let mut push = |sign: char| out.extend_from_slice(sign.encode_utf8(&mut buffer).as_bytes());
            match next.take().or(all) {
                Some(Case::Upper | Case::UpperNext) => sign.to_uppercase().for_each(&mut push),
                Some(Case::Lower | Case::LowerNext) => sign.to_lowercase().for_each(&mut push),
                _ => push(sign),
            }
        }
        out.extend_from_slice(chunk.invalid());
    }
}

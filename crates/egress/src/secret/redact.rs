//! Takes secrets out of what a server sends, piece by piece, however the pieces are cut.
//!
//! Two readers go over the same bytes: one takes them as they are, the other reads `%41`, `\u0041` and `\/` as the
//! characters that they stand for. Where either finds a needle, the bytes that it is written with are replaced. Bytes that may yet turn out
//! to be the beginning of one are held back; where neither reader is inside of anything, nothing is. The time is linear in
//! the bytes, whatever they are.

use std::{collections::VecDeque, sync::Arc};

use aho_corasick::{Anchored, automaton::Automaton as _, automaton::StateID};
use bytes::{Bytes, BytesMut};

use super::{Needles, REDACTED};

/// The longest spelling of one character: `\u0041`.
const ESCAPE_BYTES_MAX: usize = 6;

/// Whether more bytes will come.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Rest {
    Follows,
    Ended,
}

pub(crate) struct Redactor {
    needles: Arc<Needles>,
    plain: Reader,
    escaped: Reader,
    /// Bytes that were not given out yet; the first is number `given`.
    held: BytesMut,
    given: u64,
    /// What to replace, in bytes as they are numbered; sorted, apart from one another.
    marks: VecDeque<(u64, u64)>,
}

/// One way to read the bytes, as far as it got.
struct Reader {
    state: StateID,
    /// The next byte to read.
    at: u64,
    /// Where each of the last characters began, the oldest first: as many as a needle has.
    starts: VecDeque<u64>,
}

impl Redactor {
    pub(crate) fn new(needles: &Arc<Needles>) -> Self {
        let reader = || Reader { state: start(needles), at: 0, starts: VecDeque::new() };
        let (plain, escaped) = (reader(), reader());
        let (held, given, marks) = (BytesMut::new(), 0, VecDeque::new());
        Self { needles: Arc::clone(needles), plain, escaped, held, given, marks }
    }

    /// Reads on, and gives out what is certain by now.
    pub(crate) fn push(&mut self, chunk: &[u8]) -> Bytes {
        self.held.extend_from_slice(chunk);
        self.read(Rest::Follows);
        let certain = self.certain();
        self.give(certain)
    }

    /// Gives out the rest: nothing follows.
    pub(crate) fn finish(&mut self) -> Bytes {
        self.read(Rest::Ended);
        let end = self.given + self.held.len() as u64;
        self.give(end)
    }

    /// The whole of a short text, such as the value of a header.
    pub(crate) fn redact(needles: &Arc<Needles>, text: &[u8]) -> Bytes {
        let mut redactor = Self::new(needles);
        redactor.held.extend_from_slice(text);
        redactor.finish()
    }

    fn read(&mut self, rest: Rest) {
        let mut found = Vec::new();
        let (given, held, needles) = (self.given, &self.held, &*self.needles);
        let after = |at: u64| &held[usize::try_from(at - given).unwrap_or(usize::MAX).min(held.len())..];
        while let Some(byte) = after(self.plain.at).first() {
            found.extend(self.plain.step(needles, *byte, 1));
        }
        loop {
            let text = after(self.escaped.at);
            // An escape that is cut is read when the rest of it is there.
            let cut = rest == Rest::Follows
                && text.len() < ESCAPE_BYTES_MAX
                && matches!(text.first(), Some(b'%' | b'\\'));
            if text.is_empty() || cut {
                break;
            }
            let (byte, length) = unescape(text);
            found.extend(self.escaped.step(needles, byte, length));
        }
        for mark in found {
            self.mark(mark);
        }
    }

    /// Adds a mark, and joins it with those that it touches.
    fn mark(&mut self, (mut start, mut end): (u64, u64)) {
        start = start.max(self.given);
        self.marks.retain(|(from, to)| {
            let touches = *from <= end && start <= *to;
            if touches {
                (start, end) = (start.min(*from), end.max(*to));
            }
            !touches
        });
        let at = self.marks.partition_point(|(from, _)| *from < start);
        self.marks.insert(at, (start, end));
    }

    /// Up to where no needle can begin that is not found yet.
    fn certain(&self) -> u64 {
        let until = self.plain.certain(&self.needles).min(self.escaped.certain(&self.needles));
        // Of a mark all or nothing: it may still grow.
        let grows = self.marks.iter().find(|(from, to)| *from < until && until < *to);
        grows.map_or(until, |(from, _)| *from)
    }

    fn give(&mut self, until: u64) -> Bytes {
        let mut out = BytesMut::new();
        while let Some((start, end)) = self.marks.front().copied().filter(|(_, end)| *end <= until) {
            self.marks.pop_front();
            out.extend_from_slice(&self.take(start));
            out.extend_from_slice(REDACTED);
            self.take(end);
        }
        out.extend_from_slice(&self.take(until));
        out.freeze()
    }

    fn take(&mut self, until: u64) -> BytesMut {
        let length =
            usize::try_from(until.saturating_sub(self.given)).unwrap_or(usize::MAX).min(self.held.len());
        self.given += length as u64;
        self.held.split_to(length)
    }
}

impl Reader {
    /// Reads one character that is written with `length` bytes, and says what ends with it.
    fn step(&mut self, needles: &Needles, byte: u8, length: usize) -> Option<(u64, u64)> {
        if self.starts.len() == needles.bytes_max {
            self.starts.pop_front();
        }
        self.starts.push_back(self.at);
        self.at += length as u64;
        self.state = needles.machine.next_state(Anchored::No, self.state, byte);
        if !needles.machine.is_match(self.state) {
            return None;
        }
        let matches = 0..needles.machine.match_len(self.state);
        let longest = matches
            .map(|index| needles.machine.pattern_len(needles.machine.match_pattern(self.state, index)))
            .max()?;
        let first = self.starts.get(self.starts.len().checked_sub(longest)?)?;
        Some((*first, self.at))
    }

    /// The first byte that may belong to a needle which this reader is inside of.
    fn certain(&self, needles: &Needles) -> u64 {
        if self.state == start(needles) {
            return self.at;
        }
        // One character less than the longest has can be the beginning of one.
        let open = self.starts.len().saturating_sub(needles.bytes_max.saturating_sub(1));
        self.starts.get(open).copied().unwrap_or(self.at)
    }
}

fn start(needles: &Needles) -> StateID {
    // Fails only for machines that were built for anchored searches alone.
    needles.machine.start_state(Anchored::No).unwrap_or_default()
}

/// The character that the text begins with, and how many bytes it is written with.
fn unescape(text: &[u8]) -> (u8, usize) {
    let hex = |digits: Option<&[u8]>| {
        let digits =
            std::str::from_utf8(digits?).ok().filter(|it| it.bytes().all(|b| b.is_ascii_hexdigit()))?;
        u8::try_from(u32::from_str_radix(digits, 16).ok()?).ok()
    };
    let escape = match text {
        [b'%', ..] => hex(text.get(1..3)).map(|byte| (byte, 3)),
        [b'\\', b'u', ..] => hex(text.get(2..6)).map(|byte| (byte, 6)),
        [b'\\', b'x', ..] => hex(text.get(2..4)).map(|byte| (byte, 4)),
        [b'\\', byte @ (b'"' | b'\\' | b'/' | b'\''), ..] => Some((*byte, 2)),
        _ => None,
    };
    escape.unwrap_or((text.first().copied().unwrap_or_default(), 1))
}

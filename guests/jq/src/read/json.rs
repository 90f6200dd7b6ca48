//! JSON text to values, without recursion: the depth of a text cannot exhaust the stack.
//!
//! Besides JSON, `nan` is read, as jq does; everything else is refused with jq's words and the
//! place where it stands. Items of open containers wait on two common stacks, so that a container is
//! made once, in its final size.

use super::broken::misplaced;
use super::feed::Feed;
use super::{literal, scan};
use crate::value::{Object, Text, Value};

/// Deeper texts are refused, as by jq.
const DEPTH_MAX: usize = 10_000;
/// Objects of up to so many fields are searched for repeated keys by comparing all.
const COMPARED_MAX: usize = 12;

/// The values of a text, one after the other.
pub struct Reader {
    /// The text, and [`scan::PAD_BYTES`] zeros behind it.
    pub(super) text: Vec<u8>,
    pub(super) end: usize,
    pub(super) at: usize,
    /// Of the file that is being read, before `counted`.
    pub(super) lines: usize,
    pub(super) counted: usize,
    /// What went before `text` and is dropped: its lines, and the length of the last one.
    pub(super) lines_before: usize,
    pub(super) column_before: usize,
    /// Where more text comes from, as long as there may be more.
    pub(super) feed: Option<Box<dyn Feed>>,
    pub(super) seq: bool,
    pub(super) open: Vec<Open>,
    pub(super) items: Vec<Value>,
    pub(super) fields: Vec<(Text, Value)>,
    pub(super) keys: Vec<Text>,
}

/// A container that is not closed yet, and where its part of the common stack begins.
#[derive(Clone, Copy)]
pub(super) enum Open {
    Array(usize),
    Object(usize),
}

impl Reader {
    /// Reads `text`; with `seq`, record separators count as white space.
    pub fn new(mut text: Vec<u8>, seq: bool) -> Self {
        let end = text.len();
        text.extend_from_slice(&[0; scan::PAD_BYTES]);
        // A byte order mark is not part of the text.
        let at = if text.starts_with(b"\xef\xbb\xbf") { 3 } else { 0 };
        Self {
            text,
            end,
            at,
            lines: 0,
            counted: 0,
            lines_before: 0,
            column_before: 0,
            feed: None,
            seq,
            open: Vec::new(),
            items: Vec::new(),
            fields: Vec::new(),
            keys: Vec::new(),
        }
    }

    /// The value that begins here, with nothing left of the one before.
    pub(super) fn first_value(&mut self) -> Result<Value, String> {
        self.open.clear();
        self.items.clear();
        self.fields.clear();
        self.value()
    }

    /// The value that begins here. The cursor is kept apart from `self`, where each look at it would
    /// go through memory; it is put back before anything else is called that needs it.
    fn value(&mut self) -> Result<Value, String> {
        let base = self.text.as_ptr();
        // SAFETY: the cursor stays within the text and its padding: every step over a byte follows a
        // look at it that found it not to be zero, or `self.at`, which is within.
        let mut at = unsafe { base.add(self.at) };
        macro_rules! slow {
            ($call:expr) => {{
                // SAFETY: both point into the text or its padding.
                self.at = unsafe { at.offset_from(base) } as usize;
                let result = $call;
                // SAFETY: `self.at` is within the text or at its end.
                at = unsafe { base.add(self.at) };
                result
            }};
        }
        loop {
            // SAFETY: the cursor is within the text, and the padding stops every scan.
            at = unsafe { scan::skip_blank(at) };
            // SAFETY: the cursor is within the text or its padding.
            let mut done = match unsafe { *at } {
                b'"' => {
                    // SAFETY: what is stepped over was looked at, and is not the zero that ends the text.
                    let start = unsafe { at.add(1) };
                    // SAFETY: the cursor is within the text, and the padding stops every scan.
                    let len = unsafe { scan::plain_len(start) };
                    // SAFETY: the cursor is within the text or its padding.
                    if unsafe { *start.add(len) } == b'"' {
                        // SAFETY: what is stepped over was looked at, and is not the zero that ends the text.
                        at = unsafe { start.add(len + 1) };
                        // SAFETY: the cursor is within the text, and the padding stops every scan.
                        Value::Str(unsafe { scan::text(start, len) })
                    } else {
                        Value::Str(slow!(self.long_string(self.at + 1))?)
                    }
                }
                b'{' => {
                    // SAFETY: the cursor is within the text, and the padding stops every scan.
                    at = unsafe { scan::skip_blank(at.add(1)) };
                    if self.open.len() >= DEPTH_MAX {
                        slow!(self.deep_enough())?;
                    }
                    // SAFETY: the cursor is within the text or its padding.
                    if unsafe { *at } == b'}' {
                        // SAFETY: what is stepped over was looked at, and is not the zero that ends the text.
                        at = unsafe { at.add(1) };
                        Value::obj(Object::new())
                    } else {
                        self.open.push(Open::Object(self.fields.len()));
                        slow!(self.key())?;
                        continue;
                    }
                }
                b'[' => {
                    // SAFETY: the cursor is within the text, and the padding stops every scan.
                    at = unsafe { scan::skip_blank(at.add(1)) };
                    if self.open.len() >= DEPTH_MAX {
                        slow!(self.deep_enough())?;
                    }
                    // SAFETY: the cursor is within the text or its padding.
                    if unsafe { *at } == b']' {
                        // SAFETY: what is stepped over was looked at, and is not the zero that ends the text.
                        at = unsafe { at.add(1) };
                        Value::arr(Vec::new())
                    } else {
                        self.open.push(Open::Array(self.items.len()));
                        continue;
                    }
                }
                // SAFETY: the cursor is within the text, and the padding stops every scan.
                b'0'..=b'9' => match unsafe { scan::small_integer(at) } {
                    Some((number, behind)) => {
                        at = behind;
                        Value::Num(number)
                    }
                    None => slow!(self.other())?,
                },
                // SAFETY: the cursor is within the text, and the padding stops every scan.
                b't' | b'f' | b'n' => match unsafe { scan::word(at) } {
                    Some((word, behind)) => {
                        at = behind;
                        word
                    }
                    None => slow!(self.other())?,
                },
                _ => slow!(self.other())?,
            };
            // Hand the value to its container, and close as many as end here.
            loop {
                let Some(open) = self.open.last().copied() else {
                    // SAFETY: both point into the text or its padding.
                    self.at = unsafe { at.offset_from(base) } as usize;
                    return Ok(done);
                };
                match open {
                    Open::Array(_) => self.items.push(done),
                    Open::Object(_) => {
                        if let Some((_, slot)) = self.fields.last_mut() {
                            // SAFETY: what is overwritten is the `null` that held the place.
                            unsafe { std::ptr::write(slot, done) };
                        }
                    }
                }
                // SAFETY: the cursor is within the text, and the padding stops every scan.
                at = unsafe { scan::skip_blank(at) };
                // SAFETY: the cursor is within the text or its padding.
                while self.seq && unsafe { *at } == 0x1e {
                    // SAFETY: the cursor is within the text, and the padding stops every scan.
                    at = unsafe { scan::skip_blank(at.add(1)) };
                }
                // SAFETY: the cursor is within the text or its padding.
                match (unsafe { *at }, open) {
                    (b',', Open::Object(_)) => {
                        // SAFETY: what is stepped over was looked at, and is not the zero that ends the text.
                        at = unsafe { at.add(1) };
                        slow!(self.key())?;
                        break;
                    }
                    (b',', Open::Array(_)) => {
                        // SAFETY: what is stepped over was looked at, and is not the zero that ends the text.
                        at = unsafe { at.add(1) };
                        break;
                    }
                    (b']', Open::Array(start)) => {
                        // SAFETY: what is stepped over was looked at, and is not the zero that ends the text.
                        at = unsafe { at.add(1) };
                        self.open.pop();
                        done = Value::arr(moved(&mut self.items, start));
                    }
                    (b'}', Open::Object(start)) => {
                        // SAFETY: what is stepped over was looked at, and is not the zero that ends the text.
                        at = unsafe { at.add(1) };
                        self.open.pop();
                        done = Value::obj(self.object(start));
                    }
                    _ => {
                        // SAFETY: both point into the text or its padding.
                        self.at = unsafe { at.offset_from(base) } as usize;
                        return Err(self.not_a_separator(open));
                    }
                }
            }
        }
    }

    /// A value that is none of the above, or what stands in the place of one.
    #[cold]
    fn other(&mut self) -> Result<Value, String> {
        self.skip_blank();
        match self.peek() {
            None => Err(self.problem("Unfinished JSON term")),
            Some(sign @ (b',' | b':' | b']' | b'}')) => {
                self.at += 1;
                let what = misplaced(sign, self.open.last());
                Err(self.problem(&what))
            }
            Some(b'"' | b'[' | b'{') => self.after_separator(),
            Some(_) => self.literal(),
        }
    }

    /// A record separator stood before the value.
    fn after_separator(&mut self) -> Result<Value, String> {
        let open = std::mem::take(&mut self.open);
        let value = self.value();
        if value.is_ok() {
            self.open = open;
        }
        value
    }

    #[inline]
    fn object(&mut self, start: usize) -> Object {
        // Keys with different fingerprints differ; only where two share one they are compared.
        let (mut seen, mut suspect) = (0u64, false);
        for (key, _) in &self.fields[start..] {
            let bit = 1 << key.fingerprint();
            suspect |= seen & bit != 0;
            seen |= bit;
        }
        let fields = moved(&mut self.fields, start);
        let repeated = |at: usize| fields[..at].iter().any(|(known, _)| *known == fields[at].0);
        if fields.len() <= COMPARED_MAX && (!suspect || !(1..fields.len()).any(repeated)) {
            return Object::of_distinct(fields);
        }
        fields.into_iter().collect()
    }

    fn deep_enough(&self) -> Result<(), String> {
        if self.open.len() >= DEPTH_MAX {
            return Err(self.problem("Exceeds depth limit for parsing"));
        }
        Ok(())
    }

    pub(super) fn literal(&mut self) -> Result<Value, String> {
        let rest = self.text.get(self.at..self.end).unwrap_or(&[]);
        let len = rest.iter().position(|byte| literal::ends_at(*byte)).unwrap_or(rest.len());
        let value = literal::value(&rest[..len]);
        if let Some(value) = value {
            self.at += len;
            return Ok(value);
        }
        let word_like = matches!(rest.first(), Some(b't' | b'f')) || (rest.first() == Some(&b'n') && len < 4);
        let a_word = len == 4 && matches!(rest.first(), Some(b't' | b'n')) || len == 5 && rest[0] == b'f';
        self.at += len.max(1);
        self.at = self.token_end();
        Err(self.problem(if word_like && !a_word { "Invalid literal" } else { "Invalid numeric literal" }))
    }

    #[inline]
    pub(super) fn peek(&self) -> Option<u8> {
        if self.at < self.end { Some(self.text[self.at]) } else { None }
    }

    pub(super) fn skip_blank(&mut self) {
        while self.at < self.end {
            match self.text[self.at] {
                b' ' | b'\t' | b'\n' | b'\r' => self.at += 1,
                0x1e if self.seq => self.at += 1,
                _ => break,
            }
        }
    }
}

/// The items from `start` on, moved into a list of their own that is just large enough.
#[inline]
fn moved<T>(from: &mut Vec<T>, start: usize) -> Vec<T> {
    let count = from.len() - start;
    let mut list = Vec::with_capacity(count);
    // SAFETY: the items are copied into room for as many, and their old places are given up.
    unsafe {
        from.set_len(start);
        let (old, new): (*const T, *mut T) = (from.as_ptr().add(start), list.as_mut_ptr());
        for at in 0..count {
            new.add(at).write(old.add(at).read());
        }
        list.set_len(count);
    }
    list
}

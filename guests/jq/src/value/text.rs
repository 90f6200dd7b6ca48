//! Strings of jq: short ones lie inside the value, longer ones are shared.
//!
//! Most keys and many values are short, and then need no memory of their own. A shared string that
//! nobody else holds grows in place, so that adding to it in a loop stays linear.

use std::borrow::Borrow;
use std::fmt;
use std::ops::Deref;
use std::rc::Rc;

/// Longer strings are shared.
const SHORT_BYTES_MAX: usize = 14;

/// An immutable string.
#[derive(Clone)]
pub struct Text(Form);

#[derive(Clone)]
enum Form {
    Short { len: u8, bytes: [u8; SHORT_BYTES_MAX] },
    Long(Rc<String>),
}

impl Text {
    /// The empty string.
    pub const EMPTY: Self = Self(Form::Short { len: 0, bytes: [0; SHORT_BYTES_MAX] });

    /// A copy of `text`.
    #[inline]
    pub fn new(text: &str) -> Self {
        match Self::short(text.as_bytes()) {
            Some(short) => short,
            None => Self(Form::Long(Rc::new(text.to_owned()))),
        }
    }

    #[inline]
    fn short(text: &[u8]) -> Option<Self> {
        if text.len() > SHORT_BYTES_MAX {
            return None;
        }
        let (low, high) = gathered(text);
        Some(Self::of_words(text.len(), low, high))
    }

    /// A short string from its bytes in two words, zeros behind its end.
    #[inline]
    fn of_words(len: usize, low: u64, high: u64) -> Self {
        let mut bytes = [0; SHORT_BYTES_MAX];
        bytes[..8].copy_from_slice(&low.to_le_bytes());
        bytes[8..].copy_from_slice(&high.to_le_bytes()[..6]);
        Self(Form::Short { len: len as u8, bytes })
    }

    /// A string of ASCII.
    ///
    /// # Safety
    /// The `len` bytes from `at` on must be ASCII, and sixteen bytes must be readable there.
    #[inline(always)]
    pub(crate) unsafe fn of_ascii(at: *const u8, len: usize) -> Self {
        if len > SHORT_BYTES_MAX {
            // SAFETY: ASCII is UTF-8.
            return Self::long(unsafe { std::str::from_utf8_unchecked(std::slice::from_raw_parts(at, len)) });
        }
        // SAFETY: sixteen bytes can be read.
        let word = |from: usize| u64::from_le(unsafe { at.add(from).cast::<u64>().read_unaligned() });
        if len < 8 {
            return Self::of_words(len, word(0) & ((1 << (len * 8)) - 1), 0);
        }
        Self::of_words(len, word(0), word(8) & ((1 << ((len - 8) * 8)) - 1))
    }

    #[inline(never)]
    fn long(text: &str) -> Self {
        Self(Form::Long(Rc::new(text.to_owned())))
    }

    /// A number that differs for most keys that differ.
    #[inline(always)]
    pub(crate) fn fingerprint(&self) -> u32 {
        let low = match &self.0 {
            Form::Short { bytes, .. } => words(bytes).0,
            Form::Long(text) => text.len() as u64,
        };
        (low.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 58) as u32
    }

    /// The characters.
    #[inline]
    pub fn as_str(&self) -> &str {
        match &self.0 {
            // SAFETY: a short string is only made of the whole of a `str`.
            Form::Short { len, bytes } => unsafe {
                std::str::from_utf8_unchecked(bytes.get_unchecked(..usize::from(*len)))
            },
            Form::Long(text) => text,
        }
    }

    /// Appends; in place if nobody else holds the string.
    pub fn push_str(&mut self, more: &str) {
        if let Form::Long(text) = &mut self.0
            && let Some(own) = Rc::get_mut(text)
        {
            return own.push_str(more);
        }
        let mut whole = String::with_capacity(self.len() + more.len());
        whole.push_str(self);
        whole.push_str(more);
        *self = Self::from(whole);
    }
}

/// A short string's bytes as two words; comparing those needs no call.
#[inline]
fn words(bytes: &[u8; SHORT_BYTES_MAX]) -> (u64, u64) {
    let (mut low, mut high) = ([0; 8], [0; 8]);
    low.copy_from_slice(&bytes[..8]);
    high.copy_from_slice(&bytes[6..]);
    (u64::from_le_bytes(low), u64::from_le_bytes(high))
}

/// Up to fourteen bytes as two words, without a call to copy them.
#[inline]
fn gathered(text: &[u8]) -> (u64, u64) {
    let word = |part: &[u8]| part.iter().rev().fold(0, |word, byte| word << 8 | u64::from(*byte));
    if text.len() <= 8 { (word(text), 0) } else { (word(&text[..8]), word(&text[8..])) }
}

impl From<String> for Text {
    fn from(text: String) -> Self {
        match Self::short(text.as_bytes()) {
            Some(short) => short,
            None => Self(Form::Long(Rc::new(text))),
        }
    }
}

impl From<&str> for Text {
    fn from(text: &str) -> Self {
        Self::new(text)
    }
}

impl Deref for Text {
    type Target = str;

    #[inline]
    fn deref(&self) -> &str {
        self.as_str()
    }
}

impl Borrow<str> for Text {
    fn borrow(&self) -> &str {
        self
    }
}

impl PartialEq for Text {
    #[inline]
    fn eq(&self, other: &Self) -> bool {
        match (&self.0, &other.0) {
            // What lies behind the end of a short string is zero, so all of it can be compared.
            (Form::Short { len: a, bytes: x }, Form::Short { len: b, bytes: y }) => {
                a == b && words(x) == words(y)
            }
            (Form::Long(x), Form::Long(y)) => Rc::ptr_eq(x, y) || x == y,
            _ => self.as_str() == other.as_str(),
        }
    }
}

impl Eq for Text {}

impl PartialOrd for Text {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Text {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        self.as_str().cmp(other.as_str())
    }
}

impl fmt::Debug for Text {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(self.as_str(), out)
    }
}

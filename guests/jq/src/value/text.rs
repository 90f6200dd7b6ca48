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
        let mut bytes = [0; SHORT_BYTES_MAX];
        bytes[..text.len()].copy_from_slice(text);
        Some(Self(Form::Short { len: text.len() as u8, bytes }))
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
            (Form::Short { len: a, bytes: x }, Form::Short { len: b, bytes: y }) => a == b && x == y,
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

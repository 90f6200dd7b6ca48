//! Values: numbers, strings, and strings from outside that may be numbers.

use crate::array::Array;
use crate::number;
use std::cell::RefCell;
use std::rc::Rc;

/// A string of bytes, shared until it is changed.
pub(crate) type Text = Rc<Vec<u8>>;

/// An array that may have several names.
pub(crate) type Shared = Rc<RefCell<Array>>;

/// What a variable holds.
#[derive(Debug, Clone, Default)]
pub(crate) enum Value {
    /// Never assigned: 0 and empty at once.
    #[default]
    Nothing,
    Num(f64),
    Str(Text),
    /// From outside: a number if it looks like one.
    Input(Text),
    Array(Shared),
}

impl Value {
    /// A string of the program's making.
    pub(crate) fn text(bytes: impl Into<Vec<u8>>) -> Self {
        Self::Str(Rc::new(bytes.into()))
    }

    /// A string from outside.
    pub(crate) fn input(bytes: impl Into<Vec<u8>>) -> Self {
        Self::Input(Rc::new(bytes.into()))
    }

    /// As a number.
    pub(crate) fn num(&self) -> f64 {
        match self {
            Self::Num(value) => *value,
            Self::Str(text) | Self::Input(text) => number::prefix(text),
            Self::Nothing | Self::Array(_) => 0.0,
        }
    }

    /// As a condition.
    pub(crate) fn truth(&self) -> bool {
        match self {
            Self::Num(value) => *value != 0.0,
            Self::Str(text) => !text.is_empty(),
            Self::Input(text) => match number::whole(text) {
                Some(value) => value != 0.0,
                None => !text.is_empty(),
            },
            Self::Nothing | Self::Array(_) => false,
        }
    }

    /// Its number, if it counts as one in a comparison.
    pub(crate) fn as_number(&self) -> Option<f64> {
        match self {
            Self::Num(value) => Some(*value),
            Self::Nothing => Some(0.0),
            Self::Input(text) => number::whole(text),
            Self::Str(_) | Self::Array(_) => None,
        }
    }

    /// Appends it as a string; `format` is `CONVFMT` or `OFMT`.
    pub(crate) fn push_to(&self, out: &mut Vec<u8>, format: &[u8]) {
        match self {
            Self::Num(value) => number::push(out, *value, format),
            Self::Str(text) | Self::Input(text) => out.extend_from_slice(text),
            Self::Nothing | Self::Array(_) => {}
        }
    }

    /// As a string.
    pub(crate) fn to_text(&self, format: &[u8]) -> Text {
        match self {
            Self::Str(text) | Self::Input(text) => Rc::clone(text),
            other => {
                let mut out = Vec::new();
                other.push_to(&mut out, format);
                Rc::new(out)
            }
        }
    }
}

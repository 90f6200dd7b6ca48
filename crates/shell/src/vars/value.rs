//! What a variable holds.

use std::collections::BTreeMap;

use super::Assoc;

#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) enum Value {
    /// Declared, not set.
    #[default]
    Unset,
    Scalar(String),
    Indexed(BTreeMap<i64, String>),
    Assoc(Assoc),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct Attributes {
    pub(crate) exported: bool,
    pub(crate) readonly: bool,
    pub(crate) integer: bool,
    pub(crate) lower: bool,
    pub(crate) upper: bool,
    pub(crate) nameref: bool,
    /// An array that was declared and never given a value.
    pub(crate) bare: bool,
}

#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct Var {
    pub(crate) value: Value,
    pub(crate) attributes: Attributes,
}

impl Value {
    /// What `$name` is: the text, or element 0.
    pub(crate) fn scalar(&self) -> Option<&str> {
        match self {
            Self::Unset => None,
            Self::Scalar(text) => Some(text),
            Self::Indexed(items) => items.get(&0).map(String::as_str),
            Self::Assoc(map) => map.get("0"),
        }
    }

    /// Every element, in order.
    pub(crate) fn elements(&self) -> Vec<String> {
        match self {
            Self::Unset => Vec::new(),
            Self::Scalar(text) => vec![text.clone()],
            Self::Indexed(items) => items.values().cloned().collect(),
            Self::Assoc(map) => map.iter().map(|it| it.1.to_owned()).collect(),
        }
    }

    /// Every subscript, in order.
    pub(crate) fn keys(&self) -> Vec<String> {
        match self {
            Self::Unset => Vec::new(),
            Self::Scalar(_) => vec!["0".to_owned()],
            Self::Indexed(items) => items.keys().map(i64::to_string).collect(),
            Self::Assoc(map) => map.iter().map(|it| it.0.to_owned()).collect(),
        }
    }

    pub(crate) fn len(&self) -> usize {
        match self {
            Self::Unset => 0,
            Self::Scalar(_) => 1,
            Self::Indexed(items) => items.len(),
            Self::Assoc(map) => map.len(),
        }
    }

    /// The element at a number; negative ones count from the end.
    pub(crate) fn at(&self, index: i64) -> Option<&str> {
        match self {
            Self::Indexed(items) => {
                let index = if index < 0 {
                    items.keys().next_back()?.saturating_add(1).saturating_add(index)
                } else {
                    index
                };
                items.get(&index).map(String::as_str)
            }
            Self::Scalar(text) if index == 0 || index == -1 => Some(text),
            Self::Assoc(map) => map.get(&index.to_string()),
            _ => None,
        }
    }

    pub(crate) fn bytes(&self) -> usize {
        match self {
            Self::Unset => 0,
            Self::Scalar(text) => text.len(),
            Self::Indexed(items) => items.values().map(|it| it.len() + 32).sum(),
            Self::Assoc(map) => map.bytes(),
        }
    }

    /// This value as an indexed array, element 0 being what it was.
    pub(crate) fn into_indexed(self) -> BTreeMap<i64, String> {
        match self {
            Self::Indexed(items) => items,
            Self::Scalar(text) => BTreeMap::from([(0, text)]),
            Self::Unset | Self::Assoc(_) => BTreeMap::new(),
        }
    }
}

//! Where a value came from: a path from the input, as long as there is one.

use crate::value::Value;
use std::rc::Rc;

/// A value, and the path that leads to it.
#[derive(Clone)]
pub(super) struct Place {
    pub value: Value,
    pub path: Path,
}

/// The steps from the input; shared with all places further on.
#[derive(Clone)]
pub(super) enum Path {
    Root,
    Below(Rc<(Path, Value)>),
    /// The value was computed, and stands nowhere in the input.
    Lost,
}

impl Place {
    /// The input itself.
    pub(super) fn root(value: Value) -> Self {
        Self { value, path: Path::Root }
    }

    /// A value from nowhere.
    pub(super) fn lost(value: Value) -> Self {
        Self { value, path: Path::Lost }
    }
}

impl Path {
    /// One step further.
    pub(super) fn to(&self, key: Value) -> Self {
        Self::Below(Rc::new((self.clone(), key)))
    }

    /// The keys from the input on.
    pub(super) fn keys(&self) -> Vec<Value> {
        let (mut keys, mut at) = (Vec::new(), self);
        while let Self::Below(step) = at {
            keys.push(step.1.clone());
            at = &step.0;
        }
        keys.reverse();
        keys
    }

    /// Whether it leads anywhere.
    pub(super) fn is_lost(&self) -> bool {
        matches!(self, Self::Lost)
    }
}

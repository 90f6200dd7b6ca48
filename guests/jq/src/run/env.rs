//! What names mean while a program runs: a chain of links on the stack.
//!
//! Everything that can look at a link runs while the frame that made it is alive, so no link is ever
//! allocated.

use crate::compile::node::Id;
use crate::value::Value;

/// A link, and the ones before it.
pub struct Env<'e> {
    parent: Option<&'e Env<'e>>,
    pub item: Item<'e>,
}

/// What a link holds.
pub enum Item<'e> {
    Root,
    Value(Value),
    /// A filter and where it was written.
    Filter(Id, &'e Env<'e>),
    Label(u32),
}

impl<'e> Env<'e> {
    /// The end of every chain.
    pub const ROOT: Self = Self { parent: None, item: Item::Root };

    /// One more link.
    #[inline]
    pub fn with(&'e self, item: Item<'e>) -> Self {
        Self { parent: Some(self), item }
    }

    /// The link so many hops back.
    #[inline]
    pub fn back(&'e self, hops: u32) -> &'e Self {
        let mut at = self;
        for _ in 0..hops {
            match at.parent {
                Some(parent) => at = parent,
                None => break,
            }
        }
        at
    }

    /// The value of a variable.
    #[inline]
    pub fn value(&'e self, hops: u32) -> Value {
        match &self.back(hops).item {
            Item::Value(value) => value.clone(),
            _ => Value::Null,
        }
    }
}

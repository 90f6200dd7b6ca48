//! What decides the order of two lines, and a line as it is sorted.

use super::compare;
use super::key::{Key, Order};
use std::cmp::Ordering;

/// Everything the command line says about the order.
#[derive(Debug)]
pub struct Rules {
    /// At least one.
    first: Key,
    others: Vec<Key>,
    separator: Option<u8>,
    /// Of the last resort, when all keys are equal.
    reverse: bool,
    last_resort: bool,
    seed: u64,
    /// What ends a line.
    pub end: u8,
}

/// A line, with what most comparisons need of it.
#[derive(Clone, Copy)]
pub struct Line<'a> {
    prefix: u64,
    pub text: &'a [u8],
    /// Where the first key is.
    start: u32,
    stop: u32,
}

impl Rules {
    /// Keys without letters of their own take the command line's.
    pub fn new(
        order: Order,
        keys: Vec<Key>,
        separator: Option<u8>,
        end: u8,
        last_resort: bool,
        seed: u64,
    ) -> Self {
        let reverse = order.reverse;
        let mut keys = keys.into_iter().map(|key| key.within(&order));
        let first = keys.next().unwrap_or_else(|| Key::whole(order.clone()));
        Self { first, others: keys.collect(), separator, reverse, last_resort, seed, end }
    }

    /// Looks up what is needed of a line.
    pub fn line<'a>(&self, text: &'a [u8]) -> Line<'a> {
        let (start, stop) = self.first.range(text, self.separator);
        let prefix = compare::prefix(&self.first.order, self.seed, &text[start..stop]);
        Line { prefix, text, start: start as u32, stop: stop as u32 }
    }

    /// The order of two lines.
    pub fn compare(&self, left: &Line<'_>, right: &Line<'_>) -> Ordering {
        let found = self.by_keys(left, right);
        if found.is_ne() || !self.last_resort {
            return found;
        }
        let whole = left.text.cmp(right.text);
        if self.reverse { whole.reverse() } else { whole }
    }

    /// The order as far as keys decide it.
    pub fn by_keys(&self, left: &Line<'_>, right: &Line<'_>) -> Ordering {
        left.prefix.cmp(&right.prefix).then_with(|| self.closer_look(left, right))
    }

    #[inline(never)]
    fn closer_look(&self, left: &Line<'_>, right: &Line<'_>) -> Ordering {
        let first = compare::by(&self.first.order, self.seed, left.key(), right.key());
        self.others.iter().fold(first, |found, key| {
            found.then_with(|| {
                let part = |text: &'_ [u8]| key.range(text, self.separator);
                let ((a, b), (c, d)) = (part(left.text), part(right.text));
                compare::by(&key.order, self.seed, &left.text[a..b], &right.text[c..d])
            })
        })
    }
}

impl<'a> Line<'a> {
    fn key(&self) -> &'a [u8] {
        self.text.get(self.start as usize..self.stop as usize).unwrap_or_default()
    }
}

//! `sort` with the usual orders and keys, in memory.

use super::options::Options;
use super::stream::{Input, Out, reason, text};
use crate::own::sort::{Key, Kind, Order, by};
use std::cmp::Ordering;

struct Wanted {
    order: Order,
    keys: Vec<Key>,
    separator: Option<u8>,
    unique: bool,
    stable: bool,
}

pub fn sort(args: &[&[u8]]) -> Option<i32> {
    let mut options = Options::new(args);
    let order = Order::default();
    let mut wanted = Wanted { order, keys: Vec::new(), separator: None, unique: false, stable: false };
    while let Some(letter) = options.next()? {
        match letter {
            b'r' | b'n' | b'f' | b'b' => drop(wanted.order.letter(char::from(letter))),
            b'u' => wanted.unique = true,
            b's' => wanted.stable = true,
            b't' => {
                let [sign] = options.value()? else { return None };
                wanted.separator = Some(*sign).filter(u8::is_ascii);
                wanted.separator?;
            }
            b'k' => wanted.keys.push(Key::parse(text(options.value()?)).ok().filter(is_usual)?),
            _ => return None,
        }
    }
    let mut out = Out::new("sort");
    let mut content = Vec::new();
    for name in options.inputs() {
        match Input::open(name).and_then(|mut input| input.all()) {
            Ok(all) => append(&mut content, all),
            Err(error) => {
                let reason = reason(&error);
                let what = if reason == "Is a directory" { "read failed" } else { "cannot read" };
                out.complain(&format!("{what}: {}: {reason}", text(name)));
                return Some(2);
            }
        }
    }
    let mut lines: Vec<&[u8]> = split(&content);
    lines.sort_by(|left, right| wanted.compare(left, right));
    if wanted.unique {
        lines.dedup_by(|right, left| wanted.by_keys(left, right).is_eq());
    }
    for line in lines {
        out.put(line);
        out.sign(b'\n');
    }
    Some(out.end(0))
}

fn is_usual(key: &Key) -> bool {
    key.order.as_ref().is_none_or(|order| {
        matches!(order.kind, Kind::Text | Kind::Numeric) && !order.dictionary && !order.printing
    })
}

/// A file that does not end its last line ends it here.
fn append(content: &mut Vec<u8>, more: Vec<u8>) {
    if content.last().is_some_and(|byte| *byte != b'\n') {
        content.push(b'\n');
    }
    if content.is_empty() { *content = more } else { content.extend_from_slice(&more) }
}

fn split(content: &[u8]) -> Vec<&[u8]> {
    let mut lines = Vec::with_capacity(memchr::memchr_iter(b'\n', content).count() + 1);
    let mut start = 0;
    for end in memchr::memchr_iter(b'\n', content) {
        lines.push(&content[start..end]);
        start = end + 1;
    }
    if start < content.len() {
        lines.push(&content[start..]);
    }
    lines
}

impl Wanted {
    fn compare(&self, left: &[u8], right: &[u8]) -> Ordering {
        let found = self.by_keys(left, right);
        if found.is_ne() || self.stable || self.unique {
            return found;
        }
        let whole = left.cmp(right);
        if self.order.reverse { whole.reverse() } else { whole }
    }

    fn by_keys(&self, left: &[u8], right: &[u8]) -> Ordering {
        if self.keys.is_empty() {
            if self.order == (Order { reverse: self.order.reverse, ..Order::default() }) {
                let found = left.cmp(right);
                return if self.order.reverse { found.reverse() } else { found };
            }
            return by(&self.order, left, right);
        }
        let keys = self.keys.iter().map(|key| {
            let order = key.order.as_ref().unwrap_or(&self.order);
            let part = |line| key.of(line, self.separator, order.blanks);
            by(order, part(left), part(right))
        });
        keys.into_iter().find(|found| found.is_ne()).unwrap_or(Ordering::Equal)
    }
}

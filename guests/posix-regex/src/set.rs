//! Sets of characters, and reading characters from bytes.

use crate::ascii;
use crate::ast::Node;
use crate::print::{TextEnds, print};
use regex_syntax::hir::{Class, HirKind};
use std::cell::OnceCell;

/// The characters one step can take.
#[derive(Debug, Clone)]
pub(crate) struct Set {
    ascii: u128,
    /// The others, in order; made when the first of them is met.
    others: OnceCell<Box<[(u32, u32)]>>,
    /// What they are made of, in Rust's syntax.
    class: String,
    ignore_case: bool,
}

impl Set {
    /// Of a node that takes one character.
    pub(crate) fn of(node: &Node, ignore_case: bool, line_feed: bool) -> Self {
        let mut set = Self { ascii: 0, others: OnceCell::new(), class: String::new(), ignore_case };
        match node {
            Node::Any => {
                set.ascii = u128::MAX;
                set.others = OnceCell::from(Box::from([(0x80, u32::from(char::MAX))]));
            }
            Node::Sign(sign) if !ignore_case => {
                let (ascii, others) = halves([(u32::from(*sign), u32::from(*sign))].into_iter());
                (set.ascii, set.others) = (ascii, OnceCell::from(others));
            }
            _ => set.read(node),
        }
        if !line_feed {
            set.ascii &= !(1 << b'\n');
        }
        set
    }

    fn read(&mut self, node: &Node) {
        self.class = print(node, TextEnds::OfText);
        let quick = match node {
            Node::Sign(sign) if sign.is_ascii() => Some(ascii::both_cases(1 << u32::from(*sign))),
            Node::Class(class) => ascii::members(class, self.ignore_case),
            _ => None,
        };
        if let Some(ascii) = quick {
            self.ascii = ascii;
            return;
        }
        let (ascii, others) = parsed(&self.class, self.ignore_case);
        (self.ascii, self.others) = (ascii, OnceCell::from(others));
    }

    /// Notes which bytes its characters begin with; of those that are not ASCII's, all.
    pub(crate) fn mark(&self, bytes: &mut [bool; 256]) {
        for (byte, is_in) in bytes.iter_mut().enumerate() {
            *is_in |= byte >= 0x80 || self.ascii >> byte & 1 == 1;
        }
    }

    /// How many bytes of `text` the first character takes, if it is in the set.
    #[inline]
    pub(crate) fn length(&self, text: &[u8]) -> Option<usize> {
        let first = *text.first()?;
        if first < 0x80 {
            return (self.ascii >> first & 1 == 1).then_some(1);
        }
        let (sign, length) = decode(text)?;
        let sign = u32::from(sign);
        let others = self.others.get_or_init(|| parsed(&self.class, self.ignore_case).1);
        let at = others.partition_point(|(_, high)| *high < sign);
        (others.get(at)?.0 <= sign).then_some(length)
    }
}

/// The ASCII characters of a class and the others, as Rust's parser reads it.
fn parsed(class: &str, ignore_case: bool) -> (u128, Box<[(u32, u32)]>) {
    let parser = regex_syntax::ParserBuilder::new().utf8(false).case_insensitive(ignore_case).build();
    // What the parser cannot read matches nothing; `tests` says it reads every class we write.
    let Ok(hir) = { parser }.parse(class) else { return (0, Box::default()) };
    match hir.kind() {
        HirKind::Class(Class::Unicode(class)) => {
            halves(class.ranges().iter().map(|it| (u32::from(it.start()), u32::from(it.end()))))
        }
        HirKind::Class(Class::Bytes(class)) => {
            halves(class.ranges().iter().map(|it| (u32::from(it.start()), u32::from(it.end()))))
        }
        HirKind::Literal(literal) => {
            let sign = decode(&literal.0).map(|(sign, _)| (u32::from(sign), u32::from(sign)));
            halves(sign.into_iter())
        }
        _ => (0, Box::default()),
    }
}

fn halves(ranges: impl Iterator<Item = (u32, u32)>) -> (u128, Box<[(u32, u32)]>) {
    let (mut ascii, mut others) = (0, Vec::new());
    for (low, high) in ranges {
        for sign in low..=high.min(0x7f) {
            ascii |= 1 << sign;
        }
        if high > 0x7f {
            others.push((low.max(0x80), high));
        }
    }
    (ascii, others.into_boxed_slice())
}

/// The first character of `text` and its length, if there is one.
pub(crate) fn decode(text: &[u8]) -> Option<(char, usize)> {
    let length = match *text.first()? {
        0..=0x7f => 1,
        0xc2..=0xdf => 2,
        0xe0..=0xef => 3,
        0xf0..=0xf4 => 4,
        _ => return None,
    };
    let sign = std::str::from_utf8(text.get(..length)?).ok()?.chars().next()?;
    Some((sign, length))
}

/// Whether the character at `at` is one of a word.
pub fn is_word_at(text: &[u8], at: usize) -> bool {
    decode(&text[at..]).is_some_and(|(sign, _)| is_word(sign))
}

/// Whether the character that ends at `at` is one of a word.
pub fn is_word_before(text: &[u8], at: usize) -> bool {
    let start = (1..=4.min(at)).find(|back| text[at - back] & 0xc0 != 0x80);
    let Some(back) = start else { return false };
    matches!(decode(&text[at - back..at]), Some((sign, length)) if length == back && is_word(sign))
}

fn is_word(sign: char) -> bool {
    sign == '_' || sign.is_alphanumeric()
}

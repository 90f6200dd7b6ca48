//! Sets of characters, and reading characters from bytes.

use crate::ast::Node;
use crate::print::{TextEnds, print};
use regex_syntax::hir::{Class, HirKind};

/// The characters one step can take.
#[derive(Debug, Clone)]
pub(crate) struct Set {
    ascii: u128,
    /// The others, in order.
    ranges: Box<[(u32, u32)]>,
}

impl Set {
    /// Of a node that takes one character.
    pub(crate) fn of(node: &Node, ignore_case: bool, line_feed: bool) -> Self {
        let mut set = Self { ascii: 0, ranges: Box::default() };
        match node {
            Node::Any => {
                set.ascii = u128::MAX;
                set.ranges = Box::new([(0x80, u32::from(char::MAX))]);
            }
            Node::Sign(sign) if !ignore_case => {
                set.add_all([(u32::from(*sign), u32::from(*sign))].into_iter())
            }
            _ => set.read(&print(node, TextEnds::OfText), ignore_case),
        }
        if !line_feed {
            set.ascii &= !(1 << b'\n');
        }
        set
    }

    fn read(&mut self, class: &str, ignore_case: bool) {
        let parser = regex_syntax::ParserBuilder::new().utf8(false).case_insensitive(ignore_case).build();
        // What the parser cannot read matches nothing; `tests` says it reads every class we write.
        let Ok(hir) = { parser }.parse(class) else { return };
        match hir.kind() {
            HirKind::Class(Class::Unicode(class)) => {
                self.add_all(class.ranges().iter().map(|it| (u32::from(it.start()), u32::from(it.end()))));
            }
            HirKind::Class(Class::Bytes(class)) => {
                self.add_all(class.ranges().iter().map(|it| (u32::from(it.start()), u32::from(it.end()))));
            }
            HirKind::Literal(literal) => {
                if let Some((sign, _)) = decode(&literal.0) {
                    self.add_all([(u32::from(sign), u32::from(sign))].into_iter());
                }
            }
            _ => {}
        }
    }

    fn add_all(&mut self, ranges: impl Iterator<Item = (u32, u32)>) {
        let mut others = Vec::new();
        for (low, high) in ranges {
            for sign in low..=high.min(0x7f) {
                self.ascii |= 1 << sign;
            }
            if high > 0x7f {
                others.push((low.max(0x80), high));
            }
        }
        self.ranges = others.into_boxed_slice();
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
        let at = self.ranges.partition_point(|(_, high)| *high < sign);
        (self.ranges.get(at)?.0 <= sign).then_some(length)
    }
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
pub(crate) fn is_word_at(text: &[u8], at: usize) -> bool {
    decode(&text[at..]).is_some_and(|(sign, _)| is_word(sign))
}

/// Whether the character that ends at `at` is one of a word.
pub(crate) fn is_word_before(text: &[u8], at: usize) -> bool {
    let start = (1..=4.min(at)).find(|back| text[at - back] & 0xc0 != 0x80);
    let Some(back) = start else { return false };
    matches!(decode(&text[at - back..at]), Some((sign, length)) if length == back && is_word(sign))
}

fn is_word(sign: char) -> bool {
    sign == '_' || sign.is_alphanumeric()
}

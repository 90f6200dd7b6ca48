//! The ASCII half of a class, read from our own spelling of it.
//!
//! Most texts are ASCII, and Rust's parser of classes costs a short run more than its matching. It is
//! asked only when another character turns up. What `bracket` and `parse` never write is left to it.

use std::str::Chars;

const DIGIT: u128 = span(b'0', b'9');
const UPPER: u128 = span(b'A', b'Z');
const LOWER: u128 = span(b'a', b'z');
const SPACE: u128 = span(b'\t', b'\r') | span(b' ', b' ');
const CONTROL: u128 = span(0, 0x1f) | span(0x7f, 0x7f);
const WORD: u128 = DIGIT | UPPER | LOWER | span(b'_', b'_');
const SYMBOL: u128 = of(b"$+<=>^`|~");
const PUNCTUATION: u128 = !(CONTROL | SYMBOL | DIGIT | UPPER | LOWER | span(b' ', b' '));

const fn span(low: u8, high: u8) -> u128 {
    (u128::MAX >> (127 - (high - low))) << low
}

const fn of(signs: &[u8]) -> u128 {
    let (mut set, mut at) = (0, 0);
    while at < signs.len() {
        set |= 1 << signs[at];
        at += 1;
    }
    set
}

/// Both cases of every letter in the set.
pub(crate) fn both_cases(set: u128) -> u128 {
    set | (set & UPPER) << 32 | (set & LOWER) >> 32
}

/// The ASCII characters of the class; `None` if only Rust's parser can tell.
pub(crate) fn members(class: &str, ignore_case: bool) -> Option<u128> {
    // Other characters may be a case of an ASCII one.
    if ignore_case && !class.is_ascii() {
        return None;
    }
    let fold = |set| if ignore_case { both_cases(set) } else { set };
    let Some(inside) = class.strip_prefix('[') else {
        let mut signs = class.chars();
        return match item(&mut signs)? {
            Item::Set(set) if signs.as_str().is_empty() => Some(fold(set)),
            _ => None,
        };
    };
    let negated = inside.strip_prefix('^');
    let set = fold(union(negated.unwrap_or(inside))?);
    Some(if negated.is_some() { !set } else { set })
}

fn union(inside: &str) -> Option<u128> {
    let mut signs = inside.strip_suffix(']')?.chars();
    let mut set = 0;
    while !signs.as_str().is_empty() {
        let low = match item(&mut signs)? {
            Item::Set(more) => {
                set |= more;
                continue;
            }
            Item::Sign(sign) => sign,
        };
        let mut high = low;
        if let Some(after) = signs.as_str().strip_prefix('-') {
            signs = after.chars();
            let Item::Sign(sign) = item(&mut signs)? else { return None };
            high = sign;
        }
        if low.is_ascii() && low <= high {
            set |= span(low as u8, (high as u32).min(0x7f) as u8);
        }
    }
    Some(set)
}

enum Item {
    Sign(char),
    Set(u128),
}

fn item(signs: &mut Chars<'_>) -> Option<Item> {
    let sign = signs.next()?;
    if sign != '\\' {
        return Some(Item::Sign(sign));
    }
    Some(match signs.next()? {
        's' => Item::Set(SPACE),
        'S' => Item::Set(!SPACE),
        'w' => Item::Set(WORD),
        'W' => Item::Set(!WORD),
        't' => Item::Sign('\t'),
        'p' => {
            let (name, rest) = signs.as_str().strip_prefix('{')?.split_once('}')?;
            *signs = rest.chars();
            Item::Set(property(name)?)
        }
        sign if sign.is_ascii_punctuation() => Item::Sign(sign),
        _ => return None,
    })
}

fn property(name: &str) -> Option<u128> {
    Some(match name {
        "Alphabetic" | "L" => UPPER | LOWER,
        "Uppercase" => UPPER,
        "Lowercase" => LOWER,
        "Nd" | "N" => DIGIT,
        "P" => PUNCTUATION,
        "S" => SYMBOL,
        "Zs" => span(b' ', b' '),
        "Cc" => CONTROL,
        "M" => 0,
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use regex_syntax::hir::{Class, HirKind};

    fn by_rust(class: &str, ignore_case: bool) -> u128 {
        let parser = regex_syntax::ParserBuilder::new().utf8(false).case_insensitive(ignore_case).build();
        let hir = { parser }.parse(class).unwrap();
        match hir.kind() {
            HirKind::Class(Class::Unicode(it)) => it.ranges().iter().fold(0, |set, range| {
                let (low, high) = (range.start(), range.end());
                if low.is_ascii() { set | span(low as u8, (high as u32).min(0x7f) as u8) } else { set }
            }),
            HirKind::Class(Class::Bytes(it)) => {
                it.ranges().iter().fold(0, |set, range| set | span(range.start(), range.end().min(0x7f)))
            }
            HirKind::Literal(it) => 1 << it.0[0],
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn the_ascii_half_is_what_rust_s_parser_says() {
        let names = ["Alphabetic", "L", "Uppercase", "Lowercase", "Nd", "N", "P", "S", "Zs", "Cc", "M"];
        let mut classes: Vec<String> = names.iter().map(|name| format!("[x\\p{{{name}}}]")).collect();
        classes.extend(names.iter().map(|name| format!("[^\\p{{{name}}}]")));
        let plain =
            [r"\w", r"\W", r"\s", r"\S", "[a-z]", "[^a-c0-9]", r"[\]a]", r"[\-\t ]", "[!-~]", "[Zé-ü]"];
        classes.extend(plain.map(str::to_owned));
        for class in &classes {
            for ignore_case in [false, true] {
                let found = members(class, ignore_case);
                let known = !ignore_case || class.is_ascii();
                assert_eq!(found, known.then(|| by_rust(class, ignore_case)), "{class} {ignore_case}");
            }
        }
    }
}

//! Sets of characters in a pattern: `[…]`, `\\d`, `\\p{…}`, `[:name:]`.

use super::Problem;
use super::class::{Class, Item, Kind as Set};
use super::parse::{DEPTH_MAX, Parser};

impl Parser {
    /// `{Name}` or `{^Name}` behind `\p`.
    pub(super) fn property(&mut self, opposite: bool) -> Result<Item, Problem> {
        if !self.take("{") {
            return Err("invalid character property name {p}");
        }
        let opposite = opposite != self.take("^");
        let mut name = String::new();
        loop {
            match self.next() {
                None => return Err("invalid character property name {p}"),
                Some('}') => break,
                Some(sign) => name.push(sign),
            }
        }
        Set::named(&name).map(|kind| Item::Kind(kind, opposite)).ok_or("invalid character property name {p}")
    }

    pub(super) fn class(&mut self) -> Result<Class, Problem> {
        if self.depth >= DEPTH_MAX {
            return Err("too deep nest level");
        }
        self.depth += 1;
        let mut class =
            Class { ignore_case: self.options.ignore_case, negated: self.take("^"), ..Class::default() };
        let mut first = true;
        loop {
            let Some(sign) = self.next() else { return Err("premature end of char-class") };
            match sign {
                ']' if !first => break,
                ']' if self.signs[self.at..].iter().all(|it| *it != ']') => return Err("empty char-class"),
                '[' if self.peek() == Some(':') && self.posix(&mut class) => {}
                '[' => {
                    let inner = self.class()?;
                    class.items.push(Item::Inner(inner));
                }
                '&' if self.peek() == Some('&') => {
                    self.at += 1;
                    // What follows up to the end is a set of its own.
                    let negated = std::mem::take(&mut class.negated);
                    let rest = self.rest_of_class()?;
                    class.and = Some(Box::new(rest));
                    self.depth -= 1;
                    return Ok(Class { items: vec![Item::Inner(class)], negated, ..Class::default() });
                }
                _ => self.member(sign, &mut class)?,
            }
            first = false;
        }
        self.depth -= 1;
        Ok(class)
    }

    pub(super) fn rest_of_class(&mut self) -> Result<Class, Problem> {
        let before = self.at;
        // Read it as if it had been opened here; a `]` right away would be text otherwise.
        if self.peek() == Some(']') {
            self.at += 1;
            return Ok(Class { items: vec![Item::Kind(Set::Any, false)], ..Class::default() });
        }
        self.at = before;
        self.class()
    }

    pub(super) fn member(&mut self, sign: char, class: &mut Class) -> Result<(), Problem> {
        let low = match sign {
            '\\' => match self.class_escape()? {
                Ok(sign) => sign,
                Err(item) => {
                    class.items.push(item);
                    return Ok(());
                }
            },
            other => other,
        };
        let is_range =
            self.peek() == Some('-') && self.signs.get(self.at + 1).is_some_and(|next| *next != ']');
        if !is_range {
            class.items.push(Item::Range(low, low));
            return Ok(());
        }
        self.at += 1;
        let high = match self.next() {
            Some('\\') => match self.class_escape()? {
                Ok(sign) => sign,
                Err(item) => {
                    class.items.extend([Item::Range(low, low), Item::Range('-', '-'), item]);
                    return Ok(());
                }
            },
            Some(sign) => sign,
            None => return Err("premature end of char-class"),
        };
        if high < low {
            return Err("empty range in char class");
        }
        class.items.push(Item::Range(low, high));
        Ok(())
    }

    pub(super) fn class_escape(&mut self) -> Result<Result<char, Item>, Problem> {
        let Some(sign) = self.next() else { return Err("end pattern at escape") };
        if let Some(item) = kind_of(sign) {
            return Ok(Err(item));
        }
        match sign {
            'p' | 'P' => Ok(Err(self.property(sign == 'P')?)),
            'b' => Ok(Ok('\u{8}')),
            other => self.escaped_char(other).map(Ok),
        }
    }

    /// `[:name:]`, if it is one.
    pub(super) fn posix(&mut self, class: &mut Class) -> bool {
        let rest: String = self.signs[self.at + 1..].iter().take(20).collect();
        let Some(end) = rest.find(":]") else { return false };
        let (negated, name) =
            rest[..end].strip_prefix('^').map_or((false, &rest[..end]), |name| (true, name));
        let Some(kind) = Set::named(name) else { return false };
        class.items.push(Item::Kind(kind, negated));
        self.at += 1 + rest[..end].chars().count() + 2;
        true
    }
}

/// `\d` and its kin.
pub(super) fn kind_of(sign: char) -> Option<Item> {
    let kind = match sign.to_ascii_lowercase() {
        'd' => Set::Digit,
        'w' => Set::Word,
        's' => Set::Space,
        _ => return None,
    };
    Some(Item::Kind(kind, sign.is_ascii_uppercase()))
}

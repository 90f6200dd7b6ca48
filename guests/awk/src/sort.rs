//! `sort` for `print | "sort"`: the options that programs use there.

use crate::number;
use std::cmp::Ordering;

/// What to sort by.
#[derive(Debug, Default)]
pub(crate) struct Sort {
    all: How,
    keys: Vec<Key>,
    separator: Option<u8>,
    unique: bool,
    stable: bool,
}

#[derive(Debug, Default, Clone, Copy, PartialEq)]
struct How {
    numeric: bool,
    reverse: bool,
    fold: bool,
    blanks: bool,
}

#[derive(Debug)]
struct Key {
    from: (usize, usize),
    /// The last field, and the last character in it; 0 is all.
    to: Option<(usize, usize)>,
    how: How,
}

impl Sort {
    /// Of the command's words; `None` for what is not known here.
    pub(crate) fn parse(command: &str) -> Option<Self> {
        let mut sort = Self::default();
        let words = words(command)?;
        let mut words = words.iter().skip(1);
        while let Some(word) = words.next() {
            let letters = word.strip_prefix('-').filter(|it| !it.is_empty() && !it.starts_with('-'))?;
            let mut rest = letters;
            while let Some(letter) = rest.chars().next() {
                rest = &rest[letter.len_utf8()..];
                match letter {
                    'k' | 't' => {
                        let value = if rest.is_empty() { words.next()?.as_str() } else { rest };
                        if letter == 'k' {
                            sort.keys.push(key(value)?);
                        } else {
                            let value = if value == "\\t" { "\t" } else { value };
                            sort.separator = Some(*value.as_bytes().first()?);
                        }
                        rest = "";
                    }
                    'u' => sort.unique = true,
                    's' => sort.stable = true,
                    other => sort.all.set(other)?,
                }
            }
        }
        let all = sort.all;
        for key in &mut sort.keys {
            if key.how == How::default() {
                key.how = all;
            }
        }
        Some(sort)
    }

    /// Appends the sorted lines.
    pub(crate) fn run(&self, text: &[u8], out: &mut Vec<u8>) {
        let text = text.strip_suffix(b"\n").unwrap_or(text);
        let mut lines: Vec<&[u8]> =
            if text.is_empty() { Vec::new() } else { text.split(|it| *it == b'\n').collect() };
        lines.sort_by(|a, b| self.order(a, b).then_with(|| self.last_resort(a, b)));
        if self.unique {
            lines.dedup_by(|b, a| self.order(a, b) == Ordering::Equal);
        }
        for line in lines {
            out.extend_from_slice(line);
            out.push(b'\n');
        }
    }

    fn order(&self, a: &[u8], b: &[u8]) -> Ordering {
        if self.keys.is_empty() {
            return self.all.order(a, b);
        }
        let orders = self.keys.iter().map(|key| key.how.order(self.part(key, a), self.part(key, b)));
        { orders }.find(|it| *it != Ordering::Equal).unwrap_or(Ordering::Equal)
    }

    fn last_resort(&self, a: &[u8], b: &[u8]) -> Ordering {
        if self.stable || self.unique {
            return Ordering::Equal;
        }
        if self.all.reverse { b.cmp(a) } else { a.cmp(b) }
    }

    fn part<'a>(&self, key: &Key, line: &'a [u8]) -> &'a [u8] {
        let fields = self.fields(line);
        let place = |(field, sign): (usize, usize), blanks: bool| {
            let Some((start, end)) = fields.get(field.wrapping_sub(1)).copied() else { return line.len() };
            let skip = if blanks {
                line[start..end].iter().take_while(|it| it.is_ascii_whitespace()).count()
            } else {
                0
            };
            (start + skip + sign.saturating_sub(1)).min(end)
        };
        let start = place(key.from, key.how.blanks);
        let end = match key.to {
            None => line.len(),
            Some((field, 0)) => fields.get(field.wrapping_sub(1)).map_or(line.len(), |it| it.1),
            Some((field, sign)) => place((field, sign + 1), key.how.blanks),
        };
        if start < end { &line[start..end] } else { b"" }
    }

    fn fields(&self, line: &[u8]) -> Vec<(usize, usize)> {
        let mut fields = Vec::new();
        let mut start = 0;
        let mut at = 0;
        while at < line.len() {
            let ends = match self.separator {
                Some(separator) => line[at] == separator,
                None => at > start && line[at].is_ascii_whitespace() && !line[at - 1].is_ascii_whitespace(),
            };
            if ends {
                fields.push((start, at));
                // Blanks belong to the field that follows them.
                start = if self.separator.is_some() { at + 1 } else { at };
            }
            at += 1;
        }
        fields.push((start, line.len()));
        fields
    }
}

impl How {
    fn set(&mut self, letter: char) -> Option<()> {
        match letter {
            'n' | 'g' | 'h' => self.numeric = true,
            'r' => self.reverse = true,
            'f' => self.fold = true,
            'b' => self.blanks = true,
            _ => return None,
        }
        Some(())
    }

    fn order(self, a: &[u8], b: &[u8]) -> Ordering {
        let order = if self.numeric {
            number::prefix(a).total_cmp(&number::prefix(b))
        } else if self.fold {
            a.to_ascii_uppercase().cmp(&b.to_ascii_uppercase())
        } else {
            a.cmp(b)
        };
        if self.reverse { order.reverse() } else { order }
    }
}

/// `2`, `2,3`, `2n`, `2.3,2.5r`.
fn key(text: &str) -> Option<Key> {
    let mut how = How::default();
    let mut place = |text: &str| {
        let digits = text.find(|it: char| !it.is_ascii_digit() && it != '.').unwrap_or(text.len());
        text[digits..].chars().try_for_each(|letter| how.set(letter))?;
        let (field, sign) = text[..digits].split_once('.').unwrap_or((&text[..digits], "0"));
        Some((field.parse().ok()?, sign.parse().ok()?))
    };
    let (from, to) = match text.split_once(',') {
        Some((from, to)) => (place(from)?, Some(place(to)?)),
        None => (place(text)?, None),
    };
    Some(Key { from, to, how })
}

/// The words of a command line that is nothing but words.
fn words(command: &str) -> Option<Vec<String>> {
    let mut words = Vec::new();
    let mut word: Option<String> = None;
    let mut quote = None;
    for sign in command.chars() {
        match (quote, sign) {
            (Some(open), _) if sign == open => quote = None,
            (Some(_), _) => word.get_or_insert_default().push(sign),
            (None, '\'' | '"') => {
                quote = Some(sign);
                word.get_or_insert_default();
            }
            (None, ' ' | '\t' | '\n') => words.extend(word.take()),
            (None, '|' | '&' | ';' | '<' | '>' | '$' | '`' | '(' | ')' | '*' | '?') => return None,
            (None, _) => word.get_or_insert_default().push(sign),
        }
    }
    words.extend(word);
    quote.is_none().then_some(words)
}

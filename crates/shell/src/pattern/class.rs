//! `[…]`.

/// A set of characters.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Class {
    inverted: bool,
    parts: Vec<Part>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum Part {
    Range(char, char),
    Named(Named),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Named {
    Alpha,
    Digit,
    Alnum,
    Upper,
    Lower,
    Space,
    Blank,
    Punct,
    Cntrl,
    Graph,
    Print,
    XDigit,
    Word,
    Ascii,
}

impl Class {
    pub(super) fn has(&self, it: char) -> bool {
        let found = self.parts.iter().any(|part| match part {
            Part::Range(first, last) => (*first..=*last).contains(&it),
            Part::Named(name) => name.has(it),
        });
        found != self.inverted
    }
}

impl Named {
    fn of(name: &str) -> Option<Self> {
        Some(match name {
            "alpha" => Self::Alpha,
            "digit" => Self::Digit,
            "alnum" => Self::Alnum,
            "upper" => Self::Upper,
            "lower" => Self::Lower,
            "space" => Self::Space,
            "blank" => Self::Blank,
            "punct" => Self::Punct,
            "cntrl" => Self::Cntrl,
            "graph" => Self::Graph,
            "print" => Self::Print,
            "xdigit" => Self::XDigit,
            "word" => Self::Word,
            "ascii" => Self::Ascii,
            _ => return None,
        })
    }

    fn has(self, it: char) -> bool {
        match self {
            Self::Alpha => it.is_alphabetic(),
            Self::Digit => it.is_ascii_digit(),
            Self::Alnum => it.is_alphanumeric(),
            Self::Upper => it.is_uppercase(),
            Self::Lower => it.is_lowercase(),
            Self::Space => it.is_whitespace() || it == '\u{b}',
            Self::Blank => it == ' ' || it == '\t',
            Self::Punct => it.is_ascii_punctuation(),
            Self::Cntrl => it.is_control(),
            Self::Graph => !it.is_control() && !it.is_whitespace(),
            Self::Print => !it.is_control(),
            Self::XDigit => it.is_ascii_hexdigit(),
            Self::Word => it.is_alphanumeric() || it == '_',
            Self::Ascii => it.is_ascii(),
        }
    }
}

/// Reads a class with `at` after its `[`; `None`, and nothing moved, if it never closes.
pub(super) fn parse(chars: &[char], at: &mut usize) -> Option<Class> {
    let mut here = *at;
    let inverted = matches!(chars.get(here), Some('!' | '^'));
    here += usize::from(inverted);
    let mut parts = Vec::new();
    let start = here;
    loop {
        let mut first = *chars.get(here)?;
        if first == ']' && here > start {
            *at = here + 1;
            return Some(Class { inverted, parts });
        }
        if first == '[' && chars.get(here + 1) == Some(&':') {
            let rest = &chars[here + 2..];
            if let Some(end) = rest.windows(2).position(|two| two == [':', ']']) {
                let name: String = rest[..end].iter().collect();
                here += end + 4;
                parts.extend(Named::of(&name).map(Part::Named));
                continue;
            }
        }
        here += 1;
        if first == '\\' {
            first = *chars.get(here)?;
            here += 1;
        }
        let mut last = first;
        if chars.get(here) == Some(&'-') && chars.get(here + 1).is_some_and(|it| *it != ']') {
            here += 1;
            last = *chars.get(here)?;
            here += 1;
            if last == '\\' {
                last = *chars.get(here)?;
                here += 1;
            }
        }
        parts.push(Part::Range(first, last));
    }
}

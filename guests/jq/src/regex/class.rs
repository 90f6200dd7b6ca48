//! Sets of characters.

/// A set: ranges and kinds, perhaps the other way round.
#[derive(Clone, Default)]
pub(super) struct Class {
    pub items: Vec<Item>,
    pub negated: bool,
    pub ignore_case: bool,
    /// The character must be in this set, too.
    pub and: Option<Box<Class>>,
}

/// A member of a set.
#[derive(Clone)]
pub(super) enum Item {
    Range(char, char),
    /// A kind, and whether its opposite is meant.
    Kind(Kind, bool),
    Inner(Class),
}

/// Kinds of characters that have a name.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    Digit,
    Word,
    Space,
    Hex,
    Alpha,
    Alnum,
    Upper,
    Lower,
    Punct,
    Cntrl,
    Graph,
    Print,
    Blank,
    Ascii,
    Any,
}

impl Kind {
    /// By its name in `[:name:]` or `\p{Name}`.
    pub(super) fn named(name: &str) -> Option<Self> {
        let plain: String =
            name.chars().filter(|sign| !matches!(sign, ' ' | '_' | '-')).collect::<String>().to_lowercase();
        Some(match plain.as_str() {
            "alpha" | "l" | "letter" | "alphabetic" => Self::Alpha,
            "digit" | "nd" | "n" | "number" => Self::Digit,
            "alnum" => Self::Alnum,
            "upper" | "lu" | "uppercase" | "uppercaseletter" => Self::Upper,
            "lower" | "ll" | "lowercase" | "lowercaseletter" => Self::Lower,
            "punct" | "p" | "punctuation" => Self::Punct,
            "space" | "z" | "zs" | "whitespace" | "separator" => Self::Space,
            "cntrl" | "cc" | "control" => Self::Cntrl,
            "graph" => Self::Graph,
            "print" => Self::Print,
            "blank" => Self::Blank,
            "xdigit" => Self::Hex,
            "word" | "w" => Self::Word,
            "ascii" => Self::Ascii,
            "any" => Self::Any,
            _ => return None,
        })
    }

    /// Whether a character is of this kind.
    pub(super) fn has(self, sign: char) -> bool {
        match self {
            Self::Digit => sign.is_ascii_digit(),
            // Marks that combine with a letter belong to its word.
            Self::Word => sign == '_' || sign.is_alphanumeric() || ('\u{300}'..='\u{36f}').contains(&sign),
            Self::Space => sign.is_whitespace(),
            Self::Hex => sign.is_ascii_hexdigit(),
            Self::Alpha => sign.is_alphabetic(),
            Self::Alnum => sign.is_alphanumeric(),
            Self::Upper => sign.is_uppercase(),
            Self::Lower => sign.is_lowercase(),
            Self::Punct => {
                sign.is_ascii_punctuation()
                    || (!sign.is_ascii()
                        && !sign.is_alphanumeric()
                        && !sign.is_whitespace()
                        && !sign.is_control())
            }
            Self::Cntrl => sign.is_control(),
            Self::Graph => !sign.is_whitespace() && !sign.is_control(),
            Self::Print => !sign.is_control(),
            Self::Blank => matches!(sign, ' ' | '\t'),
            Self::Ascii => sign.is_ascii(),
            Self::Any => true,
        }
    }
}

impl Class {
    /// Whether a character is in the set.
    pub(super) fn has(&self, sign: char) -> bool {
        let inside =
            self.holds(sign) || (self.ignore_case && (self.holds(lower(sign)) || self.holds(upper(sign))));
        let inside = inside && self.and.as_ref().is_none_or(|and| and.has(sign));
        inside != self.negated
    }

    fn holds(&self, sign: char) -> bool {
        self.items.iter().any(|item| match item {
            Item::Range(first, last) => (*first..=*last).contains(&sign),
            Item::Kind(kind, opposite) => kind.has(sign) != *opposite,
            Item::Inner(class) => class.has(sign),
        })
    }
}

/// The small letter, where there is exactly one.
pub(super) fn lower(sign: char) -> char {
    let mut all = sign.to_lowercase();
    match (all.next(), all.next()) {
        (Some(only), None) => only,
        _ => sign,
    }
}

fn upper(sign: char) -> char {
    let mut all = sign.to_uppercase();
    match (all.next(), all.next()) {
        (Some(only), None) => only,
        _ => sign,
    }
}

//! Keys: which part of a line is compared, and how.

/// How two keys are compared, and what of them counts.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Order {
    pub kind: Kind,
    /// Blanks before the key's beginning and before its end are skipped.
    pub start_blanks: bool,
    pub end_blanks: bool,
    pub dictionary: bool,
    pub fold: bool,
    pub printing: bool,
    pub reverse: bool,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Kind {
    #[default]
    Text,
    Numeric,
    General,
    Human,
    Month,
    Random,
    Version,
}

impl Order {
    /// Adds what one letter says; a problem if it says nothing or contradicts another.
    pub fn letter(&mut self, letter: u8) -> Result<(), String> {
        match letter {
            b'b' => (self.start_blanks, self.end_blanks) = (true, true),
            b'd' => self.dictionary = true,
            b'f' => self.fold = true,
            b'i' => self.printing = true,
            b'r' => self.reverse = true,
            b'n' => self.kind(Kind::Numeric)?,
            b'g' => self.kind(Kind::General)?,
            b'h' => self.kind(Kind::Human)?,
            b'M' => self.kind(Kind::Month)?,
            b'R' => self.kind(Kind::Random)?,
            b'V' => self.kind(Kind::Version)?,
            _ => return Err("stray character in field spec".to_owned()),
        }
        self.compatible()
    }

    fn kind(&mut self, kind: Kind) -> Result<(), String> {
        if self.kind != Kind::Text && self.kind != kind {
            return Err(incompatible(&[self.kind.letter(), kind.letter()].concat()));
        }
        self.kind = kind;
        Ok(())
    }

    fn compatible(&self) -> Result<(), String> {
        let picks = self.dictionary || self.printing;
        if picks && !matches!(self.kind, Kind::Text | Kind::Version | Kind::Random) {
            let letter = if self.dictionary { "d" } else { "i" };
            return Err(incompatible(&[letter, self.kind.letter()].concat()));
        }
        Ok(())
    }

    /// Whether bytes are compared as they are.
    pub fn is_plain(&self) -> bool {
        self.kind == Kind::Text && !self.dictionary && !self.fold && !self.printing
    }
}

impl Kind {
    fn letter(self) -> &'static str {
        match self {
            Self::Text => "",
            Self::Numeric => "n",
            Self::General => "g",
            Self::Human => "h",
            Self::Month => "M",
            Self::Random => "R",
            Self::Version => "V",
        }
    }
}

fn incompatible(letters: &str) -> String {
    format!("options '-{letters}' are incompatible")
}

/// `-k F[.C][OPTS][,F[.C][OPTS]]`: fields and characters, both from 0.
#[derive(Clone, Debug, Default)]
pub struct Key {
    field: usize,
    offset: usize,
    /// The last field, and how many of its characters: none are all.
    end: Option<(usize, usize)>,
    pub order: Order,
    /// Whether it has letters of its own, and so takes none of the command line's.
    own: bool,
}

impl Key {
    /// The whole line.
    pub fn whole(order: Order) -> Self {
        Self { order, ..Self::default() }
    }

    /// With the command line's letters, if it has none of its own.
    pub fn within(mut self, order: &Order) -> Self {
        if !self.own {
            self.order = order.clone();
        }
        self
    }

    pub fn parse(text: &[u8]) -> Result<Self, String> {
        let shown = String::from_utf8_lossy(text);
        let mut key = Self::default();
        let (from, to) = match text.iter().position(|byte| *byte == b',') {
            Some(comma) => (&text[..comma], Some(&text[comma + 1..])),
            None => (text, None),
        };
        let zero = |what: &str| format!("{what}: invalid field specification '{shown}'");
        let ((field, offset), letters) = position(from, "field start")?;
        key.field = field.checked_sub(1).ok_or_else(|| zero("field number is zero"))?;
        key.offset = match offset {
            None => 0,
            Some(offset) => offset.checked_sub(1).ok_or_else(|| zero("character offset is zero"))?,
        };
        let mut order = Order::default();
        let mut end_blanks = false;
        for (part, letters) in [(0, letters), (1, b"")] {
            let letters = match (part, to) {
                (1, Some(to)) => {
                    let ((field, count), letters) = position(to, "field end")?;
                    let field = field.checked_sub(1).ok_or_else(|| zero("field number is zero"))?;
                    key.end = Some((field, count.unwrap_or(0)));
                    letters
                }
                _ => letters,
            };
            for letter in letters {
                key.own = true;
                match (letter, part) {
                    (b'b', 0) => order.start_blanks = true,
                    (b'b', _) => end_blanks = true,
                    _ => order.letter(*letter).map_err(|problem| match problem.starts_with("stray") {
                        true => zero(&problem),
                        false => problem,
                    })?,
                }
            }
        }
        key.order = Order { end_blanks, ..order };
        Ok(key)
    }

    /// Where in `line` the key begins and ends.
    pub fn range(&self, line: &[u8], separator: Option<u8>) -> (usize, usize) {
        let mut start = skip_fields(line, self.field, separator);
        if self.order.start_blanks {
            start += blanks(&line[start..]);
        }
        let start = start.saturating_add(self.offset).min(line.len());
        let end = match self.end {
            None => line.len(),
            Some((field, 0)) => end_of_field(line, field, separator),
            Some((field, count)) => {
                let mut end = skip_fields(line, field, separator);
                if self.order.end_blanks {
                    end += blanks(&line[end..]);
                }
                end.saturating_add(count).min(line.len())
            }
        };
        (start, end.max(start))
    }
}

/// A field's number and perhaps a character's, and the letters after them.
type Position<'t> = ((usize, Option<usize>), &'t [u8]);

fn position<'t>(text: &'t [u8], what: &str) -> Result<Position<'t>, String> {
    let number = |text: &'t [u8]| {
        let digits = text.iter().take_while(|byte| byte.is_ascii_digit()).count();
        let (number, rest) = text.split_at(digits);
        let shown = String::from_utf8_lossy(text);
        let problem = || format!("invalid number at {what}: invalid count at start of '{shown}'");
        let value = crate::own::arguments::count(number).ok_or_else(problem)?;
        Ok::<_, String>((usize::try_from(value).unwrap_or(usize::MAX), rest))
    };
    let (field, rest) = number(text)?;
    match rest.strip_prefix(b".") {
        None => Ok(((field, None), rest)),
        Some(rest) => number(rest).map(|(offset, rest)| ((field, Some(offset)), rest)),
    }
}

fn is_blank(byte: u8) -> bool {
    matches!(byte, b' ' | b'\t' | b'\n')
}

fn blanks(text: &[u8]) -> usize {
    text.iter().position(|byte| !is_blank(*byte)).unwrap_or(text.len())
}

/// Where the field after `count` fields begins. Without a separator, a field begins with its blanks.
fn skip_fields(line: &[u8], count: usize, separator: Option<u8>) -> usize {
    let mut at = 0;
    for _ in 0..count {
        if at >= line.len() {
            break;
        }
        at = match separator {
            Some(separator) => {
                memchr::memchr(separator, &line[at..]).map_or(line.len(), |found| at + found + 1)
            }
            None => end_of_word(line, at),
        };
    }
    at
}

fn end_of_field(line: &[u8], field: usize, separator: Option<u8>) -> usize {
    let start = skip_fields(line, field, separator);
    match separator {
        Some(separator) => {
            memchr::memchr(separator, &line[start..]).map_or(line.len(), |found| start + found)
        }
        None => end_of_word(line, start),
    }
}

fn end_of_word(line: &[u8], at: usize) -> usize {
    let start = at + blanks(&line[at..]);
    let word = &line[start..];
    start + word.iter().position(|byte| is_blank(*byte)).unwrap_or(word.len())
}

#[cfg(test)]
mod tests {
    use super::Key;

    #[test]
    fn a_key_is_where_gnu_finds_it() {
        let cases = [
            ("2", None, "a  bb c", "  bb c"),
            ("2,2", None, "a  bb c", "  bb"),
            ("2b,2", None, "a  bb c", "bb"),
            ("2.2", None, "a bb c", "bb c"),
            ("2.2b", None, "a bbb c", "bb c"),
            ("1.2,1.3", None, "abcdef", "bc"),
            ("2,2.2b", None, "a   bcd e", "   bc"),
            ("2,2", Some(b','), "a,b,c", "b"),
            ("2", Some(b','), "a,b,c", "b,c"),
            ("3,3", Some(b','), "a,b", ""),
            ("2,1", None, "a b", ""),
            ("1.9", None, "abc", ""),
            ("99999999999999999999", None, "abc", ""),
        ];
        for (key, separator, line, want) in cases {
            let key = Key::parse(key.as_bytes()).unwrap_or_default();
            let (start, end) = key.range(line.as_bytes(), separator);
            assert_eq!(&line[start..end], want, "{key:?} {line:?}");
        }
    }

    #[test]
    fn a_key_that_says_nothing_is_refused() {
        for bad in ["", "0", "1.0", "1,0", "x", "1q", "1,x", "1nM", "1nd", "1."] {
            assert!(Key::parse(bad.as_bytes()).is_err(), "{bad}");
        }
    }
}

//! JSON, as far as tables need it: objects of cells. What is nested in a cell stays the text it was.

/// How deep values may nest: deeper ones would end at the end of the stack.
const DEPTH_MAX: usize = 200;

/// An object: names and cells in their order.
pub(crate) type Object = Vec<(String, String)>;

pub(crate) struct Parser<'a> {
    text: &'a str,
    at: usize,
}

impl<'a> Parser<'a> {
    pub(crate) fn new(text: &'a str) -> Self {
        Self { text, at: 0 }
    }

    fn peek(&mut self) -> Option<u8> {
        let rest = &self.text.as_bytes()[self.at..];
        let blanks = rest.iter().take_while(|it| matches!(it, b' ' | b'\t' | b'\n' | b'\r')).count();
        self.at += blanks;
        rest.get(blanks).copied()
    }

    /// Whether nothing but blanks is left.
    pub(crate) fn ended(&mut self) -> bool {
        self.peek().is_none()
    }

    fn wrong<T>(&self, wanted: &str) -> Result<T, String> {
        let before = &self.text.as_bytes()[..self.at];
        let line = before.iter().filter(|it| **it == b'\n').count() + 1;
        Err(format!("line {line}: {wanted} was expected"))
    }

    /// Passes a mark if it is there.
    pub(crate) fn take(&mut self, mark: u8) -> bool {
        let there = self.peek() == Some(mark);
        self.at += usize::from(there);
        there
    }

    pub(crate) fn expect(&mut self, mark: u8) -> Result<(), String> {
        if self.take(mark) { Ok(()) } else { self.wrong(&format!("'{}'", char::from(mark))) }
    }

    pub(crate) fn object(&mut self) -> Result<Object, String> {
        let mut object = Object::new();
        self.expect(b'{')?;
        if self.take(b'}') {
            return Ok(object);
        }
        loop {
            let name = self.string()?;
            self.expect(b':')?;
            let cell = self.cell()?;
            object.push((name, cell));
            if !self.take(b',') {
                self.expect(b'}')?;
                return Ok(object);
            }
        }
    }

    /// A value as a cell: the text of a string, nothing for null, and the source of anything else.
    fn cell(&mut self) -> Result<String, String> {
        if self.peek() == Some(b'"') {
            return self.string();
        }
        let start = self.at;
        self.skip(0)?;
        let source = &self.text[start..self.at];
        Ok(if source == "null" { String::new() } else { source.to_owned() })
    }

    fn skip(&mut self, depth: usize) -> Result<(), String> {
        if depth > DEPTH_MAX {
            return Err(format!("values nest deeper than {DEPTH_MAX}"));
        }
        match self.peek() {
            Some(b'"') => self.string().map(drop),
            Some(b'{') => {
                self.at += 1;
                self.members(b'}', |it| {
                    it.string()?;
                    it.expect(b':')?;
                    it.skip(depth + 1)
                })
            }
            Some(b'[') => {
                self.at += 1;
                self.members(b']', |it| it.skip(depth + 1))
            }
            _ => self.word(),
        }
    }

    fn members(
        &mut self,
        close: u8,
        mut each: impl FnMut(&mut Self) -> Result<(), String>,
    ) -> Result<(), String> {
        if self.take(close) {
            return Ok(());
        }
        loop {
            each(self)?;
            if !self.take(b',') {
                return self.expect(close);
            }
        }
    }

    /// A number, `true`, `false` or `null`.
    fn word(&mut self) -> Result<(), String> {
        let rest = &self.text[self.at..];
        let ends = |it: char| !(it.is_ascii_alphanumeric() || matches!(it, '+' | '-' | '.'));
        let word = &rest[..rest.find(ends).unwrap_or(rest.len())];
        if !matches!(word, "true" | "false" | "null") && !is_number(word.as_bytes()) {
            return self.wrong("a value");
        }
        self.at += word.len();
        Ok(())
    }

    fn string(&mut self) -> Result<String, String> {
        self.expect(b'"')?;
        let mut text = String::new();
        loop {
            let rest = &self.text[self.at..];
            let Some(stop) = rest.find(['"', '\\']) else { return self.wrong("the end of a string") };
            text.push_str(&rest[..stop]);
            self.at += stop + 1;
            if rest.as_bytes()[stop] == b'"' {
                return Ok(text);
            }
            text.push(self.escape()?);
        }
    }

    fn escape(&mut self) -> Result<char, String> {
        let letter = self.text.as_bytes().get(self.at).copied();
        let plain = match letter {
            Some(b'n') => '\n',
            Some(b't') => '\t',
            Some(b'r') => '\r',
            Some(b'b') => '\u{8}',
            Some(b'f') => '\u{c}',
            Some(mark @ (b'"' | b'\\' | b'/')) => char::from(mark),
            Some(b'u') => return self.unicode(),
            _ => return self.wrong("an escape"),
        };
        self.at += 1;
        Ok(plain)
    }

    /// `uXXXX`, or two of them for what lies beyond; half of a pair is no character.
    fn unicode(&mut self) -> Result<char, String> {
        let Some(first) = self.unit() else { return self.wrong("four hexadecimal digits") };
        if let Some(plain) = char::from_u32(first) {
            return Ok(plain);
        }
        let before = self.at;
        if self.text[self.at..].starts_with("\\u") {
            self.at += 1;
            if let Some(second @ 0xdc00..=0xdfff) = self.unit()
                && first < 0xdc00
            {
                let code = 0x10000 + ((first - 0xd800) << 10) + (second - 0xdc00);
                return Ok(char::from_u32(code).unwrap_or(char::REPLACEMENT_CHARACTER));
            }
        }
        self.at = before;
        Ok(char::REPLACEMENT_CHARACTER)
    }

    fn unit(&mut self) -> Option<u32> {
        let digits = self.text.get(self.at + 1..self.at + 5)?;
        if !digits.bytes().all(|it| it.is_ascii_hexdigit()) {
            return None;
        }
        self.at += 5;
        u32::from_str_radix(digits, 16).ok()
    }
}

/// Whether a text is a number as JSON writes it: no leading zeros, no sign but minus.
pub(crate) fn is_number(text: &[u8]) -> bool {
    let digits = |text: &[u8]| text.iter().take_while(|it| it.is_ascii_digit()).count();
    let mut rest = text.strip_prefix(b"-").unwrap_or(text);
    let whole = digits(rest);
    if whole == 0 || whole > 1 && rest.starts_with(b"0") {
        return false;
    }
    rest = &rest[whole..];
    if let Some(after) = rest.strip_prefix(b".") {
        let places = digits(after);
        if places == 0 {
            return false;
        }
        rest = &after[places..];
    }
    if let [b'e' | b'E', after @ ..] = rest {
        let after = after.strip_prefix(b"+").or(after.strip_prefix(b"-")).unwrap_or(after);
        return !after.is_empty() && digits(after) == after.len();
    }
    rest.is_empty()
}

/// Appends a string in quotes.
pub(crate) fn quote(text: &str, out: &mut Vec<u8>) {
    out.push(b'"');
    for letter in text.chars() {
        match letter {
            '"' => out.extend_from_slice(b"\\\""),
            '\\' => out.extend_from_slice(b"\\\\"),
            '\n' => out.extend_from_slice(b"\\n"),
            '\r' => out.extend_from_slice(b"\\r"),
            '\t' => out.extend_from_slice(b"\\t"),
            control if u32::from(control) < 0x20 => {
                out.extend_from_slice(format!("\\u{:04x}", u32::from(control)).as_bytes());
            }
            other => out.extend_from_slice(other.encode_utf8(&mut [0; 4]).as_bytes()),
        }
    }
    out.push(b'"');
}

//! JSON, as far as `jo` needs it: values in the order they were given, read and written.

/// Values inside values.
const DEPTH_MAX: usize = 128;

/// A value. Numbers keep their text.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Value {
    Null,
    Bool(bool),
    Number(String),
    Text(String),
    List(Vec<Value>),
    Map(Vec<(String, Value)>),
}

impl Value {
    /// Reads a whole text; nothing if it is no JSON.
    pub(crate) fn parse(text: &str) -> Option<Self> {
        let mut reader = Reader { bytes: text.as_bytes(), text, at: 0 };
        let value = reader.value(0)?;
        reader.space();
        (reader.at == text.len()).then_some(value)
    }

    /// Writes it, on one line or on several.
    pub(crate) fn show(&self, pretty: bool) -> String {
        let mut text = String::new();
        self.write(&mut text, pretty.then_some(0));
        text
    }

    fn write(&self, text: &mut String, indent: Option<usize>) {
        match self {
            Self::Null => text.push_str("null"),
            Self::Bool(value) => text.push_str(if *value { "true" } else { "false" }),
            Self::Number(value) => text.push_str(value),
            Self::Text(value) => quote(value, text),
            Self::List(values) => {
                let rows = values.iter().map(|value| (None, value));
                block(text, indent, ('[', ']'), rows.collect());
            }
            Self::Map(pairs) => {
                let rows = pairs.iter().map(|(key, value)| (Some(key.as_str()), value));
                block(text, indent, ('{', '}'), rows.collect());
            }
        }
    }

    /// Puts a value under a key, in the place of an older one.
    pub(crate) fn set(&mut self, key: &str, value: Self) {
        if !matches!(self, Self::Map(_)) {
            *self = Self::Map(Vec::new());
        }
        if let Self::Map(pairs) = self {
            match pairs.iter_mut().find(|it| it.0 == key) {
                Some(pair) => pair.1 = value,
                None => pairs.push((key.to_owned(), value)),
            }
        }
    }

    /// The value under a key, made if there is none.
    pub(crate) fn under(&mut self, key: &str) -> Option<&mut Self> {
        let there = matches!(self, Self::Map(pairs) if pairs.iter().any(|it| it.0 == key));
        if !there {
            self.set(key, Self::Null);
        }
        match self {
            Self::Map(pairs) => pairs.iter_mut().find(|it| it.0 == key).map(|it| &mut it.1),
            _ => None,
        }
    }

    /// Adds a value at the end, making a list of what is none.
    pub(crate) fn push(&mut self, value: Self) {
        if !matches!(self, Self::List(_)) {
            *self = Self::List(Vec::new());
        }
        if let Self::List(values) = self {
            values.push(value);
        }
    }
}

fn block(text: &mut String, indent: Option<usize>, ends: (char, char), rows: Vec<(Option<&str>, &Value)>) {
    text.push(ends.0);
    let inner = indent.map(|it| it + 1);
    let line = |text: &mut String, depth: Option<usize>| {
        if let Some(depth) = depth {
            text.push('\n');
            text.push_str(&"   ".repeat(depth));
        }
    };
    for (at, (key, value)) in rows.iter().enumerate() {
        if at > 0 {
            text.push(',');
        }
        line(text, inner);
        if let Some(key) = key {
            quote(key, text);
            text.push_str(if indent.is_some() { ": " } else { ":" });
        }
        value.write(text, inner);
    }
    if !rows.is_empty() {
        line(text, indent);
    }
    text.push(ends.1);
}

fn quote(value: &str, text: &mut String) {
    text.push('"');
    for letter in value.chars() {
        match letter {
            '"' => text.push_str("\\\""),
            '\\' => text.push_str("\\\\"),
            '\n' => text.push_str("\\n"),
            '\t' => text.push_str("\\t"),
            '\r' => text.push_str("\\r"),
            '\u{8}' => text.push_str("\\b"),
            '\u{c}' => text.push_str("\\f"),
            letter if letter < ' ' => text.push_str(&format!("\\u{:04x}", letter as u32)),
            letter => text.push(letter),
        }
    }
    text.push('"');
}

struct Reader<'t> {
    bytes: &'t [u8],
    text: &'t str,
    at: usize,
}

impl Reader<'_> {
    fn space(&mut self) {
        while self.bytes.get(self.at).is_some_and(|it| b" \t\r\n".contains(it)) {
            self.at += 1;
        }
    }

    fn take(&mut self, byte: u8) -> bool {
        self.space();
        let there = self.bytes.get(self.at) == Some(&byte);
        self.at += usize::from(there);
        there
    }

    fn value(&mut self, depth: usize) -> Option<Value> {
        self.space();
        if depth > DEPTH_MAX {
            return None;
        }
        for (word, value) in
            [("null", Value::Null), ("true", Value::Bool(true)), ("false", Value::Bool(false))]
        {
            if self.text.get(self.at..)?.starts_with(word) {
                self.at += word.len();
                return Some(value);
            }
        }
        match self.bytes.get(self.at)? {
            b'"' => self.string().map(Value::Text),
            b'[' => {
                self.at += 1;
                let mut values = Vec::new();
                if self.take(b']') {
                    return Some(Value::List(values));
                }
                loop {
                    values.push(self.value(depth + 1)?);
                    if self.take(b']') {
                        return Some(Value::List(values));
                    }
                    self.take(b',').then_some(())?;
                }
            }
            b'{' => {
                self.at += 1;
                let mut map = Value::Map(Vec::new());
                if self.take(b'}') {
                    return Some(map);
                }
                loop {
                    self.space();
                    let key = self.string()?;
                    self.take(b':').then_some(())?;
                    map.set(&key, self.value(depth + 1)?);
                    if self.take(b'}') {
                        return Some(map);
                    }
                    self.take(b',').then_some(())?;
                }
            }
            _ => self.number(),
        }
    }

    fn number(&mut self) -> Option<Value> {
        let rest = &self.text[self.at..];
        let end = rest.find(|it: char| !it.is_ascii_digit() && !"+-.eE".contains(it)).unwrap_or(rest.len());
        let number = &rest[..end];
        is_number(number).then(|| {
            self.at += end;
            Value::Number(number.to_owned())
        })
    }

    fn string(&mut self) -> Option<String> {
        (self.bytes.get(self.at) == Some(&b'"')).then_some(())?;
        let mut value = String::new();
        let mut letters = self.text[self.at + 1..].char_indices();
        while let Some((at, letter)) = letters.next() {
            match letter {
                '"' => {
                    self.at += at + 2;
                    return Some(value);
                }
                '\\' => value.push(match letters.next()?.1 {
                    'n' => '\n',
                    't' => '\t',
                    'r' => '\r',
                    'b' => '\u{8}',
                    'f' => '\u{c}',
                    'u' => {
                        let mut unit = || {
                            let digits: String =
                                (0..4).filter_map(|_| letters.next().map(|it| it.1)).collect();
                            u32::from_str_radix(&digits, 16).ok()
                        };
                        let high = unit()?;
                        if (0xd800..0xdc00).contains(&high) {
                            let rest = (letters.next()?.1, letters.next()?.1);
                            let digits: String =
                                (0..4).filter_map(|_| letters.next().map(|it| it.1)).collect();
                            let low = u32::from_str_radix(&digits, 16)
                                .ok()
                                .filter(|it| (0xdc00..0xe000).contains(it) && rest == ('\\', 'u'))?;
                            char::from_u32(0x10000 + ((high - 0xd800) << 10) + (low - 0xdc00))?
                        } else {
                            char::from_u32(high)?
                        }
                    }
                    letter @ ('"' | '\\' | '/') => letter,
                    _ => return None,
                }),
                letter if letter < ' ' => return None,
                letter => value.push(letter),
            }
        }
        None
    }
}

/// Whether a text is a number as JSON writes one.
pub(crate) fn is_number(text: &str) -> bool {
    let text = text.strip_prefix('-').unwrap_or(text);
    let (whole, rest) = text.split_at(text.find(|it: char| !it.is_ascii_digit()).unwrap_or(text.len()));
    let (fraction, exponent) = match rest.find(['e', 'E']) {
        Some(at) => (&rest[..at], Some(&rest[at + 1..])),
        None => (rest, None),
    };
    let digits = |it: &str| !it.is_empty() && it.bytes().all(|it| it.is_ascii_digit());
    let plain = digits(whole) && (whole == "0" || !whole.starts_with('0'));
    let fraction = fraction.is_empty() || fraction.strip_prefix('.').is_some_and(digits);
    plain && fraction && exponent.is_none_or(|it| digits(it.strip_prefix(['+', '-']).unwrap_or(it)))
}

#[test]
fn what_is_read_is_written_again() {
    for text in [r#"{"a":[1,2.5,-3e4,"x\"\n"],"b":{"c":null},"d":true}"#, "[]", "{}", r#""é😀""#, "0"] {
        assert_eq!(Value::parse(text).map(|it| it.show(false)).as_deref(), Some(text));
    }
    assert_eq!(Value::parse(r#""\u00e9\ud83d\ude00""#), Some(Value::Text("é😀".to_owned())));
    for bad in ["", "[1,]", "{a:1}", "01", "\"", "nul", "[1 2]", "\"\\x\"", "1 2", "-", &"[".repeat(10_000)] {
        assert_eq!(Value::parse(bad), None, "{bad}");
    }
}

//! Cuts a program into words. Whether a slash divides or begins a regular expression is known only to
//! the parser, which asks for one where an operand has to come.

use crate::ast::{BUILTINS, Builtin};

#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Token {
    Num(f64),
    Str(Vec<u8>),
    Name(String),
    /// A name with `(` right after it.
    Call(String),
    Builtin(Builtin),
    Word(Keyword),
    /// An operator or bracket.
    Sign(&'static str),
    Newline,
    End,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Keyword {
    Begin,
    BeginFile,
    Break,
    Case,
    Continue,
    Default,
    Delete,
    Do,
    Else,
    EndKey,
    EndFile,
    Exit,
    For,
    Function,
    Getline,
    If,
    In,
    Next,
    NextFile,
    Print,
    Printf,
    Return,
    Switch,
    While,
}

const KEYWORDS: &[(&str, Keyword)] = &[
    ("BEGIN", Keyword::Begin),
    ("BEGINFILE", Keyword::BeginFile),
    ("END", Keyword::EndKey),
    ("ENDFILE", Keyword::EndFile),
    ("break", Keyword::Break),
    ("case", Keyword::Case),
    ("continue", Keyword::Continue),
    ("default", Keyword::Default),
    ("delete", Keyword::Delete),
    ("do", Keyword::Do),
    ("else", Keyword::Else),
    ("exit", Keyword::Exit),
    ("for", Keyword::For),
    ("func", Keyword::Function),
    ("function", Keyword::Function),
    ("getline", Keyword::Getline),
    ("if", Keyword::If),
    ("in", Keyword::In),
    ("next", Keyword::Next),
    ("nextfile", Keyword::NextFile),
    ("print", Keyword::Print),
    ("printf", Keyword::Printf),
    ("return", Keyword::Return),
    ("switch", Keyword::Switch),
    ("while", Keyword::While),
];

/// Longer ones first.
const SIGNS: &[&str] = &[
    "**=", "&&", "||", "++", "--", "+=", "-=", "*=", "/=", "%=", "^=", "**", "==", "<=", ">=", "!=", "!~",
    ">>", "|&", "{", "}", "(", ")", "[", "]", ";", ",", "+", "-", "*", "/", "%", "^", "!", ">", "<", "|",
    "?", ":", "~", "$", "=",
];

pub(crate) struct Lexer<'a> {
    text: &'a [u8],
    pub at: usize,
    pub line: usize,
    /// Where the last word began.
    pub start: usize,
}

impl<'a> Lexer<'a> {
    pub(crate) fn new(text: &'a [u8]) -> Self {
        Self { text, at: 0, line: 1, start: 0 }
    }

    /// The line of the last word, and the place of the word in it.
    pub(crate) fn around(&self) -> (String, usize) {
        let start = self.start.min(self.text.len());
        let from = memchr::memrchr(b'\n', &self.text[..start]).map_or(0, |at| at + 1);
        let to = memchr::memchr(b'\n', &self.text[start..]).map_or(self.text.len(), |length| start + length);
        let column = String::from_utf8_lossy(&self.text[from..start]).chars().count();
        (String::from_utf8_lossy(&self.text[from..to]).into_owned(), column)
    }

    fn peek(&self) -> Option<u8> {
        self.text.get(self.at).copied()
    }

    /// The next word.
    pub(crate) fn next(&mut self) -> Result<Token, String> {
        self.skip();
        self.start = self.at;
        let Some(first) = self.peek() else { return Ok(Token::End) };
        match first {
            b'\n' => {
                self.at += 1;
                self.line += 1;
                Ok(Token::Newline)
            }
            b'"' => self.string(),
            b'0'..=b'9' => Ok(self.number()),
            b'.' if self.text.get(self.at + 1).is_some_and(u8::is_ascii_digit) => Ok(self.number()),
            b'_' | b'a'..=b'z' | b'A'..=b'Z' => Ok(self.word()),
            _ => {
                let rest = &self.text[self.at..];
                let Some(sign) = SIGNS.iter().find(|sign| rest.starts_with(sign.as_bytes())) else {
                    return Err("syntax error".to_owned());
                };
                self.at += sign.len();
                // `**` is another spelling.
                Ok(Token::Sign(match *sign {
                    "**" => "^",
                    "**=" => "^=",
                    sign => sign,
                }))
            }
        }
    }

    /// Blanks, comments, and line ends with a backslash before them.
    fn skip(&mut self) {
        loop {
            match self.peek() {
                Some(b' ' | b'\t' | b'\r') => self.at += 1,
                Some(b'\\') if self.text[self.at + 1..].starts_with(b"\n") => {
                    self.at += 2;
                    self.line += 1;
                }
                Some(b'\\') if self.text[self.at + 1..].starts_with(b"\r\n") => {
                    self.at += 3;
                    self.line += 1;
                }
                Some(b'#') => {
                    while self.peek().is_some_and(|it| it != b'\n') {
                        self.at += 1;
                    }
                }
                _ => return,
            }
        }
    }

    fn number(&mut self) -> Token {
        let rest = &self.text[self.at..];
        if rest.len() > 2 && rest[0] == b'0' && matches!(rest[1], b'x' | b'X') && rest[2].is_ascii_hexdigit()
        {
            let digits = rest[2..].iter().take_while(|it| it.is_ascii_hexdigit()).count();
            let value = rest[2..2 + digits]
                .iter()
                .fold(0.0, |sum, it| sum * 16.0 + f64::from(char::from(*it).to_digit(16).unwrap_or(0)));
            self.at += 2 + digits;
            return Token::Num(value);
        }
        let mut end = rest.iter().take_while(|it| it.is_ascii_digit()).count();
        let octal = end > 1 && rest[0] == b'0' && rest[..end].iter().all(|it| *it < b'8');
        if octal && !matches!(rest.get(end), Some(b'.' | b'e' | b'E')) {
            self.at += end;
            return Token::Num(rest[..end].iter().fold(0.0, |sum, it| sum * 8.0 + f64::from(it - b'0')));
        }
        if rest.get(end) == Some(&b'.') {
            end += 1;
            end += rest[end..].iter().take_while(|it| it.is_ascii_digit()).count();
        }
        if matches!(rest.get(end), Some(b'e' | b'E')) {
            let sign = usize::from(matches!(rest.get(end + 1), Some(b'+' | b'-')));
            let digits = rest.get(end + 1 + sign..).unwrap_or_default();
            let digits = digits.iter().take_while(|it| it.is_ascii_digit()).count();
            if digits > 0 {
                end += 1 + sign + digits;
            }
        }
        self.at += end;
        Token::Num(crate::number::prefix(&rest[..end]))
    }

    fn word(&mut self) -> Token {
        let rest = &self.text[self.at..];
        let length = rest.iter().take_while(|it| it.is_ascii_alphanumeric() || **it == b'_').count();
        let name = String::from_utf8_lossy(&rest[..length]).into_owned();
        self.at += length;
        if let Some((_, keyword)) = KEYWORDS.iter().find(|(known, _)| *known == name) {
            return Token::Word(*keyword);
        }
        if let Some((_, builtin, ..)) = BUILTINS.iter().find(|(known, ..)| *known == name) {
            return Token::Builtin(*builtin);
        }
        if self.peek() == Some(b'(') { Token::Call(name) } else { Token::Name(name) }
    }

    fn string(&mut self) -> Result<Token, String> {
        self.at += 1;
        let mut out = Vec::new();
        loop {
            let Some(byte) = self.peek() else { return Err("unterminated string".to_owned()) };
            self.at += 1;
            match byte {
                b'"' => return Ok(Token::Str(out)),
                b'\n' => return Err("unterminated string".to_owned()),
                b'\\' if self.peek() == Some(b'\n') => {
                    self.at += 1;
                    self.line += 1;
                }
                b'\\' => {
                    let taken = unescape(&self.text[self.at..], &mut out);
                    self.at += taken;
                }
                _ => out.push(byte),
            }
        }
    }

    /// The rest of a regular expression, after its first slash.
    pub(crate) fn regex(&mut self) -> Result<Vec<u8>, String> {
        let mut out = Vec::new();
        let mut bracket = false;
        loop {
            let Some(byte) = self.peek().filter(|it| *it != b'\n') else {
                return Err("unterminated regexp".to_owned());
            };
            self.at += 1;
            match byte {
                b'/' if !bracket => return Ok(out),
                b'\\' => match self.peek() {
                    Some(b'/') => {
                        self.at += 1;
                        out.push(b'/');
                    }
                    Some(escaped) => {
                        self.at += 1;
                        out.extend([byte, escaped]);
                    }
                    None => return Err("unterminated regexp".to_owned()),
                },
                b'[' if !bracket => {
                    out.push(byte);
                    // `]` first is one of the signs; if no bracket ends, the slash does.
                    let rest = &self.text[self.at..];
                    let lead = usize::from(rest.first() == Some(&b'^'));
                    let lead = lead + usize::from(rest.get(lead) == Some(&b']'));
                    let line = rest.iter().position(|it| *it == b'\n').unwrap_or(rest.len());
                    bracket = rest.get(lead..line).is_some_and(|it| it.contains(&b']'));
                    if bracket {
                        out.extend_from_slice(&rest[..lead]);
                        self.at += lead;
                    }
                }
                b'[' if self.peek() == Some(b':') => {
                    let rest = &self.text[self.at..];
                    let end = memchr::memmem::find(rest, b":]").map_or(0, |end| end + 2);
                    out.push(byte);
                    out.extend_from_slice(&rest[..end]);
                    self.at += end;
                }
                b']' => {
                    bracket = false;
                    out.push(byte);
                }
                _ => out.push(byte),
            }
        }
    }
}

/// Appends what the escape after a backslash stands for; how many bytes of `rest` it took.
pub(crate) fn unescape(rest: &[u8], out: &mut Vec<u8>) -> usize {
    let Some(first) = rest.first() else {
        out.push(b'\\');
        return 0;
    };
    let byte = match first {
        b'n' => b'\n',
        b't' => b'\t',
        b'r' => b'\r',
        b'\\' => b'\\',
        b'"' => b'"',
        b'/' => b'/',
        b'a' => 0x07,
        b'b' => 0x08,
        b'f' => 0x0c,
        b'v' => 0x0b,
        b'0'..=b'7' => {
            let digits = rest.iter().take(3).take_while(|it| (b'0'..=b'7').contains(it)).count();
            let value = rest[..digits].iter().fold(0u32, |value, it| value * 8 + u32::from(it - b'0'));
            out.push(value as u8);
            return digits;
        }
        b'u' if rest.get(1).is_some_and(u8::is_ascii_hexdigit) => {
            let digits = rest[1..].iter().take(8).take_while(|it| it.is_ascii_hexdigit()).count();
            let digits_value = rest[1..=digits].iter().map(|it| char::from(*it).to_digit(16).unwrap_or(0));
            let value = digits_value.fold(0u32, |value, digit| value.wrapping_mul(16).wrapping_add(digit));
            let sign = char::from_u32(value).unwrap_or(char::REPLACEMENT_CHARACTER);
            out.extend_from_slice(sign.encode_utf8(&mut [0; 4]).as_bytes());
            return digits + 1;
        }
        b'x' => {
            let digits = rest[1..].iter().take(2).take_while(|it| it.is_ascii_hexdigit()).count();
            if digits == 0 {
                out.extend(b"x");
                return 1;
            }
            let value = rest[1..=digits]
                .iter()
                .fold(0, |value, it| value * 16 + char::from(*it).to_digit(16).unwrap_or(0));
            out.push(value as u8);
            return digits + 1;
        }
        other => *other,
    };
    out.push(byte);
    1
}

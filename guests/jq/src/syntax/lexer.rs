//! Words and signs of a program. Strings are left to the parser, which knows what `\(` means.

use crate::value::{Value, number};

/// One word or sign.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Token {
    /// A name, perhaps a keyword.
    Name(String),
    /// `.name`
    Field(String),
    /// `$name`
    Variable(String),
    /// `@name`
    Format(String),
    Number(Value),
    /// `"`, the lexer standing behind it.
    Quote,
    Sign(&'static str),
    End,
    /// What begins no token.
    Wrong,
}

/// Longer signs first.
const SIGNS: [&str; 35] = [
    "?//=", "?//", "//=", "|=", "+=", "-=", "*=", "/=", "%=", "==", "!=", "<=", ">=", "//", "..", "and",
    "or", ".", "[", "]", "(", ")", "{", "}", "|", ",", ":", ";", "=", "<", ">", "+", "-", "*", "/",
];
const MORE_SIGNS: [&str; 3] = ["%", "?", "$"];

/// Words that are no names of functions.
pub(super) const KEYWORDS: [&str; 20] = [
    "as",
    "def",
    "module",
    "import",
    "include",
    "if",
    "then",
    "else",
    "elif",
    "reduce",
    "foreach",
    "end",
    "and",
    "or",
    "try",
    "catch",
    "label",
    "break",
    "__loc__",
    "not a word",
];

/// Whether a name is a keyword.
pub(super) fn is_keyword(name: &str) -> bool {
    KEYWORDS.contains(&name)
}

/// Reads tokens from a place on.
pub(super) struct Lexer<'s> {
    pub text: &'s str,
    pub at: usize,
}

impl Lexer<'_> {
    /// Where the next token starts.
    pub(super) fn skip_blank(&mut self) {
        let bytes = self.text.as_bytes();
        while let Some(byte) = bytes.get(self.at) {
            match byte {
                b' ' | b'\t' | b'\n' | b'\r' => self.at += 1,
                b'#' => self.skip_comment(),
                _ => break,
            }
        }
    }

    /// A comment goes on in the next line after an odd number of backslashes.
    fn skip_comment(&mut self) {
        let bytes = self.text.as_bytes();
        let mut slashes = 0;
        while let Some(byte) = bytes.get(self.at) {
            match byte {
                b'\n' if slashes % 2 == 0 => return,
                b'\r' if slashes % 2 == 1 && bytes.get(self.at + 1) == Some(&b'\n') => {}
                b'\\' => slashes += 1,
                _ => slashes = 0,
            }
            self.at += 1;
        }
    }

    /// The next token.
    pub(super) fn next(&mut self) -> Token {
        self.skip_blank();
        let rest = &self.text[self.at..];
        let Some(first) = rest.bytes().next() else { return Token::End };
        match first {
            b'"' => {
                self.at += 1;
                Token::Quote
            }
            b'.' if rest[1..].starts_with(begins_name) => {
                let len = name_len(&rest[1..]);
                self.at += 1 + len;
                Token::Field(rest[1..=len].to_owned())
            }
            b'$' if rest[1..].starts_with(begins_name) => {
                let len = path_len(&rest[1..]);
                self.at += 1 + len;
                Token::Variable(rest[1..=len].to_owned())
            }
            b'@' => {
                let len = rest[1..]
                    .bytes()
                    .take_while(|byte| byte.is_ascii_alphanumeric() || *byte == b'_')
                    .count();
                self.at += 1 + len;
                if len == 0 { Token::Wrong } else { Token::Format(rest[..=len].to_owned()) }
            }
            b'0'..=b'9' => self.number(rest),
            b'.' if rest[1..].starts_with(|sign: char| sign.is_ascii_digit()) => self.number(rest),
            _ if begins_name(char::from(first)) => {
                let len = path_len(rest);
                self.at += len;
                Token::Name(rest[..len].to_owned())
            }
            _ => {
                let sign = SIGNS.iter().chain(&MORE_SIGNS).find(|sign| rest.starts_with(**sign));
                match sign {
                    // `?//=` is the operator `?` before `//=`.
                    Some(&"?//=") => {
                        self.at += 1;
                        Token::Sign("?")
                    }
                    Some(sign) => {
                        self.at += sign.len();
                        Token::Sign(sign)
                    }
                    None => Token::Wrong,
                }
            }
        }
    }

    fn number(&mut self, rest: &str) -> Token {
        let bytes = rest.as_bytes();
        let digits = |from: usize| bytes[from..].iter().take_while(|byte| byte.is_ascii_digit()).count();
        let mut len = digits(0);
        if bytes.get(len) == Some(&b'.') {
            len += 1 + digits(len + 1);
        }
        if matches!(bytes.get(len), Some(b'e' | b'E')) {
            let sign = usize::from(matches!(bytes.get(len + 1), Some(b'+' | b'-')));
            let exponent = digits((len + 1 + sign).min(bytes.len()));
            if exponent > 0 {
                len += 1 + sign + exponent;
            }
        }
        self.at += len;
        number::parse(&bytes[..len]).map_or(Token::Wrong, Token::Number)
    }
}

fn begins_name(sign: char) -> bool {
    sign.is_ascii_alphabetic() || sign == '_'
}

fn name_len(text: &str) -> usize {
    text.bytes().take_while(|byte| byte.is_ascii_alphanumeric() || *byte == b'_').count()
}

/// A name with the modules it is from: `a::b`.
fn path_len(text: &str) -> usize {
    let mut len = name_len(text);
    while text[len..].starts_with("::") && text[len + 2..].starts_with(begins_name) {
        len += 2 + name_len(&text[len + 2..]);
    }
    len
}

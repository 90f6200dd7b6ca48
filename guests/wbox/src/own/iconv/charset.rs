//! The encodings that `iconv` knows, one character at a time.

/// An encoding.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Charset {
    Ascii,
    Latin1,
    Latin9,
    Windows1252,
    Utf8,
    /// With a mark of the order at the beginning, little end first where there is none.
    Utf16,
    Utf16Le,
    Utf16Be,
    Utf32,
    Utf32Le,
    Utf32Be,
}

/// Every name, those of one encoding on one line; the first is the one that is listed first.
pub const NAMES: &[(Charset, &str)] = &[
    (Charset::Ascii, "ASCII US-ASCII ANSI_X3.4-1968 ISO646-US 646 US"),
    (Charset::Latin1, "ISO-8859-1 ISO_8859-1 ISO8859-1 ISO88591 8859_1 LATIN1 LATIN-1 L1"),
    (Charset::Latin9, "ISO-8859-15 ISO_8859-15 ISO8859-15 ISO885915 8859_15 LATIN-9 LATIN9"),
    (Charset::Windows1252, "WINDOWS-1252 CP1252 MS-ANSI"),
    (Charset::Utf8, "UTF-8 UTF8"),
    (Charset::Utf16, "UTF-16 UTF16"),
    (Charset::Utf16Le, "UTF-16LE UTF16LE"),
    (Charset::Utf16Be, "UTF-16BE UTF16BE"),
    (Charset::Utf32, "UTF-32 UTF32"),
    (Charset::Utf32Le, "UTF-32LE UTF32LE"),
    (Charset::Utf32Be, "UTF-32BE UTF32BE"),
];

/// What the bytes 0x80 to 0x9f are in Windows-1252; five of them are nothing.
const WINDOWS: [Option<char>; 32] = [
    Some('€'),
    None,
    Some('‚'),
    Some('ƒ'),
    Some('„'),
    Some('…'),
    Some('†'),
    Some('‡'),
    Some('ˆ'),
    Some('‰'),
    Some('Š'),
    Some('‹'),
    Some('Œ'),
    None,
    Some('Ž'),
    None,
    None,
    Some('‘'),
    Some('’'),
    Some('“'),
    Some('”'),
    Some('•'),
    Some('–'),
    Some('—'),
    Some('˜'),
    Some('™'),
    Some('š'),
    Some('›'),
    Some('œ'),
    None,
    Some('ž'),
    Some('Ÿ'),
];
/// Where ISO-8859-15 differs from ISO-8859-1.
const LATIN9: [(u8, char); 8] =
    [(0xa4, '€'), (0xa6, 'Š'), (0xa8, 'š'), (0xb4, 'Ž'), (0xb8, 'ž'), (0xbc, 'Œ'), (0xbd, 'œ'), (0xbe, 'Ÿ')];
const MARK: char = '\u{feff}';

/// What stands at the beginning of some bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Found {
    /// A character, and how many bytes it takes.
    Character(char, usize),
    /// So many bytes that are none.
    Wrong(usize),
    /// Not yet all of a character.
    Unfinished,
}

impl Charset {
    /// The encoding of that name, in any case.
    pub fn named(name: &str) -> Option<Self> {
        let is = |known: &str| known.eq_ignore_ascii_case(name);
        NAMES.iter().find(|(_, names)| names.split(' ').any(is)).map(|(charset, _)| *charset)
    }

    /// Of how many bytes every character has a multiple, and at least one.
    pub fn unit_bytes(self) -> usize {
        match self {
            Self::Utf16 | Self::Utf16Le | Self::Utf16Be => 2,
            Self::Utf32 | Self::Utf32Le | Self::Utf32Be => 4,
            _ => 1,
        }
    }

    /// The encoding that input with this beginning has, and how long the mark is that says so. More than
    /// four bytes are never needed.
    pub fn marked(self, start: &[u8]) -> (Self, usize) {
        match (self, start) {
            (Self::Utf16, [0xfe, 0xff, ..]) => (Self::Utf16Be, 2),
            (Self::Utf16, [0xff, 0xfe, ..]) => (Self::Utf16Le, 2),
            (Self::Utf16, _) => (Self::Utf16Le, 0),
            (Self::Utf32, [0, 0, 0xfe, 0xff, ..]) => (Self::Utf32Be, 4),
            (Self::Utf32, [0xff, 0xfe, 0, 0, ..]) => (Self::Utf32Le, 4),
            (Self::Utf32, _) => (Self::Utf32Le, 0),
            (other, _) => (other, 0),
        }
    }

    /// The first character of some bytes that are not empty.
    pub fn decode(self, bytes: &[u8]) -> Found {
        let Some(first) = bytes.first().copied() else { return Found::Unfinished };
        match self {
            Self::Ascii if first >= 0x80 => Found::Wrong(1),
            Self::Ascii | Self::Latin1 => Found::Character(char::from(first), 1),
            Self::Latin9 => {
                let other = LATIN9.iter().find(|(byte, _)| *byte == first);
                Found::Character(other.map_or(char::from(first), |(_, character)| *character), 1)
            }
            Self::Windows1252 => match first {
                0x80..=0x9f => {
                    WINDOWS[usize::from(first - 0x80)].map_or(Found::Wrong(1), |it| Found::Character(it, 1))
                }
                _ => Found::Character(char::from(first), 1),
            },
            Self::Utf8 => utf8(bytes),
            Self::Utf16 | Self::Utf16Le => utf16(bytes, u16::from_le_bytes),
            Self::Utf16Be => utf16(bytes, u16::from_be_bytes),
            Self::Utf32 | Self::Utf32Le => utf32(bytes, u32::from_le_bytes),
            Self::Utf32Be => utf32(bytes, u32::from_be_bytes),
        }
    }

    /// Appends a character; false if the encoding has none such.
    pub fn encode(self, character: char, out: &mut Vec<u8>) -> bool {
        let code = u32::from(character);
        let byte = match self {
            Self::Ascii => u8::try_from(code).ok().filter(u8::is_ascii),
            Self::Latin1 => u8::try_from(code).ok(),
            Self::Latin9 => match LATIN9.iter().find(|(_, it)| *it == character) {
                Some((byte, _)) => Some(*byte),
                None => u8::try_from(code).ok().filter(|byte| LATIN9.iter().all(|(it, _)| it != byte)),
            },
            Self::Windows1252 => match WINDOWS.iter().position(|it| *it == Some(character)) {
                Some(at) => Some(0x80 + at as u8),
                None => u8::try_from(code).ok().filter(|byte| !(0x80..=0x9f).contains(byte)),
            },
            Self::Utf8 => {
                out.extend_from_slice(character.encode_utf8(&mut [0; 4]).as_bytes());
                return true;
            }
            Self::Utf16 | Self::Utf16Le => {
                character.encode_utf16(&mut [0; 2]).iter().for_each(|it| out.extend(it.to_le_bytes()));
                return true;
            }
            Self::Utf16Be => {
                character.encode_utf16(&mut [0; 2]).iter().for_each(|it| out.extend(it.to_be_bytes()));
                return true;
            }
            Self::Utf32 | Self::Utf32Le => {
                out.extend(code.to_le_bytes());
                return true;
            }
            Self::Utf32Be => {
                out.extend(code.to_be_bytes());
                return true;
            }
        };
        out.extend(byte);
        byte.is_some()
    }

    /// What output begins with.
    pub fn mark(self, out: &mut Vec<u8>) {
        if matches!(self, Self::Utf16 | Self::Utf32) {
            self.encode(MARK, out);
        }
    }
}

fn utf8(bytes: &[u8]) -> Found {
    let start = &bytes[..bytes.len().min(4)];
    let (valid, wrong) = match std::str::from_utf8(start) {
        Ok(text) => (text, None),
        Err(error) => {
            (std::str::from_utf8(&start[..error.valid_up_to()]).unwrap_or_default(), error.error_len())
        }
    };
    match (valid.chars().next(), wrong) {
        (Some(character), _) => Found::Character(character, character.len_utf8()),
        (None, Some(_)) => Found::Wrong(1),
        (None, None) => Found::Unfinished,
    }
}

fn utf16(bytes: &[u8], unit: fn([u8; 2]) -> u16) -> Found {
    let at = |from: usize| bytes.get(from..from + 2).and_then(|it| it.try_into().ok()).map(unit);
    let Some(first) = at(0) else { return Found::Unfinished };
    match first {
        0xdc00..=0xdfff => Found::Wrong(2),
        0xd800..=0xdbff => match at(2) {
            None => Found::Unfinished,
            Some(second) => match char::decode_utf16([first, second]).next() {
                Some(Ok(character)) => Found::Character(character, 4),
                _ => Found::Wrong(2),
            },
        },
        _ => char::from_u32(first.into()).map_or(Found::Wrong(2), |it| Found::Character(it, 2)),
    }
}

fn utf32(bytes: &[u8], unit: fn([u8; 4]) -> u32) -> Found {
    match bytes.first_chunk() {
        None => Found::Unfinished,
        Some(four) => char::from_u32(unit(*four)).map_or(Found::Wrong(4), |it| Found::Character(it, 4)),
    }
}

/// What stands for a character in an encoding that lacks it, with `//TRANSLIT`.
pub fn likeness(character: char) -> &'static str {
    const ALIKE: &[(&str, &str)] = &[
        ("ÀÁÂÃÅ", "A"),
        ("àáâãå", "a"),
        ("Ç", "C"),
        ("ç", "c"),
        ("ÈÉÊË", "E"),
        ("èéêë", "e"),
        ("ÌÍÎÏ", "I"),
        ("ìíîï", "i"),
        ("Ñ", "N"),
        ("ñ", "n"),
        ("ÒÓÔÕØ", "O"),
        ("òóôõø", "o"),
        ("ÙÚÛ", "U"),
        ("ùúû", "u"),
        ("ÝŸ", "Y"),
        ("ýÿ", "y"),
        ("Ä", "A"),
        ("ä", "a"),
        ("Ö", "O"),
        ("ö", "o"),
        ("Ü", "U"),
        ("ü", "u"),
        ("ß", "ss"),
        ("Æ", "AE"),
        ("æ", "ae"),
        ("Œ", "OE"),
        ("œ", "oe"),
        ("Š", "S"),
        ("š", "s"),
        ("Ž", "Z"),
        ("ž", "z"),
        ("‘’‚‛", "'"),
        ("“”„‟", "\""),
        ("–‐‑‒", "-"),
        ("—", "-"),
        ("…", "..."),
        ("€", "EUR"),
        ("™", "(TM)"),
        ("©", "(C)"),
        ("®", "(R)"),
        ("«", "<<"),
        ("»", ">>"),
        ("•", "o"),
        ("\u{a0}", " "),
    ];
    ALIKE.iter().find(|(all, _)| all.contains(character)).map_or("?", |(_, text)| text)
}

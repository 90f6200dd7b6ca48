//! Regular expressions: every match as jq describes it, with all its groups.

use super::wording;
use jaq_core::Error;
use jaq_json::{Map, Val, ValR};
use regex_bites::bytes::{Captures, Regex, RegexBuilder};

/// All matches of a pattern in `text`: an array of objects, one unless the flags say `g`.
pub fn matches(text: &Val, pattern: &Val, flags: &Val) -> ValR {
    let Val::TStr(subject) = text else {
        return Err(Error::str(format!(
            "{} cannot be matched, as it is not a string",
            wording::described(text)
        )));
    };
    let Val::TStr(pattern) = pattern else {
        return Err(Error::str(format!(
            "{} cannot be matched, as it is not a string",
            wording::described(pattern)
        )));
    };
    let flags = Flags::parse(flags)?;
    let pattern = String::from_utf8_lossy(pattern);
    let regex = flags
        .build(&pattern)
        .map_err(|problem| Error::str(format!("{pattern} (at offset 0) is not a valid regex: {problem}")))?;
    let mut counter = Counter { text: subject, byte: 0, signs: 0 };
    let mut found = Vec::new();
    for groups in regex.captures_iter(subject) {
        let empty = groups.get(0).is_none_or(|whole| whole.is_empty());
        if !(empty && flags.no_empty) {
            found.push(described(&regex, &groups, &mut counter));
        }
        if !flags.global {
            break;
        }
    }
    Ok(found.into_iter().collect())
}

#[derive(Default)]
struct Flags {
    global: bool,
    no_empty: bool,
    no_case: bool,
    extended: bool,
    dot_all: bool,
}

impl Flags {
    fn parse(flags: &Val) -> Result<Self, jaq_json::Error> {
        let mut parsed = Self::default();
        let text = match flags {
            Val::Null => return Ok(parsed),
            Val::TStr(text) => String::from_utf8_lossy(text).into_owned(),
            other => return Err(Error::str(format!("{} is not a string", wording::described(other)))),
        };
        for flag in text.chars() {
            match flag {
                'g' => parsed.global = true,
                'n' => parsed.no_empty = true,
                'i' => parsed.no_case = true,
                'x' => parsed.extended = true,
                'p' => parsed.dot_all = true,
                // `s` changes what no pattern without line anchors can tell; `l` asks for the longest.
                's' | 'l' => {}
                _ => return Err(Error::str(format!("{text} is not a valid modifier string"))),
            }
        }
        Ok(parsed)
    }

    fn build(&self, pattern: &str) -> Result<Regex, regex_bites::bytes::Error> {
        RegexBuilder::new(pattern)
            .case_insensitive(self.no_case)
            .ignore_whitespace(self.extended)
            .dot_matches_new_line(self.dot_all)
            .build()
    }
}

/// Turns offsets of bytes into offsets of characters; forward is cheap, backward starts again.
struct Counter<'a> {
    text: &'a [u8],
    byte: usize,
    signs: usize,
}

impl Counter<'_> {
    fn signs_before(&mut self, byte: usize) -> usize {
        if byte < self.byte {
            (self.byte, self.signs) = (0, 0);
        }
        self.signs += count(&self.text[self.byte..byte]);
        self.byte = byte;
        self.signs
    }
}

fn count(bytes: &[u8]) -> usize {
    bytes.iter().filter(|byte| **byte & 0xc0 != 0x80).count()
}

fn described(regex: &Regex, groups: &Captures<'_>, counter: &mut Counter<'_>) -> Val {
    let mut whole = Map::default();
    let mut captures = Vec::new();
    for (at, (group, name)) in groups.iter().zip(regex.capture_names()).enumerate() {
        let mut fields = Map::default();
        let mut put = |key: &str, value: Val| drop(fields.insert(Val::from(key.to_owned()), value));
        match group {
            Some(group) => {
                put("offset", Val::from(counter.signs_before(group.start())));
                put("length", Val::from(count(group.as_bytes())));
                put("string", Val::utf8_str(group.as_bytes().to_vec()));
            }
            None => {
                put("offset", Val::from(-1isize));
                put("string", Val::Null);
                put("length", Val::from(0usize));
            }
        }
        if at == 0 {
            whole = fields;
        } else {
            put("name", name.map_or(Val::Null, |name| Val::from(name.to_owned())));
            captures.push(Val::obj(fields));
        }
    }
    whole.insert(Val::from("captures".to_owned()), captures.into_iter().collect());
    Val::obj(whole)
}

//! `$x`, `$(name)`, `$(name:a=b)` and `$(function …)`.

use crate::read::Make;
use crate::text::{find_outside, patsubst};
use crate::{Done, Stop, function};

/// Values inside values.
const DEPTH_MAX: usize = 200;

impl Make {
    /// A text with everything in it replaced.
    pub fn expand(&mut self, text: &str) -> Done<String> {
        if !text.contains('$') {
            return Ok(text.to_owned());
        }
        let mut all = String::with_capacity(text.len());
        let bytes = text.as_bytes();
        let mut at = 0;
        while let Some(found) = text[at..].find('$').map(|it| at + it) {
            all.push_str(&text[at..found]);
            match bytes.get(found + 1) {
                None => {
                    at = found + 1;
                }
                Some(b'$') => {
                    all.push('$');
                    at = found + 2;
                }
                Some(open @ (b'(' | b'{')) => {
                    let close = if *open == b'(' { b')' } else { b'}' };
                    let Some(end) = closing(bytes, found + 2, *open, close) else {
                        return Err(self.stop("unterminated variable reference"));
                    };
                    all.push_str(&self.reference(&text[found + 2..end])?);
                    at = end + 1;
                }
                Some(_) => {
                    let letter = text[found + 1..].chars().next().unwrap_or('$');
                    all.push_str(&self.value(&letter.to_string())?);
                    at = found + 1 + letter.len_utf8();
                }
            }
        }
        all.push_str(&text[at..]);
        Ok(all)
    }

    /// What stands between the brackets.
    fn reference(&mut self, inner: &str) -> Done<String> {
        if let Some(at) = inner.find([' ', '\t'])
            && function::exists(&inner[..at])
        {
            return function::call(self, &inner[..at], inner[at..].trim_start());
        }
        if let Some(colon) = find_outside(inner, b":")
            && let Some(equals) = find_outside(&inner[colon + 1..], b"=")
        {
            let name = self.expand(&inner[..colon])?;
            let from = self.expand(&inner[colon + 1..colon + 1 + equals])?;
            let to = self.expand(&inner[colon + 2 + equals..])?;
            let value = self.value(&name)?;
            return Ok(match from.contains('%') {
                true => patsubst(&from, &to, &value),
                false => patsubst(&format!("%{from}"), &format!("%{to}"), &value),
            });
        }
        let name = self.expand(inner)?;
        self.value(name.trim())
    }

    /// A variable's value, expanded.
    pub fn value(&mut self, name: &str) -> Done<String> {
        if let Some(value) = self.automatic_part(name) {
            return Ok(value);
        }
        let Some(variable) = self.variables.get(name).cloned() else { return Ok(String::new()) };
        self.note_used(name, &variable);
        if !variable.recursive {
            return Ok(variable.value);
        }
        if self.open.iter().any(|it| it == name) {
            return Err(self.stop(format!("Recursive variable '{name}' references itself (eventually)")));
        }
        if self.open.len() > DEPTH_MAX {
            return Err(self.stop("values are nested too deeply"));
        }
        self.open.push(name.to_owned());
        let value = self.expand(&variable.value);
        self.open.pop();
        value
    }

    /// `$(@D)` and `$(^F)`: directories and names of automatic variables.
    fn automatic_part(&mut self, name: &str) -> Option<String> {
        let mut letters = name.chars();
        let (sign, part) = (letters.next()?, letters.next()?);
        if letters.next().is_some() || !"@<^+?*%|".contains(sign) || !"DF".contains(part) {
            return None;
        }
        let sign = sign.to_string();
        let variable = self.variables.get(&sign)?.clone();
        self.note_used(&sign, &variable);
        let one = |word: &str| match part {
            'D' => {
                crate::text::dir(word).strip_suffix('/').filter(|it| !it.is_empty()).unwrap_or("/").to_owned()
            }
            _ => crate::text::notdir(word).to_owned(),
        };
        Some(variable.value.split_whitespace().map(one).collect::<Vec<_>>().join(" "))
    }

    /// An end with the place that is being read.
    pub fn stop(&self, text: impl Into<String>) -> Stop {
        Stop {
            place: self.place.clone().map(|(file, line)| format!("{file}:{line}: ")).unwrap_or_default(),
            text: text.into(),
        }
    }
}

fn closing(bytes: &[u8], from: usize, open: u8, close: u8) -> Option<usize> {
    let mut depth = 0;
    for (at, byte) in bytes.iter().enumerate().skip(from) {
        if *byte == open {
            depth += 1;
        } else if *byte == close {
            if depth == 0 {
                return Some(at);
            }
            depth -= 1;
        }
    }
    None
}

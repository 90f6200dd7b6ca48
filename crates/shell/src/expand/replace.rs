//! `${x/pattern/text}`.

use crate::{
    pattern::Pattern,
    state::{Env, Eval},
    syntax::ast::{Replace, Word},
};

/// What takes the place of a match: text, and where `&` puts the match itself.
pub(super) struct Replacement(Vec<Option<String>>);

impl Env {
    pub(super) async fn replacement(&mut self, word: &Word) -> Eval<Replacement> {
        let keep = std::mem::replace(&mut self.unknown.keep, false);
        let field = self.whole_field(word).await;
        self.unknown.keep = keep;
        let field = field?;
        // The pattern form tells quoted from unquoted: there a backslash stands before what was quoted.
        if !field.clone().text().contains('&') {
            return Ok(Replacement(vec![Some(field.text())]));
        }
        Ok(Replacement(field.replacement()))
    }
}

impl super::Field {
    fn replacement(&self) -> Vec<Option<String>> {
        let mut parts = Vec::new();
        for (text, quoted) in self.parts() {
            if quoted {
                parts.push(Some(text.to_owned()));
                continue;
            }
            let mut plain = String::new();
            let mut chars = text.chars().peekable();
            while let Some(next) = chars.next() {
                match next {
                    '\\' if matches!(chars.peek(), Some('&' | '\\')) => plain.extend(chars.next()),
                    '&' => {
                        parts.push(Some(std::mem::take(&mut plain)));
                        parts.push(None);
                    }
                    other => plain.push(other),
                }
            }
            parts.push(Some(plain));
        }
        parts
    }
}

impl Replacement {
    /// Puts it there; `None` if that makes more than `bytes_max`.
    fn put(&self, matched: &[char], into: &mut String, bytes_max: usize) -> Option<()> {
        for part in &self.0 {
            match part {
                Some(text) => into.push_str(text),
                None => into.extend(matched),
            }
            if into.len() > bytes_max {
                return None;
            }
        }
        Some(())
    }

    fn plain(&self) -> Option<&str> {
        match self.0.as_slice() {
            [Some(text)] => Some(text),
            _ => None,
        }
    }
}

/// The text with what matches replaced; `None` if that grows far beyond `bytes_max`.
pub(super) fn replace(
    text: &str,
    pattern: &Pattern,
    with: &Replacement,
    how: Replace,
    bytes_max: usize,
) -> Option<String> {
    if let (Some(literal), Some(plain)) = (pattern.literal(), with.plain()) {
        if literal.is_empty() {
            return Some(match how {
                Replace::Prefix => format!("{plain}{text}"),
                Replace::Suffix => format!("{text}{plain}"),
                Replace::First | Replace::All => text.to_owned(),
            });
        }
        let grows = plain.len().saturating_sub(literal.len());
        if how == Replace::All && text.matches(&*literal).count().saturating_mul(grows) > bytes_max {
            return None;
        }
        return Some(match how {
            Replace::All => text.replace(&literal, plain),
            Replace::First => text.replacen(&literal, plain, 1),
            Replace::Prefix => match text.strip_prefix(&*literal) {
                Some(rest) => format!("{plain}{rest}"),
                None => text.to_owned(),
            },
            Replace::Suffix => match text.strip_suffix(&*literal) {
                Some(rest) => format!("{rest}{plain}"),
                None => text.to_owned(),
            },
        });
    }
    let typed: Vec<char> = text.chars().collect();
    let chars = pattern.chars(text);
    if chars.len() != typed.len() {
        return Some(text.to_owned());
    }
    let mut result = String::with_capacity(text.len());
    if how == Replace::Suffix {
        let Some(start) = (0..=chars.len()).find(|start| pattern.whole(&chars, *start)) else {
            return Some(text.to_owned());
        };
        result.extend(&typed[..start]);
        with.put(&typed[start..], &mut result, bytes_max)?;
        return Some(result);
    }
    let mut at = 0;
    while at <= chars.len() {
        let end = pattern.end_from(&chars, at, true);
        match end {
            Some(end) => {
                with.put(&typed[at..end], &mut result, bytes_max)?;
                if end == at {
                    result.extend(typed.get(at));
                    at += 1;
                } else {
                    at = end;
                }
                // Nothing is left to match at the very end of a text.
                if how != Replace::All || (at == chars.len() && !chars.is_empty()) {
                    break;
                }
            }
            None => {
                result.extend(typed.get(at));
                at += 1;
                if how == Replace::Prefix {
                    break;
                }
            }
        }
    }
    result.extend(typed.get(at..).into_iter().flatten());
    Some(result)
}

//! The operators of `${…}` on plain text.

use crate::{
    pattern::Pattern,
    syntax::{ansi_c, ast::CaseChange},
};

pub(super) fn remove_prefix(text: &str, pattern: &Pattern, longest: bool) -> String {
    if let Some(literal) = pattern.literal() {
        return text.strip_prefix(&*literal).unwrap_or(text).to_owned();
    }
    let chars = pattern.chars(text);
    match pattern.end_from(&chars, 0, longest) {
        Some(end) => text.chars().skip(end).collect(),
        None => text.to_owned(),
    }
}

pub(super) fn remove_suffix(text: &str, pattern: &Pattern, longest: bool) -> String {
    if let Some(literal) = pattern.literal() {
        return text.strip_suffix(&*literal).unwrap_or(text).to_owned();
    }
    let chars = pattern.chars(text);
    let mut starts = 0..=chars.len();
    let fits = |start: &usize| pattern.whole(&chars, *start);
    let found = if longest { starts.find(fits) } else { starts.rev().find(fits) };
    match found {
        Some(start) => text.chars().take(start).collect(),
        None => text.to_owned(),
    }
}

pub(super) fn change_case(text: &str, how: CaseChange, all: bool, pattern: Option<&Pattern>) -> String {
    let mut changed = String::with_capacity(text.len());
    for (index, next) in text.chars().enumerate() {
        let wanted = (all || index == 0)
            && pattern.is_none_or(|pattern| pattern.matches(next.encode_utf8(&mut [0; 4])));
        if !wanted {
            changed.push(next);
            continue;
        }
        match how {
            CaseChange::Upper => changed.extend(next.to_uppercase()),
            CaseChange::Lower => changed.extend(next.to_lowercase()),
            CaseChange::Toggle if next.is_uppercase() => changed.extend(next.to_lowercase()),
            CaseChange::Toggle => changed.extend(next.to_uppercase()),
        }
    }
    changed
}

/// `${x:offset:length}` of a text.
pub(super) fn slice_text(text: &str, offset: i64, length: Option<i64>) -> Result<String, String> {
    let count = text.chars().count() as i64;
    let Some((from, to)) = bounds(count, offset, length, true)? else { return Ok(String::new()) };
    Ok(text.chars().skip(from).take(to - from).collect())
}

/// `${a[@]:offset:length}`.
pub(super) fn slice_list(
    items: Vec<String>,
    offset: i64,
    length: Option<i64>,
) -> Result<Vec<String>, String> {
    let count = items.len() as i64;
    let Some((from, to)) = bounds(count, offset, length, false)? else { return Ok(Vec::new()) };
    Ok(items.into_iter().skip(from).take(to - from).collect())
}

fn bounds(
    count: i64,
    offset: i64,
    length: Option<i64>,
    text: bool,
) -> Result<Option<(usize, usize)>, String> {
    let from = if offset < 0 { count.saturating_add(offset) } else { offset };
    if from < 0 || from > count {
        return Ok(None);
    }
    let to = match length {
        None => count,
        Some(length) if length < 0 && text => count.saturating_add(length),
        Some(length) if length < 0 => return Err(format!("{length}: substring expression < 0")),
        Some(length) => from.saturating_add(length).min(count),
    };
    if to < from {
        return Err(format!("{}: substring expression < 0", length.unwrap_or(0)));
    }
    Ok(Some((from as usize, to as usize)))
}

pub(super) fn transform(text: &str, letter: char) -> String {
    match letter {
        'Q' => super::quote::single(text),
        'E' => ansi_c(text),
        'U' => text.to_uppercase(),
        'L' => text.to_lowercase(),
        'u' => change_case(text, CaseChange::Upper, false, None),
        _ => text.to_owned(),
    }
}

//! Bracket expressions: `[a-z]`, `[^[:space:]]`, `[]x]`, `[[.-.]]`.
//!
//! Inside brackets POSIX knows no escapes: a backslash stands for itself.

use super::SyntaxError;
use super::posix::push_literal;

/// Translates what follows `[`; the class, and the pattern after it.
pub fn translate(pattern: &str) -> Result<(String, &str), SyntaxError> {
    let mut rest = pattern;
    let mut out = String::from("[");
    if let Some(after) = rest.strip_prefix('^') {
        out.push('^');
        rest = after;
    }
    let mut first = true;
    loop {
        let sign = rest.chars().next().ok_or(SyntaxError::Bracket)?;
        if sign == ']' && !first {
            out.push(']');
            return Ok((out, &rest[1..]));
        }
        first = false;
        let (item, after) = item(rest)?;
        rest = after;
        let low = match item {
            Item::Class(class) => {
                out.push_str(class);
                continue;
            }
            Item::Sign(sign) => sign,
        };
        // A `-` before the closing bracket is no range.
        let range = rest.strip_prefix('-').filter(|after| !after.starts_with(']'));
        let Some(after) = range else {
            push_literal(&mut out, low);
            continue;
        };
        let (high, after) = item_sign(after)?;
        rest = after;
        if high < low {
            return Err(SyntaxError::Range);
        }
        push_literal(&mut out, low);
        out.push('-');
        push_literal(&mut out, high);
    }
}

enum Item {
    Sign(char),
    Class(&'static str),
}

fn item_sign(pattern: &str) -> Result<(char, &str), SyntaxError> {
    match item(pattern)? {
        (Item::Sign(sign), rest) => Ok((sign, rest)),
        (Item::Class(_), _) => Err(SyntaxError::Range),
    }
}

fn item(pattern: &str) -> Result<(Item, &str), SyntaxError> {
    let sign = pattern.chars().next().ok_or(SyntaxError::Bracket)?;
    let rest = &pattern[sign.len_utf8()..];
    if sign != '[' {
        return Ok((Item::Sign(sign), rest));
    }
    for (open, close) in [(":", ":]"), (".", ".]"), ("=", "=]")] {
        let Some(inside) = rest.strip_prefix(open) else { continue };
        let (name, rest) = inside.split_once(close).ok_or(SyntaxError::Bracket)?;
        if open == ":" {
            return Ok((Item::Class(class(name).ok_or(SyntaxError::Class)?), rest));
        }
        // Collating elements and equivalence classes of one sign only, as in the C locale.
        let mut signs = name.chars();
        return match (signs.next(), signs.next()) {
            (Some(sign), None) => Ok((Item::Sign(sign), rest)),
            _ => Err(SyntaxError::Class),
        };
    }
    Ok((Item::Sign('['), rest))
}

/// The inside of a class of that name, Unicode aware as in a UTF-8 locale.
fn class(name: &str) -> Option<&'static str> {
    Some(match name {
        "alpha" => r"\p{Alphabetic}",
        "digit" => "0-9",
        "alnum" => r"\p{Alphabetic}\p{Nd}",
        "upper" => r"\p{Uppercase}",
        "lower" => r"\p{Lowercase}",
        "space" => r"\s",
        "blank" => r"\t\p{Zs}",
        "punct" => r"\p{P}\p{S}",
        "cntrl" => r"\p{Cc}",
        "xdigit" => "0-9A-Fa-f",
        "print" => r"\p{L}\p{M}\p{N}\p{P}\p{S}\p{Zs}",
        "graph" => r"\p{L}\p{M}\p{N}\p{P}\p{S}",
        _ => return None,
    })
}

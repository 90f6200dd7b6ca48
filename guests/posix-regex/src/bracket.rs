//! Bracket expressions: `[a-z]`, `[^[:space:]]`, `[]x]`, `[[.-.]]`.
//!
//! Inside brackets POSIX knows no escapes: a backslash stands for itself, except in awk.

use crate::ast::Node;
use crate::error::SyntaxError;
use crate::parse::{Flavor, awk_escape, take_sign};
use crate::print::push_literal;

/// Translates what follows `[`; the class, and the pattern after it.
pub(crate) fn translate(pattern: &[u8], flavor: Flavor) -> Result<(String, &[u8]), SyntaxError> {
    let mut rest = pattern;
    let mut out = String::from("[");
    if let Some(after) = rest.strip_prefix(b"^") {
        out.push('^');
        rest = after;
    }
    let mut first = true;
    loop {
        let sign = *rest.first().ok_or(SyntaxError::Bracket)?;
        if sign == b']' && !first {
            out.push(']');
            return Ok((out, &rest[1..]));
        }
        first = false;
        let (item, after) = item(rest, flavor)?;
        rest = after;
        let low = match item {
            Item::Class(class) => {
                out.push_str(class);
                continue;
            }
            Item::Sign(sign) => sign,
        };
        // A `-` before the closing bracket is no range.
        let range = rest.strip_prefix(b"-").filter(|after| !after.starts_with(b"]"));
        let Some(after) = range else {
            push_literal(&mut out, low);
            continue;
        };
        let (high, after) = item_sign(after, flavor)?;
        rest = after;
        if high < low {
            return Err(SyntaxError::Range);
        }
        push_literal(&mut out, low);
        out.push('-');
        push_literal(&mut out, high);
        // `[1-3-5]`: what ended one range begins no other.
        if rest.starts_with(b"-") && !rest.starts_with(b"-]") {
            return Err(SyntaxError::Range);
        }
    }
}

enum Item {
    Sign(char),
    Class(&'static str),
}

fn item_sign(pattern: &[u8], flavor: Flavor) -> Result<(char, &[u8]), SyntaxError> {
    match item(pattern, flavor)? {
        (Item::Sign(sign), rest) => Ok((sign, rest)),
        (Item::Class(_), _) => Err(SyntaxError::Range),
    }
}

fn item(pattern: &[u8], flavor: Flavor) -> Result<(Item, &[u8]), SyntaxError> {
    let (node, rest) = take_sign(pattern).ok_or(SyntaxError::Bracket)?;
    let sign = match node {
        Node::Sign(sign) => sign,
        // No class can hold half a character; the sign for what is unreadable stands in.
        _ => char::REPLACEMENT_CHARACTER,
    };
    if sign == '\\' && flavor == Flavor::Awk {
        let (escaped, rest) = match take_sign(rest) {
            Some((Node::Sign(escaped), rest)) => (escaped, rest),
            _ => return Err(SyntaxError::TrailingBackslash),
        };
        let class = match escaped {
            's' => Some(r"\s"),
            'S' => Some(r"\S"),
            'w' => Some(r"\w"),
            'W' => Some(r"\W"),
            _ => None,
        };
        if let Some(class) = class {
            return Ok((Item::Class(class), rest));
        }
        let (sign, rest) = awk_escape(escaped, rest);
        return Ok((Item::Sign(sign), rest));
    }
    if sign != '[' {
        return Ok((Item::Sign(sign), rest));
    }
    for (open, close) in [(b':', b":]"), (b'.', b".]"), (b'=', b"=]")] {
        let Some(inside) = rest.strip_prefix(&[open]) else { continue };
        let Some(end) = memchr::memmem::find(inside, close) else {
            // Gawk and GNU's matcher read an unfinished `[:` as two signs if a bracket follows.
            if open == b':' { break } else { return Err(SyntaxError::Bracket) }
        };
        let (name, rest) = (&inside[..end], &inside[end + 2..]);
        if open == b':' {
            return Ok((Item::Class(class(name).ok_or(SyntaxError::Class)?), rest));
        }
        // Collating elements and equivalence classes of one sign only, as in the C locale.
        return match take_sign(name) {
            Some((Node::Sign(sign), [])) => Ok((Item::Sign(sign), rest)),
            _ => Err(SyntaxError::Class),
        };
    }
    Ok((Item::Sign('['), rest))
}

/// The inside of a class of that name, Unicode aware as in a UTF-8 locale.
fn class(name: &[u8]) -> Option<&'static str> {
    Some(match name {
        b"alpha" => r"\p{Alphabetic}",
        b"digit" => "0-9",
        b"alnum" => r"\p{Alphabetic}\p{Nd}",
        b"upper" => r"\p{Uppercase}",
        b"lower" => r"\p{Lowercase}",
        b"space" => r"\s",
        b"blank" => r"\t\p{Zs}",
        b"punct" => r"\p{P}\p{S}",
        b"cntrl" => r"\p{Cc}",
        b"xdigit" => "0-9A-Fa-f",
        b"print" => r"\p{L}\p{M}\p{N}\p{P}\p{S}\p{Zs}",
        b"graph" => r"\p{L}\p{M}\p{N}\p{P}\p{S}",
        _ => return None,
    })
}

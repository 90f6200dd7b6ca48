//! Regular expressions over strings, with results in jq's shape.

use super::{Row, wrong};
use crate::regex::{Found, Options, Regex};
use crate::run::Exit;
use crate::value::{Object, Text, Value};
use std::cell::RefCell;
use std::rc::Rc;

pub(super) const TABLE: &[Row] = &[
    ("test", 1, |value, args| {
        let (pattern, flags) = spread(&args[0])?;
        test(&value, &pattern, &flags)
    }),
    ("test", 2, |value, args| test(&value, &args[0], &args[1])),
    ("_match", 2, |value, args| {
        let (pattern, flags) = if matches!(args[1], Value::Null) {
            spread(&args[0])?
        } else {
            (args[0].clone(), args[1].clone())
        };
        let text = subject(&value)?;
        Ok(find_all(text, &pattern, &flags)?.iter().map(|found| found.object(text)).collect())
    }),
    ("_named", 0, |value, _| Ok(named(&value))),
    ("split", 2, |value, args| {
        let text = subject(&value)?;
        let flags = match &args[1] {
            Value::Null => Value::str("g"),
            Value::Str(flags) => Value::from(format!("g{}", flags.as_str())),
            other => {
                return Err(Exit::error(format!(
                    "{} and {} cannot be added",
                    Value::str("g").described(),
                    other.described()
                )));
            }
        };
        let (mut pieces, mut from) = (Vec::new(), 0);
        for found in find_all(text, &args[0], &flags)? {
            pieces.push(Value::str(&text[from..found.start()]));
            from = found.end();
        }
        pieces.push(Value::str(&text[from..]));
        Ok(Value::arr(pieces))
    }),
];

thread_local! {
    /// The last patterns: a program usually matches one of them against many strings.
    static RECENT: RefCell<Vec<(Text, Text, Rc<Regex>)>> = const { RefCell::new(Vec::new()) };
}
const RECENT_MAX: usize = 16;

/// A match, with what of the pattern is needed to show it.
pub struct Match {
    found: Found,
    regex: Rc<Regex>,
}

impl Match {
    /// Where it begins.
    pub fn start(&self) -> usize {
        self.found[0].map_or(0, |(start, _)| start)
    }

    /// Where it ends.
    pub fn end(&self) -> usize {
        self.found[0].map_or(0, |(_, end)| end)
    }

    /// What jq tells of each group: with an empty match, that all of them are empty.
    fn group(&self, at: usize) -> Option<(usize, usize)> {
        if self.start() == self.end() { self.found[0] } else { self.found[at] }
    }

    /// The groups with names, as an object.
    pub fn named(&self, text: &str) -> Value {
        let mut object = Object::new();
        for (at, name) in self.regex.names.iter().enumerate() {
            if let Some(name) = name {
                let value =
                    self.group(at + 1).map_or(Value::Null, |(start, end)| Value::str(&text[start..end]));
                object.insert(Text::new(name), value);
            }
        }
        Value::obj(object)
    }

    fn object(&self, text: &str) -> Value {
        let (start, end) = (self.start(), self.end());
        let captures = self.regex.names.iter().enumerate().map(|(at, name)| {
            let name = name.as_ref().map_or(Value::Null, |name| Value::str(name));
            match self.group(at + 1) {
                None => Value::record([
                    ("offset", Value::Num(-1.0)),
                    ("string", Value::Null),
                    ("length", Value::Num(0.0)),
                    ("name", name),
                ]),
                Some((start, end)) if start == end => Value::record([
                    ("offset", count(&text[..start])),
                    ("string", Value::EMPTY_STR),
                    ("length", Value::Num(0.0)),
                    ("name", name),
                ]),
                Some((start, end)) => Value::record([
                    ("offset", count(&text[..start])),
                    ("length", count(&text[start..end])),
                    ("string", Value::str(&text[start..end])),
                    ("name", name),
                ]),
            }
        });
        let captures = captures.collect();
        Value::record([
            ("offset", count(&text[..start])),
            ("length", count(&text[start..end])),
            ("string", Value::str(&text[start..end])),
            ("captures", captures),
        ])
    }
}

fn count(text: &str) -> Value {
    Value::from(text.chars().count())
}

fn subject(value: &Value) -> Result<&str, Exit> {
    value.as_str().ok_or_else(|| wrong(value, "cannot be matched, as it is not a string"))
}

/// `f($x)` where `$x` is a pattern, or an array of a pattern and flags.
fn spread(value: &Value) -> Result<(Value, Value), Exit> {
    match value {
        Value::Str(_) => Ok((value.clone(), Value::Null)),
        Value::Arr(items) if !items.is_empty() => {
            Ok((items[0].clone(), items.get(1).cloned().unwrap_or(Value::Null)))
        }
        other => Err(Exit::error(format!("{} not a string or array", other.kind()))),
    }
}

fn test(value: &Value, pattern: &Value, flags: &Value) -> Result<Value, Exit> {
    let text = subject(value)?;
    let (regex, _) = compiled(pattern, flags)?;
    Ok(Value::Bool(regex.find(text, 0).map_err(failure)?.is_some()))
}

/// All matches with the flag `g`, otherwise the first.
pub fn find_all(text: &str, pattern: &Value, flags: &Value) -> Result<Vec<Match>, Exit> {
    let (regex, global) = compiled(pattern, flags)?;
    let (mut all, mut from) = (Vec::new(), 0);
    while from <= text.len() {
        let Some(found) = regex.find(text, from).map_err(failure)? else { break };
        let (start, end) = found[0].unwrap_or((from, from));
        // After an empty match, go on behind the next character.
        from = if start == end { end + text[end..].chars().next().map_or(1, char::len_utf8) } else { end };
        all.push(Match { found, regex: regex.clone() });
        if !global {
            break;
        }
    }
    Ok(all)
}

fn compiled(pattern: &Value, flags: &Value) -> Result<(Rc<Regex>, bool), Exit> {
    let Value::Str(pattern) = pattern else { return Err(wrong(pattern, "is not a string")) };
    let flags = match flags {
        Value::Null => Text::EMPTY,
        Value::Str(flags) => flags.clone(),
        other => return Err(wrong(other, "is not a string")),
    };
    let mut options = Options::default();
    let mut global = false;
    for flag in flags.chars() {
        match flag {
            'g' => global = true,
            'i' => options.ignore_case = true,
            'x' => options.extended = true,
            'm' | 'p' => options.dot_all = true,
            's' => {}
            'l' => options.longest = true,
            'n' => options.not_empty = true,
            _ => return Err(Exit::error(format!("{} is not a valid modifier string", flags.as_str()))),
        }
    }
    let known = RECENT.with_borrow(|recent| {
        recent
            .iter()
            .find(|(text, with, _)| text == pattern && *with == flags)
            .map(|(.., regex)| regex.clone())
    });
    if let Some(regex) = known {
        return Ok((regex, global));
    }
    let regex = Rc::new(Regex::new(pattern, options).map_err(failure)?);
    RECENT.with_borrow_mut(|recent| {
        if recent.len() == RECENT_MAX {
            recent.remove(0);
        }
        recent.push((pattern.clone(), flags, regex.clone()));
    });
    Ok((regex, global))
}

fn failure(problem: &str) -> Exit {
    Exit::error(format!("Regex failure: {problem}"))
}

/// From a match as `match` shows it to what `capture` shows.
fn named(shown: &Value) -> Value {
    let mut object = Object::new();
    if let Value::Obj(fields) = shown
        && let Some(Value::Arr(captures)) = fields.get(&Text::new("captures"))
    {
        for capture in captures.iter() {
            let Value::Obj(capture) = capture else { continue };
            if let Some(Value::Str(name)) = capture.get(&Text::new("name")) {
                let value = capture.get(&Text::new("string")).cloned().unwrap_or(Value::Null);
                object.insert(name.clone(), value);
            }
        }
    }
    Value::obj(object)
}

//! YAML: events to values, and values in block style.

mod emit;
mod scalar;
pub mod tree;

pub use emit::{write, write_at};
pub use scalar::resolve;

use super::DEPTH_MAX;
use jq::value::{Object as Map, Text, Value as Val};
use saphyr_parser::{Event, Parser, ScalarStyle};

/// So many values may come out of aliases; a few lines can otherwise stand for billions.
const ALIASED_VALUES_MAX: usize = 1 << 20;

/// A container that is not closed yet, and the anchor it has.
enum Open {
    Sequence(Vec<Val>, usize),
    Mapping(Map, Option<Text>, usize),
}

/// All documents; messages count their lines from so many on.
pub fn read(text: &str, lines_before: usize) -> Result<Vec<Val>, String> {
    let mut documents = Vec::new();
    let mut open: Vec<Open> = Vec::new();
    let mut anchors: Vec<(usize, Val)> = Vec::new();
    let mut aliased = 0;
    for event in Parser::new_from_str(text) {
        let (event, _) = event.map_err(|error| {
            let mark = error.marker();
            format!("yaml: line {}: {}", mark.line() + lines_before, error.info())
        })?;
        let (done, anchor) = match event {
            Event::Scalar(text, ScalarStyle::Plain, anchor, tag) => {
                (scalar::plain(&text, tag.as_deref()), anchor)
            }
            Event::Scalar(text, _, anchor, tag) => (scalar::quoted(&text, tag.as_deref()), anchor),
            Event::Alias(id) => {
                let found =
                    anchors.iter().rev().find(|(known, _)| *known == id).map(|(_, value)| value.clone());
                let value = found.ok_or("yaml: unknown anchor")?;
                aliased += size(&value);
                if aliased > ALIASED_VALUES_MAX {
                    return Err("yaml: document contains excessive aliasing".to_owned());
                }
                (value, 0)
            }
            Event::SequenceStart(anchor, _) => {
                push(&mut open, Open::Sequence(Vec::new(), anchor))?;
                continue;
            }
            Event::MappingStart(anchor, _) => {
                push(&mut open, Open::Mapping(Map::new(), None, anchor))?;
                continue;
            }
            Event::SequenceEnd | Event::MappingEnd => match open.pop() {
                Some(Open::Sequence(items, anchor)) => (items.into_iter().collect(), anchor),
                Some(Open::Mapping(fields, _, anchor)) => (Val::obj(merged(fields)), anchor),
                None => return Err("yaml: unexpected end".to_owned()),
            },
            _ => continue,
        };
        if anchor > 0 {
            anchors.push((anchor, done.clone()));
        }
        match open.last_mut() {
            None => documents.push(done),
            Some(Open::Sequence(items, _)) => items.push(done),
            Some(Open::Mapping(fields, key, _)) => match key.take() {
                None => *key = Some(as_key(done)),
                Some(key) => fields.insert(key, done),
            },
        }
    }
    Ok(documents)
}

/// What a text has that is no part of its values, in words.
pub fn particulars(text: &str) -> Vec<&'static str> {
    let (mut scalars, mut anchors, mut tags) = (Vec::new(), false, false);
    let offsets: Vec<usize> = text.char_indices().map(|it| it.0).chain([text.len()]).collect();
    let place = |index: usize| offsets.get(index).copied().unwrap_or(text.len());
    for event in Parser::new_from_str(text) {
        let Ok((event, span)) = event else { break };
        let (anchor, tag) = match &event {
            Event::Scalar(_, style, anchor, tag) => {
                scalars.push(tree::scalar_span(
                    text,
                    place(span.start.index()),
                    place(span.end.index()),
                    *style,
                ));
                (*anchor, tag.is_some())
            }
            Event::SequenceStart(anchor, tag) | Event::MappingStart(anchor, tag) => (*anchor, tag.is_some()),
            Event::Alias(_) => (1, false),
            _ => (0, false),
        };
        anchors |= anchor > 0;
        tags |= tag;
    }
    // A `#` behind a blank begins a comment, unless it stands in a scalar.
    let (mut scalars, mut comments, mut blank) = (scalars.into_iter().peekable(), false, true);
    for (at, sign) in text.char_indices() {
        while scalars.next_if(|it| it.1 <= at).is_some() {}
        let inside = scalars.peek().is_some_and(|it| it.0 <= at);
        comments |= sign == '#' && blank && !inside;
        blank = sign.is_whitespace();
    }
    let found = [(comments, "comments"), (anchors, "anchors"), (tags, "tags")];
    found.into_iter().filter(|it| it.0).map(|it| it.1).collect()
}

fn push(open: &mut Vec<Open>, container: Open) -> Result<(), String> {
    if open.len() >= DEPTH_MAX {
        return Err("yaml: nested too deeply".to_owned());
    }
    open.push(container);
    Ok(())
}

/// jq's objects have strings for keys.
fn as_key(value: Val) -> Text {
    match value {
        Val::Str(text) => text,
        other => super::plain(&other).into(),
    }
}

/// Takes over what `<<` names, where the mapping does not say it itself.
fn merged(mut fields: Map) -> Map {
    let merge = super::key("<<");
    let Some(from) = fields.get(&merge).cloned() else { return fields };
    let sources = match from {
        Val::Obj(_) => vec![from],
        Val::Arr(items) if items.iter().all(|item| matches!(item, Val::Obj(_))) => items.to_vec(),
        _ => return fields,
    };
    let mut all = Map::new();
    for (key, value) in fields.take_fields() {
        if key != merge {
            all.insert(key, value);
            continue;
        }
        for source in &sources {
            let Val::Obj(source) = source else { continue };
            for (key, value) in source.iter() {
                if !all.contains_key(key) {
                    all.insert(key.clone(), value.clone());
                }
            }
        }
    }
    all
}

fn size(value: &Val) -> usize {
    match value {
        Val::Arr(items) => items.iter().map(size).sum::<usize>() + 1,
        Val::Obj(fields) => fields.iter().map(|(_, value)| size(value)).sum::<usize>() + 1,
        _ => 1,
    }
}

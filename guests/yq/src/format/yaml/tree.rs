//! Where the nodes of a YAML text stand.

use super::super::DEPTH_MAX;
use super::scalar;
use jq::value::{Text, Value as Val};
use saphyr_parser::{Event, Parser, ScalarStyle};

/// A node, and the bytes of the text it is made of. A container ends with its last child.
pub struct Node {
    pub start: usize,
    pub end: usize,
    pub kind: Kind,
}

/// What a node is.
pub enum Kind {
    Scalar,
    Alias,
    Sequence(Vec<Node>),
    Mapping(Vec<Entry>),
}

/// A key and its value.
pub struct Entry {
    /// Nothing where the key is no scalar.
    pub name: Option<Text>,
    pub key: Node,
    pub value: Node,
}

struct Open {
    start: usize,
    kind: Kind,
    /// Of a mapping, the key whose value comes next.
    key: Option<(Option<Text>, Node)>,
}

/// One node for each document; `None` for a text that is none, or too deep.
pub fn of(text: &str) -> Option<Vec<Node>> {
    let offsets: Vec<usize> = text.char_indices().map(|it| it.0).chain([text.len()]).collect();
    let place = |index: usize| offsets.get(index).copied().unwrap_or(text.len());
    let mut documents = Vec::new();
    let mut open: Vec<Open> = Vec::new();
    for event in Parser::new_from_str(text) {
        let (event, span) = event.ok()?;
        let mut name = None;
        let done = match event {
            Event::Scalar(spelled, style, _, tag) => {
                let value = match style {
                    ScalarStyle::Plain => scalar::plain(&spelled, tag.as_deref()),
                    _ => scalar::quoted(&spelled, tag.as_deref()),
                };
                name = Some(match value {
                    Val::Str(text) => text,
                    other => super::super::plain(&other).into(),
                });
                leaf(text, place(span.start.index()), place(span.end.index()), style, Kind::Scalar)
            }
            Event::Alias(_) => {
                let (start, end) = (place(span.start.index()), place(span.end.index()));
                leaf(text, start, end, ScalarStyle::Plain, Kind::Alias)
            }
            Event::SequenceStart(..) | Event::MappingStart(..) => {
                if open.len() >= DEPTH_MAX {
                    return None;
                }
                let is_mapping = matches!(event, Event::MappingStart(..));
                let kind = if is_mapping { Kind::Mapping(Vec::new()) } else { Kind::Sequence(Vec::new()) };
                open.push(Open { start: place(span.start.index()), kind, key: None });
                continue;
            }
            Event::SequenceEnd | Event::MappingEnd => {
                let Open { start, kind, .. } = open.pop()?;
                let last = match &kind {
                    Kind::Sequence(items) => items.last().map(|it| it.end),
                    Kind::Mapping(entries) => entries.last().map(|it| it.value.end.max(it.key.end)),
                    Kind::Scalar | Kind::Alias => None,
                };
                // What is in brackets ends with them.
                let flow = text.get(start..)?.starts_with(['[', '{']);
                let end = match flow {
                    true => place(span.start.index()) + 1,
                    false => last.unwrap_or(start),
                };
                if flow && !text.get(..end)?.ends_with([']', '}']) {
                    return None;
                }
                Node { start, end, kind }
            }
            _ => continue,
        };
        match open.last_mut() {
            None => documents.push(done),
            Some(Open { kind: Kind::Mapping(entries), key, .. }) => match key.take() {
                None => *key = Some((name, done)),
                Some((name, key)) => entries.push(Entry { name, key, value: done }),
            },
            Some(Open { kind: Kind::Sequence(items), .. }) => items.push(done),
            Some(_) => return None,
        }
    }
    Some(documents)
}

/// Where a scalar begins and ends.
pub fn scalar_span(text: &str, start: usize, end: usize, style: ScalarStyle) -> (usize, usize) {
    let node = leaf(text, start, end, style, Kind::Scalar);
    (node.start, node.end)
}

fn leaf(text: &str, start: usize, end: usize, style: ScalarStyle, kind: Kind) -> Node {
    // The span of a scalar may reach over blanks and comments to the next node.
    let inside = text.get(start..end.max(start)).unwrap_or_default();
    let length = match style {
        ScalarStyle::SingleQuoted => quoted(inside, '\'', None),
        ScalarStyle::DoubleQuoted => quoted(inside, '"', Some('\\')),
        ScalarStyle::Literal | ScalarStyle::Folded => block(inside),
        ScalarStyle::Plain => {
            let comment = inside.match_indices('#').find(|it| inside[..it.0].ends_with([' ', '\t', '\n']));
            inside[..comment.map_or(inside.len(), |it| it.0)].trim_end().len()
        }
    };
    Node { start, end: start + length, kind }
}

/// Up to and with the closing quote; two single ones are none.
fn quoted(text: &str, quote: char, escape: Option<char>) -> usize {
    let mut signs = text.char_indices().skip(1).peekable();
    while let Some((at, sign)) = signs.next() {
        if Some(sign) == escape {
            signs.next();
        } else if sign == quote && (escape.is_some() || signs.next_if(|it| it.1 == quote).is_none()) {
            return at + 1;
        }
    }
    text.trim_end().len()
}

/// The first line, and those below it that are indented as the first of them is.
fn block(text: &str) -> usize {
    let mut indent = None;
    let (mut end, mut at) = (0, 0);
    for line in text.split_inclusive('\n') {
        let blanks = line.len() - line.trim_start_matches(' ').len();
        let is_empty = line.trim().is_empty();
        if at > 0 && !is_empty && blanks < *indent.get_or_insert(blanks.max(1)) {
            break;
        }
        at += line.len();
        if !is_empty {
            end = at - (line.len() - line.trim_end().len());
        }
    }
    end
}

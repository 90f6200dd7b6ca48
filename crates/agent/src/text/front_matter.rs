//! The YAML between two lines of `---` that a Markdown text begins with. Read by the events of a YAML parser, with what makes
//! YAML large or clever refused: anchors, aliases, tags, several documents, deep nesting, keys that are no plain text.

use saphyr_parser::{Event, Parser};

use super::shown;

/// The longest front matter.
pub const FRONT_MATTER_BYTES_MAX: usize = 16 << 10;
const DEPTH_MAX: usize = 6;
const NODES_MAX: usize = 1_000;

/// There is no front matter that could be read.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum BadFrontMatter {
    /// There is none.
    #[error(
        "it does not begin with front matter: a line `---`, fields such as `name: …`, and another line `---`"
    )]
    Missing,
    /// It has no end.
    #[error("its front matter has no end: a line `---` after the fields")]
    Open,
    /// It is too long.
    #[error("its front matter has {bytes} bytes, more than the {max} that are read")]
    TooLarge {
        /// How long it is.
        bytes: usize,
        /// How long it may be.
        max: usize,
    },
    /// It is no YAML.
    #[error("its front matter is no YAML: {why}")]
    Unreadable {
        /// What the parser says.
        why: String,
    },
    /// It has something that is not taken.
    #[error("its front matter has {what}, which is not taken here")]
    Refused {
        /// What.
        what: &'static str,
    },
    /// A key is there twice.
    #[error("its front matter has the field `{name}` twice; say it once")]
    Twice {
        /// Which.
        name: String,
    },
}

/// A value. Numbers and truth values are texts, as they were written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Node {
    /// A scalar.
    Text(String),
    /// A list.
    List(Vec<Node>),
    /// A mapping.
    Map(Vec<(String, Node)>),
}

impl Node {
    /// The text, if it is one.
    pub fn as_text(&self) -> Option<&str> {
        if let Self::Text(text) = self { Some(text) } else { None }
    }

    /// The texts, if it is a list of nothing else.
    pub fn as_texts(&self) -> Option<Vec<&str>> {
        let Self::List(items) = self else { return None };
        items.iter().map(Self::as_text).collect()
    }
}

/// The fields of a text, and what comes after them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FrontMatter<'t> {
    /// Its fields, in order, each name once.
    pub fields: Vec<(String, Node)>,
    /// The text below.
    pub body: &'t str,
}

impl<'t> FrontMatter<'t> {
    /// Takes a text apart.
    pub fn read(text: &'t str) -> Result<Self, BadFrontMatter> {
        let text = text.strip_prefix('\u{feff}').unwrap_or(text);
        let (yaml, body) = split(text)?;
        if yaml.len() > FRONT_MATTER_BYTES_MAX {
            return Err(BadFrontMatter::TooLarge { bytes: yaml.len(), max: FRONT_MATTER_BYTES_MAX });
        }
        Ok(Self { fields: fields(yaml)?, body: body.trim() })
    }

    /// The value of a field.
    pub fn get(&self, name: &str) -> Option<&Node> {
        self.fields.iter().find(|it| it.0 == name).map(|it| &it.1)
    }
}

fn split(text: &str) -> Result<(&str, &str), BadFrontMatter> {
    let after = |line: &str| text.get(line.len()..).unwrap_or_default();
    let mut lines = text.split_inclusive('\n');
    let first = lines.next().filter(|it| it.trim_end() == "---").ok_or(BadFrontMatter::Missing)?;
    let rest = after(first);
    let mut end = 0;
    for line in rest.split_inclusive('\n') {
        if matches!(line.trim_end(), "---" | "...") {
            let body = rest.get(end + line.len()..).unwrap_or_default();
            return Ok((rest.get(..end).unwrap_or_default(), body));
        }
        end += line.len();
    }
    Err(BadFrontMatter::Open)
}

/// A list or a mapping that is not over.
enum Open {
    List(Vec<Node>),
    /// With the key whose value comes next.
    Map(Vec<(String, Node)>, Option<String>),
}

fn fields(yaml: &str) -> Result<Vec<(String, Node)>, BadFrontMatter> {
    let refused = |what| BadFrontMatter::Refused { what };
    let (mut open, mut done, mut nodes, mut documents) = (Vec::<Open>::new(), None::<Node>, 0, 0);
    for event in Parser::new_from_str(yaml) {
        let unreadable =
            |it: saphyr_parser::ScanError| BadFrontMatter::Unreadable { why: shown(&it.to_string()) };
        let (event, _) = event.map_err(unreadable)?;
        nodes += 1;
        if nodes > NODES_MAX {
            return Err(refused("more than 1000 parts"));
        }
        let node = match event {
            Event::Alias(_) => return Err(refused("an alias (`*name`)")),
            Event::Scalar(_, _, 1.., _) | Event::SequenceStart(1.., _) | Event::MappingStart(1.., _) => {
                return Err(refused("an anchor (`&name`)"));
            }
            Event::Scalar(_, _, _, Some(_))
            | Event::SequenceStart(_, Some(_))
            | Event::MappingStart(_, Some(_)) => return Err(refused("a tag (`!name`)")),
            Event::DocumentStart(_) if documents > 0 => return Err(refused("a second document")),
            Event::DocumentStart(_) => {
                documents += 1;
                continue;
            }
            Event::SequenceStart(..) | Event::MappingStart(..) => {
                if open.len() >= DEPTH_MAX {
                    return Err(refused("more than 6 levels"));
                }
                if let Some(Open::Map(_, None)) = open.last() {
                    return Err(refused("a field whose name is no text"));
                }
                open.push(match event {
                    Event::SequenceStart(..) => Open::List(Vec::new()),
                    _ => Open::Map(Vec::new(), None),
                });
                continue;
            }
            Event::SequenceEnd | Event::MappingEnd => match open.pop() {
                Some(Open::List(items)) => Node::List(items),
                Some(Open::Map(entries, _)) => Node::Map(entries),
                None => return Err(refused("an end without a beginning")),
            },
            Event::Scalar(text, ..) => Node::Text(text.into_owned()),
            Event::Nothing | Event::StreamStart | Event::StreamEnd | Event::DocumentEnd => continue,
        };
        match open.last_mut() {
            None => done = Some(node),
            Some(Open::List(items)) => items.push(node),
            Some(Open::Map(entries, key)) => match (key.take(), node) {
                (Some(name), node) => entries.push((name, node)),
                (None, Node::Text(name)) if entries.iter().any(|it| it.0 == name) => {
                    return Err(BadFrontMatter::Twice { name: shown(&name) });
                }
                (None, Node::Text(name)) => *key = Some(name),
                (None, _) => return Err(refused("a field whose name is no text")),
            },
        }
    }
    match done {
        None => Ok(Vec::new()),
        Some(Node::Map(entries)) => Ok(entries),
        Some(_) => Err(refused("no fields (`name: value`)")),
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn fields_are_texts_lists_and_mappings_and_the_rest_is_the_body() {
        let text = "---\nname: ada\nversion: 1.0\ntoolkits: [papers, 'pdf']\nmetadata:\n  author: \"x\"\ntext: >\n  two\n  lines\n---\n\n# Body\n---\nmore\n";
        let read = FrontMatter::read(text).unwrap();
        assert_eq!(read.get("name").and_then(Node::as_text), Some("ada"));
        assert_eq!(read.get("version").and_then(Node::as_text), Some("1.0"));
        assert_eq!(read.get("toolkits").and_then(Node::as_texts), Some(vec!["papers", "pdf"]));
        assert_eq!(read.get("metadata"), Some(&Node::Map(vec![("author".into(), Node::Text("x".into()))])));
        assert_eq!(read.get("text").and_then(Node::as_text), Some("two lines\n"));
        assert_eq!(read.body, "# Body\n---\nmore");
        assert!(FrontMatter::read("---\n---\n").unwrap().fields.is_empty());
    }

    #[test]
    fn what_makes_yaml_large_or_clever_is_refused_by_name() {
        let refused = |yaml: &str| FrontMatter::read(&format!("---\n{yaml}\n---\n")).unwrap_err().to_string();
        let cases = [
            ("a: &x 1\nb: *x", "an anchor"),
            ("a: &x [1]", "an anchor"),
            ("a: !!str 1", "a tag"),
            ("[a]: 1", "a field whose name is no text"),
            ("- a", "no fields"),
            ("a: [[[[[[[1]]]]]]]", "more than 6 levels"),
            ("a: 1\na: 2", "the field `a` twice"),
            ("a: [", "no YAML"),
        ];
        for (yaml, want) in cases {
            assert!(refused(yaml).contains(want), "{yaml:?}: {}", refused(yaml));
        }
        assert!(refused(&"a: 1\n".repeat(5_000)).contains("more than the 16384"));
        let many: String = (0..900).map(|it| format!("k{it}: 1\n")).collect();
        assert!(refused(&many).contains("more than 1000 parts"));
        assert_eq!(FrontMatter::read("name: x\n"), Err(BadFrontMatter::Missing));
        assert_eq!(FrontMatter::read("---\nname: x\n"), Err(BadFrontMatter::Open));
    }

    proptest! {
        #[test]
        fn no_text_makes_it_panic(text in "(\\PC|[-:\\[\\]{}&*!|>#'\" \n\t,?]|---\n){0,200}") {
            let _ = FrontMatter::read(&text);
            let _ = FrontMatter::read(&format!("---\n{text}\n---\nbody"));
        }
    }
}

//! As much of org as definitions and manifests are made of: keywords (`#+NAME: value`), headings with tags, property drawers,
//! and the text below a heading (decision 0125). Everything else of org is text here, and stays as it was written.

use super::{TEXT_BYTES_MAX, shown};

/// More headings than anybody writes.
const HEADINGS_MAX: usize = 2_000;
const KEYWORDS_MAX: usize = 500;
const PROPERTIES_MAX: usize = 100;

/// The text is no outline.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum BadOutline {
    /// It is too long.
    #[error("{bytes} bytes are more than the {max} that are read; move parts of it into files of their own")]
    TooLarge {
        /// How long it is.
        bytes: usize,
        /// How long it may be.
        max: usize,
    },
    /// There is too much of something.
    #[error("there are more than {max} {what}")]
    TooMany {
        /// Of what.
        what: &'static str,
        /// How many there may be.
        max: usize,
    },
    /// A drawer has no end.
    #[error("line {line}: the drawer :PROPERTIES: has no :END:")]
    OpenDrawer {
        /// Where it begins, from 1 on.
        line: usize,
    },
    /// A line of a drawer is no property.
    #[error("line {line}: `{shown}` is no property; write `:NAME: value`, or :END: to end the drawer")]
    NoProperty {
        /// Where.
        line: usize,
        /// What stands there.
        shown: String,
    },
    /// One thing is said twice.
    #[error("line {line}: `{name}` is there twice; say it once")]
    Twice {
        /// Where the second one stands.
        line: usize,
        /// What it is called.
        name: String,
    },
}

/// Names and their values, as keywords and drawers have them. Names are told apart without regard to case.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Drawer<'t>(Vec<(&'t str, &'t str)>);

impl<'t> Drawer<'t> {
    /// The value of a name, if it has one that is not empty.
    pub fn get(&self, name: &str) -> Option<&'t str> {
        self.0.iter().find(|it| it.0.eq_ignore_ascii_case(name)).map(|it| it.1).filter(|it| !it.is_empty())
    }

    fn has(&self, name: &str) -> bool {
        self.0.iter().any(|it| it.0.eq_ignore_ascii_case(name))
    }

    fn put(&mut self, name: &'t str, value: &'t str, line: usize) -> Result<(), BadOutline> {
        if self.has(name) {
            return Err(BadOutline::Twice { line, name: shown(name) });
        }
        self.0.push((name, value));
        Ok(())
    }
}

/// One heading, and where its text is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Heading<'t> {
    /// How many stars it has.
    pub level: usize,
    /// What it says, without stars and tags.
    pub title: &'t str,
    /// Its tags.
    pub tags: Vec<&'t str>,
    /// What its drawer says.
    pub properties: Drawer<'t>,
    /// Where the text below it begins, after its drawer.
    body: usize,
    /// Where its own line begins.
    start: usize,
}

impl Heading<'_> {
    /// Whether it has the tag.
    pub fn is_tagged(&self, tag: &str) -> bool {
        self.tags.iter().any(|it| it.eq_ignore_ascii_case(tag))
    }
}

/// A text with its keywords and headings.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Outline<'t> {
    text: &'t str,
    /// What stands above the first heading as `#+NAME: value`.
    pub keywords: Drawer<'t>,
    /// Its headings, in order.
    pub headings: Vec<Heading<'t>>,
}

impl<'t> Outline<'t> {
    /// Reads a text. What is no keyword, heading or drawer is text.
    pub fn read(text: &'t str) -> Result<Self, BadOutline> {
        if text.len() > TEXT_BYTES_MAX {
            return Err(BadOutline::TooLarge { bytes: text.len(), max: TEXT_BYTES_MAX });
        }
        let mut outline = Self { text, keywords: Drawer::default(), headings: Vec::new() };
        let mut lines = Lines { rest: text, at: 0, line: 0 };
        while let Some((start, line)) = lines.next() {
            if let Some((level, rest)) = heading(line) {
                if outline.headings.len() >= HEADINGS_MAX {
                    return Err(BadOutline::TooMany { what: "headings", max: HEADINGS_MAX });
                }
                let (title, tags) = split_tags(rest);
                let properties = drawer(&mut lines)?;
                outline.headings.push(Heading { level, title, tags, properties, body: lines.at, start });
                continue;
            }
            if !outline.headings.is_empty() {
                continue;
            }
            if let Some((name, value)) = keyword(line) {
                if outline.keywords.0.len() >= KEYWORDS_MAX {
                    return Err(BadOutline::TooMany { what: "keywords", max: KEYWORDS_MAX });
                }
                outline.keywords.put(name, value, lines.line)?;
            }
        }
        Ok(outline)
    }

    /// The text below a heading, up to the next one of its own level or above: deeper ones are part of it.
    pub fn subtree(&self, index: usize) -> &'t str {
        let Some(heading) = self.headings.get(index) else { return "" };
        let after = self.headings.iter().skip(index + 1);
        let end = after.clone().find(|it| it.level <= heading.level).map_or(self.text.len(), |it| it.start);
        self.text.get(heading.body..end).unwrap_or_default().trim()
    }

    /// The headings right below one: those of its subtree that are one level deeper, by their place.
    pub fn children(&self, index: usize) -> impl Iterator<Item = usize> + '_ {
        let level = self.headings.get(index).map_or(usize::MAX, |it| it.level);
        let below = self.headings.iter().enumerate().skip(index.saturating_add(1));
        below
            .take_while(move |it| it.1.level > level)
            .filter(move |it| it.1.level == level.saturating_add(1))
            .map(|it| it.0)
    }
}

struct Lines<'t> {
    rest: &'t str,
    /// Where the next line begins.
    at: usize,
    /// How many lines were read.
    line: usize,
}

impl<'t> Lines<'t> {
    /// Where the line begins, and the line without its end.
    fn next(&mut self) -> Option<(usize, &'t str)> {
        let (start, line) = (self.at, self.peek()?);
        let taken = self.rest.find('\n').map_or(self.rest.len(), |it| it + 1);
        self.rest = self.rest.get(taken..).unwrap_or_default();
        self.at += taken;
        self.line += 1;
        Some((start, line))
    }

    fn peek(&self) -> Option<&'t str> {
        if self.rest.is_empty() {
            return None;
        }
        self.rest.lines().next()
    }
}

/// A heading begins with stars and a blank.
fn heading(line: &str) -> Option<(usize, &str)> {
    let level = line.bytes().take_while(|it| *it == b'*').count();
    let rest = line.get(level..)?;
    (level > 0 && rest.starts_with([' ', '\t'])).then(|| (level, rest.trim()))
}

/// `Name  :one:two:` is a title and its tags.
fn split_tags(rest: &str) -> (&str, Vec<&str>) {
    let (title, last) = match rest.rfind([' ', '\t']) {
        Some(at) => (rest.get(..at).unwrap_or_default(), rest.get(at..).unwrap_or_default().trim()),
        None => ("", rest),
    };
    let legal = |it: char| it.is_alphanumeric() || matches!(it, '_' | '@' | '#' | '%');
    let inner = last.strip_prefix(':').and_then(|it| it.strip_suffix(':'));
    match inner.filter(|it| it.split(':').all(|tag| !tag.is_empty() && tag.chars().all(legal))) {
        Some(inner) => (title.trim(), inner.split(':').collect()),
        None => (rest, Vec::new()),
    }
}

fn keyword(line: &str) -> Option<(&str, &str)> {
    let (name, value) = line.trim_start().strip_prefix("#+")?.split_once(':')?;
    let legal = |it: u8| it.is_ascii_alphanumeric() || matches!(it, b'_' | b'-');
    (!name.is_empty() && name.bytes().all(legal)).then(|| (name, value.trim()))
}

/// The drawer right below a heading, if there is one. A planning line may stand before it, as org has it.
fn drawer<'t>(lines: &mut Lines<'t>) -> Result<Drawer<'t>, BadOutline> {
    let mut found = Drawer::default();
    let is_planning = |it: &str| {
        ["SCHEDULED:", "DEADLINE:", "CLOSED:"].iter().any(|word| it.trim_start().starts_with(word))
    };
    if lines.peek().is_some_and(is_planning) {
        lines.next();
    }
    if !lines.peek().is_some_and(|it| it.trim().eq_ignore_ascii_case(":PROPERTIES:")) {
        return Ok(found);
    }
    lines.next();
    let opened = lines.line;
    while let Some((_, line)) = lines.next() {
        let line = line.trim();
        if line.eq_ignore_ascii_case(":END:") {
            return Ok(found);
        }
        if line.is_empty() {
            continue;
        }
        let property = line.strip_prefix(':').and_then(|it| it.split_once(':'));
        let Some((name, value)) = property.filter(|it| !it.0.is_empty() && !it.0.contains([' ', '\t']))
        else {
            return match heading(line) {
                Some(_) => Err(BadOutline::OpenDrawer { line: opened }),
                None => Err(BadOutline::NoProperty { line: lines.line, shown: shown(line) }),
            };
        };
        if found.0.len() >= PROPERTIES_MAX {
            return Err(BadOutline::TooMany { what: "properties of one heading", max: PROPERTIES_MAX });
        }
        found.put(name, value.trim(), lines.line)?;
    }
    Err(BadOutline::OpenDrawer { line: opened })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const TEXT: &str = "#+TITLE: Papers\n#+caps: net:example.com\nfree text\n* Ada  :agent:good:\nSCHEDULED: <2026-11-19>\n\
        :PROPERTIES:\n:ID: ada\n:MODEL:\n:END:\nbody\n** System prompt\nBe brief.\n*** not the end\nmore\n** Notes\nx\n* Next\n#+TITLE: no keyword\n";

    #[test]
    fn keywords_headings_tags_drawers_and_texts_are_found() {
        let outline = Outline::read(TEXT).unwrap();
        assert_eq!(outline.keywords.get("title"), Some("Papers"));
        assert_eq!(outline.keywords.get("CAPS"), Some("net:example.com"));
        let titles: Vec<_> = outline.headings.iter().map(|it| (it.level, it.title)).collect();
        let want = [(1, "Ada"), (2, "System prompt"), (3, "not the end"), (2, "Notes"), (1, "Next")];
        assert_eq!(titles, want);
        let ada = &outline.headings[0];
        assert!(ada.is_tagged("agent") && ada.is_tagged("good") && !ada.is_tagged("ag"));
        assert_eq!((ada.properties.get("id"), ada.properties.get("MODEL")), (Some("ada"), None));
        assert!(outline.subtree(0).starts_with("body\n** System prompt"));
        assert_eq!(outline.subtree(1), "Be brief.\n*** not the end\nmore");
        assert_eq!(outline.children(0).collect::<Vec<_>>(), [1, 3]);
    }

    #[test]
    fn what_is_broken_is_named_with_its_line() {
        let cases = [
            ("* a\n:PROPERTIES:\n:ID: 1\n", "line 2: the drawer :PROPERTIES: has no :END:"),
            ("* a\n:PROPERTIES:\n* b\n", "line 2: the drawer :PROPERTIES: has no :END:"),
            (
                "* a\n:PROPERTIES:\nID 1\n:END:\n",
                "line 3: `ID 1` is no property; write `:NAME: value`, or :END: to end the drawer",
            ),
            ("* a\n:PROPERTIES:\n:ID: 1\n:id: 2\n:END:\n", "line 4: `id` is there twice; say it once"),
            ("#+A: 1\n#+a: 2\n", "line 2: `a` is there twice; say it once"),
        ];
        for (text, want) in cases {
            assert_eq!(Outline::read(text).unwrap_err().to_string(), want, "{text:?}");
        }
        let many = "* a\n".repeat(HEADINGS_MAX + 1);
        assert_eq!(Outline::read(&many), Err(BadOutline::TooMany { what: "headings", max: HEADINGS_MAX }));
        let long = " ".repeat(TEXT_BYTES_MAX + 1);
        assert!(matches!(Outline::read(&long), Err(BadOutline::TooLarge { .. })));
    }

    proptest! {
        #[test]
        fn no_text_makes_it_panic_and_every_part_is_of_the_text(text in "(\\PC|[*:#+\n\r\t ]|:PROPERTIES:\n|:END:\n|\\* ){0,200}") {
            if let Ok(outline) = Outline::read(&text) {
                for index in 0..outline.headings.len() {
                    prop_assert!(text.contains(outline.subtree(index)));
                    prop_assert!(outline.children(index).all(|it| it > index));
                }
            }
        }
    }
}

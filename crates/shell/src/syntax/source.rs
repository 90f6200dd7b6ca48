//! A text that is read line by line: what runs before an error, and what aliases make of a line.
//!
//! An alias is text put in the place of a word before the line is parsed, so it may hold half a
//! construct. A line in which one was found is written anew and parsed again from its start; within
//! what an alias gave, that alias is not looked at again, so this ends.

use std::{collections::BTreeMap, sync::Arc};

use super::{ParseLimits, Parsed, Parser, Script, SyntaxError, ast::Item};

/// Names and the texts they stand for.
pub(crate) type Aliases = BTreeMap<String, String>;

/// How many bytes may be moved to make room for aliases.
const MOVED_BYTES_MAX: usize = 256 << 20;

/// How many words of one line may be aliases, those inside others included: the line is read anew
/// after each.
const REPLACED_MAX: usize = 1_000;

/// What an alias gave: a stretch of the text where its own name means nothing.
#[derive(Debug, Clone)]
pub(super) struct Region {
    pub(super) start: usize,
    pub(super) end: usize,
    name: String,
}

/// A text, and how far it was read.
pub(crate) struct Source {
    text: String,
    pub(crate) at: usize,
    line_starts: Vec<usize>,
    regions: Vec<Region>,
    moved: usize,
    /// What the lines take that were read and are still held.
    tree_bytes: usize,
    keeps_commands: bool,
    limits: ParseLimits,
}

impl Source {
    /// A command of the text as it was typed: up to where the next begins, without comments between them.
    pub(crate) fn typed(&self, from: usize, next: Option<usize>) -> &str {
        Self::without_comments(self.text.get(from..next.unwrap_or(self.text.len())).unwrap_or_default())
    }

    /// What is left to be read. Aliases change what was read, and nothing of this.
    pub(crate) fn left(&self) -> usize {
        self.text.len().saturating_sub(self.at)
    }

    /// A stretch of a text without what stands behind its last command.
    pub(crate) fn without_comments(stretch: &str) -> &str {
        let mut typed = stretch.trim();
        while let Some((before, last)) = typed.rsplit_once('\n')
            && (last.trim().is_empty() || last.trim_start().starts_with('#'))
        {
            typed = before.trim_end();
        }
        typed
    }

    pub(crate) fn new(text: &str, limits: ParseLimits) -> Parsed<Self> {
        if text.len() > limits.text_bytes_max {
            let (size, max) = (text.len(), limits.text_bytes_max);
            let message = format!("the text has {size} bytes; the limit is {max}");
            return Err(SyntaxError { message, line: 1, column: 1, incomplete: false });
        }
        let starts = text.bytes().enumerate().filter(|it| it.1 == b'\n').map(|it| it.0 + 1);
        let line_starts = std::iter::once(0).chain(starts).collect();
        // Looked for by hand: a search that prepares itself costs more than most lines are long.
        let named = b"BASH_COMMAND";
        let keeps_commands = text.as_bytes().windows(named.len()).any(|it| it == named);
        let (text, regions) = (text.to_owned(), Vec::new());
        Ok(Self { text, at: 0, line_starts, regions, moved: 0, tree_bytes: 0, keeps_commands, limits })
    }

    /// All of it, with whatever aliases have put there.
    pub(crate) fn text(&self) -> &str {
        &self.text
    }

    /// All lines that can be read, and why no more. What follows them is next.
    pub(crate) fn rest(&mut self) -> (Script, Option<SyntaxError>) {
        let mut script = Script::default();
        loop {
            let mut parser = Self::parser(&self.text, self.limits, self.at, &mut self.line_starts);
            parser.keeps_commands = self.keeps_commands;
            parser.tree_bytes = self.tree_bytes;
            let mut stopped = None;
            loop {
                self.at = parser.at;
                let read = parser.line();
                // A reading that was given up inside another does not count either.
                if parser.joint.is_some() {
                    break;
                }
                match read {
                    Ok(Some(items)) => {
                        script.items.extend(items);
                        self.tree_bytes = parser.tree_bytes;
                    }
                    Ok(None) => break,
                    Err(error) => {
                        stopped = Some(error);
                        break;
                    }
                }
            }
            script.names.append(&mut parser.names);
            let joint = parser.joint.take();
            self.line_starts = std::mem::take(&mut parser.line_starts);
            match joint {
                Some(at) if self.join(at) => {}
                _ => return (script, stopped),
            }
        }
    }

    fn parser<'t>(text: &'t str, limits: ParseLimits, at: usize, starts: &mut Vec<usize>) -> Parser<'t> {
        let mut parser = Parser::at(text, limits, at, std::mem::take(starts));
        parser.joins = true;
        parser
    }

    /// Joins two lines at the backslash between them. What follows keeps the number of its line.
    fn join(&mut self, at: usize) -> bool {
        self.moved += self.text.len() - at;
        if self.moved > MOVED_BYTES_MAX || !self.text[at..].starts_with("\\\n") {
            return false;
        }
        self.text.replace_range(at..at + 2, "");
        let shift = |it: &mut usize| *it -= if *it > at { 2.min(*it - at) } else { 0 };
        self.line_starts.iter_mut().for_each(shift);
        for region in &mut self.regions {
            shift(&mut region.start);
            shift(&mut region.end);
        }
        true
    }

    /// The next line that has commands, aliases in place.
    pub(crate) fn line(&mut self, aliases: &Arc<Aliases>) -> Parsed<Option<Script>> {
        loop {
            let mut parser = Self::parser(&self.text, self.limits, self.at, &mut self.line_starts);
            parser.keeps_commands = self.keeps_commands;
            parser.aliases = Some(Arc::clone(aliases));
            parser.regions = std::mem::take(&mut self.regions);
            let read = parser.line();
            let (hit, end, names) = (parser.alias_hit.take(), parser.at, std::mem::take(&mut parser.names));
            self.regions = std::mem::take(&mut parser.regions);
            self.line_starts = std::mem::take(&mut parser.line_starts);
            if let Some(at) = parser.joint.take()
                && self.join(at)
            {
                continue;
            }
            let Some((start, stop)) = hit else {
                let items = read?;
                self.at = end;
                self.regions.clear();
                return Ok(items.map(|items: Vec<Item>| Script { items, names }));
            };
            self.replace(start, stop, aliases)?;
        }
    }

    fn replace(&mut self, start: usize, stop: usize, aliases: &Aliases) -> Parsed<()> {
        let name = self.text[start..stop].to_owned();
        let value = aliases.get(&name).map_or("", String::as_str);
        self.moved += self.text.len() - start;
        let many = self.regions.len() >= REPLACED_MAX;
        if many || self.text.len() + value.len() > self.limits.text_bytes_max || self.moved > MOVED_BYTES_MAX
        {
            let line = self.line_starts.partition_point(|it| *it <= start);
            let line = u32::try_from(line).unwrap_or(u32::MAX);
            let message = format!("alias `{name}` makes the text too long");
            return Err(SyntaxError { message, line, column: 1, incomplete: false });
        }
        self.text.replace_range(start..stop, value);
        let shift = |at: usize| at + value.len() - (stop - start);
        for region in &mut self.regions {
            if region.start >= stop {
                region.start = shift(region.start);
            }
            if region.end >= stop {
                region.end = shift(region.end);
            }
        }
        for begins in self.line_starts.iter_mut().filter(|it| **it > start) {
            *begins = shift(*begins);
        }
        self.regions.push(Region { start, end: start + value.len(), name });
        Ok(())
    }
}

impl Parser<'_> {
    /// Fails if the line is continued `ahead` of here, inside what must be read as one.
    pub(super) fn stop_at_joint(&mut self, ahead: usize) -> Parsed<()> {
        let at = self.at + ahead;
        let continued = self.joins && self.text.as_bytes().get(at..at + 2) == Some(b"\\\n");
        if !continued {
            return Ok(());
        }
        self.joint = Some(at);
        Err(self.error("a continued line"))
    }

    /// Fails if the word here is an alias that counts: the line is to be read anew.
    pub(super) fn stop_at_alias(&mut self) -> Parsed<()> {
        let Some(aliases) = &self.aliases else { return Ok(()) };
        let word = self.peek_word();
        if word.is_empty() || !aliases.contains_key(word) {
            return Ok(());
        }
        let (start, end) = (self.at, self.at + word.len());
        let own = |it: &Region| it.name == word && it.start <= start && end <= it.end;
        if self.regions.iter().any(own) {
            return Ok(());
        }
        self.alias_hit = Some((start, end));
        Err(self.error("an alias"))
    }

    /// The same for a word that counts only because of the alias before it.
    pub(super) fn stop_after_alias(&mut self) -> Parsed<()> {
        if self.after_open_alias() { self.stop_at_alias() } else { Ok(()) }
    }

    /// Whether an alias that ends in a blank stands right before here: then this word counts too.
    pub(super) fn after_open_alias(&self) -> bool {
        self.regions.iter().any(|it| {
            it.end <= self.at
                && self.text[it.start..it.end].ends_with([' ', '\t'])
                && self.text[it.end..self.at].chars().all(|it| matches!(it, ' ' | '\t' | '\\' | '\n'))
        })
    }
}

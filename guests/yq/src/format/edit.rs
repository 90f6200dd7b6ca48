//! Changes a YAML text where its values change, and leaves every other byte as it is.
//!
//! Scalars are replaced, keys and items appended and removed. Nothing is taken for granted: the new
//! text is read again, and only counts if it means what it should. Whoever asks for more gets nothing,
//! and has to write the whole anew.

use super::yaml::tree::{Entry, Kind, Node};
use super::yaml::{self, tree};
use jq::value::Value as Val;

/// The text with the values `after` in the place of `before`; `None` if that cannot be said by edits.
pub fn edited(text: &str, before: &[Val], after: &[Val]) -> Option<String> {
    if before.len() != after.len() {
        return None;
    }
    let nodes = tree::of(text)?;
    if nodes.len() != before.len() {
        return None;
    }
    let mut editor = Editor { text, edits: Vec::new() };
    for (node, (old, new)) in nodes.iter().zip(before.iter().zip(after)) {
        editor.node(node, old, new, None)?;
    }
    let edited = editor.apply()?;
    let again = yaml::read(&edited, 0).ok()?;
    let same = again.len() == after.len() && again.iter().zip(after).all(|(got, want)| alike(got, want));
    same.then_some(edited)
}

/// The same, in the same order.
fn alike(left: &Val, right: &Val) -> bool {
    jq::write::compact(left) == jq::write::compact(right)
}

struct Editor<'a> {
    text: &'a str,
    /// From where, to where, and what stands there instead.
    edits: Vec<(usize, usize, String)>,
}

impl Editor<'_> {
    /// `parent` is the column of the mapping whose value it is; a container can begin on the next line
    /// there.
    fn node(&mut self, node: &Node, old: &Val, new: &Val, parent: Option<usize>) -> Option<()> {
        if alike(old, new) {
            return Some(());
        }
        match (&node.kind, old, new) {
            (Kind::Mapping(entries), Val::Obj(_), Val::Obj(fields))
                if !fields.is_empty() && self.is_block(node) =>
            {
                self.mapping(entries, old, new)
            }
            (Kind::Sequence(items), Val::Arr(before), Val::Arr(after))
                if !after.is_empty() && self.is_block(node) =>
            {
                self.sequence(items, before, after)
            }
            (Kind::Alias, ..) => None,
            _ => self.replaced(node, new, parent),
        }
    }

    fn is_block(&self, node: &Node) -> bool {
        !self.text.get(node.start..).is_some_and(|it| it.starts_with(['[', '{']))
    }

    /// Another value altogether: on one line, or as a block below its key.
    fn replaced(&mut self, node: &Node, new: &Val, parent: Option<usize>) -> Option<()> {
        let is_container = matches!(new, Val::Arr(_) | Val::Obj(_));
        let flow = !self.is_block(node);
        let mut out = Vec::new();
        match parent {
            Some(column) if is_container && !flow && !is_empty(new) => {
                out.push(b'\n');
                out.resize(out.len() + column + 2, b' ');
                yaml::write_at(&mut out, new, column + 2);
            }
            _ if is_container => out.extend_from_slice(jq::write::compact(new).as_bytes()),
            _ => match new {
                Val::Str(text) if text.contains('\n') => {
                    out.extend_from_slice(jq::write::compact(new).as_bytes());
                }
                _ => yaml::write_at(&mut out, new, 0),
            },
        }
        let mut text = String::from_utf8(out).ok()?;
        // Nothing stood there, not even a blank.
        let before = self.text.get(..node.start)?;
        if node.start == node.end && before.ends_with([':', '-']) && !text.starts_with('\n') {
            text.insert(0, ' ');
        }
        let start = if text.starts_with('\n') { before.trim_end_matches(' ').len() } else { node.start };
        self.edits.push((start, node.end, text));
        Some(())
    }

    fn mapping(&mut self, entries: &[Entry], old: &Val, new: &Val) -> Option<()> {
        let (Val::Obj(before), Val::Obj(after)) = (old, new) else { return None };
        let column = self.column(entries.first()?.key.start)?;
        let (mut own, mut last) = (Vec::new(), None);
        for entry in entries {
            let name = entry.name.clone()?;
            let end = entry.value.end.max(entry.key.end);
            if name.as_str() == "<<" {
                last = Some(end);
                continue;
            }
            match (before.get(&name), after.get(&name)) {
                (Some(old), Some(new)) => {
                    self.node(&entry.value, old, new, Some(column))?;
                    last = Some(end);
                }
                (Some(_), None) => self.remove(entry.key.start, end)?,
                (None, _) => return None,
            }
            own.push(name);
        }
        let mut added = String::new();
        for (key, value) in after.iter() {
            let known = before.get(key).is_some_and(|old| alike(old, value));
            if own.contains(key) || known {
                continue;
            }
            let mut out = Vec::new();
            let field = Val::obj([(key.clone(), value.clone())].into_iter().collect());
            yaml::write_at(&mut out, &field, column);
            added.push_str(&format!("\n{}{}", " ".repeat(column), String::from_utf8(out).ok()?));
        }
        self.append(last?, added)
    }

    fn sequence(&mut self, items: &[Node], before: &[Val], after: &[Val]) -> Option<()> {
        if items.len() != before.len() {
            return None;
        }
        if after.len() < before.len() {
            // What is left must be what was there.
            let mut kept = after.iter().peekable();
            for (item, old) in items.iter().zip(before) {
                if kept.next_if(|new| alike(old, new)).is_none() {
                    self.remove(self.dash(item)?, item.end)?;
                }
            }
            return kept.next().is_none().then_some(());
        }
        for (item, (old, new)) in items.iter().zip(before.iter().zip(after)) {
            self.node(item, old, new, None)?;
        }
        let column = self.column(self.dash(items.first()?)?)?;
        let mut added = String::new();
        for value in after.get(before.len()..)? {
            let mut out = Vec::new();
            yaml::write_at(&mut out, value, column + 2);
            added.push_str(&format!("\n{}- {}", " ".repeat(column), String::from_utf8(out).ok()?));
        }
        self.append(items.last()?.end, added)
    }

    /// Where the line of an item begins with its dash.
    fn dash(&self, item: &Node) -> Option<usize> {
        let before = self.text.get(..item.start)?.trim_end_matches(' ');
        // The value of an anchor or a tag begins behind it.
        let line = before.rfind('\n').map_or(0, |at| at + 1);
        let indent = before.len() - line - before.get(line..)?.trim_start_matches(' ').len();
        self.text.get(line + indent..)?.starts_with('-').then_some(line + indent)
    }

    /// The column of what begins its line, but for blanks and dashes.
    fn column(&self, at: usize) -> Option<usize> {
        let before = self.text.get(..at)?;
        let line = before.get(before.rfind('\n').map_or(0, |it| it + 1)..)?;
        line.chars().all(|it| matches!(it, ' ' | '-')).then_some(line.len())
    }

    /// Takes away whole lines.
    fn remove(&mut self, from: usize, to: usize) -> Option<()> {
        let before = self.text.get(..from)?;
        let start = before.rfind('\n').map_or(0, |it| it + 1);
        if !self.text.get(start..from)?.trim_start_matches(' ').is_empty() {
            return None;
        }
        let end = self.text.get(to..)?.find('\n').map_or(self.text.len(), |it| to + it + 1);
        self.edits.push((start, end, String::new()));
        Some(())
    }

    /// Adds lines below the one that `after` is on.
    fn append(&mut self, after: usize, lines: String) -> Option<()> {
        if !lines.is_empty() {
            let end = self.text.get(after..)?.find('\n').map_or(self.text.len(), |it| after + it);
            self.edits.push((end, end, lines));
        }
        Some(())
    }

    fn apply(mut self) -> Option<String> {
        self.edits.sort_by_key(|it| (it.0, it.1));
        let (mut out, mut at) = (String::new(), 0);
        for (start, end, new) in &self.edits {
            out.push_str(self.text.get(at..*start)?);
            out.push_str(new);
            at = *end;
        }
        out.push_str(self.text.get(at..)?);
        Some(out)
    }
}

fn is_empty(value: &Val) -> bool {
    match value {
        Val::Arr(items) => items.is_empty(),
        Val::Obj(fields) => fields.is_empty(),
        _ => false,
    }
}

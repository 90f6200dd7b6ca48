//! `--stream`: a value as its leaves with their paths, and an event where a container ends.
//!
//! The text is read one value at a time, so a broken text yields no events of its last value.

use super::Reader;
use jaq_json::Val;
use std::collections::VecDeque;

/// The events not handed out yet.
#[derive(Default)]
pub struct Events(VecDeque<Val>);

impl Events {
    /// The next event, reading on when there is none left.
    pub fn next(&mut self, reader: &mut Reader) -> Option<Result<Val, String>> {
        loop {
            if let Some(event) = self.0.pop_front() {
                return Some(Ok(event));
            }
            match reader.next()? {
                Ok(value) => self.walk(&mut Vec::new(), &value),
                Err(problem) => return Some(Err(problem)),
            }
        }
    }

    fn walk(&mut self, path: &mut Vec<Val>, value: &Val) {
        let children: Vec<(Val, &Val)> = match value {
            Val::Arr(items) => items.iter().enumerate().map(|(at, it)| (Val::from(at), it)).collect(),
            Val::Obj(fields) => fields.iter().map(|(key, it)| (key.clone(), it)).collect(),
            _ => Vec::new(),
        };
        if children.is_empty() {
            let leaf = [path.iter().cloned().collect(), value.clone()];
            return self.0.push_back(leaf.into_iter().collect());
        }
        let mut last = Val::Null;
        for (key, child) in children {
            path.push(key.clone());
            self.walk(path, child);
            path.pop();
            last = key;
        }
        // The end of a container names the path of its last child.
        let closing: Val = path.iter().cloned().chain([last]).collect();
        self.0.push_back([closing].into_iter().collect());
    }
}

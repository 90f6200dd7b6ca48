//! `--stream`: a value as its leaves with their paths, and an event where a container ends.
//!
//! Of a broken text, the events of what was read before come first, and then the error.

use super::Reader;
use crate::value::Value;
use std::collections::VecDeque;

/// The events not handed out yet.
pub(super) struct Events {
    ready: VecDeque<Value>,
    problem: Option<String>,
    /// Errors are events, too, and end the text.
    errors: bool,
    ended: bool,
}

impl Events {
    /// None yet.
    pub(super) fn new(errors: bool) -> Self {
        Self { ready: VecDeque::new(), problem: None, errors, ended: false }
    }

    /// The next event, reading on when there is none left.
    pub(super) fn next(&mut self, reader: &mut Reader) -> Option<Result<Value, String>> {
        loop {
            if let Some(event) = self.ready.pop_front() {
                return Some(Ok(event));
            }
            if self.ended {
                return None;
            }
            if let Some(problem) = self.problem.take() {
                return Some(Err(problem));
            }
            match reader.next_value()? {
                Ok(value) => each(&value, true, &mut |event| self.ready.push_back(event)),
                Err(problem) => {
                    let path = reader.open_path();
                    if let Some(value) = reader.unfinished() {
                        each(&value, false, &mut |event| self.ready.push_back(event));
                    }
                    if self.errors {
                        self.ready.push_back(Value::arr(vec![Value::from(problem), Value::arr(path)]));
                        self.ended = true;
                        continue;
                    }
                    self.problem = Some(problem);
                }
            }
        }
    }
}

/// Hands out the events of a value; without the ends of the last containers if it is not `whole`.
pub fn each(value: &Value, whole: bool, out: &mut dyn FnMut(Value)) {
    let mut path: Vec<Value> = Vec::new();
    let mut open: Vec<(&Value, usize)> = Vec::new();
    let mut current = Some(value);
    loop {
        if let Some(value) = current.take() {
            match size(value) {
                0 => {
                    if whole || !value.is_container() {
                        out(Value::arr(vec![Value::arr(path.clone()), value.clone()]));
                    }
                }
                _ => {
                    open.push((value, 0));
                    path.push(Value::Null);
                }
            }
        }
        let Some((container, at)) = open.last_mut() else { return };
        let next = child(container, *at);
        *at += 1;
        if let Some((key, item)) = next {
            if let Some(last) = path.last_mut() {
                *last = key;
            }
            current = Some(item);
            continue;
        }
        // The end of a container names the path of its last child.
        let is_end = whole || open.len() > 1;
        if is_end {
            out(Value::arr(vec![Value::arr(path.clone())]));
        }
        path.pop();
        open.pop();
        if !whole && !open.is_empty() && open.iter().all(|(container, at)| *at >= size(container)) {
            return;
        }
    }
}

fn size(value: &Value) -> usize {
    match value {
        Value::Arr(items) => items.len(),
        Value::Obj(fields) => fields.len(),
        _ => 0,
    }
}

fn child(value: &Value, at: usize) -> Option<(Value, &Value)> {
    match value {
        Value::Arr(items) => items.get(at).map(|item| (Value::from(at), item)),
        Value::Obj(fields) => fields.at(at).map(|(key, item)| (Value::Str(key.clone()), item)),
        _ => None,
    }
}

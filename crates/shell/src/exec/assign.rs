//! Assignments: the value is worked out first, then stored.

use std::collections::BTreeMap;

use drydock_contract::Timestamp;

use crate::{
    expand::quote,
    state::{Env, Eval, Flow},
    syntax::ast::{Assign, AssignValue, Element, Subscript},
    vars::{Assoc, SetError, Value},
};

/// A value ready to be stored.
pub(super) enum Ready {
    Text(String),
    Element(Key, String),
    List(Vec<(Option<Key>, String, bool)>),
}

pub(super) enum Key {
    Number(i64),
    Text(String),
}

impl Env {
    fn is_assoc(&self, name: &str) -> bool {
        matches!(self.vars.var(name).map(|var| &var.value), Some(Value::Assoc(_)))
    }

    /// `name=value` as a command of its own.
    pub(super) async fn assign(&mut self, assign: &Assign) -> Eval<()> {
        let is_map = self.is_assoc(&assign.name);
        if let AssignValue::Array(elements) = &assign.value
            && !is_map
            && assign.index.is_none()
            && elements.iter().any(|it| it.index.is_some())
            && !self.options.xtrace
        {
            return self.assign_keyed(assign, elements).await;
        }
        let ready = self.ready(assign, is_map).await?;
        if self.options.xtrace {
            self.trace_assign(assign, &ready).await?;
        }
        self.store(assign, ready).await
    }

    /// A list with numbers in brackets: each is worked out when those before it are in the array.
    async fn assign_keyed(&mut self, assign: &Assign, elements: &[Element]) -> Eval<()> {
        let name = assign.name.as_str();
        let mut list = Vec::with_capacity(elements.len());
        for element in elements {
            if element.index.is_some() {
                list.push((element, self.expand_one(&element.value).await?));
                continue;
            }
            let mut words = Vec::new();
            self.expand_into(&element.value, &mut words).await?;
            list.extend(words.into_iter().map(|word| (element, word)));
        }
        if !assign.append {
            self.store(assign, Ready::List(Vec::new())).await?;
        }
        let held = self.vars.var(name).map(|it| it.value.keys()).unwrap_or_default();
        let last = held.last().and_then(|it| it.parse::<i64>().ok());
        // The last index there is has no next one.
        let mut next = last.map_or(Some(0), |it| it.checked_add(1));
        for (element, text) in list {
            let at = match &element.index {
                Some(index) => match self.key(name, index, false).await? {
                    Key::Number(number) => number,
                    Key::Text(_) => continue,
                },
                None => next.unwrap_or(i64::MIN),
            };
            if let Err(error) = self.put(name, Ready::Element(Key::Number(at), text), element.append) {
                self.complain(&error.to_string()).await?;
                self.status = 1;
                return match error {
                    SetError::Full(_) => Err(self.abort(error.to_string())),
                    _ => Err(Flow::Discard),
                };
            }
            next = at.checked_add(1);
        }
        Ok(())
    }

    pub(super) async fn trace_assign(&mut self, assign: &Assign, ready: &Ready) -> Eval<()> {
        let (index, text) = match ready {
            Ready::Text(text) => (String::new(), quote::traced_value(text)),
            Ready::Element(Key::Number(index), text) => (format!("[{index}]"), quote::traced_value(text)),
            Ready::Element(Key::Text(key), text) => (format!("[{key}]"), quote::traced_value(text)),
            Ready::List(items) => {
                let items: Vec<String> = items.iter().map(|it| quote::traced(&it.1)).collect();
                (String::new(), format!("({})", items.join(" ")))
            }
        };
        let sign = if assign.append { "+=" } else { "=" };
        self.trace_line(&format!("{}{index}{sign}{text}", assign.name)).await
    }

    pub(super) async fn store(&mut self, assign: &Assign, ready: Ready) -> Eval<()> {
        if let Err(error) = self.put(&assign.name, ready, assign.append) {
            self.complain(&error.to_string()).await?;
            self.status = 1;
            if matches!(error, SetError::Full(_)) {
                return Err(self.abort(error.to_string()));
            }
            return Err(if self.options.posix { self.fatal() } else { Flow::Discard });
        }
        Ok(())
    }

    pub(super) async fn ready(&mut self, assign: &Assign, is_map: bool) -> Eval<Ready> {
        match (&assign.value, &assign.index) {
            (AssignValue::Scalar(word), None) => Ok(Ready::Text(self.expand_one(word).await?)),
            (AssignValue::Scalar(word), Some(index)) => {
                let key = self.key(&assign.name, index, is_map).await?;
                Ok(Ready::Element(key, self.expand_one(word).await?))
            }
            (AssignValue::Array(_), Some(_)) => {
                self.complain(&format!("{}[…]: cannot assign list to array member", assign.name)).await?;
                self.status = 1;
                Err(Flow::Discard)
            }
            (AssignValue::Array(elements), None) => self.elements(&assign.name, elements, is_map).await,
        }
    }

    async fn key(&mut self, name: &str, index: &Subscript, is_map: bool) -> Eval<Key> {
        if let Subscript::At { key, .. } = index
            && key.pieces.is_empty()
        {
            self.complain(&format!("{name}[]: bad array subscript")).await?;
            return Err(Flow::Discard);
        }
        match index {
            Subscript::At { key, .. } if is_map => Ok(Key::Text(self.expand_one(key).await?)),
            Subscript::At { number, .. } => Ok(Key::Number(self.arith_value(number).await?)),
            Subscript::All | Subscript::Joined if is_map => {
                Ok(Key::Text(if matches!(index, Subscript::All) { "@" } else { "*" }.into()))
            }
            Subscript::All | Subscript::Joined => {
                self.complain(&format!("{name}: bad array subscript")).await?;
                Err(Flow::Discard)
            }
        }
    }

    /// As in bash, the words of a list are expanded before a number in brackets is worked out, and a map takes key
    /// and value in turn.
    async fn elements(&mut self, name: &str, elements: &[Element], is_map: bool) -> Eval<Ready> {
        let mut list = Vec::with_capacity(elements.len());
        let mut numbers = Vec::new();
        for element in elements {
            match &element.index {
                Some(index) => {
                    let key = if is_map { Some(self.key(name, index, is_map).await?) } else { None };
                    if key.is_none() {
                        numbers.push((list.len(), index));
                    }
                    let value = match is_map {
                        // As in bash, the home of nobody stands in the values of a map.
                        true => self.expand_one(&element.value.without_tildes()).await?,
                        false => self.expand_one(&element.value).await?,
                    };
                    list.push((key, value, element.append));
                }
                None => {
                    let mut words = Vec::new();
                    self.expand_into(&element.value, &mut words).await?;
                    list.extend(words.into_iter().map(|word| (None, word, false)));
                }
            }
        }
        for (at, index) in numbers {
            list[at].0 = Some(self.key(name, index, is_map).await?);
        }
        if is_map && list.iter().all(|it| it.0.is_none()) {
            // `m=(key value key value)`.
            let mut pairs = Vec::new();
            let mut words = list.into_iter().map(|it| it.1);
            while let Some(key) = words.next() {
                pairs.push((Some(Key::Text(key)), words.next().unwrap_or_default(), false));
            }
            list = pairs;
        }
        Ok(Ready::List(list))
    }

    /// Stores a value, as the variable's attributes want it.
    pub(super) fn put(&mut self, name: &str, ready: Ready, append: bool) -> Result<(), SetError> {
        let integer = self.vars.var(name).is_some_and(|var| var.attributes.integer);
        match ready {
            Ready::Text(text) if self.vars.points_at_element(name) => {
                let target = self.vars.resolve(name);
                let Some((base, key)) = crate::vars::element(&target) else { return Ok(()) };
                let (base, key) = (base.to_owned(), self.key_text(key));
                if self.is_assoc(&base) {
                    return self.vars.set_key(&base, &key, text);
                }
                let index = self.compute(&key).map_err(|error| SetError::Other(error.0))?;
                self.vars.set_index(&base, index, text)
            }
            // What stands for one element has none itself.
            Ready::Element(..) | Ready::List(_) if self.vars.points_at_element(name) => {
                let target = self.vars.resolve(name);
                Err(SetError::Other(format!("`{target}': not a valid identifier")))
            }
            Ready::Text(text) => {
                let old = if append { self.scalar(name).unwrap_or_default() } else { String::new() };
                let text = self.combine(&old, text, append, integer)?;
                self.assigned(name, &text);
                self.vars.set(name, text)
            }
            Ready::Element(key, text) => {
                // Only what is appended to is looked at: an array may be long.
                let var = self.vars.var(name).filter(|_| append);
                let old = match (&key, var.map(|var| &var.value)) {
                    (Key::Text(key), Some(Value::Assoc(map))) => map.get(key).map(str::to_owned),
                    (Key::Number(index), Some(value)) => value.at(*index).map(str::to_owned),
                    _ => None,
                };
                let text = self.combine(&old.unwrap_or_default(), text, append, integer)?;
                match key {
                    Key::Number(index) => self.vars.set_index(name, index, text),
                    Key::Text(key) => self.vars.set_key(name, &key, text),
                }
            }
            Ready::List(list) => self.put_list(name, list, append, integer),
        }
    }

    fn put_list(
        &mut self,
        name: &str,
        list: Vec<(Option<Key>, String, bool)>,
        append: bool,
        integer: bool,
    ) -> Result<(), SetError> {
        let grows = append
            && !integer
            && !matches!(self.vars.var(name).map(|var| &var.value), Some(Value::Assoc(_)))
            && list.iter().all(|it| it.0.is_none() && !it.2);
        if grows {
            return self.vars.extend(name, list.into_iter().map(|it| it.1).collect());
        }
        let old = self.vars.var(name).cloned().unwrap_or_default();
        if let Value::Assoc(map) = old.value {
            let mut map = if append { map } else { Assoc::default() };
            for (key, text, add) in list {
                // Bash says so of each, and goes on without it.
                let Some(Key::Text(key)) = key else { continue };
                // As in bash, what the list itself put there is not added to.
                let before = map.get(&key).filter(|_| append).unwrap_or_default().to_owned();
                let text = self.combine(&before, text, add, integer)?;
                map.set(&key, old.attributes.cased(text));
            }
            return self.vars.set_value(name, Value::Assoc(map));
        }
        let mut items = if append { old.value.into_indexed() } else { BTreeMap::new() };
        let mut next = items.keys().next_back().map_or(0, |last| last.saturating_add(1));
        for (key, text, add) in list {
            let index = match key {
                Some(Key::Number(index)) if index < 0 => {
                    let end = items.keys().next_back().map_or(0, |last| last.saturating_add(1));
                    if end.saturating_add(index) < 0 {
                        return Err(SetError::Subscript(format!("{name}[{index}]")));
                    }
                    end.saturating_add(index)
                }
                Some(Key::Number(index)) => index,
                // The last index there is has no next one.
                _ if next == i64::MAX => return Err(SetError::Subscript(name.to_owned())),
                _ => next,
            };
            let before = items.get(&index).cloned().unwrap_or_default();
            let text = self.combine(&before, text, add, integer)?;
            items.insert(index, old.attributes.cased(text));
            next = index.saturating_add(1);
        }
        self.vars.set_value(name, Value::Indexed(items))
    }

    fn combine(&mut self, old: &str, new: String, append: bool, integer: bool) -> Result<String, SetError> {
        if integer {
            let mut compute = |text: &str| self.compute(text).map_err(|error| SetError::Other(error.0));
            let base = if append { compute(old)? } else { 0 };
            return Ok(base.wrapping_add(compute(&new)?).to_string());
        }
        Ok(if append { format!("{old}{new}") } else { new })
    }

    /// Variables that do something when they are set.
    pub(crate) fn assigned(&mut self, name: &str, text: &str) {
        match name {
            "RANDOM" => self.computed.start_random(text.parse::<i64>().unwrap_or(0) as u32),
            "SECONDS" => {
                let now = self.shared.clock.now().0;
                let offset = text.parse::<u64>().unwrap_or(0).saturating_mul(1_000_000_000);
                self.computed.seconds_from = Timestamp(now.saturating_sub(offset));
            }
            "PATH" if !self.definitions.hashed.is_empty() => self.define().hashed = Default::default(),
            "OPTIND" => self.computed.getopts_at = 0,
            "POSIXLY_CORRECT" => self.options.posix = true,
            "BASH_ARGV0" => self.identity.name = text.into(),
            "HISTSIZE" => {
                if let Ok(lines) = text.parse() {
                    self.remembered().keep(lines);
                }
            }
            "HISTFILESIZE" => {
                if let Ok(lines) = text.parse() {
                    self.shorten_history_file(lines);
                }
            }
            _ => {}
        }
    }
}

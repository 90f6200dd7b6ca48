//! Scopes: one for the shell, one for each running function.

use std::{collections::HashMap, sync::Arc};

use super::{Assoc, Attributes, SetError, Value, Var};

pub(crate) type Scope = HashMap<String, Var>;

/// How many namerefs may point at one another.
const NAMEREF_MAX: usize = 8;

#[derive(Debug, Clone)]
pub(crate) struct Vars {
    scopes: Vec<Arc<Scope>>,
    /// Which scopes are those of `NAME=value command`, and no function's.
    temporary: Vec<bool>,
    bytes: usize,
    bytes_max: usize,
    /// `set -a`: what is given a text is exported.
    pub(crate) export_all: bool,
}

impl Vars {
    pub(crate) fn new(bytes_max: usize) -> Self {
        Self { scopes: vec![Arc::default()], temporary: vec![false], bytes: 0, bytes_max, export_all: false }
    }

    /// The variables of a shell that was saved; none if they hold more than they may.
    pub(crate) fn of_saved(scope: Scope, bytes_max: usize) -> Option<Self> {
        let bytes = weight(&scope);
        let vars = Self { scopes: vec![Arc::new(scope)], bytes, ..Self::new(bytes_max) };
        (bytes <= bytes_max).then_some(vars)
    }

    /// The scope of the shell itself.
    pub(crate) fn outermost(&self) -> &Arc<Scope> {
        &self.scopes[0]
    }

    pub(crate) fn push_scope(&mut self) {
        self.scopes.push(Arc::default());
        self.temporary.push(false);
    }

    /// The scope of `NAME=value command`.
    pub(crate) fn push_temporary(&mut self) {
        self.scopes.push(Arc::default());
        self.temporary.push(true);
    }

    /// The variable in the innermost scope, of whatever kind.
    pub(crate) fn innermost(&mut self, name: &str) -> &mut Var {
        let at = self.scopes.len() - 1;
        Arc::make_mut(&mut self.scopes[at]).entry(name.to_owned()).or_default()
    }

    pub(crate) fn pop_scope(&mut self) {
        if self.scopes.len() > 1
            && let Some(scope) = self.scopes.pop()
        {
            self.temporary.pop();
            self.bytes = self.bytes.saturating_sub(weight(&scope));
        }
    }

    /// Ends the scope of `NAME=value command`, and keeps what is left in it: what POSIX says of special builtins.
    pub(crate) fn merge_temporary(&mut self) {
        let kept = self.scopes.last().map(Arc::clone).unwrap_or_default();
        self.pop_scope();
        for (name, var) in kept.iter() {
            if let Value::Scalar(text) = &var.value
                && self.set(name, text.clone()).is_ok()
            {
                self.entry(name).attributes.exported = true;
            }
        }
    }

    pub(crate) fn depth(&self) -> usize {
        self.scopes.len()
    }

    /// The name a nameref stands for in the end.
    pub(crate) fn resolve(&self, name: &str) -> String {
        let mut name = name.to_owned();
        for _ in 0..NAMEREF_MAX {
            match self.raw(&name) {
                Some(Var { attributes: Attributes { nameref: true, .. }, value: Value::Scalar(target) })
                    if !target.is_empty() && *target != name =>
                {
                    name = target.clone();
                }
                _ => break,
            }
        }
        name
    }

    /// Whether a nameref ends at an element of an array.
    pub(crate) fn points_at_element(&self, name: &str) -> bool {
        self.raw(name).is_some_and(|var| var.attributes.nameref) && element(&self.resolve(name)).is_some()
    }

    /// Whether namerefs go round in a circle.
    pub(crate) fn circular(&self, name: &str) -> bool {
        let end = self.resolve(name);
        self.raw(&end).is_some_and(|var| {
            var.attributes.nameref
                && matches!(&var.value, Value::Scalar(next) if !next.is_empty() && *next != end)
        })
    }

    fn raw(&self, name: &str) -> Option<&Var> {
        self.scopes.iter().rev().find_map(|scope| scope.get(name))
    }

    /// The variable itself, a nameref not followed.
    pub(crate) fn own(&self, name: &str) -> Option<&Var> {
        self.raw(name)
    }

    /// The variable, namerefs followed. A nameref to an element is the caller's to read.
    pub(crate) fn var(&self, name: &str) -> Option<&Var> {
        let var = self.raw(name)?;
        if !var.attributes.nameref {
            return Some(var);
        }
        let target = self.resolve(name);
        self.raw(&target)
    }

    pub(crate) fn get(&self, name: &str) -> Option<&str> {
        self.var(name)?.value.scalar()
    }

    /// The variable to change: where it is, or new in the outermost scope.
    pub(crate) fn entry(&mut self, name: &str) -> &mut Var {
        let at = self.scopes.iter().rposition(|scope| scope.contains_key(name)).unwrap_or(0);
        Arc::make_mut(&mut self.scopes[at]).entry(name.to_owned()).or_default()
    }

    /// The variable of the outermost scope, whatever hides it.
    pub(crate) fn global(&mut self, name: &str) -> &mut Var {
        Arc::make_mut(&mut self.scopes[0]).entry(name.to_owned()).or_default()
    }

    /// The variable in the running function's own scope, new if it is not there.
    pub(crate) fn local(&mut self, name: &str) -> &mut Var {
        let at = self.own_scope();
        // A variable given to the function itself is its own already, value and all, and gone when it is unset; one that
        // was given to a function around it hands its value on.
        if !self.scopes[at].contains_key(name)
            && let Some(from) = self.scopes[..at].iter().rposition(|it| it.contains_key(name))
            && self.temporary[from]
        {
            let given = match from + 1 == at {
                true => Arc::make_mut(&mut self.scopes[from]).remove(name),
                false => self.scopes[from].get(name).cloned(),
            };
            Arc::make_mut(&mut self.scopes[at]).insert(name.to_owned(), given.unwrap_or_default());
        }
        Arc::make_mut(&mut self.scopes[at]).entry(name.to_owned()).or_default()
    }

    /// The innermost scope that is a function's.
    fn own_scope(&self) -> usize {
        self.temporary.iter().rposition(|it| !it).unwrap_or(0)
    }

    pub(crate) fn is_local(&self, name: &str) -> bool {
        self.scopes[self.own_scope()].contains_key(name)
    }

    /// Sets the text of a variable, as `name=value` does; arrays get it as element 0.
    pub(crate) fn set(&mut self, name: &str, value: String) -> Result<(), SetError> {
        if self.circular(name) {
            return Err(SetError::Other(format!("{name}: circular name reference")));
        }
        let name = self.resolve(name);
        if let Some((base, key)) = element(&name) {
            return self.set_element(base, key, value);
        }
        let old = self.check(&name)?;
        self.charge(&name, value.len(), old)?;
        let export_all = self.export_all;
        let var = self.entry(&name);
        let value = var.attributes.cased(value);
        match &mut var.value {
            Value::Indexed(items) => {
                items.insert(0, value);
            }
            Value::Assoc(map) => {
                map.set("0", value);
            }
            other => {
                *other = Value::Scalar(value);
                var.attributes.exported |= export_all;
            }
        }
        Ok(())
    }

    fn set_element(&mut self, base: &str, key: &str, value: String) -> Result<(), SetError> {
        if matches!(self.var(base).map(|var| &var.value), Some(Value::Assoc(_))) {
            return self.set_key(base, key, value);
        }
        let index = key.parse().map_err(|_| SetError::Subscript(base.to_owned()))?;
        self.set_index(base, index, value)
    }

    /// Sets one element of an indexed array.
    pub(crate) fn set_index(&mut self, name: &str, index: i64, value: String) -> Result<(), SetError> {
        let name = self.resolve(name);
        self.check(&name)?;
        self.charge(&name, value.len() + 32, 0)?;
        let var = self.entry(&name);
        let value = var.attributes.cased(value);
        if let Value::Assoc(map) = &mut var.value {
            map.set(&index.to_string(), value);
            return Ok(());
        }
        let mut items = std::mem::take(&mut var.value).into_indexed();
        let end = items.keys().next_back().map_or(0, |last| last.saturating_add(1));
        let index = if index < 0 { end.saturating_add(index) } else { index };
        let legal = index >= 0;
        if legal {
            items.insert(index, value);
        }
        var.value = Value::Indexed(items);
        if legal { Ok(()) } else { Err(SetError::Subscript(name)) }
    }

    /// Puts elements after the last one, without touching those that are there.
    pub(crate) fn extend(&mut self, name: &str, list: Vec<String>) -> Result<(), SetError> {
        let name = self.resolve(name);
        self.check(&name)?;
        self.charge(&name, list.iter().map(|it| it.len() + 32).sum(), 0)?;
        let var = self.entry(&name);
        var.attributes.bare = false;
        let attributes = var.attributes;
        let mut items = std::mem::take(&mut var.value).into_indexed();
        let next = items.keys().next_back().map_or(0, |last| last.saturating_add(1));
        // The last index there is has no next one.
        if next.checked_add(list.len() as i64).is_none() {
            var.value = Value::Indexed(items);
            return Err(SetError::Subscript(name));
        }
        items.extend((next..).zip(list.into_iter().map(|it| attributes.cased(it))));
        var.value = Value::Indexed(items);
        Ok(())
    }

    /// Sets one element of an associative array.
    pub(crate) fn set_key(&mut self, name: &str, key: &str, value: String) -> Result<(), SetError> {
        let name = self.resolve(name);
        self.check(&name)?;
        self.charge(&name, value.len() + key.len() + 64, 0)?;
        let var = self.entry(&name);
        let value = var.attributes.cased(value);
        if !matches!(var.value, Value::Assoc(_)) {
            var.value = Value::Assoc(Assoc::default());
        }
        if let Value::Assoc(map) = &mut var.value {
            map.set(key, value);
        }
        Ok(())
    }

    /// Replaces a whole value.
    pub(crate) fn set_value(&mut self, name: &str, value: Value) -> Result<(), SetError> {
        let name = self.resolve(name);
        let old = self.check(&name)?;
        self.charge(&name, value.bytes(), old)?;
        let var = self.entry(&name);
        var.value = value;
        var.attributes.bare = false;
        Ok(())
    }

    /// Refuses what is readonly; answers what the old value weighs.
    fn check(&self, name: &str) -> Result<usize, SetError> {
        match self.raw(name) {
            Some(var) if var.attributes.readonly => Err(SetError::ReadOnly(name.to_owned())),
            Some(Var { value: Value::Scalar(text), .. }) => Ok(text.len()),
            Some(_) => Ok(0),
            None => Ok(0),
        }
    }

    fn charge(&mut self, name: &str, new: usize, old: usize) -> Result<(), SetError> {
        let bytes = (self.bytes + new).saturating_sub(old);
        if bytes > self.bytes_max {
            // Rewriting elements is counted as growth until someone looks.
            self.bytes = self.weigh();
            if self.bytes + new > self.bytes_max {
                return Err(SetError::Full(self.bytes_max));
            }
        }
        self.bytes = (self.bytes + new).saturating_sub(old) + if old == 0 { name.len() } else { 0 };
        Ok(())
    }

    fn weigh(&self) -> usize {
        self.scopes.iter().map(|it| weight(it)).sum()
    }

    /// Removes a variable from the innermost scope that has it.
    pub(crate) fn unset(&mut self, name: &str) -> Result<(), SetError> {
        let Some(at) = self.scopes.iter().rposition(|scope| scope.contains_key(name)) else { return Ok(()) };
        if self.scopes[at].get(name).is_some_and(|var| var.attributes.readonly) {
            return Err(SetError::Other(format!("{name}: cannot unset: readonly variable")));
        }
        let innermost = at > 0 && at == self.own_scope();
        let scope = Arc::make_mut(&mut self.scopes[at]);
        if innermost {
            // A local that is unset hides the outer one still.
            scope.insert(name.to_owned(), Var::default());
        } else {
            scope.remove(name);
        }
        Ok(())
    }

    /// Every visible name, sorted.
    pub(crate) fn names(&self) -> Vec<String> {
        let mut names: Vec<String> = self.scopes.iter().flat_map(|scope| scope.keys().cloned()).collect();
        names.sort_unstable();
        names.dedup();
        names.retain(|name| self.raw(name).is_some());
        names
    }

    /// Name and text of what is exported, sorted by name. Asked for every command, so nothing else is looked at twice.
    pub(crate) fn exported(&self) -> Vec<(&str, &str)> {
        let mut rows = Vec::new();
        for (at, scope) in self.scopes.iter().enumerate() {
            for (name, var) in scope.iter().filter(|it| it.1.attributes.exported) {
                let is_hidden = || self.scopes[at + 1..].iter().any(|inner| inner.contains_key(name));
                if let Value::Scalar(text) = &var.value
                    && !is_hidden()
                {
                    rows.push((name.as_str(), text.as_str()));
                }
            }
        }
        rows.sort_unstable();
        rows
    }
}

impl Attributes {
    pub(crate) fn cased(self, value: String) -> String {
        match (self.upper, self.lower) {
            (true, false) => value.to_uppercase(),
            (false, true) => value.to_lowercase(),
            _ => value,
        }
    }
}

/// `name[key]`, as a nameref may say.
pub(crate) fn element(name: &str) -> Option<(&str, &str)> {
    name.strip_suffix(']')?.split_once('[')
}

fn weight(scope: &Scope) -> usize {
    scope.iter().map(|(name, var)| name.len() + var.value.bytes()).sum()
}

#[test]
fn what_an_inner_scope_hides_is_not_exported() {
    let mut vars = Vars::new(1 << 20);
    for (name, exported) in [("B", true), ("A", true), ("C", false)] {
        let var = vars.entry(name);
        var.value = Value::Scalar("1".into());
        var.attributes.exported = exported;
    }
    assert_eq!(vars.exported(), [("A", "1"), ("B", "1")]);
    vars.push_scope();
    vars.local("B").value = Value::Scalar("2".into());
    assert_eq!(vars.exported(), [("A", "1")]);
    vars.local("B").attributes.exported = true;
    assert_eq!(vars.exported(), [("A", "1"), ("B", "2")]);
}

//! Patterns: values taken apart into links.

use super::env::{Env, Item};
use super::{Exit, Flow, Run, access};
use crate::compile::node::{Binder, Id, Pattern};
use crate::value::Value;

/// What goes on once everything is bound.
type Then<'t, 'e> = &'t mut dyn for<'x> FnMut(&'x Env<'x>) -> Flow;

impl Run<'_> {
    /// Binds by the first alternative that works out, the rest of the run included.
    pub(super) fn bind<'e>(
        &self,
        binder: &Binder,
        value: Value,
        env: &'e Env<'e>,
        then: Then<'_, 'e>,
    ) -> Flow {
        let Some((last, before)) = binder.alternatives.split_last() else { return Ok(()) };
        for alternative in before {
            let Some(kept) = &alternative.kept else { continue };
            let result = self.pattern(&alternative.pattern, value.clone(), env, &mut |bound| {
                rebind(kept, bound, env, then)
            });
            match result {
                Err(Exit::Error(_)) => {}
                other => return other,
            }
        }
        match &last.kept {
            None => self.pattern(&last.pattern, value, env, then),
            Some(kept) => {
                self.pattern(&last.pattern, value, env, &mut |bound| rebind(kept, bound, env, then))
            }
        }
    }

    /// The same for one pattern whose keys are single, and a body that is.
    pub(super) fn bind_one<'e>(
        &self,
        binder: &Binder,
        value: Value,
        env: &'e Env<'e>,
        input: Value,
        body: Id,
    ) -> Result<Option<Value>, Exit> {
        if let Pattern::Variable = binder.alternatives[0].pattern {
            return self.one(body, &env.with(Item::Value(value)), input);
        }
        let mut found = None;
        self.bind(binder, value, env, &mut |env| {
            found = self.one(body, env, input.clone())?;
            Ok(())
        })?;
        Ok(found)
    }

    fn pattern<'e>(&self, pattern: &Pattern, value: Value, env: &'e Env<'e>, then: Then<'_, 'e>) -> Flow {
        match pattern {
            Pattern::Variable => then(&env.with(Item::Value(value))),
            Pattern::Array(items) => {
                if !matches!(value, Value::Null | Value::Arr(_)) {
                    return Err(Exit::error(format!("Cannot index {} with number", value.kind())));
                }
                self.items(items, 0, &value, env, then)
            }
            Pattern::Object(fields) => self.fields(fields, &value, env, then),
        }
    }

    fn items<'e>(
        &self,
        items: &[Pattern],
        at: usize,
        value: &Value,
        env: &'e Env<'e>,
        then: Then<'_, 'e>,
    ) -> Flow {
        let Some(item) = items.get(at) else { return then(env) };
        let part = access::index(value, &Value::from(at))?;
        self.pattern(item, part, env, &mut |env| self.items(items, at + 1, value, env, then))
    }

    fn fields<'e>(
        &self,
        fields: &[crate::compile::node::FieldPattern],
        value: &Value,
        env: &'e Env<'e>,
        then: Then<'_, 'e>,
    ) -> Flow {
        let Some((field, rest)) = fields.split_first() else { return then(env) };
        self.each(field.key, env, value.clone(), &mut |key| {
            if key.as_str().is_none() {
                return Err(Exit::error(format!("Cannot index {} with {}", value.kind(), key.kind())));
            }
            let part = access::index(value, &key)?;
            let mut with = |env: &Env<'_>| match &field.value {
                Some(pattern) => {
                    self.pattern(pattern, part.clone(), env, &mut |env| self.fields(rest, value, env, then))
                }
                None => self.fields(rest, value, env, then),
            };
            if field.binds { with(&env.with(Item::Value(part.clone()))) } else { with(env) }
        })
    }
}

/// The variables all alternatives have, in one order; `null` for those this one does not bind.
fn rebind<'e>(kept: &[Option<u32>], bound: &Env<'_>, env: &'e Env<'e>, then: Then<'_, 'e>) -> Flow {
    let Some((first, rest)) = kept.split_first() else { return then(env) };
    let value = first.map_or(Value::Null, |hops| bound.value(hops));
    rebind(rest, bound, &env.with(Item::Value(value)), then)
}

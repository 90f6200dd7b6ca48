//! `=`, `|=` and the operators with `=`.
//!
//! The paths are found first and the input let go, so that it is changed in place.

use super::env::Env;
use super::{Exit, Flow, Out, Run, access, operate};
use crate::compile::node::{Id, Node};
use crate::syntax::ast::Assignment;
use crate::value::Value;

impl Run<'_> {
    /// With a right side of at most one output.
    pub(super) fn assign_one<'e>(
        &self,
        how: Assignment,
        left: Id,
        right: Id,
        env: &'e Env<'e>,
        input: Value,
    ) -> Result<Option<Value>, Exit> {
        if how == Assignment::Update {
            return self.update(left, right, env, input).map(Some);
        }
        let Some(operand) = self.one(right, env, input.clone())? else { return Ok(None) };
        self.assign_value(how, left, &operand, env, input).map(Some)
    }

    /// Once for every output of the right side.
    pub(super) fn assign<'e>(
        &self,
        how: Assignment,
        left: Id,
        right: Id,
        env: &'e Env<'e>,
        input: Value,
        out: Out<'_>,
    ) -> Flow {
        if how == Assignment::Update {
            return out(self.update(left, right, env, input)?);
        }
        self.each(right, env, input.clone(), &mut |operand| {
            out(self.assign_value(how, left, &operand, env, input.clone())?)
        })
    }

    fn assign_value<'e>(
        &self,
        how: Assignment,
        left: Id,
        operand: &Value,
        env: &'e Env<'e>,
        input: Value,
    ) -> Result<Value, Exit> {
        let mut change = |old: Value| match how {
            Assignment::Set | Assignment::Update => Ok(operand.clone()),
            Assignment::Compute(operator) => operate::arithmetic(operator, old, operand.clone()),
            Assignment::Default => Ok(if old.is_true() { old } else { operand.clone() }),
        };
        let mut root = input;
        for path in self.simple_or_all(left, env, &mut root)? {
            access::update_path(&mut root, &path, &mut change)?;
        }
        Ok(root)
    }

    /// `left |= right`: the first output takes the old value's place; without one, it is deleted.
    fn update<'e>(&self, left: Id, right: Id, env: &'e Env<'e>, input: Value) -> Result<Value, Exit> {
        let mut root = input;
        let mut gone: Vec<Vec<Value>> = Vec::new();
        for path in self.simple_or_all(left, env, &mut root)? {
            let mut deleted = false;
            access::update_path(&mut root, &path, &mut |old| {
                let kept = match self.program.is_single(right) {
                    true => self.one(right, env, old)?,
                    false => self.first(right, env, old)?,
                };
                deleted = kept.is_none();
                Ok(kept.unwrap_or(Value::Null))
            })?;
            if deleted {
                gone.push(path);
            }
        }
        if gone.is_empty() { Ok(root) } else { access::delete_paths(root, gone) }
    }

    /// All paths of `left`; a chain of names needs no look at the value.
    fn simple_or_all<'e>(
        &self,
        left: Id,
        env: &'e Env<'e>,
        root: &mut Value,
    ) -> Result<Vec<Vec<Value>>, Exit> {
        let mut keys = Vec::new();
        if self.names_only(left, &mut keys) {
            // What is wrong with the chain shows while it is followed to change the value.
            return Ok(vec![keys]);
        }
        let mut all = Vec::new();
        self.paths(left, env, root.clone(), &mut |path, _| {
            all.push(path.keys());
            Ok(())
        })?;
        Ok(all)
    }

    fn names_only(&self, id: Id, keys: &mut Vec<Value>) -> bool {
        match self.program.node(id) {
            Node::Identity => true,
            Node::Field(name) => {
                keys.push(Value::Str(name.clone()));
                true
            }
            Node::Pipe(first, second) => self.names_only(*first, keys) && self.names_only(*second, keys),
            _ => false,
        }
    }

    /// The first output.
    pub(super) fn first<'e>(&self, id: Id, env: &'e Env<'e>, input: Value) -> Result<Option<Value>, Exit> {
        let mut found = None;
        match self.each(id, env, input, &mut |value| {
            found = Some(value);
            Err(Exit::Enough)
        }) {
            Err(Exit::Enough) if found.is_some() => Ok(found),
            Ok(()) => Ok(found),
            Err(exit) => Err(exit),
        }
    }
}

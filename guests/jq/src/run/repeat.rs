//! Functions that go on from their own outputs: `recurse`, `until`, `while`, `walk`.
//!
//! With a next step of at most one output they are loops; otherwise each step is a call, and counted.

use super::env::Env;
use super::{Exit, Flow, Out, Run};
use crate::compile::node::{Id, Node};
use crate::value::{Object, Value};

type One = Result<Option<Value>, Exit>;

impl Run<'_> {
    pub(super) fn recurse<'e>(&self, next: Id, env: &'e Env<'e>, input: Value, out: Out<'_>) -> Flow {
        if let Node::Try(body, None) = self.program.node(next)
            && matches!(self.program.node(*body), Node::Iterate)
        {
            return everything(input, out);
        }
        let mut at = input;
        if self.program.is_single(next) {
            loop {
                out(at.clone())?;
                match self.one(next, env, at)? {
                    Some(value) => at = value,
                    None => return Ok(()),
                }
            }
        }
        out(at.clone())?;
        self.deeper(|| self.each(next, env, at, &mut |value| self.recurse(next, env, value, out)))
    }

    pub(super) fn until_one<'e>(&self, args: &[Id], env: &'e Env<'e>, input: Value) -> One {
        let mut at = input;
        loop {
            match self.one(args[0], env, at.clone())? {
                None => return Ok(None),
                Some(test) if test.is_true() => return Ok(Some(at)),
                Some(_) => {}
            }
            match self.one(args[1], env, at)? {
                Some(next) => at = next,
                None => return Ok(None),
            }
        }
    }

    pub(super) fn until<'e>(&self, test: Id, next: Id, env: &'e Env<'e>, input: Value, out: Out<'_>) -> Flow {
        self.each(test, env, input.clone(), &mut |test_value| {
            if test_value.is_true() {
                return out(input.clone());
            }
            self.deeper(|| {
                self.each(next, env, input.clone(), &mut |value| self.until(test, next, env, value, out))
            })
        })
    }

    pub(super) fn while_do<'e>(
        &self,
        test: Id,
        next: Id,
        env: &'e Env<'e>,
        input: Value,
        out: Out<'_>,
    ) -> Flow {
        if self.program.is_single(test) && self.program.is_single(next) {
            let mut at = input;
            while self.one(test, env, at.clone())?.is_some_and(|test| test.is_true()) {
                out(at.clone())?;
                match self.one(next, env, at)? {
                    Some(value) => at = value,
                    None => break,
                }
            }
            return Ok(());
        }
        self.each(test, env, input.clone(), &mut |test_value| {
            if !test_value.is_true() {
                return Ok(());
            }
            out(input.clone())?;
            self.deeper(|| {
                self.each(next, env, input.clone(), &mut |value| self.while_do(test, next, env, value, out))
            })
        })
    }

    pub(super) fn walk_one<'e>(&self, f: Id, env: &'e Env<'e>, input: Value) -> One {
        let rebuilt = match input {
            Value::Arr(items) => {
                let mut walked = Vec::with_capacity(items.len());
                for item in items.take() {
                    walked.extend(self.deeper(|| self.walk_one(f, env, item))?);
                }
                Value::arr(walked)
            }
            Value::Obj(fields) => {
                let mut walked = Object::with_capacity(fields.len());
                for (key, item) in fields.iter() {
                    if let Some(item) = self.deeper(|| self.walk_one(f, env, item.clone()))? {
                        walked.insert(key.clone(), item);
                    }
                }
                Value::obj(walked)
            }
            scalar => scalar,
        };
        self.one(f, env, rebuilt)
    }

    pub(super) fn walk<'e>(&self, f: Id, env: &'e Env<'e>, input: Value, out: Out<'_>) -> Flow {
        let rebuilt = match input {
            Value::Arr(items) => {
                let mut walked = Vec::with_capacity(items.len());
                for item in items.take() {
                    self.deeper(|| {
                        self.walk(f, env, item, &mut |value| {
                            walked.push(value);
                            Ok(())
                        })
                    })?;
                }
                Value::arr(walked)
            }
            Value::Obj(fields) => {
                let mut walked = Object::with_capacity(fields.len());
                for (key, item) in fields.iter() {
                    let mut first = None;
                    let result = self.deeper(|| {
                        self.walk(f, env, item.clone(), &mut |value| {
                            first = Some(value);
                            Err(Exit::Enough)
                        })
                    });
                    match (result, first) {
                        (Err(Exit::Enough), Some(value)) => walked.insert(key.clone(), value),
                        (result, _) => result?,
                    }
                }
                Value::obj(walked)
            }
            scalar => scalar,
        };
        self.each(f, env, rebuilt, out)
    }
}

/// `..`
fn everything(input: Value, out: Out<'_>) -> Flow {
    let mut waiting = vec![input];
    while let Some(value) = waiting.pop() {
        let start = waiting.len();
        match &value {
            Value::Arr(items) => waiting.extend(items.iter().cloned()),
            Value::Obj(fields) => waiting.extend(fields.iter().map(|(_, item)| item.clone())),
            _ => {}
        }
        waiting[start..].reverse();
        out(value)?;
    }
    Ok(())
}

//! Nodes with any number of outputs.

use super::env::{Env, Item};
use super::one::object_key;
use super::{Exit, Flow, Out, Run, access, operate};
use crate::compile::node::{Call, Id, Node, TextPart};
use crate::natives::{Format, Native};
use crate::value::{Object, Value};

impl Run<'_> {
    /// Hands every output of a node to `out`.
    #[inline]
    pub(super) fn each<'e>(&self, id: Id, env: &'e Env<'e>, input: Value, out: Out<'_>) -> Flow {
        self.each_in(id, env, input, out, false)
    }

    /// With `called`, this frame belongs to a call that is counted; calls that stand last reuse it.
    fn each_in<'e>(&self, id: Id, env: &'e Env<'e>, input: Value, out: Out<'_>, called: bool) -> Flow {
        let (mut id, mut env, mut input) = (id, env, input);
        loop {
            if self.program.is_single(id) {
                return match self.one(id, env, input)? {
                    Some(value) => out(value),
                    None => Ok(()),
                };
            }
            match self.program.node(id) {
                Node::Pipe(first, second) => {
                    if !self.program.is_single(*first) {
                        return self
                            .each(*first, env, input, &mut |value| self.each(*second, env, value, out));
                    }
                    match self.one(*first, env, input)? {
                        Some(value) => (id, input) = (*second, value),
                        None => return Ok(()),
                    }
                }
                Node::Iterate => return iterate(input, out),
                Node::Comma(items) => {
                    let Some((last, before)) = items.split_last() else { return Ok(()) };
                    for item in before {
                        self.each(*item, env, input.clone(), out)?;
                    }
                    id = *last;
                }
                Node::If(test, then, otherwise) => {
                    if !self.program.is_single(*test) {
                        return self.each(*test, env, input.clone(), &mut |test| {
                            let branch = if test.is_true() { *then } else { *otherwise };
                            self.each(branch, env, input.clone(), out)
                        });
                    }
                    match self.one(*test, env, input.clone())? {
                        Some(test) => id = if test.is_true() { *then } else { *otherwise },
                        None => return Ok(()),
                    }
                }
                Node::Index(target, key) => {
                    return self.each(*key, env, input.clone(), &mut |key| {
                        self.each(*target, env, input.clone(), &mut |target| {
                            out(access::index(&target, &key)?)
                        })
                    });
                }
                Node::Slice(target, from, to) => {
                    return self.bounds(*from, *to, env, &input, &mut |from, to| {
                        self.each(*target, env, input.clone(), &mut |target| {
                            out(access::slice(&target, from, to)?)
                        })
                    });
                }
                Node::Binary(operator, left, right) => {
                    return self.each(*right, env, input.clone(), &mut |right| {
                        self.each(*left, env, input.clone(), &mut |left| {
                            out(operate::binary(*operator, left, right.clone())?)
                        })
                    });
                }
                Node::Negate(inner) => {
                    return self.each(*inner, env, input, &mut |value| out(operate::negate(value)?));
                }
                Node::And(left, right) => return self.both(*left, *right, false, env, &input, out),
                Node::Or(left, right) => return self.both(*left, *right, true, env, &input, out),
                Node::Alternative(left, right) => {
                    let mut any = false;
                    let result = self.guarded(*left, env, input.clone(), &mut |value| {
                        if !value.is_true() {
                            return Ok(());
                        }
                        any = true;
                        out(value)
                    })?;
                    match result {
                        _ if any => return Ok(()),
                        _ => id = *right,
                    }
                }
                Node::Try(body, handler) => match self.guarded(*body, env, input, out)? {
                    None => return Ok(()),
                    Some(error) => match handler {
                        Some(handler) => (id, input) = (*handler, error),
                        None => return Ok(()),
                    },
                },
                Node::Object(fields) => return self.objects(fields, Object::new(), env, &input, out),
                Node::Text(format, parts) => {
                    return self.texts(*format, parts, String::new(), env, &input, out);
                }
                Node::Fold(fold) => {
                    return match fold.extract {
                        None => self.each(fold.init, env, input.clone(), &mut |init| {
                            out(self.reduce_from(fold, init, env, &input)?)
                        }),
                        Some(extract) => self.foreach(fold, extract, env, input, out),
                    };
                }
                Node::Bind(source, binder, body) => {
                    return self.each(*source, env, input.clone(), &mut |value| {
                        self.bind(binder, value, env, &mut |env| self.each(*body, env, input.clone(), out))
                    });
                }
                Node::Label(body) => {
                    let label = self.label();
                    return match self.each(*body, &env.with(Item::Label(label)), input, out) {
                        Err(Exit::Break(to)) if to == label => Ok(()),
                        other => other,
                    };
                }
                Node::Call(call) => {
                    if !call.args.is_empty() {
                        return self.deeper(|| self.call_each(call, 0, env, env.back(call.hops), input, out));
                    }
                    env = env.back(call.hops);
                    id = self.program.functions[call.function as usize].body;
                    if !called {
                        return self.deeper(|| self.each_in(id, env, input, out, true));
                    }
                }
                Node::Arg(hops) => match &env.back(*hops).item {
                    Item::Filter(filter, place) => (id, env) = (*filter, place),
                    _ => return Ok(()),
                },
                Node::Native(native, args, last_slowest) => {
                    let mut values = vec![Value::Null; args.len()];
                    return self.natives(*native, args, *last_slowest, 0, &mut values, env, &input, out);
                }
                Node::Special(special, args) => return self.special(*special, args, env, input, out),
                Node::Assign(how, left, right) => return self.assign(*how, *left, *right, env, input, out),
                _ => return Ok(()),
            }
        }
    }

    /// Runs a node whose errors are ours to handle; errors of `out` are not, and pass through.
    pub(super) fn guarded<'e>(
        &self,
        id: Id,
        env: &'e Env<'e>,
        input: Value,
        out: Out<'_>,
    ) -> Result<Option<Value>, Exit> {
        let mut beyond = None;
        let depth = self.depth.get();
        let result = self.each(id, env, input, &mut |value| {
            out(value).map_err(|exit| {
                beyond = Some(exit);
                Exit::Enough
            })
        });
        match (beyond, result) {
            (Some(exit), _) => Err(exit),
            (None, Ok(())) => Ok(None),
            (None, Err(Exit::Error(error))) => {
                self.depth.set(depth);
                Ok(Some(*error))
            }
            (None, Err(exit)) => Err(exit),
        }
    }

    /// The bounds of a slice, `from` varying slowest.
    pub(super) fn bounds<'e>(
        &self,
        from: Option<Id>,
        to: Option<Id>,
        env: &'e Env<'e>,
        input: &Value,
        out: &mut dyn FnMut(&Value, &Value) -> Flow,
    ) -> Flow {
        let mut with_from = |from: Value| match to {
            None => out(&from, &Value::Null),
            Some(to) => self.each(to, env, input.clone(), &mut |to| out(&from, &to)),
        };
        match from {
            None => with_from(Value::Null),
            Some(from) => self.each(from, env, input.clone(), &mut with_from),
        }
    }

    /// `and` and `or`: the right side is asked only where the left does not decide.
    fn both<'e>(
        &self,
        left: Id,
        right: Id,
        decides: bool,
        env: &'e Env<'e>,
        input: &Value,
        out: Out<'_>,
    ) -> Flow {
        self.each(left, env, input.clone(), &mut |left| {
            if left.is_true() == decides {
                return out(Value::Bool(decides));
            }
            self.each(right, env, input.clone(), &mut |right| out(Value::Bool(right.is_true())))
        })
    }

    fn objects<'e>(
        &self,
        fields: &[(Id, Option<Id>)],
        done: Object,
        env: &'e Env<'e>,
        input: &Value,
        out: Out<'_>,
    ) -> Flow {
        let Some(((key, value), rest)) = fields.split_first() else { return out(Value::obj(done)) };
        self.each(*key, env, input.clone(), &mut |key| {
            let key = object_key(key)?;
            let mut with = |value: Value| {
                let mut more = done.clone();
                more.insert(key.clone(), value);
                self.objects(rest, more, env, input, out)
            };
            match value {
                Some(value) => self.each(*value, env, input.clone(), &mut with),
                None => with(access::field(input, &key)?),
            }
        })
    }

    /// From the last part to the first, because the first varies fastest.
    fn texts<'e>(
        &self,
        format: Format,
        parts: &[TextPart],
        tail: String,
        env: &'e Env<'e>,
        input: &Value,
        out: Out<'_>,
    ) -> Flow {
        let Some((last, before)) = parts.split_last() else { return out(Value::from(tail)) };
        match last {
            TextPart::Plain(plain) => self.texts(format, before, format!("{plain}{tail}"), env, input, out),
            TextPart::Inserted(inner) => self.each(*inner, env, input.clone(), &mut |value| {
                let mut text = String::new();
                format.append(&mut text, &value)?;
                text.push_str(&tail);
                self.texts(format, before, text, env, input, out)
            }),
        }
    }

    #[allow(clippy::too_many_arguments, reason = "one loop per argument, nested")]
    fn natives<'e>(
        &self,
        native: Native,
        args: &[Id],
        last_slowest: bool,
        turn: usize,
        values: &mut Vec<Value>,
        env: &'e Env<'e>,
        input: &Value,
        out: Out<'_>,
    ) -> Flow {
        if turn == args.len() {
            return out(native(input.clone(), values)?);
        }
        let at = if last_slowest { args.len() - 1 - turn } else { turn };
        self.each(args[at], env, input.clone(), &mut |value| {
            values[at] = value;
            self.natives(native, args, last_slowest, turn + 1, values, env, input, out)
        })
    }

    /// Links the arguments from `at` on, and runs the body; a value is linked once for each output.
    fn call_each<'e>(
        &self,
        call: &Call,
        at: usize,
        caller: &'e Env<'e>,
        env: &'e Env<'e>,
        input: Value,
        out: Out<'_>,
    ) -> Flow {
        let function = &self.program.functions[call.function as usize];
        let Some(arg) = call.args.get(at) else { return self.each(function.body, env, input, out) };
        if !function.params[at] {
            let filter = self.filter(*arg, caller);
            return self.call_each(call, at + 1, caller, &env.with(filter), input, out);
        }
        self.each(*arg, caller, input.clone(), &mut |value| {
            self.call_each(call, at + 1, caller, &env.with(Item::Value(value)), input.clone(), out)
        })
    }
}

/// The items of a container; moved out of it if nobody else holds it.
pub(super) fn iterate(input: Value, out: Out<'_>) -> Flow {
    match input {
        Value::Arr(items) => items.take().into_iter().try_for_each(out),
        Value::Obj(mut fields) => match fields.try_mut() {
            Some(own) => own.take_fields().into_iter().try_for_each(|(_, value)| out(value)),
            None => fields.iter().try_for_each(|(_, value)| out(value.clone())),
        },
        other => Err(Exit::error(format!("Cannot iterate over {}", other.described()))),
    }
}

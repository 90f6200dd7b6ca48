//! Nodes with at most one output.

use super::env::{Env, Item};
use super::{Exit, Run, access, operate};
use crate::compile::node::{Call, Id, Node, TextPart};
use crate::value::{Object, Text, Value};

type One = Result<Option<Value>, Exit>;

/// The output of a single node, or leave with nothing.
macro_rules! given {
    ($result:expr) => {
        match $result? {
            Some(value) => value,
            None => return Ok(None),
        }
    };
}

impl Run<'_> {
    /// The output, if there is one. Only for nodes marked as single.
    #[inline]
    pub(super) fn one<'e>(&self, id: Id, env: &'e Env<'e>, input: Value) -> One {
        self.one_in(id, env, input, false)
    }

    /// With `called`, this frame belongs to a call that is counted; calls that stand last reuse it.
    fn one_in<'e>(&self, id: Id, env: &'e Env<'e>, input: Value, called: bool) -> One {
        let (mut id, mut env, mut input) = (id, env, input);
        loop {
            match self.program.node(id) {
                Node::Identity => return Ok(Some(input)),
                Node::Empty => return Ok(None),
                Node::Const(value) => return Ok(Some(value.clone())),
                Node::Field(name) => return access::field(&input, name).map(Some),
                Node::Pipe(first, second) => {
                    input = match self.program.node(*first) {
                        Node::Field(name) => access::field(&input, name)?,
                        _ => given!(self.one(*first, env, input)),
                    };
                    id = *second;
                }
                Node::If(test, then, otherwise) => {
                    let test = given!(self.one(*test, env, input.clone()));
                    id = if test.is_true() { *then } else { *otherwise };
                }
                Node::Var(hops) => return Ok(Some(env.value(*hops))),
                Node::Binary(operator, left, right) => {
                    let right = given!(self.one(*right, env, input.clone()));
                    let left = given!(self.one(*left, env, input));
                    return operate::binary(*operator, left, right).map(Some);
                }
                Node::Index(target, key) => {
                    let key = given!(self.one(*key, env, input.clone()));
                    let target = given!(self.one(*target, env, input));
                    return access::index(&target, &key).map(Some);
                }
                Node::Slice(target, from, to) => {
                    let from = match from {
                        Some(from) => given!(self.one(*from, env, input.clone())),
                        None => Value::Null,
                    };
                    let to = match to {
                        Some(to) => given!(self.one(*to, env, input.clone())),
                        None => Value::Null,
                    };
                    let target = given!(self.one(*target, env, input));
                    return access::slice(&target, &from, &to).map(Some);
                }
                Node::Array(inner) => {
                    return self.all(*inner, env, input).map(|items| Some(Value::arr(items)));
                }
                Node::Object(fields) => return self.object(fields, env, input),
                Node::Negate(inner) => {
                    return operate::negate(given!(self.one(*inner, env, input))).map(Some);
                }
                Node::And(left, right) => {
                    if !given!(self.one(*left, env, input.clone())).is_true() {
                        return Ok(Some(Value::Bool(false)));
                    }
                    return Ok(Some(Value::Bool(given!(self.one(*right, env, input)).is_true())));
                }
                Node::Or(left, right) => {
                    if given!(self.one(*left, env, input.clone())).is_true() {
                        return Ok(Some(Value::Bool(true)));
                    }
                    return Ok(Some(Value::Bool(given!(self.one(*right, env, input)).is_true())));
                }
                Node::Alternative(left, right) => match self.one(*left, env, input.clone()) {
                    Ok(Some(value)) if value.is_true() => return Ok(Some(value)),
                    Ok(_) | Err(Exit::Error(_)) => id = *right,
                    Err(exit) => return Err(exit),
                },
                Node::Try(body, handler) => match self.one(*body, env, input) {
                    Err(Exit::Error(error)) => match handler {
                        Some(handler) => (id, input) = (*handler, *error),
                        None => return Ok(None),
                    },
                    other => return other,
                },
                Node::Text(format, parts) => {
                    let mut text = String::new();
                    for part in parts.iter().rev() {
                        if let TextPart::Inserted(inner) = part
                            && !self.is_plain(*inner)
                        {
                            return self.text_in_order(*format, parts, env, input);
                        }
                    }
                    for part in parts {
                        match part {
                            TextPart::Plain(plain) => text.push_str(plain),
                            TextPart::Inserted(inner) => {
                                let value = given!(self.one(*inner, env, input.clone()));
                                format.append(&mut text, &value)?;
                            }
                        }
                    }
                    return Ok(Some(Value::from(text)));
                }
                Node::Format(format) => {
                    let mut text = String::new();
                    format.append(&mut text, &input)?;
                    return Ok(Some(Value::from(text)));
                }
                Node::Break(hops) => {
                    let Item::Label(label) = env.back(*hops).item else { return Ok(None) };
                    return Err(Exit::Break(label));
                }
                Node::Label(body) => {
                    let label = self.label();
                    return match self.one(*body, &env.with(Item::Label(label)), input) {
                        Err(Exit::Break(to)) if to == label => Ok(None),
                        other => other,
                    };
                }
                Node::Bind(source, binder, body) => {
                    let value = given!(self.one(*source, env, input.clone()));
                    return self.bind_one(binder, value, env, input, *body);
                }
                Node::Fold(fold) => return self.reduce(fold, env, input),
                Node::Call(call) => {
                    let function = &self.program.functions[call.function as usize];
                    if call.args.is_empty() {
                        // The frame is the one the function was defined in, so the loop goes on there.
                        env = env.back(call.hops);
                        id = function.body;
                        if !called {
                            return self.deeper(|| self.one_in(id, env, input, true));
                        }
                        continue;
                    }
                    return self.deeper(|| self.call_one(call, 0, env, env.back(call.hops), input));
                }
                Node::Arg(hops) => match &env.back(*hops).item {
                    Item::Filter(filter, place) => (id, env) = (*filter, place),
                    _ => return Ok(None),
                },
                Node::Native(native, args, last_slowest) => {
                    return self.native(*native, args, *last_slowest, env, input);
                }
                Node::Special(special, args) => return self.special_one(*special, args, env, input),
                Node::Assign(how, left, right) => return self.assign_one(*how, *left, *right, env, input),
                // Never single.
                Node::Iterate | Node::Comma(_) => return Ok(None),
            }
        }
    }

    fn native<'e>(
        &self,
        native: crate::natives::Native,
        args: &[Id],
        last_slowest: bool,
        env: &'e Env<'e>,
        input: Value,
    ) -> One {
        match args {
            [] => native(input, &[]).map(Some),
            [only] => {
                let arg = given!(self.one(*only, env, input.clone()));
                native(input, &[arg]).map(Some)
            }
            _ => {
                let mut values = vec![Value::Null; args.len()];
                for turn in 0..args.len() {
                    let at = if last_slowest { args.len() - 1 - turn } else { turn };
                    values[at] = given!(self.one(args[at], env, input.clone()));
                }
                native(input, &values).map(Some)
            }
        }
    }

    fn object<'e>(&self, fields: &[(Id, Option<Id>)], env: &'e Env<'e>, input: Value) -> One {
        let mut object = Object::with_capacity(fields.len());
        for (key, value) in fields {
            let key = match self.program.node(*key) {
                Node::Const(Value::Str(text)) => text.clone(),
                _ => object_key(given!(self.one(*key, env, input.clone())))?,
            };
            let value = match value {
                Some(value) => given!(self.one(*value, env, input.clone())),
                None => access::field(&input, &key)?,
            };
            object.insert(key, value);
        }
        Ok(Some(Value::obj(object)))
    }

    /// Evaluating it has no effect but its value, so that the order does not matter.
    fn is_plain(&self, id: Id) -> bool {
        matches!(self.program.node(id), Node::Identity | Node::Const(_) | Node::Field(_) | Node::Var(_))
    }

    /// jq evaluates the last insertion first.
    fn text_in_order<'e>(
        &self,
        format: crate::natives::Format,
        parts: &[TextPart],
        env: &'e Env<'e>,
        input: Value,
    ) -> One {
        let mut pieces: Vec<Value> = Vec::with_capacity(parts.len());
        for part in parts.iter().rev() {
            if let TextPart::Inserted(inner) = part {
                pieces.push(given!(self.one(*inner, env, input.clone())));
            }
        }
        let mut text = String::new();
        for part in parts {
            match part {
                TextPart::Plain(plain) => text.push_str(plain),
                TextPart::Inserted(_) => format.append(&mut text, &pieces.pop().unwrap_or(Value::Null))?,
            }
        }
        Ok(Some(Value::from(text)))
    }

    /// Links the arguments from `at` on, and runs the body.
    fn call_one<'e>(
        &self,
        call: &Call,
        at: usize,
        caller: &'e Env<'e>,
        env: &'e Env<'e>,
        input: Value,
    ) -> One {
        let function = &self.program.functions[call.function as usize];
        let Some(arg) = call.args.get(at) else { return self.one(function.body, env, input) };
        let item = if function.params[at] {
            Item::Value(given!(self.one(*arg, caller, input.clone())))
        } else {
            self.filter(*arg, caller)
        };
        self.call_one(call, at + 1, caller, &env.with(item), input)
    }

    /// A filter to be passed on; one that is itself a parameter is looked up now.
    pub(super) fn filter<'e>(&self, arg: Id, caller: &'e Env<'e>) -> Item<'e> {
        if let Node::Arg(hops) = self.program.node(arg)
            && let Item::Filter(id, place) = caller.back(*hops).item
        {
            return Item::Filter(id, place);
        }
        Item::Filter(arg, caller)
    }
}

/// A key must be a string.
pub(super) fn object_key(key: Value) -> Result<Text, Exit> {
    match key {
        Value::Str(text) => Ok(text),
        other => Err(Exit::error(format!("Cannot use {} as object key", other.described()))),
    }
}

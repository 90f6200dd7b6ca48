//! Expressions as paths: which parts of the input they mean.

use super::env::{Env, Item};
use super::place::{Path, Place};
use super::{Exit, Flow, Run, access};
use crate::compile::node::{Call, Fold, Id, Node, Special};
use crate::value::Value;

/// Where places go.
pub(super) type Places<'o> = &'o mut dyn FnMut(Place) -> Flow;

impl Run<'_> {
    /// The path of every output; computed ones are an error.
    pub(super) fn paths<'e>(
        &self,
        id: Id,
        env: &'e Env<'e>,
        input: Value,
        out: &mut dyn FnMut(Path, Value) -> Flow,
    ) -> Flow {
        self.places(id, env, Place::root(input), &mut |place| {
            if place.path.is_lost() {
                let shown = place.value.shown(30);
                return Err(Exit::error(format!("Invalid path expression with result {shown}")));
            }
            out(place.path, place.value)
        })
    }

    /// Every output with where it stands.
    pub(super) fn places<'e>(&self, id: Id, env: &'e Env<'e>, from: Place, out: Places<'_>) -> Flow {
        self.places_in(id, env, from, out, false)
    }

    /// With `called`, this frame belongs to a call that is counted; calls that stand last reuse it.
    fn places_in<'e>(&self, id: Id, env: &'e Env<'e>, from: Place, out: Places<'_>, called: bool) -> Flow {
        let (mut id, mut env, mut from) = (id, env, from);
        loop {
            match self.program.node(id) {
                Node::Identity => return out(from),
                Node::Empty => return Ok(()),
                Node::Const(value) => {
                    let same = match (value, &from.value) {
                        (Value::Null, Value::Null) => true,
                        (Value::Bool(a), Value::Bool(b)) => a == b,
                        (Value::Num(a), Value::Num(b)) => a == b,
                        _ => false,
                    };
                    return out(if same { from } else { Place::lost(value.clone()) });
                }
                Node::Field(name) => return out(below(&from, Value::Str(name.clone()))?),
                Node::Iterate => return each_place(from, out),
                Node::Index(target, key) => {
                    return self.each(*key, env, from.value.clone(), &mut |key| {
                        self.places(*target, env, from.clone(), &mut |place| out(below(&place, key.clone())?))
                    });
                }
                Node::Slice(target, start, end) => {
                    return self.bounds(*start, *end, env, &from.value.clone(), &mut |start, end| {
                        let key = Value::record([("start", start.clone()), ("end", end.clone())]);
                        self.places(*target, env, from.clone(), &mut |place| out(below(&place, key.clone())?))
                    });
                }
                Node::Pipe(first, second) => {
                    return match self.program.node(*first) {
                        Node::Field(name) => {
                            from = below(&from, Value::Str(name.clone()))?;
                            id = *second;
                            continue;
                        }
                        _ => {
                            self.places(*first, env, from, &mut |place| self.places(*second, env, place, out))
                        }
                    };
                }
                Node::Comma(items) => {
                    return items.iter().try_for_each(|item| self.places(*item, env, from.clone(), out));
                }
                Node::If(test, then, otherwise) => {
                    return self.each(*test, env, from.value.clone(), &mut |test| {
                        let branch = if test.is_true() { *then } else { *otherwise };
                        self.places(branch, env, from.clone(), out)
                    });
                }
                Node::Alternative(left, right) => {
                    let mut any = false;
                    self.guarded_places(*left, env, from.clone(), &mut |place| {
                        if !place.value.is_true() {
                            return Ok(());
                        }
                        any = true;
                        out(place)
                    })?;
                    if any {
                        return Ok(());
                    }
                    id = *right;
                }
                Node::Try(body, handler) => match self.guarded_places(*body, env, from, out)? {
                    None => return Ok(()),
                    Some(error) => match handler {
                        Some(handler) => {
                            id = *handler;
                            from = Place::lost(error);
                        }
                        None => return Ok(()),
                    },
                },
                Node::Bind(source, binder, body) => {
                    return self.each(*source, env, from.value.clone(), &mut |value| {
                        self.bind(binder, value, env, &mut |env| self.places(*body, env, from.clone(), out))
                    });
                }
                Node::Fold(fold) => return self.fold_places(fold, env, from, out),
                Node::Label(body) => {
                    let label = self.label();
                    return match self.places(*body, &env.with(Item::Label(label)), from, out) {
                        Err(Exit::Break(to)) if to == label => Ok(()),
                        other => other,
                    };
                }
                Node::Call(call) => {
                    if !call.args.is_empty() {
                        return self
                            .deeper(|| self.call_places(call, 0, env, env.back(call.hops), from, out));
                    }
                    env = env.back(call.hops);
                    id = self.program.functions[call.function as usize].body;
                    if !called {
                        return self.deeper(|| self.places_in(id, env, from, out, true));
                    }
                }
                Node::Arg(hops) => match &env.back(*hops).item {
                    Item::Filter(filter, place) => (id, env) = (*filter, place),
                    _ => return Ok(()),
                },
                Node::Special(special, args) if is_path(*special) => {
                    return self.special_places(*special, args, env, from, out);
                }
                _ => return self.each(id, env, from.value, &mut |value| out(Place::lost(value))),
            }
        }
    }

    /// As `guarded`, for places.
    pub(super) fn guarded_places<'e>(
        &self,
        id: Id,
        env: &'e Env<'e>,
        from: Place,
        out: Places<'_>,
    ) -> Result<Option<Value>, Exit> {
        let mut beyond = None;
        let depth = self.depth.get();
        let result = self.places(id, env, from, &mut |place| {
            out(place).map_err(|exit| {
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

    fn call_places<'e>(
        &self,
        call: &Call,
        at: usize,
        caller: &'e Env<'e>,
        env: &'e Env<'e>,
        from: Place,
        out: Places<'_>,
    ) -> Flow {
        let function = &self.program.functions[call.function as usize];
        let Some(arg) = call.args.get(at) else { return self.places(function.body, env, from, out) };
        if !function.params[at] {
            let filter = self.filter(*arg, caller);
            return self.call_places(call, at + 1, caller, &env.with(filter), from, out);
        }
        self.each(*arg, caller, from.value.clone(), &mut |value| {
            self.call_places(call, at + 1, caller, &env.with(Item::Value(value)), from.clone(), out)
        })
    }

    fn fold_places<'e>(&self, fold: &Fold, env: &'e Env<'e>, from: Place, out: Places<'_>) -> Flow {
        self.places(fold.init, env, from.clone(), &mut |init| {
            let mut state = init;
            self.each(fold.source, env, from.value.clone(), &mut |item| {
                self.bind(&fold.binder, item, env, &mut |env| {
                    let old = std::mem::replace(&mut state, Place::lost(Value::Null));
                    self.places(fold.update, env, old, &mut |new| {
                        state = new.clone();
                        match fold.extract {
                            Some(extract) => self.places(extract, env, new, out),
                            None => Ok(()),
                        }
                    })
                })
            })?;
            if fold.extract.is_none() { out(state) } else { Ok(()) }
        })
    }
}

fn is_path(special: Special) -> bool {
    use Special::{Error, First, GetPath, Last, Limit, Nth, Recurse, Repeat, Skip, Until, While};
    matches!(special, Recurse | First | Last | Limit | Skip | Nth | Until | While | Repeat | GetPath | Error)
}

/// A part of a place.
pub(super) fn below(place: &Place, key: Value) -> Result<Place, Exit> {
    if place.path.is_lost() {
        return Err(Exit::error(format!(
            "Invalid path expression near attempt to access element {} of {}",
            key.shown(15),
            place.value.shown(30)
        )));
    }
    Ok(Place { value: access::index(&place.value, &key)?, path: place.path.to(key) })
}

fn each_place(from: Place, out: Places<'_>) -> Flow {
    if from.path.is_lost() {
        let shown = from.value.shown(30);
        return Err(Exit::error(format!("Invalid path expression near attempt to iterate through {shown}")));
    }
    match &from.value {
        Value::Arr(items) => items.iter().enumerate().try_for_each(|(at, item)| {
            out(Place { value: item.clone(), path: from.path.to(Value::from(at)) })
        }),
        Value::Obj(fields) => fields.iter().try_for_each(|(key, item)| {
            out(Place { value: item.clone(), path: from.path.to(Value::Str(key.clone())) })
        }),
        other => Err(Exit::error(format!("Cannot iterate over {}", other.described()))),
    }
}

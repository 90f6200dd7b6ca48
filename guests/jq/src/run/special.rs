//! Functions that take filters, make many outputs, or reach outside of the program.

use super::env::Env;
use super::place::{Path, Place};
use super::{Exit, Flow, Out, Run, access, operate};
use crate::compile::node::{Id, Special};
use crate::natives::collection;
use crate::value::Value;
use crate::{read, write};

type One = Result<Option<Value>, Exit>;

impl Run<'_> {
    /// Those with at most one output.
    pub(super) fn special_one<'e>(
        &self,
        special: Special,
        args: &[Id],
        env: &'e Env<'e>,
        input: Value,
    ) -> One {
        Ok(Some(match special {
            Special::First => return self.first(args[0], env, input),
            Special::Last => {
                let mut last = None;
                self.each(args[0], env, input, &mut |value| {
                    last = Some(value);
                    Ok(())
                })?;
                return Ok(last.or(Some(Value::Null)));
            }
            Special::Any => Value::Bool(self.decided(args, true, env, input)?),
            Special::All => Value::Bool(!self.decided(args, false, env, input)?),
            Special::IsEmpty => Value::Bool(self.first(args[0], env, input)?.is_none()),
            Special::Nth => return self.nth(args, env, input),
            Special::Until => return self.until_one(args, env, input),
            Special::Delete => {
                let paths = self.all_paths(args[0], env, input.clone())?;
                access::delete_paths(input, paths)?
            }
            Special::Pick => {
                let mut picked = Value::Null;
                self.paths(args[0], env, input.clone(), &mut |path, _| {
                    let keys = path.keys();
                    let value = access::get_path(&input, &keys)?;
                    let whole = std::mem::replace(&mut picked, Value::Null);
                    picked = access::set_path(whole, &keys, value)?;
                    Ok(())
                })?;
                picked
            }
            Special::Walk => return self.walk_one(args[0], env, input),
            Special::SortBy | Special::GroupBy | Special::UniqueBy | Special::MinBy | Special::MaxBy => {
                let mut keys = Vec::new();
                collection::each_item(&input, &mut |item| {
                    keys.push(Value::arr(self.all(args[0], env, item.clone())?));
                    Ok(())
                })?;
                collection::by_keys(special, input, keys)?
            }
            Special::Add => {
                let mut sum = Value::Null;
                self.each(args[0], env, input, &mut |value| {
                    let before = std::mem::replace(&mut sum, Value::Null);
                    sum = operate::add(before, value)?;
                    Ok(())
                })?;
                sum
            }
            Special::Input => match self.world.input() {
                Some(Ok(value)) => value,
                Some(Err(problem)) => return Err(Exit::error(problem)),
                None => return Err(Exit::error("break")),
            },
            Special::Debug => {
                self.world.complain(format!("[\"DEBUG:\",{}]\n", write::compact(&input)).as_bytes());
                input
            }
            Special::Stderr => {
                self.world.complain(collection::text_of(&input).as_bytes());
                input
            }
            Special::InputFilename => self.world.file().map_or(Value::Null, Value::from),
            Special::InputLine => Value::from(self.world.line()),
            Special::Halt => return Err(Exit::Halt(0)),
            Special::HaltError => {
                let Some(status) = self.one(args[0], env, input.clone())? else { return Ok(None) };
                return Err(self.halt_error(&input, &status));
            }
            Special::Error => return Err(Exit::Error(Box::new(input))),
            Special::GetPath => {
                let Some(path) = self.one(args[0], env, input.clone())? else { return Ok(None) };
                access::get_path(&input, keys_of(&path)?)?
            }
            _ => return Ok(None),
        }))
    }

    /// All others, and those above with more than one output for an argument.
    pub(super) fn special<'e>(
        &self,
        special: Special,
        args: &[Id],
        env: &'e Env<'e>,
        input: Value,
        out: Out<'_>,
    ) -> Flow {
        match special {
            Special::Recurse => self.recurse(args[0], env, input, out),
            Special::Range => self.each(args[0], env, input.clone(), &mut |from| {
                self.each(args[1], env, input.clone(), &mut |upto| {
                    self.each(args[2], env, input.clone(), &mut |by| range(&from, &upto, &by, out))
                })
            }),
            Special::Limit => self.each(args[0], env, input.clone(), &mut |count| {
                self.limit(&count, args[1], env, &input, out)
            }),
            Special::Skip => self.each(args[0], env, input.clone(), &mut |count| {
                let mut left = number(&count)?;
                if left < 0.0 {
                    return Err(Exit::error("skip doesn't support negative count"));
                }
                self.each(args[1], env, input.clone(), &mut |value| {
                    left -= 1.0;
                    if left >= 0.0 { Ok(()) } else { out(value) }
                })
            }),
            Special::Nth => self.each(args[0], env, input.clone(), &mut |place| match self.nth_of(
                &place,
                args[1],
                env,
                input.clone(),
            )? {
                Some(value) => out(value),
                None => Ok(()),
            }),
            Special::While => self.while_do(args[0], args[1], env, input, out),
            Special::Until => self.until(args[0], args[1], env, input, out),
            Special::Repeat => loop {
                self.each(args[0], env, input.clone(), out)?;
            },
            Special::Path => self.paths(args[0], env, input, &mut |path, _| out(Value::arr(path.keys()))),
            Special::Paths => self.all_below(args.first().copied(), env, input, out),
            Special::Inputs => {
                while let Some(value) = self.world.input() {
                    out(value.map_err(Exit::error)?)?;
                }
                Ok(())
            }
            Special::HaltError => {
                self.each(args[0], env, input.clone(), &mut |status| Err(self.halt_error(&input, &status)))
            }
            Special::GetPath => self.each(args[0], env, input.clone(), &mut |path| {
                out(access::get_path(&input, keys_of(&path)?)?)
            }),
            Special::Walk => self.walk(args[0], env, input, out),
            Special::Substitute => self.each(args[0], env, input.clone(), &mut |pattern| {
                self.each(args[2], env, input.clone(), &mut |flags| {
                    self.substitute(&pattern, &flags, args[1], env, &input, out)
                })
            }),
            Special::ToStream => {
                let mut result = Ok(());
                read::each_event(&input, true, &mut |event| {
                    if result.is_ok() {
                        result = out(event);
                    }
                });
                result
            }
            _ => Ok(()),
        }
    }

    fn all_paths<'e>(&self, id: Id, env: &'e Env<'e>, input: Value) -> Result<Vec<Vec<Value>>, Exit> {
        let mut all = Vec::new();
        self.paths(id, env, input, &mut |path, _| {
            all.push(path.keys());
            Ok(())
        })?;
        Ok(all)
    }

    /// Whether a test comes out as `wanted` for any output.
    fn decided<'e>(&self, args: &[Id], wanted: bool, env: &'e Env<'e>, input: Value) -> Result<bool, Exit> {
        let mut found = false;
        let result = self.each(args[0], env, input, &mut |value| {
            self.each(args[1], env, value, &mut |test| {
                if test.is_true() != wanted {
                    return Ok(());
                }
                found = true;
                Err(Exit::Enough)
            })
        });
        match result {
            Err(Exit::Enough) if found => Ok(true),
            Ok(()) => Ok(false),
            Err(exit) => Err(exit),
        }
    }

    fn nth<'e>(&self, args: &[Id], env: &'e Env<'e>, input: Value) -> One {
        let Some(place) = self.one(args[0], env, input.clone())? else { return Ok(None) };
        self.nth_of(&place, args[1], env, input)
    }

    fn nth_of<'e>(&self, place: &Value, id: Id, env: &'e Env<'e>, input: Value) -> One {
        let mut left = number(place)?;
        if left < 0.0 {
            return Err(Exit::error("nth doesn't support negative indices"));
        }
        let mut found = None;
        let result = self.each(id, env, input, &mut |value| {
            if left >= 1.0 {
                left -= 1.0;
                return Ok(());
            }
            found = Some(value);
            Err(Exit::Enough)
        });
        match result {
            Err(Exit::Enough) if found.is_some() => Ok(found),
            Ok(()) => Ok(None),
            Err(exit) => Err(exit),
        }
    }

    fn limit<'e>(&self, count: &Value, id: Id, env: &'e Env<'e>, input: &Value, out: Out<'_>) -> Flow {
        let mut left = number(count)?;
        if left < 0.0 {
            return self.each(id, env, input.clone(), out);
        }
        if left == 0.0 {
            return Ok(());
        }
        let mut done = false;
        let result = self.each(id, env, input.clone(), &mut |value| {
            left -= 1.0;
            // The last one first counts as done: whoever takes it may not come back.
            if left > 0.0 {
                return out(value);
            }
            out(value)?;
            done = true;
            Err(Exit::Enough)
        });
        match result {
            Err(Exit::Enough) if done => Ok(()),
            other => other,
        }
    }

    /// `paths` and `paths(f)`: every path but the empty one.
    fn all_below<'e>(&self, test: Option<Id>, env: &'e Env<'e>, input: Value, out: Out<'_>) -> Flow {
        let mut waiting = vec![Place::root(input)];
        while let Some(place) = waiting.pop() {
            if !matches!(place.path, Path::Root) {
                match test {
                    None => out(Value::arr(place.path.keys()))?,
                    Some(test) => self.each(test, env, place.value.clone(), &mut |test| {
                        if test.is_true() { out(Value::arr(place.path.keys())) } else { Ok(()) }
                    })?,
                }
            }
            push_children(&place, &mut waiting);
        }
        Ok(())
    }

    fn halt_error(&self, input: &Value, status: &Value) -> Exit {
        let Some(status) = status.as_f64() else {
            return Exit::error(format!("{} halt_error/1: number required", input.described()));
        };
        match input {
            Value::Null => {}
            Value::Str(text) => self.world.complain(text.as_bytes()),
            other => self.world.complain(format!("{}\n", write::compact(other)).as_bytes()),
        }
        Exit::Halt(status as i32)
    }
}

/// The places inside of one, the first on top.
pub(super) fn push_children(place: &Place, waiting: &mut Vec<Place>) {
    let start = waiting.len();
    match &place.value {
        Value::Arr(items) => waiting.extend(
            items
                .iter()
                .enumerate()
                .map(|(at, item)| Place { value: item.clone(), path: place.path.to(Value::from(at)) }),
        ),
        Value::Obj(fields) => {
            waiting.extend(fields.iter().map(|(key, item)| Place {
                value: item.clone(),
                path: place.path.to(Value::Str(key.clone())),
            }))
        }
        _ => {}
    }
    waiting[start..].reverse();
}

fn range(from: &Value, upto: &Value, by: &Value, out: Out<'_>) -> Flow {
    let (Some(mut at), Some(upto), Some(by)) = (from.as_f64(), upto.as_f64(), by.as_f64()) else {
        return Err(Exit::error("Range bounds must be numeric"));
    };
    while (by > 0.0 && at < upto) || (by < 0.0 && at > upto) {
        out(Value::Num(at))?;
        at += by;
    }
    Ok(())
}

fn number(value: &Value) -> Result<f64, Exit> {
    value.as_f64().ok_or_else(|| Exit::error(format!("{} number required", value.described())))
}

/// A path must be an array.
pub(super) fn keys_of(path: &Value) -> Result<&[Value], Exit> {
    match path {
        Value::Arr(keys) => Ok(keys),
        _ => Err(Exit::error("Path must be specified as an array")),
    }
}

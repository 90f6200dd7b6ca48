//! The functions that keep the path of what they hand out.

use super::env::Env;
use super::path::Places;
use super::place::Place;
use super::special::{keys_of, push_children};
use super::{Exit, Flow, Run, access};
use crate::compile::node::{Id, Node, Special};
use crate::value::Value;

impl Run<'_> {
    pub(super) fn special_places<'e>(
        &self,
        special: Special,
        args: &[Id],
        env: &'e Env<'e>,
        from: Place,
        out: Places<'_>,
    ) -> Flow {
        match special {
            Special::Recurse => self.recurse_places(args[0], env, from, out),
            Special::First => self.take_places(args[0], 1.0, env, from, out),
            Special::Last => {
                let mut last = None;
                self.places(args[0], env, from, &mut |place| {
                    last = Some(place);
                    Ok(())
                })?;
                out(last.unwrap_or_else(|| Place::lost(Value::Null)))
            }
            Special::Limit => self.each(args[0], env, from.value.clone(), &mut |count| {
                let count = count.as_f64().unwrap_or(0.0);
                if count < 0.0 {
                    return self.places(args[1], env, from.clone(), out);
                }
                self.take_places(args[1], count, env, from.clone(), out)
            }),
            Special::Skip => self.each(args[0], env, from.value.clone(), &mut |count| {
                let mut left = count.as_f64().unwrap_or(0.0);
                self.places(args[1], env, from.clone(), &mut |place| {
                    left -= 1.0;
                    if left >= 0.0 { Ok(()) } else { out(place) }
                })
            }),
            Special::Nth => self.each(args[0], env, from.value.clone(), &mut |count| {
                let mut left = count.as_f64().unwrap_or(0.0);
                if left < 0.0 {
                    return Err(Exit::error("nth doesn't support negative indices"));
                }
                let mut found = None;
                let result = self.places(args[1], env, from.clone(), &mut |place| {
                    if left >= 1.0 {
                        left -= 1.0;
                        return Ok(());
                    }
                    found = Some(place);
                    Err(Exit::Enough)
                });
                match (result, found) {
                    (Err(Exit::Enough), Some(place)) => out(place),
                    (result, _) => result,
                }
            }),
            Special::Until => self.each(args[0], env, from.value.clone(), &mut |test| {
                if test.is_true() {
                    return out(from.clone());
                }
                self.deeper(|| {
                    self.places(args[1], env, from.clone(), &mut |place| {
                        self.special_places(special, args, env, place, out)
                    })
                })
            }),
            Special::While => self.each(args[0], env, from.value.clone(), &mut |test| {
                if !test.is_true() {
                    return Ok(());
                }
                out(from.clone())?;
                self.deeper(|| {
                    self.places(args[1], env, from.clone(), &mut |place| {
                        self.special_places(special, args, env, place, out)
                    })
                })
            }),
            Special::Repeat => loop {
                self.places(args[0], env, from.clone(), out)?;
            },
            Special::GetPath => self.each(args[0], env, from.value.clone(), &mut |path| {
                let keys = keys_of(&path)?;
                if from.path.is_lost() {
                    return Err(Exit::error(format!(
                        "Invalid path expression with result {}",
                        from.value.shown(30)
                    )));
                }
                let value = access::get_path(&from.value, keys)?;
                let path = keys.iter().fold(from.path.clone(), |path, key| path.to(key.clone()));
                out(Place { value, path })
            }),
            _ => Err(Exit::Error(Box::new(from.value))),
        }
    }

    fn recurse_places<'e>(&self, next: Id, env: &'e Env<'e>, from: Place, out: Places<'_>) -> Flow {
        if let Node::Try(body, None) = self.program.node(next)
            && matches!(self.program.node(*body), Node::Iterate)
            && !from.path.is_lost()
        {
            let mut waiting = vec![from];
            while let Some(place) = waiting.pop() {
                push_children(&place, &mut waiting);
                out(place)?;
            }
            return Ok(());
        }
        out(from.clone())?;
        self.deeper(|| self.places(next, env, from, &mut |place| self.recurse_places(next, env, place, out)))
    }

    fn take_places<'e>(&self, id: Id, count: f64, env: &'e Env<'e>, from: Place, out: Places<'_>) -> Flow {
        if count <= 0.0 {
            return Ok(());
        }
        let (mut left, mut done) = (count, false);
        let result = self.places(id, env, from, &mut |place| {
            out(place)?;
            left -= 1.0;
            if left > 0.0 {
                return Ok(());
            }
            done = true;
            Err(Exit::Enough)
        });
        match result {
            Err(Exit::Enough) if done => Ok(()),
            other => other,
        }
    }
}

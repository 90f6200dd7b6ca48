//! Variables of the shell itself, with their attributes. Those of functions end with their line.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::{
    BadCheckpoint, damaged,
    part::{Same, Section},
    wire::{Reader, Writer},
};
use crate::{
    state::Env,
    syntax::is_name,
    vars::{Assoc, Attributes, Scope, Value, Var, Vars},
};

const OF: &str = "the variables";

pub(super) struct Variables;

/// A variable; the elements of an array follow.
#[derive(Serialize, Deserialize)]
struct VariableRow<'a> {
    name: &'a str,
    attributes: u8,
    #[serde(borrow)]
    value: ValueRow<'a>,
}

#[derive(Serialize, Deserialize)]
enum ValueRow<'a> {
    Unset,
    Scalar(&'a str),
    Indexed { elements: u32 },
    Assoc { elements: u32 },
}

impl Section for Variables {
    type Key = Same<Scope>;

    fn key(env: &Env) -> Self::Key {
        Same::of(env.vars.outermost())
    }

    fn is_same(key: &Self::Key, env: &Env) -> bool {
        key.is(env.vars.outermost())
    }

    fn write(env: &Env, to: &mut Writer) {
        let scope = env.vars.outermost();
        // The same state is the same bytes.
        let mut rows: Vec<(&String, &Var)> = scope.iter().collect();
        rows.sort_unstable_by_key(|it| it.0);
        to.count(rows.len());
        for (name, var) in rows {
            let elements = u32::try_from(var.value.len()).unwrap_or(u32::MAX);
            let value = match &var.value {
                Value::Unset => ValueRow::Unset,
                Value::Scalar(text) => ValueRow::Scalar(text),
                Value::Indexed(_) => ValueRow::Indexed { elements },
                Value::Assoc(_) => ValueRow::Assoc { elements },
            };
            to.put(&VariableRow { name, attributes: bits_of(var.attributes), value });
            match &var.value {
                Value::Indexed(items) => items.iter().for_each(|(at, text)| to.put(&(*at, text.as_str()))),
                Value::Assoc(map) => map.by_age().iter().for_each(|row| to.put(row)),
                Value::Unset | Value::Scalar(_) => {}
            }
        }
    }
}

pub(super) fn read(mut from: Reader<'_, '_>, env: &mut Env) -> Result<(), BadCheckpoint> {
    let bytes_max = env.shared.limits.variable_bytes_max;
    let mut scope = Scope::new();
    for _ in 0..from.take::<u32>(OF)? {
        let VariableRow { name, attributes, value } = from.take(OF)?;
        if !is_name(name) {
            return Err(damaged(format!("`{}` is not the name of a variable", name.escape_debug())));
        }
        let attributes = attributes_of(attributes)
            .ok_or_else(|| damaged(format!("the variable `{name}` has attributes that there are not")))?;
        let value = match value {
            ValueRow::Unset => Value::Unset,
            ValueRow::Scalar(text) => Value::Scalar(text.to_owned()),
            ValueRow::Indexed { elements } => Value::Indexed(indexed(&mut from, elements)?),
            ValueRow::Assoc { elements } => Value::Assoc(associative(&mut from, elements)?),
        };
        if scope.insert(name.to_owned(), Var { value, attributes }).is_some() {
            return Err(damaged(format!("the variable `{name}` is there twice")));
        }
    }
    from.end(OF)?;
    env.vars = Vars::of_saved(scope, bytes_max).ok_or(BadCheckpoint::TooLarge { bytes_max })?;
    Ok(())
}

fn indexed(from: &mut Reader<'_, '_>, elements: u32) -> Result<BTreeMap<i64, String>, BadCheckpoint> {
    let mut items = BTreeMap::new();
    for _ in 0..elements {
        let (at, text): (i64, &str) = from.take(OF)?;
        if at < 0 || items.insert(at, text.to_owned()).is_some() {
            return Err(damaged(format!("an array has the element {at} twice or below 0")));
        }
    }
    Ok(items)
}

fn associative(from: &mut Reader<'_, '_>, elements: u32) -> Result<Assoc, BadCheckpoint> {
    let mut map = Assoc::default();
    for _ in 0..elements {
        let (key, text): (&str, &str) = from.take(OF)?;
        if map.set(key, text.to_owned()).is_some() {
            return Err(damaged("an associative array has a key twice"));
        }
    }
    Ok(map)
}

fn bits_of(attributes: Attributes) -> u8 {
    let Attributes { exported, readonly, integer, lower, upper, nameref, bare } = attributes;
    let all = [exported, readonly, integer, lower, upper, nameref, bare];
    all.iter().enumerate().fold(0, |bits, (at, is_set)| bits | u8::from(*is_set) << at)
}

fn attributes_of(bits: u8) -> Option<Attributes> {
    let [exported, readonly, integer, lower, upper, nameref, bare, other] =
        std::array::from_fn(|at| bits >> at & 1 == 1);
    let attributes = Attributes { exported, readonly, integer, lower, upper, nameref, bare };
    (!other).then_some(attributes)
}

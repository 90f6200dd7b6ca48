//! Functions as they were typed. They are parsed again, with the lines and columns they had.

use std::{
    collections::{BTreeSet, HashMap},
    sync::Arc,
};

use serde::{Deserialize, Serialize};

use super::{
    BadCheckpoint, damaged,
    part::{Same, Section},
    wire::{Reader, Writer},
};
use crate::{
    state::Env,
    syntax::{ParseLimits, Retold, ast::Function, read_function},
};

const OF: &str = "the functions";

pub(super) struct Functions;

/// A function.
#[derive(Serialize, Deserialize)]
struct FunctionRow<'a> {
    name: &'a str,
    text: &'a str,
    line: u32,
    column: u32,
    keeps_commands: bool,
    /// How many places follow at which lines begin; none where they begin behind the newlines of the text.
    joined: Option<u32>,
}

impl Section for Functions {
    type Key =
        (Same<HashMap<String, Arc<Function>>>, Same<HashMap<String, Arc<str>>>, Same<BTreeSet<String>>);

    fn key(env: &Env) -> Self::Key {
        let all = &env.definitions;
        (Same::of(&all.functions), Same::of(&all.defined_in), Same::of(&all.exported_functions))
    }

    fn is_same(key: &Self::Key, env: &Env) -> bool {
        let all = &env.definitions;
        key.0.is(&all.functions) && key.1.is(&all.defined_in) && key.2.is(&all.exported_functions)
    }

    fn write(env: &Env, to: &mut Writer) {
        let mut functions: Vec<(&String, &Arc<Function>)> = env.definitions.functions.iter().collect();
        functions.sort_unstable_by_key(|it| it.0);
        to.count(functions.len());
        for (name, function) in functions {
            write_function(name, function, to);
        }
        let mut sources: Vec<(&String, &Arc<str>)> = env.definitions.defined_in.iter().collect();
        sources.sort_unstable();
        to.count(sources.len());
        sources.iter().for_each(|(name, source)| to.put(&(name.as_str(), &***source)));
        to.count(env.definitions.exported_functions.len());
        env.definitions.exported_functions.iter().for_each(|name| to.put(&name.as_str()));
    }
}

pub(super) fn write_function(name: &str, function: &Function, to: &mut Writer) {
    let source = &function.source;
    let whole = (!source.here.is_empty()).then(|| source.whole());
    let is_plain = newlines(&source.text).eq(source.lines.iter().copied());
    to.put(&FunctionRow {
        name,
        text: whole.as_deref().unwrap_or(&source.text),
        line: source.line,
        column: source.column,
        keeps_commands: source.keeps_commands,
        joined: (!is_plain).then(|| u32::try_from(source.lines.len()).unwrap_or(u32::MAX)),
    });
    if !is_plain {
        source.lines.iter().for_each(|it| to.put(it));
    }
}

pub(super) fn read(mut from: Reader<'_, '_>, env: &mut Env) -> Result<(), BadCheckpoint> {
    let limits = ParseLimits::from(&env.shared.limits);
    let mut functions = HashMap::new();
    for _ in 0..from.take::<u32>(OF)? {
        let (name, function) = read_one(&mut from, limits)?;
        functions.insert(name, function);
    }
    let mut defined_in = HashMap::new();
    for _ in 0..from.take::<u32>(OF)? {
        let (name, source): (&str, &str) = from.take(OF)?;
        defined_in.insert(name.to_owned(), Arc::from(source));
    }
    let mut exported = BTreeSet::new();
    for _ in 0..from.take::<u32>(OF)? {
        exported.insert(from.take::<&str>(OF)?.to_owned());
    }
    from.end(OF)?;
    let handed = exported.iter().filter_map(|name| functions.get_key_value(name));
    *env.shared.handed.lock() = handed.map(|(name, it)| (name.clone(), Arc::clone(it))).collect();
    let all = env.define();
    all.functions = Arc::new(functions);
    all.defined_in = Arc::new(defined_in);
    all.exported_functions = Arc::new(exported);
    Ok(())
}

pub(super) fn read_one(
    from: &mut Reader<'_, '_>,
    limits: ParseLimits,
) -> Result<(String, Arc<Function>), BadCheckpoint> {
    let FunctionRow { name, text, line, column, keeps_commands, joined } = from.take(OF)?;
    let told = Retold { name, text, line, column, keeps_commands };
    let function = match joined {
        None => read_function(told, newlines(text), limits),
        Some(count) => {
            let mut lines = Vec::new();
            for _ in 0..count {
                lines.push(from.take(OF)?);
            }
            read_function(told, lines.into_iter(), limits)
        }
    };
    let function =
        function.map_err(|error| damaged(format!("the function `{}`: {error}", name.escape_debug())))?;
    Ok((name.to_owned(), function))
}

/// Where lines of a text begin, but the first.
fn newlines(text: &str) -> impl Iterator<Item = u32> + '_ {
    text.bytes().zip(1..).filter(|it| it.0 == b'\n').map(|it| it.1)
}

//! Lists and tuples.

use serde_json::Value;

use super::render::{Place, Render};
use crate::provider::is_identifier;

/// How many places of a tuple are told.
const PLACES_MAX: usize = 64;

pub(super) fn of(render: &mut Render, schema: &Value, place: Place<'_>) -> String {
    let tuple = schema.get("prefixItems").or(schema.get("items")).and_then(Value::as_array);
    let Some(places) = tuple.filter(|it| it.len() <= PLACES_MAX) else {
        return list(render, schema.get("items"), place);
    };
    let least = schema.get("minItems").and_then(Value::as_u64).unwrap_or(0);
    let mut types = Vec::new();
    for (index, item) in places.iter().enumerate() {
        let text = render.of(item, place.within());
        let text = if is_identifier(&text) { text } else { format!("({text})") };
        // TypeScript, like JSON Schema, lets a tuple end early; it wants to be told.
        types.push(if (index as u64) < least { text } else { format!("{text}?") });
    }
    let rest = match schema.get("prefixItems") {
        Some(_) => schema.get("items"),
        None => schema.get("additionalItems"),
    };
    let closed = rest == Some(&Value::Bool(false))
        || schema.get("maxItems").and_then(Value::as_u64).is_some_and(|most| most <= places.len() as u64);
    if !closed {
        types.push(format!("...{}", list(render, rest, place)));
    }
    format!("[{}]", types.join(", "))
}

fn list(render: &mut Render, item: Option<&Value>, place: Place<'_>) -> String {
    let item = item.map_or_else(|| "unknown".to_owned(), |it| render.of(it, place.within()));
    match is_identifier(&item) {
        true => format!("{item}[]"),
        false => format!("Array<{item}>"),
    }
}

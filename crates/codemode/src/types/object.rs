//! Objects: what they have, what they must have, and what else they may have.

use std::fmt::Write as _;

use serde_json::Value;

use super::{
    comment, literal,
    render::{Place, Render, UNKNOWN},
};

pub(super) fn of(render: &mut Render, schema: &Value, place: Place<'_>) -> String {
    let properties = schema.get("properties").and_then(Value::as_object).filter(|it| !it.is_empty());
    let others = schema.get("additionalProperties");
    let Some(properties) = properties else {
        return match others {
            Some(Value::Bool(false)) => "Record<string, never>".to_owned(),
            Some(others @ Value::Object(_)) => {
                // Not `Record`: a type may name itself in an object, but not as an argument.
                format!("{{ [key: string]: {} }}", render.of(others, place.within()))
            }
            _ => "Record<string, unknown>".to_owned(),
        };
    };
    let required = schema.get("required").and_then(Value::as_array);
    let is_required = |name: &str| required.is_some_and(|it| it.iter().any(|it| it.as_str() == Some(name)));
    let mut members = Vec::new();
    let mut described = false;
    for (name, property) in properties {
        let mut text = String::new();
        let description = property.get("description").and_then(Value::as_str).unwrap_or_default();
        comment::write(&mut text, description, &place.indent());
        described |= !text.is_empty();
        let mark = if is_required(name) { "" } else { "?" };
        let kind = render.of(property, place.within());
        members.push((text, format!("{}{mark}: {kind}", literal::name_of(name))));
    }
    // The members need not be of that type, so all the index can say is that there may be more.
    if let Some(Value::Object(_) | Value::Bool(true)) = others {
        members.push((String::new(), format!("[key: string]: {UNKNOWN}")));
    }
    if !described {
        let members: Vec<String> = members.into_iter().map(|it| it.1).collect();
        return format!("{{ {} }}", members.join("; "));
    }
    let indent = place.indent();
    let mut text = "{\n".to_owned();
    for (comment, member) in members {
        let _ = writeln!(text, "{comment}{indent}{member};");
    }
    text.push_str(&indent[2..]);
    text.push('}');
    text
}

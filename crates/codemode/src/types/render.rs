//! From a schema to the text of a type.

use serde_json::Value;

use super::{alias, alias::Aliases, array, literal, object};

/// How deep a schema is followed.
const DEPTH_MAX: usize = 24;
/// How many schemas of one namespace are looked at.
const SCHEMAS_MAX: usize = 5_000;
/// How long the types of one namespace may get.
const BYTES_MAX: usize = 256 << 10;

pub(super) const UNKNOWN: &str = "unknown";

/// Everything that is known while the types of a namespace are written.
#[derive(Default)]
pub(super) struct Render {
    aliases: Aliases,
    schemas: usize,
    bytes: usize,
}

/// Where in the schemas we are.
#[derive(Clone, Copy)]
pub(super) struct Place<'a> {
    /// The whole document, for references.
    root: &'a Value,
    /// The name of the document.
    document: &'a str,
    depth: usize,
    /// Inside how many objects and lists: a type may name itself only inside of one.
    inside: usize,
}

impl Place<'_> {
    /// One object or list further in.
    pub(super) fn within(self) -> Self {
        Self { depth: self.depth + 1, inside: self.inside + 1, ..self }
    }

    fn beside(self) -> Self {
        Self { depth: self.depth + 1, ..self }
    }

    /// The indentation of members.
    pub(super) fn indent(self) -> String {
        "  ".repeat(self.inside + 2)
    }
}

impl Render {
    /// The type of a whole document.
    pub(super) fn root(&mut self, schema: &Value, tool: &str, end: &str) -> String {
        let document = format!("{}{end}", alias::pascal(tool));
        self.of(schema, Place { root: schema, document: &document, depth: 0, inside: 0 })
    }

    /// The named types, written out.
    pub(super) fn aliases(&self) -> Vec<String> {
        self.aliases.written.iter().map(|(name, text)| format!("  type {name} = {text};")).collect()
    }

    /// The type of a schema. Too much of it is `unknown`.
    pub(super) fn of(&mut self, schema: &Value, place: Place<'_>) -> String {
        self.schemas += 1;
        if place.depth > DEPTH_MAX || self.schemas > SCHEMAS_MAX || self.bytes > BYTES_MAX {
            return UNKNOWN.to_owned();
        }
        let text = self.any(schema, place);
        // Text inside of text counts each time: the sum only ever bounds the length from above.
        self.bytes += text.len();
        text
    }

    fn any(&mut self, schema: &Value, place: Place<'_>) -> String {
        match schema {
            Value::Bool(false) => return "never".to_owned(),
            Value::Object(_) => {}
            _ => return UNKNOWN.to_owned(),
        }
        if let Some(reference) = schema.get("$ref") {
            return self.reference(reference, place);
        }
        let mut parts = Vec::new();
        let own = self.own(schema, place);
        if own != UNKNOWN {
            parts.push(own);
        }
        for keyword in ["anyOf", "oneOf"] {
            if let Some(options) = schema.get(keyword).and_then(Value::as_array) {
                let types = options.iter().map(|it| self.of(it, place.beside())).collect();
                parts.push(union(types));
            }
        }
        if let Some(all) = schema.get("allOf").and_then(Value::as_array) {
            parts.extend(all.iter().map(|it| self.of(it, place.beside())));
        }
        let text = intersection(parts);
        match schema.get("nullable") {
            Some(Value::Bool(true)) if text != UNKNOWN => union(vec![text, "null".to_owned()]),
            _ => text,
        }
    }

    /// What a schema says without the schemas it is combined with.
    fn own(&mut self, schema: &Value, place: Place<'_>) -> String {
        if let Some(value) = schema.get("const") {
            return literal::exactly(value);
        }
        if let Some(values) = schema.get("enum").and_then(Value::as_array) {
            return literal::any_of(values);
        }
        match schema.get("type") {
            Some(Value::String(kind)) => self.kind(kind, schema, place),
            Some(Value::Array(kinds)) => {
                let kinds = kinds.iter().filter_map(Value::as_str).take(8);
                union(kinds.map(|kind| self.kind(kind, schema, place)).collect())
            }
            _ if schema.get("properties").is_some() || schema.get("additionalProperties").is_some() => {
                object::of(self, schema, place)
            }
            _ if schema.get("items").is_some() || schema.get("prefixItems").is_some() => {
                array::of(self, schema, place)
            }
            _ => UNKNOWN.to_owned(),
        }
    }

    fn kind(&mut self, kind: &str, schema: &Value, place: Place<'_>) -> String {
        match kind {
            "string" | "boolean" | "null" => kind.to_owned(),
            "number" | "integer" => "number".to_owned(),
            "array" => array::of(self, schema, place),
            "object" => object::of(self, schema, place),
            _ => UNKNOWN.to_owned(),
        }
    }

    fn reference(&mut self, reference: &Value, place: Place<'_>) -> String {
        let target = reference.as_str().and_then(|it| alias::resolve(place.root, it));
        let Some((pointer, target)) = target else { return UNKNOWN.to_owned() };
        if let Some(name) = self.aliases.get(place.document, &pointer).cloned() {
            // `type A = A | …` means nothing; `type A = { next: A }` does.
            let open = self.aliases.open.iter().find(|it| it.0 == name);
            let means_nothing = open.is_some_and(|(_, inside)| place.inside <= *inside);
            return if means_nothing { UNKNOWN.to_owned() } else { name };
        }
        let name = self.aliases.name(place.document, &pointer);
        self.aliases.open.push((name.clone(), place.inside));
        // Named types stand at the top of the namespace, so they are indented from there.
        let text = self.of(target, place.beside());
        self.aliases.open.pop();
        self.aliases.written.push((name.clone(), text));
        name
    }
}

/// Any of the types, each once. What may be anything is anything.
pub(super) fn union(types: Vec<String>) -> String {
    let mut once: Vec<String> = Vec::new();
    for text in types {
        if text == UNKNOWN {
            return text;
        }
        // An object after `|` needs no brackets, an intersection would do without, but reads better.
        let text = if text.contains(" & ") { format!("({text})") } else { text };
        if text != "never" && !once.contains(&text) {
            once.push(text);
        }
    }
    match once.is_empty() {
        true => "never".to_owned(),
        false => once.join(" | "),
    }
}

fn intersection(types: Vec<String>) -> String {
    let mut once: Vec<String> = Vec::new();
    for text in types {
        if text != UNKNOWN && !once.contains(&text) {
            once.push(text);
        }
    }
    match once.len() {
        0 => UNKNOWN.to_owned(),
        1 => once.remove(0),
        _ => {
            let bracket = |text: String| if text.contains(" | ") { format!("({text})") } else { text };
            once.into_iter().map(bracket).collect::<Vec<_>>().join(" & ")
        }
    }
}

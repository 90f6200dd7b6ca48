//! TypeScript declarations from JSON Schemas, for whoever writes the program.
//!
//! A declaration says what a schema says where TypeScript can say it, and `unknown` where it cannot. Any
//! schema gets one: hostile ones are cut off by depth and size, and no text of theirs leaves its comment
//! or its quotes.

mod alias;
mod array;
mod comment;
mod literal;
mod object;
mod render;
#[cfg(test)]
mod tests;

use std::{fmt::Write as _, sync::Arc};

use serde_json::Value;

use render::Render;

/// One tool, as its declaration needs it.
#[derive(Debug, Clone)]
pub struct Declared {
    /// Its safe name.
    pub name: Arc<str>,
    /// What it is for.
    pub description: Option<Arc<str>>,
    /// The schema of its input.
    pub input: Option<Arc<Value>>,
    /// The schema of its result.
    pub output: Option<Arc<Value>>,
}

/// The declarations of a namespace.
pub fn namespace(name: &str, tools: &[Declared]) -> String {
    if tools.is_empty() {
        return format!("declare namespace {name} {{}}");
    }
    let mut render = Render::default();
    let mut functions = Vec::new();
    for tool in tools {
        let mut text = String::new();
        if let Some(description) = &tool.description {
            comment::write(&mut text, description, "  ");
        }
        let input = match &tool.input {
            Some(schema) => format!("input: {}", render.root(schema, &tool.name, "Input")),
            None => "input?: unknown".to_owned(),
        };
        let output = match &tool.output {
            Some(schema) => render.root(schema, &tool.name, "Output"),
            None => "unknown".to_owned(),
        };
        let _ = write!(text, "  function {}({input}): Promise<{output}>;", tool.name);
        functions.push(text);
    }
    let mut parts = render.aliases();
    parts.extend(functions);
    format!("declare namespace {name} {{\n{}\n}}", parts.join("\n\n"))
}

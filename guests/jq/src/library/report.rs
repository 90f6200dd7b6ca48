//! Errors of a program's text, in one line each with the place where they stand.

use jaq_core::compile;
use jaq_core::load::{self, Error};
use std::path::PathBuf;

/// What could not be read or parsed.
pub fn loading(errors: load::Errors<&str, PathBuf>) -> String {
    let mut lines = Vec::new();
    for (file, error) in errors {
        match error {
            Error::Io(errors) => {
                lines
                    .extend(errors.into_iter().map(|(path, why)| format!("module not found: {path}: {why}")));
            }
            Error::Lex(errors) => {
                for (expected, found) in errors {
                    lines.push(syntax(file.code, found, expected.as_str()));
                }
            }
            Error::Parse(errors) => {
                for (expected, found) in errors {
                    lines.push(syntax(file.code, found, expected.as_str()));
                }
            }
        }
    }
    lines.join("\n")
}

/// What is not defined.
pub fn compiling(errors: compile::Errors<&str, PathBuf>, program: &str) -> String {
    let mut lines = Vec::new();
    for (_, errors) in errors {
        for (name, missing) in errors {
            let name = match missing {
                compile::Undefined::Filter(arity) => format!("{name}/{arity}"),
                _ => name.to_owned(),
            };
            let place = place(program, &name);
            lines.push(format!("{name} is not defined at <top-level>, line {place}"));
        }
    }
    lines.join("\n")
}

fn syntax(code: &str, found: &str, expected: &str) -> String {
    let at = load::span(code, found).start;
    let line = code[..at].matches('\n').count() + 1;
    let found = match found.lines().next() {
        None | Some("") => "end of the program".to_owned(),
        Some(text) => format!("`{text}`"),
    };
    format!("syntax error, unexpected {found}, expected {expected} at <top-level>, line {line}")
}

fn place(code: &str, name: &str) -> usize {
    let word = name.split('/').next().unwrap_or(name);
    let at = code.find(word).unwrap_or(0);
    code[..at].matches('\n').count() + 1
}

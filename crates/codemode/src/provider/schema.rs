//! A JSON Schema, compiled at most once, and what it says about a value in words that name the path.

use std::sync::{Arc, OnceLock};

use jsonschema::{
    Draft, PatternOptions, ValidationError, Validator,
    error::{TypeKind, ValidationErrorKind},
};
use serde_json::Value;

/// Which end of a call a schema is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Phase {
    Input,
    Output,
}

impl Phase {
    pub(super) const fn as_str(self) -> &'static str {
        match self {
            Self::Input => "input",
            Self::Output => "output",
        }
    }
}

/// How many faults of one value are told.
const FAULTS_MAX: usize = 10;
/// How long the telling may get.
const TEXT_BYTES_MAX: usize = 2_000;
/// Steps a pattern may take before it counts as not matching.
const BACKTRACK_MAX: usize = 100_000;

/// A schema that can be asked.
#[derive(Debug)]
pub(super) struct Schema {
    text: Arc<Value>,
    compiled: OnceLock<Result<Validator, String>>,
}

impl Schema {
    /// Compiled when it is first asked, unless [`compile`](Self::compile) comes first.
    pub(super) fn new(text: Arc<Value>) -> Self {
        Self { text, compiled: OnceLock::new() }
    }

    /// Compiles the schema now, or says what is wrong with it.
    pub(super) fn compile(&self) -> Result<&Validator, String> {
        self.compiled.get_or_init(|| Self::validator(&self.text)).as_ref().map_err(Clone::clone)
    }

    /// Draft-07 unless its `$schema` says otherwise. Formats are not checked, and nothing is fetched from
    /// anywhere.
    fn validator(schema: &Value) -> Result<Validator, String> {
        if !schema.is_object() && !schema.is_boolean() {
            return Err("it is neither an object nor a boolean".into());
        }
        let draft = draft_of(schema)?;
        let patterns = PatternOptions::fancy_regex().backtrack_limit(BACKTRACK_MAX);
        let built = jsonschema::options()
            .with_draft(draft)
            .should_validate_formats(false)
            .with_pattern_options(patterns)
            .build(schema);
        built.map_err(|error| short(format!("{error} at `{}`", error.instance_path)))
    }

    /// Everything that is wrong with a value, or nothing. A schema that cannot be used lets nothing pass.
    pub(super) fn faults(&self, value: &Value) -> Option<String> {
        let validator = match self.compile() {
            Ok(validator) if validator.is_valid(value) => return None,
            Ok(validator) => validator,
            Err(why) => return Some(format!("the schema cannot be used: {why}")),
        };
        let faults: Vec<String> =
            validator.iter_errors(value).take(FAULTS_MAX).map(|it| words(&it)).collect();
        Some(short(faults.join(", ")))
    }
}

fn draft_of(schema: &Value) -> Result<Draft, String> {
    let Some(uri) = schema.get("$schema") else { return Ok(Draft::Draft7) };
    let uri = uri.as_str().ok_or("its `$schema` is no string")?;
    let known = [
        ("json-schema.org/draft-04/", Draft::Draft4),
        ("json-schema.org/draft-06/", Draft::Draft6),
        ("json-schema.org/draft-07/", Draft::Draft7),
        ("json-schema.org/draft/2019-09/", Draft::Draft201909),
        ("json-schema.org/draft/2020-12/", Draft::Draft202012),
    ];
    let place = uri.trim_start_matches("http://").trim_start_matches("https://");
    let found = known.iter().find(|(prefix, _)| place.starts_with(prefix)).map(|(_, draft)| *draft);
    found.ok_or_else(|| short(format!("its `$schema` {uri:?} is none that is known")))
}

/// One fault: where, and what should have been.
fn words(error: &ValidationError<'_>) -> String {
    let place = format!("data{}", error.instance_path);
    let text = match &error.kind {
        ValidationErrorKind::Type { kind: TypeKind::Single(kind) } => format!("must be {kind}"),
        ValidationErrorKind::Type { kind: TypeKind::Multiple(kinds) } => {
            let names: Vec<String> = kinds.iter().map(|kind| kind.to_string()).collect();
            format!("must be {}", names.join(" or "))
        }
        ValidationErrorKind::Required { property } => {
            format!("must have required property '{}'", property.as_str().unwrap_or_default())
        }
        ValidationErrorKind::AdditionalProperties { unexpected }
        | ValidationErrorKind::UnevaluatedProperties { unexpected } => {
            format!("must not have additional properties ('{}')", unexpected.join("', '"))
        }
        ValidationErrorKind::Enum { options } => format!("must be one of {options}"),
        ValidationErrorKind::Constant { expected_value } => format!("must be {expected_value}"),
        // Without the value itself: it may be long, and it may be a secret.
        _ => error.masked().to_string(),
    };
    format!("{place} {text}")
}

fn short(mut text: String) -> String {
    if text.len() > TEXT_BYTES_MAX {
        text.truncate(text.floor_char_boundary(TEXT_BYTES_MAX));
        text.push('…');
    }
    text
}

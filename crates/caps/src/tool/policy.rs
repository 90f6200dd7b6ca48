//! Does the input keep the terms of a grant? What cannot be judged does not.

use std::sync::Arc;

use drydock_contract::{ArgumentRule, IfAbsent, Must, Pattern, Scalar, Terms, ToolRequest, Tools};
use drydock_gate::Session;
use serde_json::Value;

use super::ToolCall;
use crate::{
    program::short,
    rules::{PROPOSED_MAX, TEXT_BYTES_MAX, text_keeps},
};

/// The largest whole number that every JSON reader agrees on.
const WHOLE_MAX: u64 = 1 << 53;

/// A call that may be made.
pub struct Ready {
    pub(super) tools: Option<Arc<dyn Tools>>,
    pub(super) request: ToolRequest,
    pub(super) label: Arc<str>,
}

pub(super) fn check(session: &Session, call: ToolCall) -> Ready {
    Ready { tools: session.spec().tools.clone(), label: short(&call.name), request: call.request }
}

/// Which tools: `provider.tool`, `provider.*` or `*`.
pub fn pattern(text: &str) -> Result<Pattern, String> {
    let name = |part: &str| {
        let legal = |b: u8| b.is_ascii_alphanumeric() || matches!(b, b'_' | b'$');
        !part.is_empty() && part.bytes().all(legal)
    };
    let legal = match text.split_once('.') {
        _ if text.len() > 256 => false,
        Some((provider, tool)) => name(provider) && (tool == "*" || name(tool)),
        None => text == "*",
    };
    let bad = || {
        let shown = text.chars().take(80).collect::<String>();
        format!("`{}` names no tools: write `provider.tool`, `provider.*` or `*`", shown.escape_default())
    };
    text.parse().ok().filter(|_| legal).ok_or_else(bad)
}

pub(super) fn judge_terms(terms: &Terms) -> Result<(), String> {
    for subject in terms.subjects.iter().flatten() {
        pattern(subject.as_str()).map_err(|bad| format!("field `subjects`: {bad}"))?;
    }
    // A star would be taken for a member of that name, and `~` begins an escape.
    let escaped = |it: &str| it.split('~').skip(1).all(|rest| rest.starts_with(['0', '1']));
    let pointer = |it: &str| {
        (it.is_empty() || it.starts_with('/')) && it.split('/').all(|part| part != "*") && escaped(it)
    };
    match terms.rules.iter().find(|it| !pointer(&it.argument)) {
        None => Ok(()),
        Some(rule) => Err(format!(
            "field `rules`: `{}` is no JSON pointer into the input: write /NAME, or nothing for the input itself; there is no `*`",
            rule.argument.escape_debug()
        )),
    }
}

pub(super) fn within(call: &ToolCall, terms: &Terms) -> bool {
    if terms.rules.is_empty() {
        return true;
    }
    let Some(input) = call.input() else { return false };
    terms.rules.iter().all(|rule| keeps(input, rule))
}

fn keeps(input: &Value, rule: &ArgumentRule) -> bool {
    let Some(value) = input.pointer(&rule.argument) else { return rule.if_absent == IfAbsent::Allow };
    if let Value::String(text) = value {
        return text_keeps(text, &rule.must);
    }
    match &rule.must {
        Must::Equal(scalar) => is(value, scalar),
        Must::OneOf(scalars) => scalars.iter().any(|scalar| is(value, scalar)),
        Must::LieBetween { least, most } => exact(value).is_some_and(|number| {
            least.is_none_or(|least| number >= least) && most.is_none_or(|most| number <= most)
        }),
        Must::HaveLengthAtMost(most) => {
            let length = value.as_array().map(Vec::len).or_else(|| value.as_object().map(|it| it.len()));
            length.is_some_and(|it| it as u64 <= *most)
        }
        Must::StartWith(_) => false,
    }
}

/// A number that can be compared. Beyond 2^53 whole numbers are rounded when they are compared, so that different ones
/// would be equal: those keep no rule, as a grant may name none.
fn exact(value: &Value) -> Option<f64> {
    let number = value.as_number()?;
    let whole = number.as_i64().map(i64::unsigned_abs).or_else(|| number.as_u64());
    number.as_f64().filter(|it| it.is_finite() && whole.is_none_or(|it| it <= WHOLE_MAX))
}

fn is(value: &Value, scalar: &Scalar) -> bool {
    match scalar {
        Scalar::Null => value.is_null(),
        Scalar::Bool(wanted) => value.as_bool() == Some(*wanted),
        Scalar::Number(wanted) => exact(value) == Some(*wanted),
        Scalar::Text(_) => false,
    }
}

/// The arguments of a call as rules, so that a grant can be proposed that is no wider: every scalar as it is, and of
/// every list and object how many members it has. (Only what a pointer cannot tell apart passes too: a list, and an
/// object whose names are its indexes; and what is empty in another way.) Nothing where they are too many or cannot be
/// said, and then nothing may be proposed.
pub(super) fn exactly(call: &ToolCall) -> Option<Vec<ArgumentRule>> {
    let mut rules = Vec::new();
    describe(call.input()?, String::new(), &mut rules).then_some(rules)
}

fn describe(value: &Value, at: String, rules: &mut Vec<ArgumentRule>) -> bool {
    let scalar = match value {
        Value::Null => Scalar::Null,
        Value::Bool(value) => Scalar::Bool(*value),
        Value::Number(_) => match exact(value) {
            Some(number) => Scalar::Number(number),
            None => return false,
        },
        Value::String(text) if text.len() <= TEXT_BYTES_MAX => Scalar::Text(text.clone()),
        Value::String(_) => return false,
        Value::Array(items) => {
            rules.push(ArgumentRule::new(at.as_str(), Must::HaveLengthAtMost(items.len() as u64)));
            let mut items = items.iter().enumerate();
            return rules.len() <= PROPOSED_MAX
                && items.all(|(index, item)| describe(item, format!("{at}/{index}"), rules));
        }
        Value::Object(fields) => {
            let escaped = |name: &str| name.replace('~', "~0").replace('/', "~1");
            rules.push(ArgumentRule::new(at.as_str(), Must::HaveLengthAtMost(fields.len() as u64)));
            let mut fields = fields.iter();
            return rules.len() <= PROPOSED_MAX
                && fields.all(|(name, field)| describe(field, format!("{at}/{}", escaped(name)), rules));
        }
    };
    rules.push(ArgumentRule::new(at.as_str(), Must::Equal(scalar)));
    at.len() <= TEXT_BYTES_MAX && rules.len() <= PROPOSED_MAX
}

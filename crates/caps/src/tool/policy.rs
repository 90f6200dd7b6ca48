//! Does the input keep the terms of a grant? What cannot be judged does not.

use std::sync::Arc;

use drydock_contract::{ArgumentRule, IfAbsent, Must, Scalar, ToolRequest, Tools};
use drydock_gate::{Constraint, Session};
use serde_json::Value;

use super::ToolCall;

/// A call that may be made.
pub struct Ready {
    pub(super) tools: Option<Arc<dyn Tools>>,
    pub(super) request: ToolRequest,
    pub(super) label: Arc<str>,
}

pub(super) fn check(session: &Session, call: ToolCall) -> Ready {
    Ready { tools: session.spec().tools.clone(), label: short(&call.name), request: call.request }
}

pub(super) fn within(call: &ToolCall, constraint: &Constraint) -> bool {
    match constraint {
        Constraint::Tools(terms) if !terms.arguments.is_empty() => {
            let Some(input) = call.input() else { return false };
            terms.arguments.iter().all(|rule| keeps(input, rule))
        }
        _ => true,
    }
}

fn keeps(input: &Value, rule: &ArgumentRule) -> bool {
    let Some(value) = input.pointer(&rule.pointer) else { return rule.if_absent == IfAbsent::Allow };
    match &rule.must {
        Must::Equal(scalar) => is(value, scalar),
        Must::OneOf(scalars) => scalars.iter().any(|scalar| is(value, scalar)),
        Must::StartWith(head) => value.as_str().is_some_and(|text| text.starts_with(head)),
        Must::LieBetween { least, most } => value.as_f64().is_some_and(|number| {
            least.is_none_or(|least| number >= least) && most.is_none_or(|most| number <= most)
        }),
        Must::HaveLengthAtMost(most) => match value {
            Value::String(text) => text.chars().count() as u64 <= *most,
            Value::Array(items) => items.len() as u64 <= *most,
            _ => false,
        },
    }
}

fn is(value: &Value, scalar: &Scalar) -> bool {
    match scalar {
        Scalar::Null => value.is_null(),
        Scalar::Bool(wanted) => value.as_bool() == Some(*wanted),
        Scalar::Number(wanted) => value.as_f64() == Some(*wanted),
        Scalar::Text(wanted) => value.as_str() == Some(wanted),
    }
}

/// At most as much of a guest's text as a record may hold.
pub(super) fn short(name: &str) -> Arc<str> {
    name[..name.floor_char_boundary(64)].into()
}

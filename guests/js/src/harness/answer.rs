//! The answer on standard output: one JSON object, written once.

use super::{
    failure::{self, Failure},
    host, tools,
};
use js::engine;
use js::json;
use js::prelude::*;
use js::value::Value;

/// `{"ok":true,"result":…}`, without a result for undefined.
pub fn returned(value: &Value, result_bytes_max: usize) {
    let head = b"{\"ok\":true,\"result\":";
    let mut out = Vec::with_capacity(256);
    out.extend_from_slice(head);
    let written = json::push(&mut out, value);
    if engine::memory_ran_out() {
        return failed(&Failure::new("memory_limit", failure::MEMORY));
    }
    match written {
        Err(json::NotJson) => return failed(&Failure::new("serialization_error", tools::NOT_JSON)),
        Ok(false) => {
            out.clear();
            out.extend_from_slice(b"{\"ok\":true");
        }
        Ok(true) if out.len() - head.len() > result_bytes_max => {
            let bytes = out.len() - head.len();
            let text = format!("the result of {bytes} bytes exceeds the limit of {result_bytes_max}");
            return failed(&Failure::new("serialization_error", &text));
        }
        Ok(true) => {}
    }
    out.push(b'}');
    host::write(1, [&out, &[]]);
}

/// `{"ok":false,"error":{…}}`
pub fn failed(failure: &Failure) {
    let mut out = Vec::with_capacity(256);
    out.extend_from_slice(b"{\"ok\":false,\"error\":{\"code\":");
    json::push_string(&mut out, &failure.code);
    out.extend_from_slice(b",\"message\":");
    json::push_string(&mut out, &failure.message);
    if let Some(place) = failure.place {
        let text = format!(",\"line\":{},\"column\":{}", place.line, place.column);
        out.extend_from_slice(text.as_bytes());
    }
    for (name, text) in [("hint", failure.hint), ("stack", failure.stack.as_deref())] {
        if let Some(text) = text {
            out.extend_from_slice(format!(",\"{name}\":").as_bytes());
            json::push_string(&mut out, text);
        }
    }
    out.extend_from_slice(b"}}");
    host::write(1, [&out, &[]]);
}

//! `console.log`, `info`, `warn` and `error`: one line each to standard error, at once, so that it survives
//! whatever ends the run. A line is its length (four bytes, little-endian) and its text.

use super::host;
use core::ffi::{CStr, c_int};
use core::sync::atomic::{AtomicUsize, Ordering};
use js::engine::{self, Context, HIDDEN, PLAIN, Raw, context};
use js::json;
use js::prelude::*;
use js::value::{Kind, Value};

const NAMES: [&CStr; 4] = [c"log", c"info", c"warn", c"error"];

/// Bytes that may still be written. The host cuts what it shows; this keeps a program from flooding it.
static LEFT: AtomicUsize = AtomicUsize::new(0);

/// Gives the program its console.
pub fn install(global: &Value) {
    let console = Value::object();
    for name in NAMES {
        // SAFETY: QuickJS copies the name; there is no data.
        let function = Value::owned(unsafe {
            engine::JS_NewCFunctionData2(context(), log, name.as_ptr(), 0, 0, 0, core::ptr::null())
        });
        console.define(name, function, PLAIN);
    }
    global.define(c"console", console, HIDDEN);
}

/// Sets how much may be written.
pub fn limit(bytes_max: usize) {
    LEFT.store(bytes_max, Ordering::Relaxed);
}

unsafe extern "C" fn log(
    _: *mut Context,
    _: Raw,
    count: c_int,
    args: *const Raw,
    _: c_int,
    _: *const Raw,
) -> Raw {
    let left = LEFT.load(Ordering::Relaxed);
    if left > 0 {
        let mut line = Vec::new();
        for at in 0..count.max(0) as usize {
            if at > 0 {
                line.push(b' ');
            }
            // SAFETY: QuickJS gives `count` arguments.
            push_shown(&mut line, &Value::borrowed(unsafe { *args.add(at) }));
        }
        cut(&mut line, left);
        let length = (line.len() as u32).to_le_bytes();
        let written = host::write(2, [&length, &line]);
        // An empty line costs its length too.
        let left = if written { left.saturating_sub(line.len() + length.len()) } else { 0 };
        LEFT.store(left, Ordering::Relaxed);
    }
    Value::undefined().into_raw()
}

/// Shortens to at most `bytes_max`, between characters.
fn cut(line: &mut Vec<u8>, bytes_max: usize) {
    if line.len() > bytes_max {
        let mut end = bytes_max;
        while end > 0 && line[end] & 0b1100_0000 == 0b1000_0000 {
            end -= 1;
        }
        line.truncate(end);
    }
}

/// Appends a value as the reference shows it.
fn push_shown(line: &mut Vec<u8>, value: &Value) {
    match value.kind() {
        Kind::Symbol | Kind::Exception => {}
        Kind::Undefined => line.extend_from_slice(b"undefined"),
        Kind::String | Kind::BigInt => push_text(line, value),
        Kind::Object if value.is_function() => push_text(line, value),
        Kind::Object if value.is_error() => push_json(line, &copy_of_error(value), value),
        Kind::Object | Kind::Other => push_json(line, value, value),
    }
}

fn push_text(line: &mut Vec<u8>, value: &Value) {
    if let Some(text) = value.to_text() {
        text.with_bytes(|bytes| json::push_clean(line, bytes));
    }
}

/// As JSON; a string that comes out bare; what is no JSON as `String(value)`.
fn push_json(line: &mut Vec<u8>, value: &Value, shown_otherwise: &Value) {
    let start = line.len();
    match json::push(line, value) {
        Ok(true) if line[start] == b'"' => {
            line.push(0);
            let text = Value::parse_json(&line[start..]);
            line.truncate(start);
            if let Some(text) = text {
                push_text(line, &text);
            }
        }
        Ok(true) => {}
        Ok(false) | Err(json::NotJson) => {
            line.truncate(start);
            push_text(line, shown_otherwise);
        }
    }
}

/// Name, message and stack, which JSON would leave out.
fn copy_of_error(error: &Value) -> Value {
    let copy = Value::object();
    for name in [c"name", c"message", c"stack"] {
        if let Some(value) = error.get(name) {
            copy.define(name, value, PLAIN);
        }
    }
    copy
}

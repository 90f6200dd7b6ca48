//! Globals of the web that are not JavaScript's own: made with the image, and out of sight of a program that is
//! to see the protocol's globals only.
//!
//! What needs the host or many bytes is one native function here, told apart by a number; the rest is
//! JavaScript in `web/*.js`, which no run has to read again.

use super::{host, timers, tools};
use core::ffi::c_int;
use js::base64;
use js::engine::{self, Context, PLAIN, Raw, context};
use js::json;
use js::prelude::*;
use js::value::{Kind, Value};

/// The names that are there on top of the protocol's.
pub const NAMES: &[&str] = &[
    "queueMicrotask",
    "setTimeout",
    "setInterval",
    "clearTimeout",
    "clearInterval",
    "TextEncoder",
    "TextDecoder",
    "URL",
    "URLSearchParams",
    "structuredClone",
    "atob",
    "btoa",
    "crypto",
    "performance",
    "AbortController",
    "AbortSignal",
    "Blob",
    "Headers",
    "Request",
    "Response",
    "fetch",
];

/// Each is a function that gets the natives and defines its globals.
const SCRIPTS: &[(&core::ffi::CStr, &str)] = &[
    (c"timers.js", include_str!("web/timers.js")),
    (c"text.js", include_str!("web/text.js")),
    (c"clone.js", include_str!("web/clone.js")),
    (c"search.js", include_str!("web/search.js")),
    (c"url.js", include_str!("web/url.js")),
    (c"abort.js", include_str!("web/abort.js")),
    (c"fetch.js", include_str!("web/fetch.js")),
];

const NATIVES: &[&core::ffi::CStr] = &[
    c"encode",
    c"decode",
    c"random",
    c"now",
    c"setTimer",
    c"clearTimer",
    c"atob",
    c"btoa",
    c"fetch",
    c"bytes",
    c"packed",
];

/// Makes them, when the image is made. Until a program looks at them, they cost nothing.
pub fn install() {
    let natives = Value::object();
    for (magic, name) in NATIVES.iter().enumerate() {
        // SAFETY: QuickJS copies the name; there is no data.
        let function = Value::owned(unsafe {
            engine::JS_NewCFunctionData2(
                context(),
                native,
                name.as_ptr(),
                0,
                magic as c_int,
                0,
                core::ptr::null(),
            )
        });
        natives.define(name, function, PLAIN);
    }
    for (name, text) in SCRIPTS {
        let bytes = [text.as_bytes(), &[0]].concat();
        // SAFETY: the text is alive during the call, and its length does not count the last byte.
        let script = Value::owned(unsafe {
            engine::script_run(context(), bytes.as_ptr().cast(), text.len(), name.as_ptr())
        });
        let done = script.call_on(&natives);
        if done.kind() == Kind::Exception {
            // The image cannot be made of a script that is wrong, and the build says so.
            core::arch::wasm32::unreachable();
        }
    }
    // The protocol's globals are the other table.
    // SAFETY: there is a context.
    if !unsafe { engine::globals_copy(context()) } {
        core::arch::wasm32::unreachable();
    }
    show(false);
    let global = Value::global();
    for name in NAMES {
        global.delete(name);
    }
    show(true);
}

/// A run begins with them, or with the protocol's globals alone. Each of the two keeps what programs add.
pub fn show(web: bool) {
    // SAFETY: there is a context, and nothing of the program runs.
    unsafe { engine::globals_use(context(), !web) };
}

unsafe extern "C" fn native(
    _: *mut Context,
    _: Raw,
    count: c_int,
    args: *const Raw,
    magic: c_int,
    _: *const Raw,
) -> Raw {
    let arg = |at: usize| {
        if at < count.max(0) as usize {
            // SAFETY: QuickJS gives `count` arguments.
            Value::borrowed(unsafe { *args.add(at) })
        } else {
            Value::undefined()
        }
    };
    let answer = match magic {
        0 => encode(&arg(0)),
        1 => decode(&arg(0), arg(1).as_index() == Some(1)),
        2 => {
            arg(0).with_array(host::random);
            Value::undefined()
        }
        3 => Value::float(host::now() as f64 / 1e6),
        4 => set_timer(arg(0), &arg(1), &arg(2)),
        5 => {
            if let Some(number) = arg(0).as_index() {
                timers::clear(number);
            }
            Value::undefined()
        }
        6 => from_base64(&arg(0)),
        7 => to_base64(&arg(0)),
        8 => tools::ask_host("fetch", &arg(0)),
        9 => Value::byte_array(&arg(0).with_bytes(base64::decode).flatten().unwrap_or_default()),
        _ => text_of(&arg(0).with_array(|bytes| base64::encode(bytes)).unwrap_or_default()),
    };
    answer.into_raw()
}

fn encode(text: &Value) -> Value {
    let bytes = text.with_bytes(|bytes| {
        let mut clean = Vec::with_capacity(bytes.len());
        json::push_clean(&mut clean, bytes);
        clean
    });
    Value::byte_array(&bytes.unwrap_or_default())
}

fn decode(bytes: &Value, is_fatal: bool) -> Value {
    let decoded = bytes.with_array(|bytes| match core::str::from_utf8(bytes) {
        Ok(text) => Value::text(text),
        Err(_) if is_fatal => Value::undefined(),
        Err(_) => Value::text(&String::from_utf8_lossy(bytes)),
    });
    decoded.unwrap_or_else(|| Value::text(""))
}

fn set_timer(function: Value, milliseconds: &Value, repeats: &Value) -> Value {
    let repeats = repeats.as_index() == Some(1);
    match timers::set(function, milliseconds.as_index().unwrap_or(0), repeats) {
        Some(number) => Value::int(i32::try_from(number).unwrap_or(i32::MAX)),
        None => Value::throw_range_error("too many timers are waiting: 10000 is the limit"),
    }
}

/// Characters from 0 to 255 as bytes; undefined if one is larger.
fn to_base64(text: &Value) -> Value {
    let bytes = text.with_bytes(|bytes| {
        let mut narrow = Vec::with_capacity(bytes.len());
        let mut rest = bytes;
        loop {
            match rest {
                [] => return Some(narrow),
                [one @ 0..0x80, tail @ ..] => (narrow.push(*one), rest = tail).1,
                [lead @ 0xc2..=0xc3, next, tail @ ..] => {
                    narrow.push(((lead & 0b11) << 6) | (next & 0b11_1111));
                    rest = tail;
                }
                _ => return None,
            }
        }
    });
    match bytes.flatten() {
        Some(bytes) => text_of(&base64::encode(&bytes)),
        None => Value::undefined(),
    }
}

/// Bytes as characters from 0 to 255; undefined if it is no base64.
fn from_base64(text: &Value) -> Value {
    let Some(bytes) = text.with_bytes(base64::decode).flatten() else { return Value::undefined() };
    let mut wide = String::with_capacity(bytes.len() * 2);
    wide.extend(bytes.iter().map(|it| char::from(*it)));
    Value::text(&wide)
}

fn text_of(bytes: &[u8]) -> Value {
    Value::text(core::str::from_utf8(bytes).unwrap_or_default())
}

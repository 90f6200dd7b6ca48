//! The program's tools: functions that begin a call and return a promise for its answer.
//!
//! Who waits for which call is known here only. An error that the host gave is remembered by its
//! identity, together with what the host said; no property of it has any say in the matter.

use super::host;
use alloc::collections::VecDeque;
use core::cell::UnsafeCell;
use core::ffi::c_int;
use js::engine::{self, Context, HIDDEN, PLAIN, Raw, context};
use js::json;
use js::prelude::*;
use js::value::{Kind, Value};

/// What the reference says of a value that is no JSON, returned or passed to a tool.
pub const NOT_JSON: &str = "Guest code returned a non-serializable value";

/// An error made for what the host said.
struct HostError {
    error: Value,
    code: String,
    message: String,
}

#[derive(Default)]
struct State {
    /// The head of each tool's request: `{"provider":…,"tool":…`
    heads: Vec<Vec<u8>>,
    /// How many of the heads are of earlier runs in this memory.
    heads_before: usize,
    /// Namespaces that a run in this memory was given.
    given: Vec<String>,
    /// Who waits, from call number `first` on.
    waiting: VecDeque<Option<Value>>,
    first: u32,
    errors: Vec<HostError>,
    /// One error for all calls that could not even be begun, because there may be a great many.
    refused: Option<Value>,
    /// Used again and again for requests and answers.
    buffer: Vec<u8>,
}

impl State {
    /// Where the head is kept. A tool that an earlier run was given too has its place: functions of that
    /// run may still be there and use it.
    fn place_of(&mut self, head: Vec<u8>) -> usize {
        let known = self.heads[..self.heads_before].iter().position(|it| *it == head);
        known.unwrap_or_else(|| {
            self.heads.push(head);
            self.heads.len() - 1
        })
    }
}

struct Shared(UnsafeCell<Option<State>>);

// SAFETY: a guest has one thread.
unsafe impl Sync for Shared {}

static STATE: Shared = Shared(UnsafeCell::new(None));

/// Room for the usual answer, so that the first call needs no memory.
const BUFFER_BYTES_MIN: usize = 2 * 1024;
/// The program's memory is small, and one long answer is no reason to hold on to as much.
const BUFFER_BYTES_KEPT_MAX: usize = 64 * 1024;

/// Runs `act` on the state. It must not call into the program, which could come back here.
fn with<T>(act: impl FnOnce(&mut State) -> T) -> T {
    // SAFETY: one thread, and `act` does not come back.
    unsafe { act((*STATE.0.get()).get_or_insert_default()) }
}

/// What can be done before there is a request.
pub fn prepare() {
    with(|state| state.buffer.reserve(BUFFER_BYTES_MIN));
}

/// A run begins. In a context that lived before, calls that nobody answered are forgotten, as the host counts
/// from nothing again, and so are errors: what the host said of one was said to another run.
pub fn open() {
    with(|state| {
        state.waiting.clear();
        state.first = 0;
        state.errors.clear();
        state.refused = None;
        state.heads_before = state.heads.len();
        state.buffer.shrink_to(BUFFER_BYTES_MIN);
    });
}

/// The namespaces that an earlier run in this memory was given, which this one is not.
pub fn taken_back() -> Vec<String> {
    with(|state| core::mem::take(&mut state.given))
}

/// The object that holds a provider's tools.
pub fn namespace(provider: &str, tools: &[String]) -> Value {
    with(|state| state.given.push(provider.to_owned()));
    let object = Value::object();
    for tool in tools {
        let mut head = Vec::with_capacity(provider.len() + tool.len() + 40);
        head.extend_from_slice(b"{\"provider\":");
        json::push_string(&mut head, provider);
        head.extend_from_slice(b",\"tool\":");
        json::push_string(&mut head, tool);
        let index = with(|state| state.place_of(head));
        let name = CString::new(tool.as_str()).unwrap_or_default();
        let index = Value::int(index as i32).into_raw();
        // SAFETY: QuickJS copies the name and the one value of data.
        let function = Value::owned(unsafe {
            engine::JS_NewCFunctionData2(context(), call_tool, name.as_ptr(), 0, 0, 1, &index)
        });
        object.define(&name, function, PLAIN);
    }
    object
}

/// Asks whoever runs the program, and nobody's tool; the promise for the answer.
pub fn ask_host(tool: &str, input: &Value) -> Value {
    let mut head = b"{\"provider\":\"\",\"tool\":".to_vec();
    json::push_string(&mut head, tool);
    let index = with(|state| {
        let known = state.heads.iter().position(|it| *it == head);
        known.unwrap_or_else(|| {
            state.heads.push(head);
            state.heads.len() - 1
        })
    });
    begin(index, input)
}

unsafe extern "C" fn call_tool(
    _: *mut Context,
    _: Raw,
    count: c_int,
    args: *const Raw,
    _: c_int,
    data: *const Raw,
) -> Raw {
    // SAFETY: QuickJS gives `count` arguments, and the one value of data that it was given.
    let (input, index) = unsafe {
        let input = if count > 0 { Value::borrowed(*args) } else { Value::undefined() };
        (input, Value::borrowed(*data).as_index())
    };
    begin(index.unwrap_or(0) as usize, &input).into_raw()
}

/// Begins a call. The promise for its answer, or an exception if there is no memory for one.
fn begin(tool: usize, input: &Value) -> Value {
    let promise = Value::promise();
    if promise.kind() == Kind::Exception {
        return promise;
    }
    // The buffer is not there meanwhile: a `toJSON` of the program may call a tool while its input is written.
    let mut request = with(|state| {
        let mut request = core::mem::take(&mut state.buffer);
        request.clear();
        request.extend_from_slice(state.heads.get(tool).map_or(&[], Vec::as_slice));
        request
    });
    request.extend_from_slice(b",\"input\":");
    match json::push(&mut request, input) {
        Ok(true) => {}
        Ok(false) => request.truncate(request.len() - b",\"input\":".len()),
        Err(json::NotJson) => {
            refuse(&promise, "serialization_error", NOT_JSON);
            return promise;
        }
    }
    request.push(b'}');
    let started = host::begin_call(&request);
    keep(request);
    match u32::try_from(started) {
        Ok(number) => wait_for(number, &promise),
        Err(_) => refuse_start(&promise, started),
    }
    promise
}

/// Calls a tool and waits for its answer, while those of others settle what waits for them. The result, or
/// the error to throw.
pub fn call_now(provider: &str, tool: &str, input: &[u8]) -> Result<Value, Value> {
    let promise = Value::promise();
    if promise.kind() == Kind::Exception {
        return Err(Value::take_exception());
    }
    let mut request = b"{\"provider\":".to_vec();
    json::push_string(&mut request, provider);
    request.extend_from_slice(b",\"tool\":");
    json::push_string(&mut request, tool);
    request.extend_from_slice(b",\"input\":");
    request.extend_from_slice(input);
    request.push(b'}');
    let started = host::begin_call(&request);
    drop(request);
    match u32::try_from(started) {
        Ok(number) => wait_for(number, &promise),
        Err(_) => return Err(host_error("tool_error", why_not_started(started))),
    }
    loop {
        match promise.promise_state() {
            1 => return Ok(promise.promise_result()),
            2 => return Err(promise.promise_result()),
            _ if settle_next() => {}
            _ => return Err(host_error("internal_error", "the host has no answer")),
        }
    }
}

fn wait_for(number: u32, promise: &Value) {
    with(|state| {
        // Numbers are given out one by one, so this is the next place.
        let at = number.saturating_sub(state.first) as usize;
        state.waiting.resize_with(at, || None);
        state.waiting.push_back(Some(promise.clone()));
    });
}

/// Keeps a buffer for the next request or answer, unless it has grown large.
fn keep(mut buffer: Vec<u8>) {
    if buffer.capacity() > BUFFER_BYTES_KEPT_MAX {
        buffer = Vec::with_capacity(BUFFER_BYTES_MIN);
    }
    with(|state| state.buffer = buffer);
}

fn refuse_start(promise: &Value, answer: i32) {
    if answer != -1 {
        return refuse(promise, "tool_error", why_not_started(answer));
    }
    let known = with(|state| state.refused.clone());
    let error = known.unwrap_or_else(|| host_error("tool_error", why_not_started(answer)));
    promise.settle(Err(&error));
    with(|state| state.refused = Some(error));
}

fn why_not_started(answer: i32) -> &'static str {
    match answer {
        -1 => "too many tool calls are open at once",
        -2 => "the tool's input is too large",
        _ => "the tool call could not be started",
    }
}

fn refuse(promise: &Value, code: &str, message: &str) {
    promise.settle(Err(&host_error(code, message)));
}

/// An error as the program sees it, remembered with what it stands for.
pub fn host_error(code: &str, message: &str) -> Value {
    // SAFETY: there is a context.
    let error = Value::owned(unsafe { engine::JS_NewError(context()) });
    if error.kind() != Kind::Object {
        // There is no memory for it, and so no error to tell apart.
        drop(error.or_clear());
        return Value::undefined();
    }
    error.define(c"message", Value::text(message), HIDDEN);
    error.define(c"code", Value::text(code), PLAIN);
    let (code, message) = (code.to_owned(), message.to_owned());
    with(|state| state.errors.push(HostError { error: error.clone(), code, message }));
    error
}

/// The host's code and message, if `thrown` is an error of the host's that nobody has touched since.
pub fn classification(thrown: &Value) -> Option<(String, String)> {
    let found = with(|state| {
        let found = state.errors.iter().find(|it| it.error.is_same_object(thrown))?;
        Some((found.code.clone(), found.message.clone()))
    });
    let (code, message) = found?;
    let untouched = thrown.own_data(c"message").to_string_lossy().as_ref() == Some(&message)
        && thrown.own_data(c"code").to_string_lossy().as_ref() == Some(&code);
    untouched.then_some((code, message))
}

/// Waits for the next call that ends and settles its promise. False if no call is open.
pub fn settle_next() -> bool {
    let mut buffer = with(|state| core::mem::take(&mut state.buffer));
    let any = host::next_answer(&mut buffer);
    if any {
        settle(&mut buffer);
    }
    keep(buffer);
    any
}

fn settle(answer: &mut Vec<u8>) {
    answer.push(0);
    let Some((number, result)) = ok_head(answer) else { return settle_slowly(answer) };
    let Some(promise) = take(number) else { return };
    // The closing brace becomes the zero byte that ends the result's own text.
    let end = answer.len() - 2;
    answer[end] = 0;
    match Value::parse_json(&answer[result..=end]) {
        Some(value) => promise.settle(Ok(&value)),
        None => {
            refuse(&promise, "serialization_error", "the tool's result is no JSON, or nested too deeply");
        }
    }
}

/// The number of `{"call":n,"ok":true,"result":` and where the result begins.
fn ok_head(answer: &[u8]) -> Option<(u32, usize)> {
    let rest = answer.strip_prefix(b"{\"call\":")?;
    let digits = rest.iter().take_while(|byte| byte.is_ascii_digit()).count();
    let number = core::str::from_utf8(&rest[..digits]).ok()?.parse().ok()?;
    let rest = rest[digits..].strip_prefix(b",\"ok\":true,\"result\":")?;
    Some((number, answer.len() - rest.len()))
}

/// A failure, or an answer that is spelled in another way.
fn settle_slowly(answer: &[u8]) {
    let Some(all) = Value::parse_json(answer) else { return };
    let Some(promise) = all.own_data(c"call").as_index().and_then(take) else { return };
    let text = |name| all.own_data(name).to_string_lossy();
    let result = all.own_data(c"result");
    match text(c"code") {
        None => promise.settle(Ok(&result)),
        Some(code) => refuse(&promise, &code, &text(c"message").unwrap_or_default()),
    }
}

/// Who waits for that call, once.
fn take(number: u32) -> Option<Value> {
    with(|state| {
        let at = number.checked_sub(state.first)? as usize;
        let promise = state.waiting.get_mut(at)?.take();
        while let Some(None) = state.waiting.front() {
            state.waiting.pop_front();
            state.first += 1;
        }
        promise
    })
}

//! One execution: request, program, its tools and its console, answer.
//!
//! Whatever decides the answer is kept on this side, in Rust: promises, errors of tools, JSON. The program
//! may replace every function it can see without changing what the harness does.

mod answer;
mod console;
mod failure;
mod host;
mod imports;
mod left;
mod packed;
mod request;
mod timers;
mod tools;
mod web;

use failure::Failure;
use js::engine;
use js::program;
use js::value::{Kind, Value};
use request::Request;

/// QuickJS compares this with the stack in memory, of which there is a megabyte. Of the engine's own stack
/// there is a megabyte too, and frames take about as much of it: there has to be plenty left.
const STACK_BYTES_MAX: usize = 440 << 10;

/// What can be done before there is a request.
pub fn prepare() {
    if !engine::create() {
        return;
    }
    let global = Value::global();
    console::install(&global);
    // Scripts are parsed on this stack; a run sets its own.
    engine::open(None, STACK_BYTES_MAX);
    web::install();
    engine::seal();
    tools::prepare();
}

/// One execution, from the request to the answer.
pub fn run() {
    if !engine::create() {
        return answer::failed(&Failure::new("memory_limit", failure::MEMORY));
    }
    let Some(input) = host::read_all(packed::is_whole) else {
        return answer::failed(&Failure::new("internal_error", "the request could not be read"));
    };
    engine::open(None, STACK_BYTES_MAX);
    let request = match Request::parse(input) {
        Ok(request) => request,
        Err(message) => return answer::failed(&Failure::new("internal_error", message)),
    };
    if request.random_seed.is_some() {
        engine::open(request.random_seed, STACK_BYTES_MAX);
    }
    match execute(&request) {
        Ok(value) => answer::returned(&value, request.result_bytes_max),
        Err(failure) => answer::failed(&failure),
    }
    left::request(request);
}

/// The same in memory that an earlier run left.
pub fn run_again() {
    left::give_back();
    run();
}

fn execute(request: &Request) -> Result<Value, Failure> {
    console::limit(request.log_bytes_max);
    tools::open();
    timers::open();
    imports::open(request.file.as_deref(), request.has_tool("files", "read"));
    request.inject()?;
    let source = program::unfence(&request.code);
    let function = program::compile(&source);
    if function.kind() == Kind::Exception {
        return Err(Failure::of_thrown(&Value::take_exception(), &request.code));
    }
    let global = Value::global();
    let promise = function.call_on(&global);
    if promise.kind() == Kind::Exception {
        // The program never got as far as its promise: no memory, or no stack.
        return Err(Failure::of_thrown(&Value::take_exception(), &request.code));
    }
    let outcome = outcome(&promise, request);
    left::promise(promise);
    outcome
}

/// What the program's promise comes to.
fn outcome(promise: &Value, request: &Request) -> Result<Value, Failure> {
    loop {
        engine::run_jobs();
        if engine::memory_ran_out() {
            return Err(Failure::new("memory_limit", failure::MEMORY));
        }
        match promise.promise_state() {
            1 => return Ok(promise.promise_result()),
            2 => return Err(Failure::of_thrown(&promise.promise_result(), &request.code)),
            _ => go_on(request)?,
        }
    }
}

/// Waits for what comes next, a call's answer or a timer. A timer that is due has its turn even if answers
/// keep coming, and an answer if timers do.
fn go_on(request: &Request) -> Result<(), Failure> {
    let Some(left) = timers::next() else {
        // No call is open, no timer waits, no job is left: it would wait until its time is up.
        return if tools::settle_next() { Ok(()) } else { Err(Failure::never_settles()) };
    };
    if left == 0 {
        timers::fire().map_err(|thrown| Failure::of_thrown(&thrown, &request.code))?;
        engine::run_jobs();
    }
    if host::wait(left) {
        tools::settle_next();
    }
    Ok(())
}

//! The guest `js` and its tools: calls, failures and their classes (protocol page, 1.6, 1.9, section 5).
#![allow(clippy::unwrap_used)]

mod js_room;

use std::{
    sync::{Arc, atomic::Ordering},
    time::Duration,
};

use drydock_contract::{Cap, CapSet, Outcome, port::Runner};
use js_room::{Script, js, lane, request, run, run_request};
use serde_json::json;

#[tokio::test]
async fn a_call_carries_its_first_argument_and_nothing_for_undefined() {
    let ended = js("await tools.echo({a: [1, 'x']}, 2); await tools.echo(); await tools.echo(undefined); await tools.echo(null)").await;
    assert_eq!(ended.text(), "null");
    let call = |input: Option<serde_json::Value>| match input {
        Some(input) => json!({ "provider": "tools", "tool": "echo", "input": input }),
        None => json!({ "provider": "tools", "tool": "echo" }),
    };
    assert_eq!(
        ended.calls,
        [call(Some(json!({ "a": [1, "x"] }))), call(None), call(None), call(Some(json!(null)))]
    );
}

#[tokio::test]
async fn tools_are_plain_functions_in_a_plain_object() {
    let ended = js("tools.extra = 1; const p = tools.echo(1); [tools.echo.name, tools.echo.length, p instanceof Promise, Object.keys(tools).length, Object.getPrototypeOf(tools) === Object.prototype, await p]").await;
    assert_eq!(ended.text(), r#"["echo",0,true,13,true,1]"#);
}

#[tokio::test]
async fn calls_begun_together_run_together() {
    let script = Arc::new(Script::default());
    let code = "(await Promise.all([30, 20, 10, 40].map(ms => tools.slow(ms)))).join()";
    let (report, streams) = lane().run(run_request(&request(code), &script)).await.unwrap();
    let answer = String::from_utf8(streams.stdout.into_captured()).unwrap();
    assert_eq!(
        (report.outcome, answer.as_str()),
        (Outcome::Exited(0), r#"{"ok":true,"result":"30,20,10,40"}"#)
    );
    assert_eq!(script.most_open.load(Ordering::SeqCst), 4);
}

#[tokio::test]
async fn a_call_that_nobody_awaits_is_sent_and_not_waited_for() {
    let ended = js("tools.never(1); tools.fail(); 5").await;
    assert_eq!((ended.text().as_str(), ended.calls.len()), ("5", 2));
}

#[tokio::test]
async fn a_failure_keeps_the_hosts_class_only_while_nobody_touches_it() {
    let cases = [
        ("await tools.fail('no')", "tool_error: no"),
        ("await tools.invalid()", "validation_error: Invalid input for tool invalid"),
        ("await tools.denied()", "tool_error: rate limit of 1 calls in 60 s reached; try again later"),
        ("try { await tools.fail('no') } catch (e) { throw e }", "tool_error: no"),
        ("try { await tools.fail('no') } catch (e) { e.code = 'timeout'; throw e }", "runtime_error: no"),
        ("try { await tools.fail('no') } catch (e) { e.message = 'other'; throw e }", "runtime_error: other"),
        ("try { await tools.fail('no') } catch (e) { throw new Error('w', {cause: e}) }", "runtime_error: w"),
        (
            "try { await tools.fail('no') } catch (e) { throw Object.assign(new Error(e.message), e) }",
            "runtime_error: no",
        ),
        ("try { await tools.fail('no') } catch (e) { throw new Proxy(e, {}) }", "runtime_error: no"),
        ("try { await tools.fail('no') } catch (e) { throw Object.create(e) }", "runtime_error: no"),
        (
            "throw Object.assign(new Error('Execution timed out'), {code: 'timeout'})",
            "runtime_error: Execution timed out",
        ),
        (
            "const e = new Error('out of memory'); e.name = 'InternalError'; throw e",
            "runtime_error: out of memory",
        ),
        (
            "try { await tools.fail('no') } catch (e) { [e.name, e.code, e.message, e instanceof Error].join() }\nlet r; try { await tools.fail('no') } catch (e) { r = [e.name, e.code, e.message, e instanceof Error] } r",
            r#"["Error","tool_error","no",true]"#,
        ),
        ("await tools.echo(10n)", "serialization_error: Guest code returned a non-serializable value"),
        ("await tools.echo(() => 1)", "serialization_error: Guest code returned a non-serializable value"),
        ("await tools.junk()", "serialization_error: the tool's result is no JSON, or nested too deeply"),
        ("await tools.deep()", "serialization_error: the tool's result is no JSON, or nested too deeply"),
        ("await tools.huge()", "tool_error: tool result of 104857602 bytes exceeds the limit of 33554432"),
        ("await tools.echo('x'.repeat(9 << 20))", "tool_error: the tool's input is too large"),
    ];
    for (code, want) in cases {
        assert_eq!(js(code).await.text(), want, "{code}");
    }
}

#[tokio::test]
async fn results_enter_as_data() {
    let ended = js("const r = await tools.proto(); [r.polluted, Object.keys(r), Object.getPrototypeOf(r) === Object.prototype, ({}).polluted === undefined]").await;
    assert_eq!(ended.text(), r#"[null,["__proto__","a"],true,true]"#);
    assert_eq!(js("await tools.planes()").await.text(), "\"aé中🦀\u{10ffff}\u{fffd}\"");
    assert_eq!(js("await tools.echo('\\ud800')").await.text(), "\"\u{fffd}\"");
}

#[tokio::test]
async fn a_program_that_replaces_everything_still_gets_what_it_asked_for() {
    let patches = "
        JSON.stringify = () => '\"forged\"'; JSON.parse = () => 'forged'; globalThis.JSON = null;
        Promise.prototype.then = () => { throw 1 }; Promise.resolve = null; globalThis.Promise = null;
        Array.prototype[Symbol.iterator] = null; Array.prototype.push = null; Array.prototype.includes = null;
        Function.prototype.call = null; Function.prototype.apply = null; Function.prototype.toString = null;
        Object.defineProperty(Object.prototype, 'code', {get() { return 'timeout' }, set() {}, configurable: true});
        Object.defineProperty(Object.prototype, 'ok', {value: false, writable: true});
        Object.keys = Object.defineProperty = Object.create = null; globalThis.Object = null; globalThis.Error = null;
        Error = null; Symbol = null; console.log = null; globalThis.globalThis = null;";
    let ended = js(&format!("{patches} const a = await tools.add({{a: 2, b: 3}}); [a, 1]")).await;
    assert_eq!(ended.text(), "[5,1]");
    let ended = js(&format!("{patches} await tools.fail('no')")).await;
    assert_eq!(ended.text(), "tool_error: no");
}

#[tokio::test]
async fn as_many_calls_are_open_as_may_be_and_no_more() {
    let code = "let last; for (let i = 0; i < 100000; i++) last = tools.never(i); await last";
    let ended = js(code).await;
    assert_eq!(ended.text(), "tool_error: too many tool calls are open at once");
    assert_eq!(ended.calls.len(), 10_000);
}

#[tokio::test]
async fn a_tool_that_never_answers_ends_with_the_time_and_a_promise_that_cannot_settle_at_once() {
    let ended = run(&request("console.log('before'); await tools.never()"), |it| {
        it.limits.wall_max = Duration::from_millis(200)
    })
    .await;
    assert_eq!((ended.outcome, ended.logs), (Outcome::TimedOut, vec!["before".to_owned()]));
    let ended = js("await new Promise(() => {})").await;
    assert_eq!(ended.text(), "timeout: Execution timed out");
    assert!(ended.answer["error"]["hint"].is_string() && ended.took < Duration::from_secs(5));
}

#[tokio::test]
async fn without_the_capability_there_are_no_tools_and_no_run() {
    let script = Arc::new(Script::default());
    let mut wish = run_request(&request("1"), &script);
    wish.caps = CapSet::of(&[Cap::Vfs]);
    let fault = lane().run(wish).await.err().unwrap().to_string();
    assert!(fault.contains("needs the capability `tool`"), "{fault}");
}

#[tokio::test]
async fn arguments_seeds_and_providers_come_with_the_request() {
    let mut wish = json!({ "code": "[args.a, Math.random()]", "args": { "a": 7 }, "random_seed": 42 });
    let first = run(&wish, |_| {}).await.text();
    assert!(first.starts_with("[7,0."), "{first}");
    assert_eq!(run(&wish, |_| {}).await.text(), first);
    wish["random_seed"] = json!(43);
    assert_ne!(run(&wish, |_| {}).await.text(), first);
    assert_eq!(js("typeof args").await.text(), "\"undefined\"");
    for name in ["JSON", "Object", "console", "globalThis", "__proto__"] {
        let wish = json!({ "code": "1", "providers": [{ "name": name, "tools": ["a"] }] });
        let want = format!("internal_error: Invalid provider namespace: {name}");
        assert_eq!(run(&wish, |_| {}).await.text(), want);
    }
}

//! The guest `js` where programs go too far: time, memory, depth; its globals and its console.
#![allow(clippy::unwrap_used)]

mod js_room;

use std::time::Duration;

use drydock_contract::{Entropy, GuestTime, Outcome, Timestamp};
use js_room::{js, request, run};
use serde_json::json;

#[tokio::test]
async fn loops_end_with_the_time_wherever_they_are() {
    for code in [
        "for (;;) {}",
        "await null; for (;;) {}",
        "await tools.echo(1); while (true) {}",
        "/^(a+)+$/.test('a'.repeat(40) + 'b')",
        "for (;;) await null",
        "const f = () => Promise.resolve().then(f); await f()",
        "new Array(1e9).indexOf(1)",
        "({toJSON() { for (;;) {} }})",
        "throw {get message() { for (;;) {} }}",
        "console.log({toJSON() { for (;;) {} }})",
    ] {
        let ended = run(&request(code), |it| {
            it.limits.wall_max = Duration::from_millis(150);
            it.limits.fuel_max = u64::MAX;
        })
        .await;
        assert_eq!(ended.outcome, Outcome::TimedOut, "{code} {}", ended.answer);
        assert!(ended.took < Duration::from_millis(1_500), "{code} took {:?}", ended.took);
    }
}

#[tokio::test]
async fn memory_is_counted_as_a_sum_and_its_end_cannot_be_caught() {
    for code in [
        "const all = []; for (;;) all.push('x'.repeat(1000) + all.length)",
        "const all = []; for (;;) try { all.push(new Uint8Array(1 << 20)) } catch {}",
        "let s = 'x'; const all = []; for (;;) all.push(s += 'y'.repeat(1e6))",
        "const a = []; for (;;) a.push({})",
        "try { new ArrayBuffer(2 ** 31 - 1) } catch { } 'went on'",
        "try { 'x'.repeat(2 ** 29) } catch { } 'went on'",
        "JSON.stringify(new Array(1e8).fill(1))",
        "const m = new Map(); for (let i = 0; ; i++) m.set(i, [i])",
    ] {
        let text = js(code).await.text();
        let named = ["<out_of_memory>", "memory_limit: Execution ran out of memory"];
        assert!(named.contains(&text.as_str()), "{code}: {text}");
    }
    assert!(
        js("try { 'x'.repeat(2 ** 30) } catch (e) { throw e }").await.text().starts_with("runtime_error")
    );
}

#[tokio::test]
async fn recursion_of_every_kind_is_an_error_and_never_a_trap() {
    let overflow = "Maximum call stack size exceeded";
    for code in [
        "function f() { return f() + 1 } f()",
        "const f = (...a) => f(...a, 1); f()",
        "class A { get b() { return this.b } } new A().b",
        "const p = new Proxy({}, {get(t, k, r) { return r[k] }}); p.x",
        "const f = () => [1].map(f); f()",
        "const f = () => 'a'.replace(/a/, f); f()",
        "const f = () => JSON.stringify({toJSON: f}); f()",
        "const f = () => JSON.parse('[1]', f); f()",
        "const f = () => new F(); function F() { f() } f()",
        "const f = () => eval('f()'); f()",
        "const f = () => Reflect.apply(f, null, []); f()",
        "const f = f2.bind(null); function f2() { return f() } f()",
        "const f = () => [3, 2, 1].sort(f); f()",
        "const o = {toString() { return '' + o }}; '' + o",
        "function* g() { yield* g() } g().next()",
        "const f = () => Array.from({length: 1}, f); f()",
        "let a = []; for (let i = 0; i < 1e5; i++) a = [a]; a.flat(Infinity)",
        "let a = []; for (let i = 0; i < 1e5; i++) a = [a]; a.toString()",
        "let a = []; for (let i = 0; i < 1e5; i++) a = [a]; JSON.stringify(a)",
        "let p = {}; for (let i = 0; i < 1e5; i++) p = new Proxy(p, {}); p.x",
        "let f = () => 1; for (let i = 0; i < 1e5; i++) f = f.bind(null); f()",
        "JSON.parse('['.repeat(1e5))",
        "eval('['.repeat(1e5))",
        "eval('('.repeat(1e5))",
        "eval('{'.repeat(1e5))",
        "eval('-'.repeat(1e5) + '1')",
        "eval('a=>'.repeat(1e5) + '1')",
        "eval('`${'.repeat(1e4))",
        "eval('function f(){'.repeat(1e4))",
        "eval('if(1)'.repeat(1e5) + '1')",
        "eval('1' + '+1'.repeat(1e5))",
        "eval('1' + '**1'.repeat(1e5))",
        "eval('a' + '?.a'.repeat(1e5))",
        "eval('class A extends '.repeat(1e4))",
        "eval('[a' + '=[a'.repeat(1e4))",
        "eval('let ' + '{a:'.repeat(1e5))",
        "eval('[['.repeat(1e5) + '=1')",
        "eval('({a:'.repeat(1e5))",
        "eval('f('.repeat(1e5))",
        "eval('a[' .repeat(1e5))",
        "eval('a?a:'.repeat(1e5) + '1')",
        "eval('a??'.repeat(1e5) + '1')",
        "eval('new '.repeat(1e5) + 'a')",
        "eval('await '.repeat(1e5) + '1')",
        "eval('async()=>'.repeat(1e5) + '1')",
        "eval('a=' .repeat(1e5) + '1')",
        "eval('try{'.repeat(1e5))",
        "eval('switch(1){case 1:'.repeat(1e5))",
        "eval('x:'.repeat(1e5))",
        "new RegExp('[[' .repeat(1e5), 'v')",
        "new RegExp('(?:a|'.repeat(1e5) + ')'.repeat(1e5))",
        "new RegExp('('.repeat(1e5))",
        "new RegExp('(?:'.repeat(1e5) + ')'.repeat(1e5))",
        "new RegExp('(?='.repeat(1e4) + ')'.repeat(1e4))",
        "new RegExp('[' .repeat(1e5), 'v')",
        "/(?:a|b)*c/.test('ab'.repeat(1e6))",
        "'a'.repeat(1e5).match(/(a?){100}b/)",
        "let s = 'a'; for (let i = 0; i < 1e5; i++) s = s + 'b' ; s.length",
        "let n = null; for (let i = 0; i < 3e5; i++) n = {n}; n = null; 1",
        "(async function f() { await f() })()",
        "let i = [1].values(); for (let n = 0; n < 2e4; n++) i = i.map(x => x); i.toArray()",
        "let i = [1].values(); for (let n = 0; n < 2e4; n++) i = Iterator.concat(i); [...i]",
        "const f = () => [1].values().flatMap(f); f().next()",
        "let e; for (let i = 0; i < 1e5; i++) e = new Error('x', {cause: e}); console.log(e); 1",
        "let a = []; for (let i = 0; i < 1e5; i++) a = [a]; console.log(a); 1",
    ] {
        let ended = run(&request(code), |_| {}).await;
        // Whatever ends it has a name, and is no trap.
        let fine = !matches!(ended.outcome, Outcome::Trapped(_)) && ended.outcome.status().unwrap_or(0) == 0;
        assert!(fine, "{code}: {:?} {}", ended.outcome, ended.answer);
    }
    assert_eq!(js("function f() { return f() + 1 } f()").await.text(), format!("runtime_error: {overflow}"));
    // A program may catch it and go on.
    assert_eq!(js("let n = 0; function f() { n++; f() } try { f() } catch { } n > 100").await.text(), "true");
}

#[tokio::test]
async fn a_program_as_a_text_of_any_shape_is_an_answer() {
    let deep = ["(".repeat(200_000), "[".repeat(200_000), "a=>".repeat(200_000), "{".repeat(200_000)];
    for code in deep.iter().map(String::as_str).chain([
        "\u{feff}1",
        "\u{2028}1",
        "'\u{0}'",
        "\\u0061",
        "#x",
        "@",
        "\"",
        "`",
        "/*",
        "/",
    ]) {
        let ended = js(code).await;
        assert_eq!(ended.outcome, Outcome::Exited(0), "{:?}", code.chars().take(9).collect::<String>());
    }
    let long = format!("'{}'.length", "x".repeat(10 << 20));
    let ended = run(&request(&long), |it| it.limits.memory_bytes_max = 256 << 20).await;
    assert_eq!(ended.text(), (10 << 20).to_string());
}

#[tokio::test]
async fn the_globals_are_the_languages_own() {
    let absent = "process require Buffer fetch setTimeout setInterval queueMicrotask structuredClone TextEncoder URL crypto performance WebAssembly WeakRef FinalizationRegistry Atomics Intl navigator print std os scriptArgs gc";
    let code = format!("'{absent}'.split(' ').filter(name => name in globalThis)");
    assert_eq!(js(&code).await.text(), "[]");
    let present = "eval Function Proxy Reflect SharedArrayBuffer InternalError escape unescape console Promise Map JSON BigInt Date RegExp";
    let code = format!("'{present}'.split(' ').filter(name => !(name in globalThis))");
    assert_eq!(js(&code).await.text(), "[]");
    assert_eq!(js("Object.keys(console).join()").await.text(), "\"log,info,warn,error\"");
    assert!(js("console.debug('x')").await.text().starts_with("runtime_error"));
    assert!(js("await import('fs')").await.text().starts_with("runtime_error"));
    assert_eq!(js("import('fs').catch(() => 'no')").await.text(), "\"no\"");
    assert_eq!(js("new SharedArrayBuffer(8).byteLength").await.text(), "8");
}

#[tokio::test]
async fn time_and_randomness_are_the_sessions() {
    let code = "[new Date().toISOString(), Math.random()]";
    let same = |it: &mut drydock_contract::RunRequest| {
        it.time = GuestTime::Fixed(Timestamp(1_000_000_000_000_000_000));
        it.entropy = Entropy::Seeded(5);
    };
    let first = run(&request(code), same).await.text();
    assert!(first.starts_with("[\"2001-09-09T01:46:40"), "{first}");
    assert_eq!(run(&request(code), same).await.text(), first);
    let once = js("Math.random()").await.text();
    assert_ne!(js("Math.random()").await.text(), once);
}

#[tokio::test]
async fn nothing_survives_an_execution() {
    assert_eq!(js("globalThis.left = 1; Object.prototype.left = 1; 1").await.text(), "1");
    assert_eq!(js("[typeof left, ({}).left]").await.text(), "[\"undefined\",null]");
}

#[tokio::test]
async fn the_console_shows_values_as_the_table_says() {
    let rows = [
        ("'a', 'b c'", "a b c"),
        ("", ""),
        ("undefined, null, true, 1.5", "undefined null true 1.5"),
        ("NaN", "null"),
        ("10n", "10"),
        ("{a: [1, 'x']}", r#"{"a":[1,"x"]}"#),
        ("new Date(0)", "1970-01-01T00:00:00.000Z"),
        ("new Map([[1, 2]])", "{}"),
        ("Symbol('s')", ""),
        ("x => x + 1", "x => x + 1"),
        ("(() => { const a = {}; a.a = a; return a })()", "[object Object]"),
        ("{a: 10n}", "[object Object]"),
        ("'%s', 1", "%s 1"),
        ("'two\\nlines'", "two\nlines"),
        ("'\\ud800'", "\u{fffd}"),
        ("{toJSON() { return 'bare \"quoted\"' }}", "bare \"quoted\""),
    ];
    for (args, want) in rows {
        let ended = js(&format!("console.log({args})")).await;
        assert_eq!(ended.logs, [want], "{args} {}", ended.answer);
    }
    let ended = js("console.info(1); console.warn(2); console.error(new TypeError('t')); throw 1").await;
    assert_eq!(ended.logs[..2], ["1", "2"]);
    assert!(ended.logs[2].starts_with(r#"{"name":"TypeError","message":"t","stack":"#), "{}", ended.logs[2]);
}

#[tokio::test]
async fn a_flood_of_lines_is_cut_and_the_program_goes_on() {
    let ended = js(
        "for (let i = 0; i < 200000; i++) console.log('line ' + i); console.log('x'.repeat(1 << 22)); 'done'",
    )
    .await;
    assert_eq!(ended.text(), "\"done\"");
    let bytes: usize = ended.logs.iter().map(String::len).sum();
    assert!(bytes < 1 << 20 && ended.logs[0] == "line 0", "{bytes}");
    let wish = json!({ "code": "console.log('é'.repeat(100)); console.log('never')", "log_bytes_max": 11 });
    assert_eq!(run(&wish, |_| {}).await.logs, ["ééééé"]);
}

#[tokio::test]
async fn a_result_that_is_too_large_is_a_clear_error() {
    let wish = json!({ "code": "'x'.repeat(100)", "result_bytes_max": 50 });
    let want = "serialization_error: the result of 102 bytes exceeds the limit of 50";
    assert_eq!(run(&wish, |_| {}).await.text(), want);
}

#[tokio::test]
async fn a_request_that_is_none_is_an_answer_too() {
    for request in
        [json!(null), json!([]), json!({}), json!({ "code": 5 }), json!({ "code": "1", "providers": [1] })]
    {
        assert!(run(&request, |_| {}).await.text().starts_with("internal_error"), "{request}");
    }
}

/// A table of one page is cleared after a run without asking the kernel which of its pages were written to.
#[test]
fn the_guests_table_fits_a_page() {
    let module = js_room::artifact();
    let table = section(module.bytes(), 4).expect("it calls by pointer");
    let [1, 0x70, _flags, rest @ ..] = table else { panic!("one table of functions: {table:?}") };
    let (entries, _) = number(rest);
    assert!(entries <= 4096 / 8, "{entries} entries");
}

/// A number as wasm writes it, and what follows.
fn number(bytes: &[u8]) -> (usize, &[u8]) {
    let length = bytes.iter().position(|byte| byte & 0x80 == 0).unwrap() + 1;
    let value = bytes[..length].iter().rev().fold(0, |value, byte| value << 7 | usize::from(byte & 0x7f));
    (value, &bytes[length..])
}

fn section(module: &[u8], wanted: u8) -> Option<&[u8]> {
    let mut rest = &module[8..];
    while let Some((&id, after)) = rest.split_first() {
        let (length, after) = number(after);
        if id == wanted {
            return Some(&after[..length]);
        }
        rest = &after[length..];
    }
    None
}

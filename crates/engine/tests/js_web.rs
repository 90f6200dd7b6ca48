//! The globals of the web in the guest `js`: there for a program that has a file, and only then.
#![allow(clippy::unwrap_used)]

mod js_room;

use drydock_contract::{Entropy, GuestTime, Limits, Timestamp};
use js_room::{Ended, request, run};
use serde_json::{Value, json};
use std::time::{Duration, Instant};

/// Nothing here takes a minute unless it hangs.
const HANG: Duration = Duration::from_secs(60);

fn with_file(code: &str) -> Value {
    let mut request = request(code);
    request["file"] = json!("./-");
    request
}

async fn web(code: &str) -> Ended {
    run(&with_file(code), |_| {}).await
}

async fn web_at(code: &str, time: GuestTime) -> Ended {
    run(&with_file(code), |it| it.time = time).await
}

async fn all(cases: &[(&str, &str)]) {
    for (code, want) in cases {
        assert_eq!(web(code).await.text(), *want, "{code}");
    }
}

const NAMES: &str = "['setTimeout','setInterval','clearTimeout','clearInterval','TextEncoder','TextDecoder','URL',\
    'URLSearchParams','structuredClone','atob','btoa','crypto','performance','queueMicrotask']\
    .filter(it => it in globalThis).length";

#[tokio::test]
async fn the_protocols_program_has_none_of_them_and_no_import() {
    assert_eq!(web(NAMES).await.text(), "14");
    assert_eq!(js_room::js(NAMES).await.text(), "0");
    let refused = js_room::js("await import('./x.js')").await.text();
    assert_eq!(refused, "runtime_error: import is not available here");
    let refused = js_room::js("import x from './x.js'; x").await.text();
    assert_eq!(refused, "runtime_error: import is not available here");
    // Nothing of them can be seen by looking either.
    assert_eq!(js_room::js("Object.keys(globalThis).includes('setTimeout')").await.text(), "false");
}

#[tokio::test]
async fn timers_come_in_their_order() {
    all(&[
        ("await new Promise(f => setTimeout(f, 1)); 'woken'", "\"woken\""),
        (
            "const out = []; setTimeout(() => out.push(3), 20); setTimeout(() => out.push(2), 5); \
             setTimeout(a => out.push(a), 0, 1); queueMicrotask(() => out.push(0)); \
             await new Promise(f => setTimeout(f, 40)); out",
            "[0,1,2,3]",
        ),
        ("let n = 0; await new Promise(f => { const t = setInterval(() => { if (++n === 3) { clearInterval(t); f() } }, 1) }); n", "3"),
        ("let n = 0; const t = setTimeout(() => n++, 1); clearTimeout(t); clearTimeout(t); clearTimeout('x'); await new Promise(f => setTimeout(f, 10)); n", "0"),
        ("setTimeout(() => { throw new Error('late') }, 1); await new Promise(() => {})", "runtime_error: late"),
        ("setTimeout('code')", "runtime_error: a timer needs a function"),
        ("setTimeout(() => console.log('never'), 1e9); 'value'", "\"value\""),
        ("let n = 0, name; try { for (;;) { setTimeout(() => {}, 1e6); n++ } } catch (e) { name = e.name } [n, name]", "[10000,\"RangeError\"]"),
        ("for (let i = 0; i < 100000; i++) clearTimeout(setTimeout(() => {}, 1)); 'bounded'", "\"bounded\""),
        ("typeof performance.now() + (performance.now() <= performance.now())", "\"numbertrue\""),
    ])
    .await;
}

#[tokio::test]
async fn tools_and_timers_starve_nobody() {
    all(&[
        ("let done = false; setTimeout(() => done = true, 5); let n = 0; while (!done) { await tools.echo(1); n++ } n > 0", "true"),
        ("let got; tools.slow(20).then(it => got = it); const t = setInterval(() => {}, 0); while (!got) await new Promise(f => setTimeout(f, 0)); got", "20"),
        ("await Promise.race([tools.slow(5000), new Promise(f => setTimeout(f, 10, 'first'))])", "\"first\""),
        ("await Promise.race([tools.slow(1), new Promise(f => setTimeout(f, 5000, 'late'))])", "1"),
    ])
    .await;
}

#[tokio::test]
async fn by_a_fixed_clock_waiting_takes_no_time_and_a_call_comes_first() {
    let fixed = GuestTime::Fixed(Timestamp(1_000_000_000_000_000_000));
    let started = Instant::now();
    let hour = "const t = Date.now(); await new Promise(f => setTimeout(f, 3600e3)); Date.now() - t";
    assert_eq!(web_at(hour, fixed).await.text(), "3600000");
    let race = "await Promise.race([tools.slow(30), new Promise(f => setTimeout(f, 10, 'timer'))])";
    assert_eq!(web_at(race, fixed).await.text(), "30");
    let both = web_at("const out = []; for (const n of [3, 1, 2]) setTimeout(() => out.push(n, Date.now() % 1e6), n * 1000); await new Promise(f => setTimeout(f, 9000)); out", fixed).await;
    let again = web_at("const out = []; for (const n of [3, 1, 2]) setTimeout(() => out.push(n, Date.now() % 1e6), n * 1000); await new Promise(f => setTimeout(f, 9000)); out", fixed).await;
    assert_eq!(both.text(), again.text());
    // An interval that is never cleared is ended by real time.
    let endless = with_file("setInterval(() => {}, 1000); await new Promise(() => {})");
    let endless = run(&endless, |it| {
        it.time = fixed;
        it.limits = Limits { wall_max: Duration::from_millis(300), ..it.limits };
    });
    assert_eq!(endless.await.text(), "<timed_out>");
    assert!(started.elapsed() < HANG);
}

#[tokio::test]
async fn text_and_bytes() {
    all(&[
        ("[...new TextEncoder().encode('aé中🦀\\ud800')]", "[97,195,169,228,184,173,240,159,166,128,239,191,189]"),
        ("new TextDecoder().decode(new TextEncoder().encode('aé中🦀'))", "\"aé中🦀\""),
        ("new TextDecoder().decode(new Uint8Array([0xef, 0xbb, 0xbf, 97, 0xff]))", "\"a\u{fffd}\""),
        ("const d = new TextDecoder(); const b = new TextEncoder().encode('é🦀'); let s = ''; for (const it of b) s += d.decode(new Uint8Array([it]), {stream: true}); s + d.decode()", "\"é🦀\""),
        ("new TextDecoder('utf-8', {fatal: true}).decode(new Uint8Array([255]))", "runtime_error: the bytes are not valid utf-8"),
        ("new TextDecoder('latin1')", "runtime_error: the only encoding is utf-8"),
        ("new TextDecoder().decode(new DataView(new TextEncoder().encode('xyz').buffer, 1))", "\"yz\""),
        ("const u = new Uint8Array(4); [new TextEncoder().encodeInto('aé中', u), [...u]]", "[{\"read\":2,\"written\":3},[97,195,169,0]]"),
        ("btoa('hé') + atob(' aGk= ') + [...atob('/w==')].map(it => it.charCodeAt(0))", "\"aOk=hi255\""),
        ("btoa('中')", "runtime_error: the text has characters beyond U+00FF"),
        ("atob('a')", "runtime_error: the text is no base64"),
    ])
    .await;
}

#[tokio::test]
async fn addresses() {
    all(&[
        ("new URL('../b?x=1#y', 'HTTPS://User:pw@Example.com:443/a/./c').href", "\"https://User:pw@example.com/b?x=1#y\""),
        ("const u = new URL('http://h/?a=1'); u.searchParams.append('b', 'ü &'); u.searchParams.delete('a'); u.href", "\"http://h/?b=%C3%BC+%26\""),
        ("new URL('http://münchen.de/ü').href", "\"http://xn--mnchen-3ya.de/%C3%BC\""),
        ("[new URL('http://0x7f.1').host, new URL('http://[::ffff:1.2.3.4]').host, new URL('http://4294967295').host]", "[\"127.0.0.1\",\"[::ffff:102:304]\",\"255.255.255.255\"]"),
        ("['http://a b', 'x', 'http://h:99999', 'http://[1::2::3]', 'http://256.1.1.1'].map(it => URL.canParse(it))", "[false,false,false,false,false]"),
        ("new URL('nonsense')", "runtime_error: Invalid URL: nonsense"),
        ("[...new URLSearchParams('a=1&b=%41+x&a=2')].join('|') + new URLSearchParams({q: 'x y'})", "\"a,1|b,A x|a,2q=x+y\""),
        ("JSON.stringify({u: new URL('mailto:a@b')})", r#""{\"u\":\"mailto:a@b\"}""#),
    ])
    .await;
}

#[tokio::test]
async fn copies_of_data() {
    all(&[
        ("const a = {d: new Date(5), m: new Map([[1, new Set([2])]]), u: new Uint16Array([7])}; a.self = a; const b = structuredClone(a); [b !== a, b.self === b, b.d.getTime(), b.m.get(1).has(2), b.u[0], b.u !== a.u]", "[true,true,5,true,7,true]"),
        ("const e = structuredClone(new TypeError('x', {cause: [1]})); [e.name, e.message, e.cause, e instanceof TypeError]", "[\"TypeError\",\"x\",[1],true]"),
        ("const e = new Error('e'); e.cause = e; const c = structuredClone(e); c.cause === c", "true"),
        ("let deep = []; for (let i = 0; i < 50000; i++) deep = [deep]; structuredClone(deep).length", "1"),
        ("let n; try { structuredClone({f() {}}) } catch (e) { n = e.name } n", "\"DataCloneError\""),
        ("structuredClone(Symbol())", "runtime_error: a symbol could not be cloned"),
        ("Object.keys(structuredClone({['__proto__']: 1}))", "[\"__proto__\"]"),
    ])
    .await;
}

#[tokio::test]
async fn randomness_is_the_sessions() {
    let code = "[crypto.randomUUID(), [...crypto.getRandomValues(new Uint8Array(4))], Math.random()]";
    let seeded =
        |seed| async move { run(&with_file(code), |it| it.entropy = Entropy::Seeded(seed)).await.text() };
    assert_eq!(seeded(1).await, seeded(1).await);
    assert_ne!(seeded(1).await, seeded(2).await);
    all(&[
        ("/^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/.test(crypto.randomUUID())", "true"),
        ("crypto.getRandomValues(new Uint8Array(65537))", "runtime_error: at most 65536 bytes at once"),
        ("crypto.getRandomValues(new Float32Array(1))", "runtime_error: an array of integers is needed"),
    ])
    .await;
}

#[tokio::test]
async fn a_provider_may_have_the_name_of_one() {
    let mut request = with_file("typeof crypto.echo + typeof URL");
    request["providers"] = json!([{ "name": "crypto", "tools": ["echo"] }]);
    assert_eq!(run(&request, |_| {}).await.text(), "\"functionfunction\"");
}

#[tokio::test]
async fn hostile_uses_end_by_name() {
    let started = Instant::now();
    let wall = |code: &'static str| async move {
        run(&with_file(code), |it| {
            it.limits = Limits { wall_max: Duration::from_secs(2), memory_bytes_max: 64 << 20, ..it.limits };
        })
        .await
        .text()
    };
    for code in [
        "const f = () => { setTimeout(f, 0); setTimeout(f, 0) }; f(); await new Promise(() => {})",
        "setInterval(() => {}, 0); await new Promise(() => {})",
        "new URL('http://h/' + 'a/../'.repeat(1e7)).href.length",
        "new URL('http://' + 'ü'.repeat(1e7)).href",
        "new URLSearchParams('&a'.repeat(1e7)).size",
        "let a = []; for (let i = 0; i < 3e6; i++) a = [a, {}]; structuredClone(a)",
        "new TextDecoder().decode(new Uint8Array(60 << 20).fill(255)).length",
        "atob('a'.repeat(5e7)).length",
        "const big = {get x() { return structuredClone(big) }}; structuredClone(big)",
        "Array.prototype.push = () => { throw 1 }; Map.prototype.set = null; structuredClone([1])",
        "setTimeout(function f() { f() }, 0); await new Promise(() => {})",
    ] {
        let text = wall(code).await;
        assert!(!text.contains("trapped") && !text.contains("internal_error"), "{code}: {text}");
    }
    assert!(started.elapsed() < HANG * 2);
}

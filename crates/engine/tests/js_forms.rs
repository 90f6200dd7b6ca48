//! The guest `js`: which texts are programs, and what they return (protocol page, 1.7 and 1.8).
#![allow(clippy::unwrap_used)]

mod js_room;

use js_room::js;

async fn check(cases: &[(&str, &str)]) {
    let mut wrong = Vec::new();
    for (code, want) in cases {
        let got = js(code).await.text();
        if got != *want {
            wrong.push(format!("{code:?}\n   gave {got}\n   not  {want}"));
        }
    }
    assert!(wrong.is_empty(), "\n{}", wrong.join("\n"));
}

#[tokio::test]
async fn every_accepted_form_gives_what_the_table_says() {
    check(&[
        ("", "undefined"),
        ("   \n // nothing\n", "undefined"),
        ("1+1", "2"),
        ("async () => 7", "7"),
        ("(async () => 7)", "7"),
        ("((async () => { return 7 }))", "7"),
        ("async (x) => typeof x", "\"undefined\""),
        ("async x => { await null; return 8 }", "8"),
        ("() => 5", "serialization_error: Guest code returned a non-serializable value"),
        ("(async () => 7)()", "7"),
        ("(0, async () => 7)", "serialization_error: Guest code returned a non-serializable value"),
        ("async function f() { return 3 }", "3"),
        ("function f() { return 4 }", "4"),
        ("function* g() { yield 4 }", "{}"),
        ("function f() { return 4 } // and a comment", "4"),
        ("(function () { return 4 })", "serialization_error: Guest code returned a non-serializable value"),
        ("const a = 2; a * 3", "6"),
        ("let f = async () => 1; await f()", "1"),
        ("function f() { return 4 } f() + 1", "5"),
        ("return 9", "9"),
        ("if (true) { return 1 } 2", "1"),
        ("if (false) { return 1 } 2", "undefined"),
        ("const f = () => { return 1 }; f() + 1", "2"),
        ("if (true) { 5 }", "undefined"),
        ("{a:1}", "undefined"),
        ("({a:1})", r#"{"a":1}"#),
        ("[1,2]", "[1,2]"),
        ("'use strict'", "\"use strict\""),
        ("'use strict'; undeclared = 1", "runtime_error: undeclared is not defined"),
        ("undeclared = 1; undeclared", "1"),
        ("this === globalThis", "true"),
        ("typeof arguments", "\"object\""),
        ("var x = 1; globalThis.x", "undefined"),
        ("label: for (;;) { break label }", "undefined"),
        ("class A { static b = 1 }", "undefined"),
        ("class A { static b = 1 } A.b", "1"),
        ("let\nx = 1\nx", "1"),
        ("const a = [1]\n;[a[0]].concat(2)", "[1,2]"),
        ("let x = a\n(1)\nfunction a(n) { return n + 1 }\nx", "2"),
        ("`a${1}b`", "\"a1b\""),
        ("/a\\/b/.test('a/b')", "true"),
        ("for await (const x of [1]) { } 3", "3"),
        ("eval('1+1')", "2"),
        ("let y = 2; eval('y + 1')", "3"),
        ("new Function('a', 'return a * 2')(4)", "8"),
        ("{ using d = { [Symbol.dispose]() { } }; } 4", "4"),
        (
            "let log = []; using d = { [Symbol.dispose]() { log.push('end') } }; log.push('body'); log",
            "[\"body\",\"end\"]",
        ),
    ])
    .await;
}

#[tokio::test]
async fn semicolons_comments_and_fences_do_not_change_a_single_expression() {
    check(&[
        ("1+1;", "2"),
        ("1+1;;", "2"),
        ("1+1 // two", "2"),
        ("1+1; /* two */", "2"),
        ("await tools.echo(3);", "3"),
        ("async () => 1;", "1"),
        ("async () => 1 // one", "1"),
        ("// first\nasync () => 1", "1"),
        ("a = 1; a + 1;\n\n", "2"),
        ("```js\n1+1\n```", "2"),
        ("```\nconst a = 1;\na;\n```\n", "1"),
        ("#!/usr/bin/env node\n5", "5"),
        ("<!-- old comment\n6", "6"),
    ])
    .await;
}

#[tokio::test]
async fn modules_and_wrong_texts_are_runtime_errors_at_their_own_place() {
    for (code, line, column) in [
        ("import fs from 'fs'; 1", 1, 1),
        ("export const a = 1", 1, 1),
        ("1 +", 1, 4),
        ("let a = 1;\nlet b = ;\n", 2, 9),
        ("```js\nlet a = ;\n```", 2, 9),
        ("\n\n  'é🦀'; let b = ;", 3, 17),
        ("1) + (2", 1, 2),
        ("}); evil(); (() => {", 1, 1),
        ("a\0b", 1, 2),
    ] {
        let ended = js(code).await;
        let error = &ended.answer["error"];
        assert_eq!(error["code"], "runtime_error", "{code:?} {}", ended.answer);
        assert_eq!(
            (error["line"].as_u64(), error["column"].as_u64()),
            (Some(line), Some(column)),
            "{code:?} {}",
            ended.answer
        );
    }
}

#[tokio::test]
async fn an_uncaught_error_names_its_line_and_column() {
    for (code, line, column) in [
        ("throw new Error('x')", 1, 11),
        ("const a = 1;\n  null.b", 2, 3),
        ("await 0;\nfunction f() {\n  throw new Error('deep')\n}\nf()", 3, 13),
        ("async () => {\n  await 0;\n  undefinedName\n}", 3, 3),
    ] {
        let ended = js(code).await;
        let error = &ended.answer["error"];
        assert_eq!(
            (error["line"].as_u64(), error["column"].as_u64()),
            (Some(line), Some(column)),
            "{code:?} {}",
            ended.answer
        );
    }
}

#[tokio::test]
async fn results_are_what_json_stringify_makes_of_them() {
    let bad = "serialization_error: Guest code returned a non-serializable value";
    check(&[
        ("undefined", "undefined"),
        ("null", "null"),
        ("Symbol()", bad),
        ("10n", bad),
        ("({a: 10n})", bad),
        ("const a = {}; a.a = a; a", bad),
        ("({toJSON() { throw 1 }})", bad),
        ("({toJSON() { }})", bad),
        ("({a: undefined, b() {}, c: Symbol(), d: 1})", r#"{"d":1}"#),
        ("[undefined, () => 1, Symbol()]", "[null,null,null]"),
        ("[NaN, Infinity, -Infinity, -0]", "[null,null,null,0]"),
        ("new Date(0)", "\"1970-01-01T00:00:00.000Z\""),
        ("[new Map([[1,2]]), new Set([1]), /a/, new Error('x')]", "[{},{},{},{}]"),
        ("new Uint8Array([1,2])", r#"{"0":1,"1":2}"#),
        ("new (class { a = 1; #b = 2; get c() { return 3 } })", r#"{"a":1}"#),
        ("Promise.resolve(5)", "5"),
        ("new Proxy({a: 1}, {})", r#"{"a":1}"#),
        ("[1,,2]", "[1,null,2]"),
        ("'\\ud800x\\udc00'", "\"\u{fffd}x\u{fffd}\""),
        ("({'\\ud800': '\\ud83e\\udd80'})", "{\"\u{fffd}\":\"🦀\"}"),
        ("'\\\\ud800'", r#""\\ud800""#),
        ("JSON.parse('{\"__proto__\": 1}')", r#"{"__proto__":1}"#),
    ])
    .await;
}

#[tokio::test]
async fn a_result_5000_deep_is_a_serialization_error_and_100_deep_is_not() {
    let code = |depth| format!("let a = 1; for (let i = 0; i < {depth}; i++) a = [a]; a");
    assert!(js(&code(100)).await.text().starts_with("[[[["));
    for depth in [5_000, 100_000] {
        assert!(js(&code(depth)).await.text().starts_with("serialization_error"), "{depth}");
    }
}

#[tokio::test]
async fn thrown_values_have_the_words_of_the_table() {
    check(&[
        ("throw 'str'", "runtime_error: str"),
        ("throw 42", "runtime_error: 42"),
        ("throw null", "runtime_error: null"),
        ("throw undefined", "runtime_error: undefined"),
        ("throw {a: 1}", "runtime_error: [object Object]"),
        ("throw new Error()", "runtime_error: "),
        ("throw {message: 'm'}", "runtime_error: m"),
        ("throw Symbol('s')", "runtime_error: Symbol(s)"),
        ("throw {get message() { throw 1 }, toString() { throw 2 }}", "runtime_error: "),
        ("await Promise.reject(new TypeError('t'))", "runtime_error: t"),
    ])
    .await;
}

//! `drydock ext invoke` and `drydock kernel call` as a person or a script uses them.
#![allow(clippy::unwrap_used)]

mod common;

use common::Shell;
use serde_json::{Value, json};

/// Logs the request and answers what it is built with.
fn handler(answer: &str, status: i32) -> String {
    let data: String = answer.bytes().map(|byte| format!("\\{byte:02x}")).collect();
    format!(
        r#"(module (import "alga" "log_info" (func $log (param i32 i32)))
          (memory (export "memory") 2) (data (i32.const 16) "{data}") (global $next (mut i32) (i32.const 8192))
          (func (export "alloc") (param i32) (result i32)
            (global.get $next) (global.set $next (i32.add (global.get $next) (local.get 0))))
          (func (export "handler") (param i32 i32 i32) (result i32)
            (call $log (local.get 0) (local.get 1))
            (i32.store (local.get 2) (i32.const 16)) (i32.store offset=4 (local.get 2) (i32.const {}))
            (i32.const {status})))"#,
        answer.len()
    )
}

const LOOP: &str = r#"(module (memory (export "memory") 1) (func (export "alloc") (param i32) (result i32) (i32.const 16))
  (func (export "handler") (param i32 i32 i32) (result i32) (loop $l (br $l)) (i32.const 0)))"#;

#[test]
fn an_extension_is_invoked_and_its_envelope_is_printed() {
    let shell = Shell::sharing();
    let file = shell.file("shop.wat", handler(r#"{"status":201,"headers":{"a":"b"}}"#, 0));
    let said = shell.run(&[
        "ext",
        "invoke",
        &file,
        "--method",
        "POST",
        "--path",
        "/cart",
        "--query",
        "q=1=2",
        "--header",
        "h: v",
        "--body",
        "hi",
        "--timeout-ms",
        "7000",
        "--memory-mb",
        "9",
    ]);
    assert_eq!(said.status, 0, "{}", said.stderr);
    let envelope: Value = serde_json::from_str(&said.stdout).unwrap();
    assert_eq!(envelope, json!({ "status": 201, "headers": { "a": "b" }, "body_b64": null, "error": null }));
    insta::assert_snapshot!(said.stderr, @r#"drydock: info tenant=dev extension=shop request=-: {"context":{"request_id":null,"tenant_id":"dev","extension_id":"shop","version_id":null,"limits":{"timeout_ms":7000,"memory_mb":9,"fuel":null}},"http":{"method":"POST","path":"/cart","query":{"q":"1=2"},"headers":{"h":"v"},"body_b64":"aGk="}}"#);

    let request = r#"{"context":{"request_id":"r7","tenant_id":"acme"},"http":{"path":"/x"},"limits":{"timeout_ms":99999}}"#;
    let said =
        shell.pipe(&["ext", "invoke", &file, "--request", "-", "--timeout-ms", "400"], request.as_bytes());
    assert_eq!(said.status, 0, "{}", said.stderr);
    assert!(
        said.stderr.starts_with("drydock: info tenant=acme extension=shop request=r7: "),
        "{}",
        said.stderr
    );
    assert!(
        said.stderr.contains(r#""limits":{"timeout_ms":400,"memory_mb":64,"fuel":null}"#),
        "{}",
        said.stderr
    );
}

#[test]
fn what_an_extension_logs_as_an_error_is_told_once_with_whose_it_is() {
    let shell = Shell::sharing();
    let file = shell.file("shop.wat", handler("x", 0).replace("log_info", "log_error"));
    let said = shell.run(&["ext", "invoke", &file]);
    assert_eq!((said.status, said.stderr.lines().count()), (0, 1), "{}", said.stderr);
    assert!(
        said.stderr.starts_with("drydock: error tenant=dev extension=shop request=-: "),
        "{}",
        said.stderr
    );
}

#[test]
fn how_an_extension_failed_is_told_by_its_envelope_and_by_the_exit_status() {
    let shell = Shell::sharing();
    let cases = [
        ("says-no", handler("x", 7), 1, "app"),
        ("loops", LOOP.to_owned(), 124, "timeout"),
        ("traps", LOOP.replace("(loop $l (br $l))", "unreachable"), 125, "trap"),
        ("lacks", LOOP.replace(r#"(export "handler")"#, ""), 125, "abi"),
        ("odd", handler(r#"{"status":70000}"#, 0), 125, "abi"),
        ("imports", handler("x", 0).replace("log_info", "exec"), 125, "link"),
        ("large", LOOP.replace("\"memory\") 1", "\"memory\") 129"), 125, "memory"),
    ];
    for (name, wat, status, kind) in cases {
        let file = shell.file(&format!("{name}.wat"), wat);
        let said = shell.run(&["ext", "invoke", &file, "--timeout-ms", "300", "--memory-mb", "8"]);
        let envelope: Value = serde_json::from_str(&said.stdout).unwrap();
        assert_eq!(
            (said.status, &envelope["error"]["kind"]),
            (status, &json!(kind)),
            "{name} {}",
            said.stdout
        );
        assert_eq!(envelope["status"], 500);
    }
    let file = shell.file("fine.wat", handler("x", 0));
    let said = shell.pipe(&["ext", "invoke", &file, "--request", "-"], b"nonsense");
    assert_eq!(said.status, 126);
    insta::assert_snapshot!(said.stdout, @r#"{"status":500,"headers":{},"body_b64":null,"error":{"kind":"denied","code":"malformed","message":"malformed request: no request of an extension: it is not a JSON object"}}"#);
    let said = shell.run(&["ext", "invoke", "missing.wasm"]);
    assert_eq!(said.status, 125);
    insta::assert_snapshot!(said.stderr, @"drydock: error: could not open `missing.wasm`: No such file or directory (os error 2)");
}

/// Adds its input to the bytes it was given before, and answers all of them.
const GATHERS: &str = r#"(module (memory (export "memory") 3) (global $have (mut i32) (i32.const 0))
  (func (export "process") (param $len i32) (result i32)
    (if (i32.eqz (local.get $len)) (then (return (i32.const -3))))
    (memory.copy (i32.add (i32.const 65536) (global.get $have)) (i32.const 1024) (local.get $len))
    (global.set $have (i32.add (global.get $have) (local.get $len)))
    (global.get $have)))"#;

#[test]
fn a_kernel_is_called_from_the_command_line_and_keeps_its_memory() {
    let shell = Shell::sharing();
    let file = shell.file("gathers.wat", GATHERS);
    let (one, two) = (shell.file("one", "ab"), shell.file("two", "c"));
    let said = shell.run(&["kernel", "call", &file, "--input", &one, "--input", &two]);
    assert_eq!((said.status, said.stdout.as_str()), (0, "ababc"), "{}", said.stderr);
    let said = shell.pipe(&["kernel", "call", &file, "--json"], b"xyz");
    let told: Value = serde_json::from_str(&said.stdout).unwrap();
    assert_eq!(told["output_b64"], "eHl6");
    assert!(told["fuel"].as_u64().unwrap() > 0 && told["memory_bytes"] == 3 << 16);
}

#[test]
fn a_kernels_failure_has_a_name_and_a_status() {
    let shell = Shell::sharing();
    let file = shell.file("gathers.wat", GATHERS);
    let looping = shell.file("loops.wat", GATHERS.replace("(return (i32.const -3))", "(loop $l (br $l))"));
    let trapping = shell.file("traps.wat", GATHERS.replace("(return (i32.const -3))", "unreachable"));
    let large = shell.file("large", vec![b'x'; 64_513]);
    let empty = shell.file("empty", "");
    let mut told = String::new();
    for args in [
        &["kernel", "call", &file, "--input", &empty][..],
        &["kernel", "call", &file, "--input", &large],
        &["kernel", "call", &looping, "--input", &empty, "--timeout-ms", "50"],
        &["kernel", "call", &trapping, "--input", &empty, "--json"],
        &["kernel", "call", &file, "--entry", "missing"],
        &["kernel", "call", &file, "--memory-mb", "0"],
    ] {
        let said = shell.run(args);
        told.push_str(&said.all());
    }
    insta::with_settings!({ filters => vec![("[0-9a-f]{64}", "SHA256")] }, {
        insta::assert_snapshot!(told);
    });
}

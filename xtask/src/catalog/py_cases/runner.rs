//! `drydock py runner`: the message protocol with Python programs, one execution after another in one process.

use std::{
    io::{BufRead as _, BufReader, Write as _},
    path::Path,
    process::{Command, Stdio},
};

use anyhow::Context as _;
use serde_json::{Value, json};

/// What it proves, the program, and the members that `done` must have.
type Row = (&'static str, &'static str, Value);

fn rows() -> Vec<Row> {
    let failure =
        |code: &str, message: &str| json!({ "ok": false, "error": { "code": code, "message": message } });
    vec![
        ("a simple expression", "1 + 1", json!({ "ok": true, "result": 2, "logs": [] })),
        ("the console", "print('hello', {'a': 1})\n5", json!({ "result": 5, "logs": ["hello {'a': 1}"] })),
        ("nothing is no result", "x = 1", json!({ "ok": true, "logs": [] })),
        ("a provider is called", "tools.add(x=2, y=3)['sum']", json!({ "ok": true, "result": 5 })),
        ("and awaited", "(await aio.tools.add({'x': 2, 'y': 3}))['sum']", json!({ "ok": true, "result": 5 })),
        ("a tool's failure is the program's", "tools.fail()", failure("tool_error", "tool exploded")),
        (
            "a failure can be caught",
            "try:\n    tools.fail()\nexcept Exception as e:\n    r = e.code\nr",
            json!({ "result": "tool_error" }),
        ),
        ("a loop times out", "while True: pass", failure("timeout", "Execution timed out")),
        (
            "messages that look like limits",
            "raise Exception('Execution timed out')",
            failure("runtime_error", "Exception: Execution timed out"),
        ),
        (
            "codes that are claimed",
            "from drydock import ToolError\nraise ToolError('mine', 'internal_error')",
            failure("runtime_error", "mine"),
        ),
        (
            "what is no JSON",
            "lambda: 5",
            failure("serialization_error", "Guest code returned a non-serializable value"),
        ),
        (
            "a program leaves something",
            "import builtins\nbuiltins.left = 1\n'left'",
            json!({ "result": "left" }),
        ),
        (
            "and the next one does not find it",
            "import builtins\nhasattr(builtins, 'left')",
            json!({ "result": false }),
        ),
        ("there are no files of anybody's", "import os\nos.listdir('/')", json!({ "result": [] })),
    ]
}

/// Answers what went otherwise.
pub(super) fn run(binary: &Path, home: &Path) -> anyhow::Result<Vec<String>> {
    let mut child = Command::new(binary)
        .args(["py", "runner"])
        .env("DRYDOCK_HOME", home)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .context("could not start the runner")?;
    let mut to = child.stdin.take().context("no stdin")?;
    let mut from = BufReader::new(child.stdout.take().context("no stdout")?).lines();
    let mut failed = Vec::new();
    for (name, code, want) in rows() {
        let tool = |name: &str| json!({ "safeName": name, "originalName": name });
        let tools = json!({ "add": tool("add"), "fail": tool("fail") });
        let options = json!({ "timeoutMs": 3000, "memoryLimitBytes": 134_217_728, "maxLogLines": 9, "maxLogChars": 999 });
        let execute = json!({ "type": "execute", "id": name, "code": code, "options": options,
            "providers": [{ "name": "tools", "types": "", "tools": tools }] });
        writeln!(to, "{execute}")?;
        let done = loop {
            let line = from.next().context("the runner is gone")??;
            let message: Value = serde_json::from_str(&line)?;
            match message["type"].as_str() {
                Some("done") => break message,
                Some("tool_call") => writeln!(to, "{}", answer(&message))?,
                _ => {}
            }
        };
        let members = want.as_object().into_iter().flatten();
        if members.into_iter().any(|(key, value)| done[key.as_str()] != *value)
            || (code == "x = 1" && done.get("result").is_some())
        {
            failed.push(format!("{name}: {done}"));
        }
    }
    drop(to);
    child.wait()?;
    Ok(failed)
}

fn answer(call: &Value) -> Value {
    let sum =
        call["input"]["x"].as_f64().unwrap_or_default() + call["input"]["y"].as_f64().unwrap_or_default();
    match call["safeToolName"].as_str() {
        Some("add") => {
            json!({ "type": "tool_result", "callId": call["callId"], "ok": true, "result": { "sum": sum as i64 } })
        }
        _ => json!({ "type": "tool_result", "callId": call["callId"], "ok": false,
            "error": { "code": "tool_error", "message": "tool exploded" } }),
    }
}

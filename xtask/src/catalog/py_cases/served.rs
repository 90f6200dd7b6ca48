//! `py` as agents and clients call it: through `drydock mcp` and `drydock stdio`, with CPython behind both.

use std::{
    io::{BufRead as _, BufReader, Write as _},
    path::Path,
    process::{Command, Stdio},
};

use anyhow::Context as _;
use serde_json::{Value, json};

/// Answers what went otherwise.
pub(super) fn run(binary: &Path, home: &Path) -> anyhow::Result<Vec<String>> {
    let mut failed = Vec::new();
    let code = "open('n.txt', 'w').write('x')\nprint('said')\nargs['n'] * 2";
    let input = json!({ "code": code, "args": { "n": 21 } });
    let hello = json!({ "jsonrpc": "2.0", "id": 1, "method": "initialize", "params": { "protocolVersion": "2025-06-18",
        "capabilities": {}, "clientInfo": { "name": "xtask", "version": "0" } } });
    let ready = json!({ "jsonrpc": "2.0", "method": "notifications/initialized" });
    let call = |id: u32, input: &Value| json!({ "jsonrpc": "2.0", "id": id, "method": "tools/call", "params": { "name": "py", "arguments": input } });
    let raises = json!({ "code": "1 / 0" });
    let answers = asked(binary, home, "mcp", &[hello, ready, call(2, &input), call(3, &raises)], 3)?;
    let of = |id: u32| answers.iter().find(|it| it["id"] == id).cloned().unwrap_or_default();
    let good = of(2)["result"].to_string();
    if of(2)["result"]["isError"] == true || !good.contains("42") || !good.contains("said") {
        failed.push(format!("py over MCP: {good}"));
    }
    let bad = of(3)["result"].to_string();
    if of(3)["result"]["isError"] != true || !bad.contains("ZeroDivisionError: division by zero") {
        failed.push(format!("an error of py over MCP: {bad}"));
    }
    let op = |id: u32, input: &Value| json!({ "id": id, "op": "py", "input": input });
    // Beside the two answers, the greeting.
    let answers = asked(binary, home, "stdio", &[op(1, &input), op(2, &raises)], 3)?;
    let of = |id: u32| answers.iter().find(|it| it["id"] == id).cloned().unwrap_or_default();
    let result = &of(1)["result"];
    let is_right = result["result"] == 42
        && result["stdout"] == "said\n"
        && result["status"] == 0
        && result["files"][0]["path"].as_str().is_some_and(|it| it.ends_with("/n.txt"));
    if !is_right {
        failed.push(format!("py over stdio: {}", of(1)));
    }
    let error = &of(2)["result"];
    if error["ok"] != false
        || !error["error"]["traceback"].as_str().is_some_and(|it| it.contains("line 1, in <module>"))
    {
        failed.push(format!("an error of py over stdio: {}", of(2)));
    }
    Ok(failed)
}

/// Writes the messages and reads that many lines.
fn asked(
    binary: &Path,
    home: &Path,
    word: &str,
    messages: &[Value],
    count: usize,
) -> anyhow::Result<Vec<Value>> {
    let mut child = Command::new(binary)
        .arg(word)
        .env("DRYDOCK_HOME", home)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .with_context(|| format!("could not start `drydock {word}`"))?;
    let mut to = child.stdin.take().context("no stdin")?;
    for message in messages {
        writeln!(to, "{message}")?;
    }
    let lines = BufReader::new(child.stdout.take().context("no stdout")?).lines();
    let mut answers = Vec::new();
    for line in lines.take(count) {
        answers.push(serde_json::from_str(&line?)?);
    }
    drop(to);
    child.wait()?;
    Ok(answers)
}

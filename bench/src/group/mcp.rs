//! A `sh` tool call of `drydock mcp` over a pipe, against the same line through the library.

use std::{
    io::{BufRead as _, BufReader, Write as _},
    process::{Child, ChildStdin, ChildStdout, Command, Stdio},
};

use anyhow::{Context as _, ensure};
use serde_json::{Value, json};

use super::Bench;
use crate::{
    docked::{self, Docked},
    figure::{Amount, Bound, Figure},
    harness::{Contender, interleave},
};

/// One stage, so that what is compared is the way to it.
const SCRIPT: &str = "upper";
const STDIN: &str = "the quick brown fox\n";

pub(super) fn measure(bench: &Bench) -> anyhow::Result<Vec<Figure>> {
    let (docked, runtime) = (Docked::open()?, docked::runtime()?);
    let home = tempfile::tempdir().context("no temporary folder")?;
    let mut client = Client::start(Command::new(bench.drydock()?).env("DRYDOCK_HOME", home.path()))?;
    let samples = interleave(
        bench.plan,
        &mut [
            Contender::calling(|| {
                let arguments = json!({ "script": SCRIPT, "stdin": STDIN });
                let done = client.ask("tools/call", json!({ "name": "sh", "arguments": arguments }))?;
                let stdout = &done["result"]["structuredContent"]["stdout"];
                ensure!(*stdout == STDIN.to_uppercase(), "the tool answered {done}");
                Ok(())
            }),
            Contender::calling(|| {
                let done = runtime.block_on(docked.dock.exec(SCRIPT).stdin(STDIN).into_future())?;
                ensure!(done.text() == STDIN.to_uppercase(), "the line answered {done:?}");
                Ok(())
            }),
        ],
    )?;
    Ok(vec![Figure {
        group: "mcp",
        name: "a `sh` tool call of `drydock mcp`: more than through the library".into(),
        ours: Amount::Seconds(samples.seconds(0)),
        peer: None,
        judged: samples.more(0, 1),
        bound: Bound::AtMost(0.0003),
    }])
}

struct Client {
    child: Child,
    input: ChildStdin,
    output: BufReader<ChildStdout>,
    next: u64,
}

impl Client {
    fn start(command: &mut Command) -> anyhow::Result<Self> {
        let mut child = command.arg("mcp").stdin(Stdio::piped()).stdout(Stdio::piped()).spawn()?;
        let input = child.stdin.take().context("no stdin")?;
        let output = BufReader::new(child.stdout.take().context("no stdout")?);
        let mut client = Self { child, input, output, next: 0 };
        let info = json!({ "name": "bench", "version": "0" });
        let hello = json!({ "protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": info });
        client.ask("initialize", hello)?;
        Ok(client)
    }

    fn ask(&mut self, method: &str, params: Value) -> anyhow::Result<Value> {
        self.next += 1;
        let message = json!({ "jsonrpc": "2.0", "id": self.next, "method": method, "params": params });
        self.input.write_all(format!("{message}\n").as_bytes())?;
        let mut line = String::new();
        self.output.read_line(&mut line)?;
        Ok(serde_json::from_str(&line)?)
    }
}

impl Drop for Client {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

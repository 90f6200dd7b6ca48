//! The echo guest against `wasmtime serve`: the same engine, an HTTP server of its makers, a fresh instance for each
//! request there, too.
//!
//! Whoever has it has it on the path, or names it: it is not built here, as it is a quarter of an hour. Without it its rows
//! are left out, and a line says so.

use std::{
    io::{BufRead as _, BufReader},
    net::SocketAddr,
    path::{Path, PathBuf},
    process::{Child, ChildStderr, Command, Stdio},
    time::Duration,
};

use anyhow::{Context as _, ensure};
use serde_json::Value;
use tempfile::TempDir;
use tokio::{io::AsyncWriteExt as _, net::TcpStream};

use super::{
    serve::{Served, read_answer},
    serve_peers::against,
};
use crate::{
    figure::{Bound, Figure},
    native,
};

/// Names the program where it is not on the path.
const PROGRAM: &str = "DRYDOCK_BENCH_WASMTIME";

/// That of our own engine, so that what differs is what is around it.
const VERSION: &str = "48.";

/// The echo guest, for it.
const ECHO: &str = include_str!("echo_component.wat");

/// As fast as it goes: the pool is its default where there are addresses enough, and so is a fresh instance for each request
/// of a guest like ours, but both are said; what stays resident is what our own engine's pool keeps (`MEMORY_KEPT_BYTES`).
const FLAGS: [&str; 6] = [
    "--max-instance-reuse-count=1",
    "-Oopt-level=2",
    "-Opooling-allocator=y",
    "-Opooling-memory-keep-resident=2097152",
    "-Opooling-table-keep-resident=65536",
    "-Opooling-pagemap-scan=auto",
];

/// Rows against it, or none where it is not there.
pub(super) fn measure(served: &Served, rounds: usize, length: Duration) -> anyhow::Result<Vec<Figure>> {
    let Some(program) = found()? else {
        eprintln!(
            "  left out: no `wasmtime` {VERSION}x on the path. `cargo install wasmtime-cli --version ^{VERSION}0 --locked`, \
             or {PROGRAM}=PROGRAM"
        );
        return Ok(Vec::new());
    };
    let peer = Wasmtime::start(&program)?;
    peer.answers_as_ours(served)?;
    against(served, ("`wasmtime serve`", peer.address), rounds, length, |_| Bound::Known)
}

/// What was named, which must be of our version, or what is on the path, if it is.
fn found() -> anyhow::Result<Option<PathBuf>> {
    let named = std::env::var_os(PROGRAM).map(PathBuf::from);
    let Some(program) = named.clone().or_else(|| native::find("wasmtime").ok()) else { return Ok(None) };
    let said = Command::new(&program).arg("--version").output().with_context(|| format!("{program:?}"))?;
    let said = String::from_utf8_lossy(&said.stdout);
    let ours = said.strip_prefix("wasmtime ").is_some_and(|it| it.starts_with(VERSION));
    ensure!(ours || named.is_none(), "{PROGRAM} is `{}`, not wasmtime {VERSION}x", said.trim());
    Ok(ours.then_some(program))
}

/// `wasmtime serve`, for as long as this lives.
struct Wasmtime {
    child: Child,
    address: SocketAddr,
    /// Kept open, so that it can say what goes wrong.
    stderr: BufReader<ChildStderr>,
    _home: TempDir,
}

impl Wasmtime {
    fn start(program: &Path) -> anyhow::Result<Self> {
        let home = tempfile::tempdir()?;
        let component = home.path().join("echo.wasm");
        std::fs::write(&component, wat::parse_str(ECHO)?)?;
        let mut command = Command::new(program);
        command.args(["serve", "--addr=127.0.0.1:0"]).args(FLAGS).arg(&component);
        let mut child = command.stdin(Stdio::null()).stderr(Stdio::piped()).spawn()?;
        let stderr = BufReader::new(child.stderr.take().context("stderr is piped")?);
        let mut this = Self { child, address: ([127, 0, 0, 1], 0).into(), stderr, _home: home };
        let mut line = String::new();
        this.stderr.read_line(&mut line)?;
        let address = line.trim().strip_prefix("Serving HTTP on http://").and_then(|it| it.strip_suffix('/'));
        this.address =
            address.with_context(|| format!("`wasmtime serve` said `{}`", line.trim()))?.parse()?;
        Ok(this)
    }

    /// Like work is like answers.
    fn answers_as_ours(&self, served: &Served) -> anyhow::Result<()> {
        for (method, body) in [("GET", ""), ("POST", "a body")] {
            let answer = |to, path: &str| served.clients.block_on(ask(to, method, path, body));
            let (ours, theirs) = (answer(served.product, "/x/echo/a?b=c")?, answer(self.address, "/a?b=c")?);
            ensure!(ours == theirs, "`wasmtime serve` answers {theirs}, we {ours}");
        }
        Ok(())
    }
}

impl Drop for Wasmtime {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// What the guest says it was asked.
async fn ask(to: SocketAddr, method: &str, path: &str, body: &str) -> anyhow::Result<Value> {
    let length = body.len();
    let mut stream = TcpStream::connect(to).await?;
    let head = format!(
        "{method} {path} HTTP/1.1\r\nhost: localhost\r\nx-asked: \"it\"\r\ncontent-length: {length}\r\n\r\n{body}"
    );
    stream.write_all(head.as_bytes()).await?;
    let mut buffer = vec![0; 16 << 10];
    let held = read_answer(&mut stream, &mut buffer).await?;
    let answer = std::str::from_utf8(&buffer[..held])?;
    let (_, json) = answer.split_once("\r\n\r\n").context("no body")?;
    let mut asked = serde_json::from_str::<Value>(json)?["http"].take();
    // Ours is shown parameters apart, lists of both besides, and no length; WASI keeps the host from guests.
    let members = asked.as_object_mut().context("it does not say what it was asked")?;
    members.retain(|name, _| matches!(&**name, "method" | "path" | "headers" | "body_b64"));
    if let Some(headers) = members.get_mut("headers").and_then(Value::as_object_mut) {
        headers.retain(|name, _| !matches!(&**name, "host" | "content-length"));
    }
    Ok(asked)
}

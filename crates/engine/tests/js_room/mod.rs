//! A room for the guest `js`: programs run with scripted tools, and what came of it.
#![allow(dead_code, unreachable_pub, clippy::unwrap_used)]

use std::{
    sync::{Arc, OnceLock, atomic::AtomicUsize},
    time::Duration,
};

use drydock_abi::tool::encode_failure;
use drydock_contract::{
    Artifact, BoxFuture, Call, CallError, Cap, CapSet, Denial, Dispatch, Entropy, GuestTime, Limits, Outcome,
    Reply, RunRequest, Sink, Source, Streams,
    port::{FileRules, Runner},
};
use drydock_engine::{Engine, EngineSettings, Lane};
use serde_json::{Value, json};

/// Where code mode runs its programs.
pub fn lane() -> &'static Lane {
    static ENGINE: OnceLock<Engine> = OnceLock::new();
    let engine = ENGINE.get_or_init(|| {
        Engine::new(EngineSettings { slots: Some(32), ..EngineSettings::default() }, None).unwrap()
    });
    engine.timed().unwrap()
}

pub fn artifact() -> Artifact {
    static ARTIFACT: OnceLock<Artifact> = OnceLock::new();
    ARTIFACT.get_or_init(|| Artifact::hash(include_bytes!("../../../commands/wasm/js.wasm").to_vec())).clone()
}

/// What came of a program.
pub struct Ended {
    pub outcome: Outcome,
    pub answer: Value,
    pub logs: Vec<String>,
    pub calls: Vec<Value>,
    pub took: Duration,
}

impl Ended {
    /// `code: message`, or the result as JSON, or `undefined`, or how the engine ended it.
    pub fn text(&self) -> String {
        if self.outcome != Outcome::Exited(0) {
            return format!("<{}>", self.outcome.code());
        }
        match (&self.answer["ok"], self.answer.get("result")) {
            (Value::Bool(true), Some(result)) => result.to_string(),
            (Value::Bool(true), None) => "undefined".into(),
            _ => {
                let text = |key: &str| self.answer["error"][key].as_str().unwrap_or("?").to_owned();
                format!("{}: {}", text("code"), text("message"))
            }
        }
    }
}

/// The tools of `tools.*`, by name.
#[derive(Default)]
pub struct Script {
    pub calls: parking_lot::Mutex<Vec<Value>>,
    pub open: AtomicUsize,
    pub most_open: AtomicUsize,
}

pub const TOOLS: &[&str] =
    &["echo", "slow", "fail", "invalid", "denied", "never", "deep", "proto", "huge", "junk", "planes", "add"];

impl Dispatch for Script {
    fn dispatch<'a>(&'a self, call: Call<'a>) -> BoxFuture<'a, Result<Reply, CallError>> {
        Box::pin(async move {
            assert_eq!(call.operation, "tool.call");
            if call.unread_bytes > 0 {
                return Err(
                    Denial::TooLarge { what: "request", bytes: call.unread_bytes, max: 8 << 20 }.into()
                );
            }
            let request: Value = serde_json::from_slice(call.payload).unwrap();
            self.calls.lock().push(request.clone());
            let reply = |payload: Vec<u8>| Ok(Reply::of_bytes(payload, Streams::default()));
            let input = request.get("input").cloned().unwrap_or(Value::Null);
            match request["tool"].as_str().unwrap() {
                "slow" => {
                    use std::sync::atomic::Ordering::SeqCst;
                    let open = self.open.fetch_add(1, SeqCst) + 1;
                    self.most_open.fetch_max(open, SeqCst);
                    let ms = input.as_u64().unwrap_or(20);
                    tokio::time::sleep(Duration::from_millis(ms)).await;
                    self.open.fetch_sub(1, SeqCst);
                    reply(input.to_string().into_bytes())
                }
                "fail" => reply(encode_failure("tool_error", input.as_str().unwrap_or("boom"))),
                "invalid" => reply(encode_failure("validation_error", "Invalid input for tool invalid")),
                "denied" => Err(Denial::RateLimited { calls_max: 1, window_s: 60 }.into()),
                "never" => std::future::pending().await,
                "deep" => reply(["[".repeat(10_000), "]".repeat(10_000)].concat().into_bytes()),
                "proto" => reply(br#"{"__proto__":{"polluted":true},"a":1}"#.to_vec()),
                "huge" => reply(format!("\"{}\"", "x".repeat(100 << 20)).into_bytes()),
                "junk" => reply(b"{nonsense".to_vec()),
                "planes" => reply("\"a\u{e9}\u{4e2d}\u{1f980}\u{10ffff}\\ud800\"".as_bytes().to_vec()),
                "add" => reply(
                    (input["a"].as_i64().unwrap() + input["b"].as_i64().unwrap()).to_string().into_bytes(),
                ),
                _ => reply(input.to_string().into_bytes()),
            }
        })
    }
}

pub fn request(code: &str) -> Value {
    json!({ "code": code, "providers": [{ "name": "tools", "tools": TOOLS }] })
}

pub fn run_request(request: &Value, script: &Arc<Script>) -> RunRequest {
    let stderr = Sink::capture();
    RunRequest {
        artifact: artifact(),
        argv: vec![b"js".to_vec()],
        env: Arc::new([]),
        streams: Streams {
            stdin: Source::Bytes(request.to_string().into()),
            stdout: Sink::capture(),
            stderr,
            ..Streams::default()
        },
        files: None,
        trees: Vec::new(),
        working_dir: drydock_contract::WorkingDir::Own,
        lane: None,
        compile: None,
        file_rules: FileRules::USUAL,
        limits: Limits { wall_max: Duration::from_secs(20), ..Limits::default() },
        caps: CapSet::of(&[Cap::Tool]),
        time: GuestTime::Real,
        entropy: Entropy::System,
        door: Arc::clone(script) as _,
        switches: [Arc::default(), Arc::default()],
        budget: None,
        memory: None,
        clock: None,
        preparing: None,
        depth: 0,
        tenant: drydock_contract::Tenant::default(),
        pays_for_code: false,
    }
}

pub async fn run(request: &Value, change: impl FnOnce(&mut RunRequest)) -> Ended {
    let script = Arc::new(Script::default());
    let mut prepared = run_request(request, &script);
    change(&mut prepared);
    let (report, streams) = lane().run(prepared).await.unwrap();
    let stdout = streams.stdout.into_captured();
    let calls = script.calls.lock().clone();
    Ended {
        answer: serde_json::from_slice(&stdout).unwrap_or(Value::Null),
        outcome: report.outcome,
        logs: frames(&streams.stderr.into_captured()),
        calls,
        took: report.duration,
    }
}

/// The console lines: each its length and its text.
fn frames(mut bytes: &[u8]) -> Vec<String> {
    let mut lines = Vec::new();
    while let Some((length, rest)) = bytes.split_first_chunk::<4>() {
        let (line, rest) = rest.split_at(u32::from_le_bytes(*length) as usize);
        lines.push(String::from_utf8(line.to_vec()).unwrap());
        bytes = rest;
    }
    lines
}

/// Runs the program with the script's tools and the usual limits.
pub async fn js(code: &str) -> Ended {
    run(&request(code), |_| {}).await
}

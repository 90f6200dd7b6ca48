//! How long one execution of the guest `js` takes, from a fresh instance to its answer: medians of many,
//! for no tool call, one and a hundred. `cargo run --release -p drydock-engine --example js_speed`

#![allow(clippy::print_stdout)]

use std::{sync::Arc, time::Instant};

use drydock_contract::{
    Artifact, BoxFuture, Call, CallError, Cap, CapSet, Dispatch, Entropy, GuestTime, Limits, Reply,
    RunRequest, Sink, Source, Streams,
    port::{FileRules, Runner},
};
use drydock_engine::{Engine, EngineSettings};

const ROUNDS: usize = 1000;

const PROGRAMS: &[(&str, &str)] = &[
    ("empty", ""),
    ("one call", "await tools.echo({a: 1})"),
    ("100 calls in turn", "for (let i = 0; i < 100; i++) await tools.echo({i})"),
    ("100 calls together", "await Promise.all(Array.from({length: 100}, (_, i) => tools.echo({i})))"),
];

/// A tool that answers at once.
struct Instantly;

impl Dispatch for Instantly {
    fn dispatch<'a>(&'a self, _: Call<'a>) -> BoxFuture<'a, Result<Reply, CallError>> {
        Box::pin(async { Ok(Reply::of_bytes(b"{\"a\":1}".to_vec(), Streams::default())) })
    }
}

fn request(artifact: &Artifact, stdin: &bytes::Bytes, door: &Arc<dyn Dispatch>) -> RunRequest {
    let stdin = Source::Bytes(stdin.clone());
    RunRequest {
        artifact: artifact.clone(),
        argv: vec![b"js".to_vec()],
        env: Arc::new([]),
        streams: Streams { stdin, stdout: Sink::capture(), stderr: Sink::capture(), ..Streams::default() },
        files: None,
        trees: Vec::new(),
        working_dir: drydock_contract::WorkingDir::Own,
        lane: None,
        compile: None,
        file_rules: FileRules::USUAL,
        limits: Limits::default(),
        caps: CapSet::of(&[Cap::Tool]),
        time: GuestTime::Real,
        entropy: Entropy::System,
        door: Arc::clone(door),
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

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let engine = Engine::new(EngineSettings::default(), None)?;
    let artifact = Artifact::hash(include_bytes!("../../commands/wasm/js.wasm").to_vec());
    let started = Instant::now();
    let lane = engine.timed()?;
    lane.warm(&artifact, None).await?;
    println!("compiled in {} ms, {:?}", started.elapsed().as_millis(), engine.facts()?);
    let door: Arc<dyn Dispatch> = Arc::new(Instantly);
    for (name, code) in PROGRAMS {
        let body = serde_json::json!({ "code": code, "providers": [{ "name": "tools", "tools": ["echo"] }] });
        let stdin = bytes::Bytes::from(body.to_string());
        let mut micros = Vec::with_capacity(ROUNDS);
        for _ in 0..ROUNDS {
            let wish = request(&artifact, &stdin, &door);
            let started = Instant::now();
            let (_, streams) = lane.run(wish).await?;
            micros.push(started.elapsed().as_nanos() as f64 / 1000.0);
            assert!(streams.stdout.into_captured().starts_with(b"{\"ok\":true"));
        }
        micros.sort_by(f64::total_cmp);
        println!("{name:<20} median {:7.1} µs, best tenth {:7.1}", micros[ROUNDS / 2], micros[ROUNDS / 10]);
    }
    Ok(())
}

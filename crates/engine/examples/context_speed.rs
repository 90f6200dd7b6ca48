//! What a context costs others: the time of a fresh run of the guest `js` before and after programs that start in memory
//! which an earlier one left, in the pool's only slot and in a lane that maps memory on demand.
//! `cargo run --release -p drydock-engine --example context_speed`

#![allow(clippy::print_stdout)]

use std::{sync::Arc, time::Instant};

use drydock_contract::{
    Artifact, BoxFuture, Call, CallError, Cap, CapSet, Dispatch, Entropy, GuestTime, Limits, Reply,
    RunRequest, Sink, Source, Streams,
    port::{FileRules, Interruption, LaneChoice, Runner, Slots},
};
use drydock_engine::{Engine, EngineSettings, Lane};

const ROUNDS: usize = 400;

/// A context with so many bytes in it.
const CONTEXTS: &[(&str, &str)] = &[
    ("nothing", "1"),
    (
        "1 MiB",
        "globalThis.kept = Array.from({length: 1024}, (_, i) => String.fromCharCode(97 + i % 26).repeat(1024)); 1",
    ),
    (
        "8 MiB",
        "globalThis.kept = Array.from({length: 8192}, (_, i) => String.fromCharCode(97 + i % 26).repeat(1024)); 1",
    ),
];

struct NoTools;

impl Dispatch for NoTools {
    fn dispatch<'a>(&'a self, _: Call<'a>) -> BoxFuture<'a, Result<Reply, CallError>> {
        Box::pin(async { Ok(Reply::of_bytes(b"1".to_vec(), Streams::default())) })
    }
}

fn request(artifact: &Artifact, code: &str) -> RunRequest {
    let body = serde_json::json!({ "code": code, "providers": [] });
    let stdin = Source::Bytes(body.to_string().into());
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
        limits: Limits { memory_bytes_max: 64 << 20, ..Limits::default() },
        caps: CapSet::of(&[Cap::Tool]),
        time: GuestTime::Real,
        entropy: Entropy::System,
        door: Arc::new(NoTools),
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

/// The median and the best tenth of fresh runs, in microseconds.
async fn fresh(lane: &Lane, artifact: &Artifact) -> Result<(f64, f64), Box<dyn std::error::Error>> {
    let mut micros = Vec::with_capacity(ROUNDS);
    for _ in 0..ROUNDS {
        let wish = request(artifact, "1");
        let started = Instant::now();
        lane.run(wish).await?;
        micros.push(started.elapsed().as_nanos() as f64 / 1000.0);
    }
    micros.sort_by(f64::total_cmp);
    Ok((micros[ROUNDS / 2], micros[ROUNDS / 10]))
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let artifact = Artifact::hash(include_bytes!("../../commands/wasm/js.wasm").to_vec());
    let tick = LaneChoice { interrupt: Interruption::Tick, ..LaneChoice::default() };
    for (where_, choice) in
        [("in the slot", tick), ("on demand", LaneChoice { slots: Slots::OnDemand, ..tick })]
    {
        for (what, code) in CONTEXTS {
            // A pool of one slot: whoever comes next gets the one that was used last.
            let engine = Engine::new(EngineSettings { slots: Some(1), ..EngineSettings::default() }, None)?;
            let (pool, context) = (engine.lane(tick)?, engine.lane(choice)?);
            pool.warm(&artifact, None).await?;
            context.warm(&artifact, None).await?;
            fresh(pool, &artifact).await?;
            let before = fresh(pool, &artifact).await?;
            let (_, _, mut memory) = context.run_again(request(&artifact, code), None).await?;
            let size = memory.as_ref().map_or(0, Vec::len);
            let mut again = Vec::new();
            for _ in 0..10 {
                let started = Instant::now();
                (_, _, memory) = context.run_again(request(&artifact, "1"), memory).await?;
                again.push(started.elapsed().as_nanos() as f64 / 1000.0);
            }
            again.sort_by(f64::total_cmp);
            let after = fresh(pool, &artifact).await?;
            println!(
                "{where_}, {what} kept ({} KiB of memory): fresh {:.1} µs (best tenth {:.1}) before, {:.1} ({:.1}) after; \
                 again {:.0} µs",
                size >> 10,
                before.0,
                before.1,
                after.0,
                after.1,
                again[again.len() / 2],
            );
        }
    }
    Ok(())
}

//! A bench for single runs: an engine, a door that refuses, and the usual request.
#![allow(dead_code, unreachable_pub, clippy::unwrap_used)]

pub mod script;
pub mod synced;

use std::sync::{Arc, OnceLock};

use drydock_contract::{
    Artifact, BoxFuture, Call, CallError, Cap, CapSet, Denial, Dispatch, Entropy, Fault, GuestTime, Limits,
    Reply, RunReport, RunRequest, Sink, Source, Streams,
    port::{FileRules, Runner},
};
use drydock_engine::{Engine, EngineSettings};

pub struct ClosedDoor;

impl Dispatch for ClosedDoor {
    fn dispatch<'a>(&'a self, call: Call<'a>) -> BoxFuture<'a, Result<Reply, CallError>> {
        Box::pin(async move { Err(Denial::UnknownOperation(call.operation.into()).into()) })
    }
}

pub fn engine() -> &'static Engine {
    static ENGINE: OnceLock<Engine> = OnceLock::new();
    ENGINE.get_or_init(|| {
        Engine::new(EngineSettings { slots: Some(80), ..EngineSettings::default() }, None).unwrap()
    })
}

pub fn request(wat: &str) -> RunRequest {
    RunRequest {
        artifact: Artifact::hash(wat::parse_str(wat).unwrap()),
        argv: vec![b"guest".to_vec()],
        env: Arc::new([]),
        streams: Streams {
            stdin: Source::Empty,
            stdout: Sink::capture(),
            stderr: Sink::capture(),
            ..Streams::default()
        },
        files: None,
        trees: Vec::new(),
        working_dir: drydock_contract::WorkingDir::Own,
        lane: None,
        compile: None,
        file_rules: FileRules::USUAL,
        limits: Limits::default(),
        caps: CapSet::of(&[Cap::Vfs]),
        time: GuestTime::Real,
        entropy: Entropy::System,
        door: Arc::new(ClosedDoor),
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

pub async fn run(request: RunRequest) -> Result<(RunReport, Streams), Fault> {
    engine().run(request).await
}

//! What the gate costs a guest that asks for nothing: a power that does nothing, behind the whole ladder, against a
//! host call of bare wasmtime that does nothing either.
//!
//! The power stands where `commands` stands otherwise, so that the guest reaches it by a real import.

use std::{sync::Arc, time::Instant};

use anyhow::{Context as _, ensure};
use drydock_embed::{
    SystemClock,
    contract::{
        Artifact, CallError, Cap, CapSet, Denial, Entropy, GuestTime, Limits, Outcome, Reply, RunRequest,
        Streams, Tenant, WorkingDir,
        port::{FileRules, Runner as _, Subjects},
    },
    engine::{Engine, EngineSettings},
    gate::{
        Audited, CapSpec, Capability, Class, Gate, GateSettings, Grant, NotAdmitted, Operation, Permit,
        Refused, Session, SessionSpec,
    },
    store::{FileJournal, Home},
};
use tokio::runtime::Runtime;

use super::Bench;
use crate::{
    bare, docked,
    figure::{Amount, Bound, Figure},
    harness::{Contender, interleave},
};

/// Calls in one run: so many that starting the guest is no part of the figure.
const CALLS: usize = 10_000;
/// Guests that ask at once, each as often as the one does by itself divided by five.
const CALLERS: usize = 64;
const CALLS_EACH: usize = CALLS / 5;
/// Threads that they share.
const WORKERS: usize = 2;

/// Calls the import as often as it says.
fn caller(calls: usize) -> String {
    format!(
        r#"(module
            (import "env" "host_commands" (func $ask (param i32 i32) (result i32)))
            (memory (export "memory") 1)
            (func (export "_start") (local $left i32)
                (local.set $left (i32.const {calls}))
                (loop $again
                    (drop (call $ask (i32.const 0) (i32.const 0)))
                    (br_if $again (local.tee $left (i32.sub (local.get $left) (i32.const 1)))))))"#
    )
}

pub(super) fn measure(bench: &Bench) -> anyhow::Result<Vec<Figure>> {
    let (runtime, crowded) = (docked::runtime()?, workers()?);
    let (ours, crowd) = (Ours::open(CALLS)?, Arc::new(Ours::open(CALLS_EACH)?));
    let theirs = bare::HostCalls::prepare(&caller(CALLS)).map_err(bare::told)?;
    let their_crowd = Arc::new(bare::HostCalls::prepare(&caller(CALLS_EACH)).map_err(bare::told)?);
    let samples = interleave(
        bench.plan,
        &mut [
            Contender::timing_itself(|runs| times(runs, || ours.time(&runtime))),
            Contender::timing_itself(|runs| times(runs, || alone(&runtime, &theirs))),
            Contender::timing_itself(|runs| {
                times(runs, || at_once(&crowded, &crowd, |it| async move { it.run().await }))
            }),
            Contender::timing_itself(|runs| {
                let run = |it: Arc<bare::HostCalls>| async move { it.run().await.map_err(bare::told) };
                times(runs, || at_once(&crowded, &their_crowd, run))
            }),
        ],
    )?;
    let figure = |name: &str, ours: usize, peer: usize| Figure {
        group: "power",
        name: name.into(),
        ours: Amount::Seconds(samples.seconds(ours)),
        peer: None,
        judged: samples.more(ours, peer),
        bound: Bound::AtMost(1.5e-6),
    };
    Ok(vec![
        figure("a power that does nothing, called by a guest: seconds more than a bare host call", 0, 1),
        figure("the same by 64 guests at once: seconds of a thread more than a bare host call", 2, 3),
    ])
}

fn workers() -> anyhow::Result<Runtime> {
    let builder = &mut tokio::runtime::Builder::new_multi_thread();
    builder.worker_threads(WORKERS).enable_all().build().context("no runtime")
}

fn times(runs: usize, run: impl FnMut() -> anyhow::Result<f64>) -> anyhow::Result<Vec<f64>> {
    std::iter::repeat_with(run).take(runs).collect()
}

/// Seconds of a call.
fn alone(runtime: &Runtime, theirs: &bare::HostCalls) -> anyhow::Result<f64> {
    let started = Instant::now();
    runtime.block_on(theirs.run()).map_err(bare::told)?;
    Ok(started.elapsed().as_secs_f64() / CALLS as f64)
}

/// Seconds that a thread spends on a call, where all threads are busy with guests.
fn at_once<T, F>(runtime: &Runtime, whose: &Arc<T>, run: impl Fn(Arc<T>) -> F) -> anyhow::Result<f64>
where
    F: Future<Output = anyhow::Result<()>> + Send + 'static,
{
    let started = Instant::now();
    let guests: Vec<_> = (0..CALLERS).map(|_| runtime.spawn(run(Arc::clone(whose)))).collect();
    for guest in guests {
        runtime.block_on(guest)??;
    }
    Ok(started.elapsed().as_secs_f64() * WORKERS as f64 / (CALLERS * CALLS_EACH) as f64)
}

/// A gate with the one power, and an engine that runs the guest.
struct Ours {
    engine: Engine,
    session: Session,
    gate: Arc<Gate>,
    module: Artifact,
    _home: tempfile::TempDir,
}

impl Ours {
    fn open(calls: usize) -> anyhow::Result<Self> {
        let home = tempfile::tempdir().context("no temporary folder")?;
        let journal = Arc::new(FileJournal::open(&Home::open(home.path())?));
        let settings = GateSettings { calls_max: u32::MAX, ..GateSettings::default() };
        let gate = Arc::new(Gate::new(settings, Arc::new(SystemClock), journal).with(Nothing));
        let grants = std::iter::once(Grant::of(Cap::Commands)).collect();
        let session = gate.open(SessionSpec { grants, ..SessionSpec::new("bench".parse()?) })?;
        let engine = Engine::new(EngineSettings::default(), None)?;
        let module = Artifact::hash(wat::parse_str(caller(calls))?);
        Ok(Self { engine, session, gate, module, _home: home })
    }

    fn time(&self, runtime: &Runtime) -> anyhow::Result<f64> {
        let started = Instant::now();
        runtime.block_on(self.run())?;
        Ok(started.elapsed().as_secs_f64() / CALLS as f64)
    }

    async fn run(&self) -> anyhow::Result<()> {
        let (report, _) = self.engine.run(self.request()).await?;
        ensure!(report.outcome == Outcome::Exited(0), "the guest ended as {}", report.outcome);
        Ok(())
    }

    fn request(&self) -> RunRequest {
        RunRequest {
            artifact: self.module.clone(),
            argv: Vec::new(),
            env: Arc::new([]),
            streams: Streams::default(),
            files: None,
            trees: Vec::new(),
            working_dir: WorkingDir::Own,
            file_rules: FileRules::USUAL,
            limits: Limits::default(),
            memory: None,
            lane: None,
            compile: None,
            caps: CapSet::of(&[Cap::Commands]),
            time: GuestTime::Real,
            clock: None,
            entropy: Entropy::System,
            door: self.gate.door(&self.session),
            switches: self.session.switches(),
            budget: None,
            preparing: None,
            depth: 0,
            tenant: Tenant::default(),
            pays_for_code: false,
        }
    }
}

/// The power that does nothing. Every call of it is let through and recorded.
struct Nothing;

impl Capability for Nothing {
    const SPEC: CapSpec = CapSpec {
        cap: Cap::Commands,
        operations: &[Operation {
            name: "commands.list",
            class: Class::Look,
            request_bytes_max: 0,
            in_flight_max: None,
            audited: Audited::Everything,
            summary: "",
        }],
        imports: &[],
    };

    type Request = ();
    type Ready = ();
    type Policy = ();

    fn policy(&self) -> &() {
        &()
    }

    fn decode(_: &str, _: &[u8]) -> Result<(), Denial> {
        Ok(())
    }

    fn subject((): &()) -> &str {
        ""
    }

    fn not_admitted((): &(), _: NotAdmitted) -> Denial {
        Denial::NotGranted { cap: Cap::Commands, subjects: Subjects::none(), why: "" }
    }

    fn check((): &(), _: &Session, (): ()) -> Result<(), Refused> {
        Ok(())
    }

    fn label((): &()) -> Arc<str> {
        "".into()
    }

    async fn perform(&self, _: Permit<'_, Self>, (): (), streams: Streams) -> Result<Reply, CallError> {
        Ok(Reply { streams, ..Reply::default() })
    }
}

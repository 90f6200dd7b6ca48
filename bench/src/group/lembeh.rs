//! A tiny program from its start to its exit through cap.exec.v1, against the same one run by the library.
//!
//! The guest is one of the examples: it starts the program, reads its output to the end and asks for its status, so many
//! times that its own start is no part of the figure.

use std::{sync::Arc, time::Instant};

use anyhow::{Context as _, ensure};
use drydock_embed::{
    Dock, DockSession, DockSettings, HandedOver, LembehPolicy, LembehSetup, Setup, WorkerProgram,
    contract::Outcome,
    gate::{GateSettings, Recording},
};
use tokio::runtime::Runtime;

use super::Bench;
use crate::{
    docked,
    figure::{Amount, Bound, Figure},
    harness::{Contender, interleave},
};

/// Starts in one run of the guest.
const STARTS: usize = 200;
const POLICY: &[u8] = br#"{"programs": {"tools/true": "true"}}"#;
const GUEST: &[u8] = include_bytes!("../../../crates/embed/tests/lembeh_guests/probe.wasm");

pub(super) fn measure(bench: &Bench) -> anyhow::Result<Vec<Figure>> {
    let runtime = docked::runtime()?;
    let ours = Ours::open(&runtime)?;
    let samples = interleave(
        bench.plan,
        &mut [
            Contender::timing_itself(|runs| ours.time_guest(&runtime, runs)),
            Contender::timing_itself(|runs| ours.time_library(&runtime, runs)),
        ],
    )?;
    Ok(vec![Figure {
        group: "lembeh",
        name: "a tiny program from start to exit through cap.exec: times slower than a library run".into(),
        ours: Amount::Seconds(samples.seconds(0)),
        peer: Some(Amount::Seconds(samples.seconds(1))),
        judged: samples.ratio(0, 1),
        bound: Bound::AtMost(3.0),
    }])
}

struct Ours {
    dock: Dock,
    guest: Arc<HandedOver>,
    policy: LembehPolicy,
    under_policy: DockSession,
    direct: DockSession,
    _home: tempfile::TempDir,
}

impl Ours {
    fn open(runtime: &Runtime) -> anyhow::Result<Self> {
        let home = tempfile::tempdir().context("no temporary folder")?;
        let gate =
            GateSettings { calls_max: u32::MAX, recording: Recording::Behind, ..GateSettings::default() };
        let worker = WorkerProgram::this_one([crate::COMPILE_WORKER]);
        let settings = DockSettings { gate, worker: Some(worker), ..DockSettings::default() };
        let dock = Dock::open_with(home.path(), settings)?;
        let policy = LembehPolicy::parse(POLICY)?;
        let under_policy = dock.lembeh_session("bench", &policy, None)?;
        let direct = dock.session("bench", Setup::allowing(["true"])?)?;
        let guest = runtime.block_on(dock.hand_over(GUEST));
        Ok(Self { dock, guest, policy, under_policy, direct, _home: home })
    }

    fn time_guest(&self, runtime: &Runtime, runs: usize) -> anyhow::Result<Vec<f64>> {
        let script = (1..=STARTS).map(|id| format!("start tools/true 2 true\nall {}\nwait {id}\n", id + 3));
        let script = format!("hub\n{}", script.collect::<String>());
        let run = || {
            let setup = LembehSetup {
                policy: self.policy.clone(),
                stdin: script.clone().into_bytes().into(),
                ..LembehSetup::default()
            };
            let started = Instant::now();
            let run = runtime.block_on(self.dock.run_lembeh(&self.under_policy, &self.guest, setup))?;
            let seconds = started.elapsed().as_secs_f64() / STARTS as f64;
            let ended = String::from_utf8_lossy(&run.stdout).matches("wait: 1 0").count();
            ensure!(run.report.outcome == Outcome::Exited(0) && ended == STARTS, "{ended} of {STARTS} ended");
            Ok(seconds)
        };
        std::iter::repeat_with(run).take(runs).collect()
    }

    fn time_library(&self, runtime: &Runtime, runs: usize) -> anyhow::Result<Vec<f64>> {
        let run = || {
            let started = Instant::now();
            for _ in 0..STARTS {
                let run = runtime.block_on(self.direct.run("true", &[], Vec::new()))?;
                ensure!(run.success(), "`true` ended as {}", run.outcome);
            }
            Ok(started.elapsed().as_secs_f64() / STARTS as f64)
        };
        std::iter::repeat_with(run).take(runs).collect()
    }
}

//! Uppercase 1 KiB, warm: a library call through gate, registry and engine, against three peers.

use anyhow::ensure;

use super::Bench;
use crate::{
    bare::{self, Bare},
    docked::{self, Docked},
    figure::{Amount, Bound, Figure},
    harness::{Contender, interleave},
    native,
    peer::Peer,
    scenario::{Scenario, Scenarios},
};

const OURS: usize = 0;
const TR: usize = 1;
const BASHKIT: usize = 2;
const EMPTY: usize = 3;
const WITH_MEMORY: usize = 4;

pub(super) fn measure(bench: &Bench) -> anyhow::Result<Vec<Figure>> {
    let (text, tr) = (docked::one_kib(), native::find("tr")?);
    let (docked, runtime) = (Docked::open()?, docked::runtime()?);
    runtime.block_on(docked.try_upper(&text))?;
    ensure!(native::run_tr(&tr, &text)? == text.to_ascii_uppercase(), "tr did not");
    let scenarios =
        Scenarios::write(&[("tr", Scenario::of("tr a-z A-Z", &text, text.to_ascii_uppercase()))])?;
    let mut shell = Peer::start(bench.peer()?, scenarios.path())?;
    let facts = docked.dock.facts()?;
    let empty = Bare::prepare(facts, bare::EMPTY).map_err(bare::told)?;
    let with_memory = Bare::prepare(facts, bare::EMPTY_WITH_MEMORY).map_err(bare::told)?;

    let samples = interleave(
        bench.plan,
        &mut [
            Contender::timing_itself(|calls| docked.time_upper(&runtime, &text, calls)),
            Contender::calling(|| native::run_tr(&tr, &text).map(drop)),
            Contender::timing_itself(|calls| shell.block("tr", calls)),
            Contender::calling(|| empty.run().map_err(bare::told)),
            Contender::calling(|| with_memory.run().map_err(bare::told)),
        ],
    )?;
    let figure = |name: &str, peer: usize, bound: Bound| {
        let judged = match bound {
            Bound::AtLeast(_) => samples.ratio(peer, OURS),
            Bound::AtMost(_) | Bound::Known => samples.ratio(OURS, peer),
        };
        let seconds = |contender| Amount::Seconds(samples.seconds(contender));
        Figure {
            group: "tiny",
            name: name.into(),
            ours: seconds(OURS),
            peer: Some(seconds(peer)),
            judged,
            bound,
        }
    };
    let faster_than_bashkit = Figure {
        judged: samples.ratio(BASHKIT, OURS),
        ..figure("tiny command: times faster than bashkit's own `tr`", BASHKIT, Bound::Known)
    };
    Ok(vec![
        figure("tiny command: times faster than spawning `tr`", TR, Bound::AtLeast(80.0)),
        faster_than_bashkit,
        figure("tiny command: times slower than a bare empty module", EMPTY, Bound::AtMost(4.0)),
        figure(
            "tiny command: times slower than a bare empty module with a memory",
            WITH_MEMORY,
            Bound::AtMost(4.0),
        ),
    ])
}

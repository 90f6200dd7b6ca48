//! Frames through the async hub of lembeh guests on one core: futures that are over at once, each written, acknowledged,
//! ended and read. That none of them allocates is a test (`crates/lembeh/tests/allocations.rs`).

use std::time::Instant;

use anyhow::ensure;
use drydock_abi::lembeh::{
    CapSelector, Source, Trace, encode_source,
    zax::{Command, CommandIds, encode_command},
};
use drydock_lembeh::{Begun, Failure, Hub, HubLimits, Offer, Powers, Read};

use super::Bench;
use crate::{
    figure::{Amount, Bound, Figure},
    harness::{Contender, interleave},
};

/// Rounds of one sample, and futures of one round.
const ROUNDS: u64 = 1_000;
const BATCH: u64 = 50;
/// A command, its ACK and the future's end.
const FRAMES: u64 = ROUNDS * BATCH * 3;

/// A power whose futures are over at once.
struct Echo;

impl Powers for Echo {
    fn offer(&self, _: &str, _: &str, _: &str) -> Result<Offer, Trace> {
        Ok(Offer { value_bytes_max: 8 })
    }

    fn start(&mut self, _: u64, call: &CapSelector<'_>, value: &mut Vec<u8>) -> Result<Begun, Failure> {
        value.extend_from_slice(call.params);
        Ok(Begun::Done)
    }

    fn cancel(&mut self, _: u64) {}
}

pub(super) fn measure(bench: &Bench) -> anyhow::Result<Vec<Figure>> {
    let mut runs = [Contender::timing_itself(|runs| std::iter::repeat_with(sample).take(runs).collect())];
    let samples = interleave(bench.plan, &mut runs)?;
    let each = samples.seconds(0);
    Ok(vec![Figure {
        group: "hub",
        name: "frames through the async hub: seconds each (1,000,000 a second)".into(),
        ours: Amount::PerSecond(1.0 / each),
        peer: None,
        judged: samples.spread(0),
        bound: Bound::AtMost(1e-6),
    }])
}

/// Seconds a frame.
fn sample() -> anyhow::Result<f64> {
    let call =
        CapSelector { kind: "exec", name: "default", selector: "exec.status.v1", params: b"\x07\0\0\0" };
    let source = encode_source(&Source::Selector(call))?;
    let mut hub = Hub::new(HubLimits::default());
    let (mut frames, mut out) = (Vec::new(), vec![0; 64 << 10]);
    let began = Instant::now();
    for round in 0..ROUNDS {
        frames.clear();
        for at in 0..BATCH {
            let id = round * BATCH + at + 1;
            let ids = CommandIds { req_id: id, future_id: id, ..CommandIds::default() };
            encode_command(&mut frames, &ids, &Command::Register { source: &source })?;
        }
        ensure!(
            hub.write(&frames, round, &mut Echo) == Ok(frames.len()),
            "the hub took a part of round {round}"
        );
        while let Read::Bytes(_) = hub.read(&mut out, round, &mut Echo) {}
    }
    Ok(began.elapsed().as_secs_f64() / FRAMES as f64)
}

//! A tiny command beside four guests that sort 50 MB each, on two workers: how long the slowest one in a hundred
//! takes, against a bare task that yields once beside the same four.

use std::{
    future::Future,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    time::Instant,
};

use anyhow::ensure;
use bytes::Bytes;
use drydock_embed::{
    Setup,
    contract::{self, Limits},
};
use tokio::runtime::Runtime;

use super::Bench;
use crate::{
    docked::{self, Docked},
    figure::{Amount, Bound, Figure},
    spread::{Spread, median},
};

const HEAVY_GUESTS: usize = 4;
const TEXT_BYTES: usize = 50_000_000;

pub(super) fn measure(bench: &Bench) -> anyhow::Result<Vec<Figure>> {
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build()?;
    let (docked, text) = (Docked::open()?, docked::one_kib());
    runtime.block_on(docked.try_upper(&text))?;
    let (rounds, calls) = if bench.quick { (3, 200) } else { (11, 500) };

    let over = Arc::new(AtomicBool::new(false));
    let heavy = heavy_guests(&runtime, &docked, &over)?;
    let (mut ours, mut bare) = (Vec::new(), Vec::new());
    for _ in 0..rounds {
        let tiny = || {
            let (session, text) = (docked.session.clone(), text.clone());
            async move { Ok(session.run("upper", &[], text).await.map(drop)?) }
        };
        ours.push(slowest_in_a_hundred(&runtime, calls, tiny)?);
        // Not tokio's own way to yield, which waits for the next look at timers: that is tens of milliseconds here.
        let yields = || async {
            contract::yield_now().await;
            Ok(())
        };
        bare.push(slowest_in_a_hundred(&runtime, calls, yields)?);
    }
    over.store(true, Ordering::Relaxed);
    for guest in heavy {
        let sorts = runtime.block_on(guest)??;
        ensure!(sorts > 0, "a heavy guest sorted nothing");
    }
    let ratios: Vec<f64> = ours.iter().zip(&bare).map(|(ours, bare)| ours / bare).collect();
    let figure = |name: &str, peer, judged, bound| Figure {
        group: "neighbour",
        name: name.into(),
        ours: Amount::Seconds(median(&ours)),
        peer,
        judged,
        bound,
    };
    Ok(vec![
        figure(
            "p99 of a tiny command beside four sorts of 50 MB: times that of a bare task that yields",
            Some(Amount::Seconds(median(&bare))),
            Spread::of(&ratios),
            Bound::AtMost(2.0),
        ),
        figure(
            "p99 of a tiny command beside four sorts of 50 MB",
            None,
            Spread::of(&ours),
            Bound::AtMost(0.005),
        ),
    ])
}

/// Guests that sort until it is over; each answers how often it did.
fn heavy_guests(
    runtime: &Runtime,
    docked: &Docked,
    over: &Arc<AtomicBool>,
) -> anyhow::Result<Vec<tokio::task::JoinHandle<anyhow::Result<u32>>>> {
    let text = Bytes::from(lines());
    let room = 64 << 20;
    let limits = Limits {
        memory_bytes_max: 512 << 20,
        fuel_max: u64::MAX / 2,
        wall_max: std::time::Duration::from_secs(600),
        stdin_bytes_max: room,
        stdout_bytes_max: room,
        ..Limits::default()
    };
    (0..HEAVY_GUESTS)
        .map(|number| {
            let setup = Setup { limits: Some(limits), ..Setup::allowing(["sort"])? };
            let session = docked.dock.session(&format!("heavy{number}"), setup)?;
            let (text, over) = (text.clone(), Arc::clone(over));
            Ok(runtime.spawn(async move {
                let mut sorts = 0;
                while !over.load(Ordering::Relaxed) {
                    let run = session.run("sort", &[], text.clone()).await?;
                    ensure!(run.success(), "sort did not: {:?}", run.outcome);
                    sorts += 1;
                }
                Ok(sorts)
            }))
        })
        .collect()
}

/// The seconds within which 99 of 100 calls end, each a task of its own, one after the other.
fn slowest_in_a_hundred<F>(runtime: &Runtime, calls: usize, call: impl Fn() -> F) -> anyhow::Result<f64>
where
    F: Future<Output = anyhow::Result<()>> + Send + 'static,
{
    let mut seconds = Vec::with_capacity(calls);
    for _ in 0..calls {
        let started = Instant::now();
        runtime.block_on(runtime.spawn(call()))??;
        seconds.push(started.elapsed().as_secs_f64());
    }
    seconds.sort_by(f64::total_cmp);
    Ok(seconds[(calls * 99 / 100).min(calls - 1)])
}

/// Lines whose order has nothing to do with their place.
fn lines() -> Vec<u8> {
    let (mut state, mut text) = (1_u64, String::with_capacity(TEXT_BYTES + 64));
    while text.len() < TEXT_BYTES {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        text.push_str(&format!("{state:016x} {}\n", "x".repeat(state as usize % 64)));
    }
    text.into_bytes()
}

//! 64 callers at once on two workers, commands a second, in rounds that alternate.

use std::{
    future::Future,
    path::{Path, PathBuf},
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
    thread,
    time::{Duration, Instant},
};

use bytes::Bytes;
use tokio::runtime::Runtime;

use super::Bench;
use crate::{
    docked::{self, Docked},
    figure::{Amount, Bound, Figure},
    native,
    spread::{Spread, median},
};

/// Exactly as many as one principal may have in flight.
const CALLERS: usize = 64;

pub(super) fn measure(bench: &Bench) -> anyhow::Result<Vec<Figure>> {
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build()?;
    let (text, tr) = (docked::one_kib(), native::find("tr")?);
    let docked = Docked::open()?;
    runtime.block_on(docked.try_upper(&text))?;
    let (rounds, round) = if bench.quick { (3, 300) } else { (11, 1000) };
    let round = Duration::from_millis(round);

    // Whichever way of spawning suits `tr` better is the one we are compared with.
    let tasks = spawn_tr_in_tasks(&runtime, &tr, &text, round)?;
    let threads = spawn_tr_in_threads(&tr, &text, round)?;
    let spawn_tr = || match tasks > threads {
        true => spawn_tr_in_tasks(&runtime, &tr, &text, round),
        false => spawn_tr_in_threads(&tr, &text, round),
    };
    let _warm = run_upper(&runtime, &docked, &text, round)?;
    let (mut ours, mut theirs) = (Vec::new(), Vec::new());
    for _ in 0..rounds {
        ours.push(run_upper(&runtime, &docked, &text, round)?);
        theirs.push(spawn_tr()?);
    }
    let ratios: Vec<f64> = ours.iter().zip(&theirs).map(|(ours, theirs)| ours / theirs).collect();
    let way = if tasks > threads { "tasks" } else { "threads" };
    Ok(vec![Figure {
        group: "concurrent",
        name: format!("64 callers: times more commands than spawning `tr` (from {way})"),
        ours: Amount::PerSecond(median(&ours)),
        peer: Some(Amount::PerSecond(median(&theirs))),
        judged: Spread::of(&ratios),
        bound: Bound::AtLeast(80.0),
    }])
}

fn run_upper(runtime: &Runtime, docked: &Docked, text: &Bytes, round: Duration) -> anyhow::Result<f64> {
    in_tasks(runtime, round, || {
        let (session, text) = (docked.session.clone(), text.clone());
        move || {
            let (session, text) = (session.clone(), text.clone());
            async move { Ok(session.run("upper", &[], text).await.map(drop)?) }
        }
    })
}

fn spawn_tr_in_tasks(runtime: &Runtime, tr: &Path, text: &Bytes, round: Duration) -> anyhow::Result<f64> {
    let tr: Arc<PathBuf> = Arc::new(tr.to_path_buf());
    in_tasks(runtime, round, || {
        let (tr, text) = (Arc::clone(&tr), text.clone());
        move || {
            let (tr, text) = (Arc::clone(&tr), text.clone());
            async move { native::run_tr_async(&tr, &text).await.map(drop) }
        }
    })
}

/// Calls a second of 64 tasks that call until the round is over, each giving way after each call.
fn in_tasks<C, F>(runtime: &Runtime, round: Duration, caller: impl Fn() -> C) -> anyhow::Result<f64>
where
    C: Fn() -> F + Send + 'static,
    F: Future<Output = anyhow::Result<()>> + Send,
{
    let started = Instant::now();
    let tasks: Vec<_> = std::iter::repeat_with(caller)
        .take(CALLERS)
        .map(|call| {
            runtime.spawn(async move {
                let mut calls = 0_u64;
                while started.elapsed() < round {
                    call().await?;
                    calls += 1;
                    tokio::task::yield_now().await;
                }
                anyhow::Ok(calls)
            })
        })
        .collect();
    let mut calls = 0;
    for task in tasks {
        calls += runtime.block_on(task)??;
    }
    Ok(calls as f64 / started.elapsed().as_secs_f64())
}

fn spawn_tr_in_threads(tr: &Path, text: &Bytes, round: Duration) -> anyhow::Result<f64> {
    let (started, calls) = (Instant::now(), AtomicU64::new(0));
    thread::scope(|scope| {
        let work = || {
            while started.elapsed() < round {
                native::run_tr(tr, text)?;
                calls.fetch_add(1, Ordering::Relaxed);
            }
            anyhow::Ok(())
        };
        let threads: Vec<_> = (0..CALLERS).map(|_| scope.spawn(work)).collect();
        threads
            .into_iter()
            .try_for_each(|it| it.join().unwrap_or_else(|_| anyhow::bail!("a caller panicked")))
    })?;
    Ok(calls.into_inner() as f64 / started.elapsed().as_secs_f64())
}

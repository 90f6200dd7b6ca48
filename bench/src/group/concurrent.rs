//! 64 callers at once on two workers, commands a second, in rounds that alternate: against spawning `tr`, and callers of
//! 16 tenants against those of one; and lines of 64 shells that stay against those of one.

use std::{
    cell::Cell,
    future::Future,
    path::{Path, PathBuf},
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
    thread,
    time::{Duration, Instant},
};

use anyhow::ensure;
use bytes::Bytes;
use drydock_embed::{
    DockSession, DockShell, Setup, ShellSetup,
    contract::{Sink, Streams},
};
use tokio::runtime::Runtime;

use super::Bench;
use crate::{
    docked::{self, Docked},
    figure::{Amount, Bound, Figure},
    machine, native,
    spread::{Spread, median},
};

/// Exactly as many as one principal may have in flight.
const CALLERS: usize = 64;
const TENANTS: usize = 16;

/// A line of each shell.
const LINE: &str = "echo hi | tr a-z A-Z";

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
    let one = vec![docked.session.clone()];
    let many = sessions_of_tenants(&docked)?;
    let _warm = (run_upper(&runtime, &one, &text, round)?, run_upper(&runtime, &many, &text, round)?);
    let (mut ours, mut of_many, mut theirs) = (Vec::new(), Vec::new(), Vec::new());
    for _ in 0..rounds {
        ours.push(run_upper(&runtime, &one, &text, round)?);
        of_many.push(run_upper(&runtime, &many, &text, round)?);
        theirs.push(spawn_tr()?);
    }
    let way = if tasks > threads { "tasks" } else { "threads" };
    let figure = |name: String, ours: &[f64], peer: &[f64], least: f64| Figure {
        group: "concurrent",
        name,
        ours: Amount::PerSecond(median(ours)),
        peer: Some(Amount::PerSecond(median(peer))),
        judged: Spread::of(&ours.iter().zip(peer).map(|(ours, peer)| ours / peer).collect::<Vec<_>>()),
        bound: Bound::AtLeast(least),
    };
    let than_tr = format!("64 callers: times more commands than spawning `tr` (from {way})");
    let than_one = "64 callers of 16 tenants: times as many commands as 64 of one".to_owned();
    let mut figures = vec![figure(than_tr, &ours, &theirs, 80.0), figure(than_one, &of_many, &ours, 0.95)];
    figures.extend(shells(&docked, &runtime, (rounds, round))?);
    Ok(figures)
}

/// Shells of 64 callers, each with its own lines, against one.
fn shells(
    docked: &Docked,
    runtime: &Runtime,
    (rounds, round): (usize, Duration),
) -> anyhow::Result<Vec<Figure>> {
    let open = || docked.dock.shell("bench", Setup::profile("minimal"), ShellSetup::default());
    let mut one = vec![open()?];
    run_lines(runtime, &mut one, round)?;
    let before = machine::resident_bytes()? as f64;
    let mut many = (0..CALLERS).map(|_| open()).collect::<Result<Vec<_>, _>>()?;
    run_lines(runtime, &mut many, round)?;
    let after = machine::resident_bytes()? as f64;
    let (mut of_one, mut of_many) = (Vec::new(), Vec::new());
    for _ in 0..rounds {
        of_one.push(run_lines(runtime, &mut one, round)?);
        of_many.push(run_lines(runtime, &mut many, round)?);
    }
    let ratios: Vec<f64> = of_many.iter().zip(&of_one).map(|(many, one)| many / one).collect();
    let lines = Figure {
        group: "concurrent",
        name: format!("{CALLERS} shells at once: times as many lines (`{LINE}`) as one"),
        ours: Amount::PerSecond(median(&of_many)),
        peer: Some(Amount::PerSecond(median(&of_one))),
        judged: Spread::of(&ratios),
        bound: Bound::AtLeast(1.8),
    };
    let memory = Figure {
        group: "concurrent",
        name: format!("resident memory with {CALLERS} more shells that stay, against one"),
        ours: Amount::Bytes(after),
        peer: Some(Amount::Bytes(before)),
        judged: Spread::of(&[after / before]),
        bound: Bound::Known,
    };
    Ok(vec![lines, memory])
}

/// Lines a second of so many shells, one caller each. They are handed back as they were.
fn run_lines(runtime: &Runtime, shells: &mut Vec<DockShell>, round: Duration) -> anyhow::Result<f64> {
    let started = Instant::now();
    let tasks: Vec<_> = shells
        .drain(..)
        .map(|mut shell| {
            runtime.spawn(async move {
                let mut lines = 0_u64;
                while started.elapsed() < round {
                    let streams =
                        Streams { stdout: Sink::capture(), stderr: Sink::capture(), ..Streams::default() };
                    let (report, streams) = shell.run_line(LINE, streams).await?;
                    ensure!(streams.stdout.into_captured() == b"HI\n", "a line ended with {report:?}");
                    lines += 1;
                    tokio::task::yield_now().await;
                }
                anyhow::Ok((lines, shell))
            })
        })
        .collect();
    let mut lines = 0;
    for task in tasks {
        let (some, shell) = runtime.block_on(task)??;
        lines += some;
        shells.push(shell);
    }
    Ok(lines as f64 / started.elapsed().as_secs_f64())
}

/// A session of each tenant.
fn sessions_of_tenants(docked: &Docked) -> anyhow::Result<Vec<DockSession>> {
    let session = |number: usize| {
        let dock = docked.dock.for_tenant(format!("tenant{number}").parse()?);
        Ok(dock.session("bench", Setup::allowing(["upper"])?)?)
    };
    (0..TENANTS).map(session).collect()
}

/// Callers share these sessions evenly.
fn run_upper(
    runtime: &Runtime,
    sessions: &[DockSession],
    text: &Bytes,
    round: Duration,
) -> anyhow::Result<f64> {
    let turn = Cell::new(0);
    in_tasks(runtime, round, || {
        let (session, text) = (sessions[turn.get() % sessions.len()].clone(), text.clone());
        turn.set(turn.get() + 1);
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

//! JavaScript in a fresh guest each time, through gate, schema and audit, against native QuickJS with a
//! fresh runtime and quickjs-emscripten in node.

use std::{
    sync::Arc,
    time::{Duration, Instant},
};

use anyhow::ensure;
use drydock_embed::{
    CodeInput, DockCode, Setup,
    codemode::provider::{Provider, Providers, Tool},
};
use serde_json::json;
use tokio::runtime::Runtime;

use super::Bench;
use crate::{
    docked::{self, Docked},
    figure::{Amount, Bound, Figure},
    harness::{Contender, Plan, Samples, interleave},
    peer::Peer,
    spread::{Spread, median},
};

const OURS: usize = 0;
const NATIVE: usize = 1;
const NODE: usize = 2;

/// The scenario of the program without a text.
const NOTHING: &str = "nothing";

/// Scenario, in words, and what it must reach against native QuickJS and against node.
const ROWS: &[(&str, &str, Bound, Bound)] = &[
    (NOTHING, "an empty program", Bound::AtLeast(4.0), Bound::AtLeast(15.0)),
    ("seq0", "a loop that calls no tool", Bound::Known, Bound::Known),
    ("seq1", "1 tool call", Bound::Known, Bound::Known),
    ("seq10", "10 tool calls", Bound::Known, Bound::Known),
    ("seq100", "100 tool calls, one after another", Bound::AtMost(1.5), Bound::Known),
    ("par100", "100 tool calls at once", Bound::Known, Bound::Known),
];

pub(super) fn measure(bench: &Bench) -> anyhow::Result<Vec<Figure>> {
    let (docked, runtime) = (Docked::open()?, docked::runtime()?);
    runtime.block_on(docked.dock.warm_js())?;
    let code = docked.dock.code("bench", Setup::default(), tools()?)?;
    let mut native = Peer::start_plain(bench.quickjs()?)?;
    let mut node = Peer::start_emscripten(&bench.root)?;
    let (mut figures, mut ours_at) = (Vec::new(), Vec::new());
    for (name, about, against_native, against_node) in ROWS {
        let samples = interleave(
            bench.plan,
            &mut [
                Contender::timing_itself(|calls| ours(&runtime, &code, name, calls)),
                Contender::timing_itself(|calls| native.block(name, calls)),
                Contender::timing_itself(|calls| node.block(name, calls)),
            ],
        )?;
        figures.push(figure(&samples, about, NATIVE, "native QuickJS", *against_native));
        figures.push(figure(&samples, about, NODE, "quickjs-emscripten in node", *against_node));
        ours_at.push(samples.seconds(OURS));
    }
    figures.push(one_more_call(bench.plan, &runtime, &code)?);
    figures.extend(concurrency(bench, &docked)?);
    Ok(figures)
}

fn tools() -> anyhow::Result<Providers> {
    let schema = json!({"type": "object", "properties": {"n": {"type": "number"}}, "required": ["n"]});
    let echo = Tool::new("echo", |input, _| async move { Ok(input) }).input(schema.clone()).output(schema);
    Ok(Providers::new([Provider::new("t", vec![echo])?])?)
}

/// The program of a scenario and its result, if it has one.
fn program(name: &str) -> (String, Option<String>) {
    let Some((kind, count)) = name.split_at_checked(3).filter(|_| name != NOTHING) else {
        return (String::new(), None);
    };
    let text = match kind {
        "seq" => format!("let s = 0; for (let i = 0; i < {count}; i++) s += (await t.echo({{n: 1}})).n; s"),
        _ => format!(
            "const all = await Promise.all(Array.from({{length: {count}}}, () => t.echo({{n: 1}}))); all.length"
        ),
    };
    (text, Some(count.to_owned()))
}

fn ours(runtime: &Runtime, code: &DockCode, name: &str, calls: usize) -> anyhow::Result<Vec<f64>> {
    let (text, wanted) = program(name);
    runtime.block_on(async {
        let mut seconds = Vec::with_capacity(calls);
        for _ in 0..calls {
            let started = Instant::now();
            let result = code.execute(&text, CodeInput::default()).await;
            seconds.push(started.elapsed().as_secs_f64());
            let value = result.outcome.as_ref().ok().and_then(|it| it.as_ref()).map(|it| it.as_str());
            ensure!(value == wanted.as_deref(), "ours answered {:?}", result.outcome);
        }
        Ok(seconds)
    })
}

fn figure(samples: &Samples, about: &str, peer: usize, whom: &str, bound: Bound) -> Figure {
    let (word, judged) = match bound {
        Bound::AtMost(_) => ("slower", samples.ratio(OURS, peer)),
        _ => ("faster", samples.ratio(peer, OURS)),
    };
    Figure {
        group: "js",
        name: format!("{about}: times {word} than {whom}"),
        ours: Amount::Seconds(samples.seconds(OURS)),
        peer: Some(Amount::Seconds(samples.seconds(peer))),
        judged,
        bound,
    }
}

/// What a call adds, as a part of a whole empty execution.
fn one_more_call(plan: Plan, runtime: &Runtime, code: &DockCode) -> anyhow::Result<Figure> {
    let samples = interleave(
        plan,
        &mut [
            Contender::timing_itself(|calls| {
                let many = ours(runtime, code, "seq100", calls)?;
                let none = median(&ours(runtime, code, NOTHING, calls)?);
                Ok(many.iter().map(|it| (it - none) / 100.0).collect())
            }),
            Contender::timing_itself(|calls| ours(runtime, code, NOTHING, calls)),
        ],
    )?;
    Ok(Figure {
        group: "js",
        name: "one more tool call through gate, schema and audit: parts of an empty execution".into(),
        ours: Amount::Seconds(samples.seconds(0)),
        peer: Some(Amount::Seconds(samples.seconds(1))),
        judged: samples.ratio(0, 1),
        bound: Bound::AtMost(0.25),
    })
}

/// Executions a second by 1, 2, 4 and 8 callers on two workers, against one caller.
fn concurrency(bench: &Bench, docked: &Docked) -> anyhow::Result<Vec<Figure>> {
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build()?;
    let (rounds, round) = if bench.quick { (3, 200) } else { (9, 500) };
    let callers = [1, 2, 4, 8];
    let codes: Vec<Arc<DockCode>> = (0..8)
        .map(|_| Ok(Arc::new(docked.dock.code("bench", Setup::default(), tools()?)?)))
        .collect::<anyhow::Result<_>>()?;
    let mut rates = vec![Vec::new(); callers.len()];
    for _ in 0..=rounds {
        for (count, rates) in callers.iter().zip(&mut rates) {
            rates.push(rate(&runtime, &codes[..*count], Duration::from_millis(round))?);
        }
    }
    let figures = callers.iter().zip(&rates).skip(1).map(|(count, many)| {
        // The first round does not count.
        let ratios: Vec<f64> = many[1..].iter().zip(&rates[0][1..]).map(|(many, one)| many / one).collect();
        Figure {
            group: "js",
            name: format!("{count} executions at once: times the throughput of one"),
            ours: Amount::PerSecond(median(&many[1..])),
            peer: Some(Amount::PerSecond(median(&rates[0][1..]))),
            judged: Spread::of(&ratios),
            bound: if *count == 8 { Bound::AtLeast(1.8) } else { Bound::Known },
        }
    });
    Ok(figures.collect())
}

fn rate(runtime: &Runtime, codes: &[Arc<DockCode>], round: Duration) -> anyhow::Result<f64> {
    let started = Instant::now();
    let tasks: Vec<_> = codes
        .iter()
        .map(|code| {
            let code = Arc::clone(code);
            runtime.spawn(async move {
                let mut done = 0_u64;
                while started.elapsed() < round {
                    let result = code.execute("1 + 1", CodeInput::default()).await;
                    ensure!(result.outcome.is_ok(), "a program failed: {:?}", result.outcome);
                    done += 1;
                    tokio::task::yield_now().await;
                }
                anyhow::Ok(done)
            })
        })
        .collect();
    let mut done = 0;
    for task in tasks {
        done += runtime.block_on(task)??;
    }
    Ok(done as f64 / started.elapsed().as_secs_f64())
}

//! Lines of a shell that is kept, against bash with native tools and two shells without processes.

use std::{fs, path::Path, process::Command, time::Instant};

use anyhow::{Context as _, ensure};
use bytes::Bytes;
use drydock_embed::{
    DockShell, Setup, ShellSetup,
    contract::{Limits, Sink, Source, Streams},
};
use tokio::runtime::Runtime;

use super::Bench;
use crate::{
    docked::{self, Docked},
    figure::{Amount, Bound, Figure},
    harness::{Contender, Plan, Samples, interleave},
    native,
    peer::Peer,
    scenario::{Scenario, Scenarios},
};

const OURS: usize = 0;
const BASH: usize = 1;
const BASHKIT: usize = 2;
const JUST_BASH: usize = 3;

/// The word that makes this program a shell that is asked line by line.
pub(crate) const PROBE: &str = "probe-line";

/// Names a build of this program from another commit, whose shell ours is compared with.
const BASE: &str = "DRYDOCK_BENCH_BASE";

const PIPELINE: &str = "jq -r '.[] | .name' | grep a | tr a-z A-Z";

/// What each scenario must reach against bash, bashkit and just-bash.
struct Row {
    about: &'static str,
    bounds: [Bound; 3],
    /// Blocks and calls, where the usual ones would take too long.
    plan: Option<Plan>,
}

const ROWS: &[Row] = &[
    Row {
        about: "`echo hi | tr a-z A-Z`",
        bounds: [Bound::AtLeast(100.0), Bound::AtLeast(0.8), Bound::Known],
        plan: None,
    },
    Row {
        about: "`jq | grep | tr` on 10 KiB",
        bounds: [Bound::AtLeast(150.0), Bound::AtLeast(10.0), Bound::AtLeast(25.0)],
        plan: None,
    },
    Row {
        about: "a loop of 1,000 small commands",
        bounds: [Bound::AtLeast(80.0), Bound::AtLeast(0.8), Bound::Known],
        plan: Some(Plan { blocks: 5, calls: 1 }),
    },
    Row {
        about: "a script without commands",
        bounds: [Bound::AtMost(2.0), Bound::Known, Bound::Known],
        plan: Some(Plan { blocks: 15, calls: 2 }),
    },
    Row {
        about: "`jq | grep | tr` on 10 MiB",
        bounds: [Bound::AtMost(4.0), Bound::Known, Bound::Known],
        plan: Some(Plan { blocks: 7, calls: 1 }),
    },
];

pub(super) fn measure(bench: &Bench) -> anyhow::Result<Vec<Figure>> {
    let (docked, runtime) = (Docked::open()?, docked::runtime()?);
    let limits = Limits {
        fuel_max: u64::MAX / 2,
        stdout_bytes_max: 1 << 30,
        // Ten megabytes of JSON are a hundred as values.
        memory_bytes_max: 1 << 30,
        ..Limits::default()
    };
    let setup = Setup { limits: Some(limits), ..Setup::profile("minimal") };
    let mut shell = docked.dock.shell("bench", setup, ShellSetup::default())?;
    let scenarios = scenarios();
    let file = Scenarios::write(&scenarios)?;
    let inputs = tempfile::tempdir()?;
    let mut bashkit = Peer::start(bench.peer()?, file.path())?;
    let mut just_bash = Peer::start_just_bash(&bench.root, file.path())?;
    let bash = native::find("bash")?;
    let mut figures = Vec::new();
    for (row, (name, scenario)) in ROWS.iter().zip(&scenarios) {
        let input = inputs.path().join(name);
        fs::write(&input, &scenario.stdin)?;
        let plan = row.plan.unwrap_or(bench.plan);
        let plan = if bench.quick { Plan { blocks: plan.blocks.min(3), ..plan } } else { plan };
        let mut contenders = vec![
            Contender::timing_itself(|calls| ours(&runtime, &mut shell, scenario, calls)),
            Contender::calling(|| native_bash(&bash, scenario, &input)),
        ];
        // Ten megabytes are more than bashkit's jq takes, and it stops loops that are long.
        if !matches!(*name, "big" | "script") {
            contenders.push(Contender::timing_itself(|calls| bashkit.block(name, calls)));
            contenders.push(Contender::timing_itself(|calls| just_bash.block(name, calls)));
        }
        let count = contenders.len();
        let samples = interleave(plan, &mut contenders)?;
        drop(contenders);
        figures.extend(figures_of(row, &samples, count));
    }
    drop(shell);
    if let Some(base) = std::env::var_os(BASE) {
        figures.extend(against_base(bench, Path::new(&base))?);
    }
    Ok(figures)
}

/// This program, and the same of another commit, as processes that answer `probe-line`.
fn against_base(bench: &Bench, base: &Path) -> anyhow::Result<Vec<Figure>> {
    let us = std::env::current_exe().context("where are we?")?;
    let (mut ours, mut base) = (Peer::start_probe(&us, PROBE)?, Peer::start_probe(base, PROBE)?);
    let rows = [
        ("echo", "`echo hi | tr a-z A-Z`", bench.plan, Bound::AtMost(1.15)),
        ("loop", "a loop of 1,000 small commands", Plan { blocks: 11, calls: 1 }, Bound::AtMost(1.15)),
        ("plain", "`echo hi`", bench.plan, Bound::Known),
        ("colon", "`:`", bench.plan, Bound::Known),
    ];
    let mut figures = Vec::new();
    for (name, about, plan, bound) in rows {
        let plan = if bench.quick { Plan { blocks: plan.blocks.min(3), ..plan } } else { plan };
        let samples = interleave(
            plan,
            &mut [
                Contender::timing_itself(|calls| ours.block_median(name, calls)),
                Contender::timing_itself(|calls| base.block_median(name, calls)),
            ],
        )?;
        figures.push(Figure {
            group: "shell",
            name: format!("{about}: times slower than the shell of the base"),
            ours: Amount::Seconds(samples.seconds(0)),
            peer: Some(Amount::Seconds(samples.seconds(1))),
            judged: samples.ratio(0, 1),
            bound,
        });
    }
    Ok(figures)
}

fn figures_of(row: &Row, samples: &Samples, contenders: usize) -> Vec<Figure> {
    let peers = [(BASH, "bash with native tools"), (BASHKIT, "bashkit"), (JUST_BASH, "just-bash")];
    let figure = |((peer, whom), bound): ((usize, &str), Bound)| {
        let (word, judged) = match bound {
            Bound::AtMost(_) => ("slower", samples.ratio(OURS, peer)),
            _ => ("faster", samples.ratio(peer, OURS)),
        };
        Figure {
            group: "shell",
            name: format!("{}: times {word} than {whom}", row.about),
            ours: Amount::Seconds(samples.seconds(OURS)),
            peer: Some(Amount::Seconds(samples.seconds(peer))),
            judged,
            bound,
        }
    };
    peers.into_iter().zip(row.bounds).filter(|it| it.0.0 < contenders).map(figure).collect()
}

/// In the order of the rows.
fn scenarios() -> Vec<(&'static str, Scenario)> {
    let small = records(10 << 10);
    let big = records(10 << 20);
    let looped = "for i in $(seq 1 1000); do echo $i | tr 0-9 a-j; done";
    let letters = |number: usize| {
        let text = number.to_string();
        text.bytes().map(|it| (it - b'0' + b'a') as char).chain(['\n']).collect::<String>()
    };
    vec![
        ("echo", Scenario::of("echo hi | tr a-z A-Z", b"", b"HI\n".to_vec())),
        ("pipeline", Scenario::of(PIPELINE, small.0.as_bytes(), small.1.into_bytes())),
        ("loop", Scenario::of(looped, b"", (1..=1000).map(letters).collect::<String>().into_bytes())),
        ("script", script()),
        ("big", Scenario::of(PIPELINE, big.0.as_bytes(), big.1.into_bytes())),
    ]
}

/// Arithmetic, words, patterns and a function, long enough that the start of a process is little of it.
fn script() -> Scenario {
    const ROUNDS: u64 = 20_000;
    let text = format!(
        "f() {{ local a=$1; w=${{w#x}}${{a:0:1}}; }}; s=0 w= n=0
        for ((i = 0; i < {ROUNDS}; i++)); do s=$((s + i * 3 % 7)); [[ $i == *99 ]] && f $i
        case $i in *7) t=${{i/7/s}}; n=$((n + ${{#t}}));; esac; done; echo $s ${{#w}} $n"
    );
    let sum: u64 = (0..ROUNDS).map(|it| it * 3 % 7).sum();
    let ends = |tail: u64, of: u64| (0..ROUNDS).filter(move |it| it % of == tail);
    let lengths: usize = ends(7, 10).map(|it| it.to_string().len()).sum();
    let wanted = format!("{sum} {} {lengths}\n", ends(99, 100).count());
    Scenario::of(&text, b"", wanted.into_bytes())
}

/// The pipeline on 10 KiB.
pub(super) fn pipeline() -> Scenario {
    let (input, wanted) = records(10 << 10);
    Scenario::of(PIPELINE, input.as_bytes(), wanted.into_bytes())
}

/// About so many bytes of records, and the names with an `a` in upper case.
fn records(bytes: usize) -> (String, String) {
    let names = ["ada", "grace", "linus", "edsger", "barbara", "ken", "margaret", "dennis"];
    let (mut input, mut wanted) = (String::from("["), String::new());
    for (number, name) in names.iter().cycle().enumerate() {
        if input.len() >= bytes {
            break;
        }
        let comma = if number == 0 { "" } else { "," };
        input.push_str(&format!(
            "{comma}\n  {{\"id\": {number}, \"name\": \"{name}-{number}\", \"tags\": [\"x\", \"y\"], \"ok\": true}}"
        ));
        if name.contains('a') {
            wanted.push_str(&format!("{}-{number}\n", name.to_uppercase()));
        }
    }
    input.push_str("\n]\n");
    (input, wanted)
}

fn ours(
    runtime: &Runtime,
    shell: &mut DockShell,
    scenario: &Scenario,
    calls: usize,
) -> anyhow::Result<Vec<f64>> {
    let stdin = Bytes::from(scenario.stdin.clone());
    runtime.block_on(async {
        let mut seconds = Vec::with_capacity(calls);
        for _ in 0..calls {
            let streams = Streams {
                stdin: Source::Bytes(stdin.clone()),
                stdout: Sink::capture(),
                stderr: Sink::capture(),
                ..Streams::default()
            };
            let started = Instant::now();
            let (report, streams) = shell.run_line(&scenario.script, streams).await?;
            seconds.push(started.elapsed().as_secs_f64());
            ensure!(
                streams.stdout.into_captured() == scenario.wanted,
                "ours answered otherwise: {report:?} {}",
                String::from_utf8_lossy(&streams.stderr.into_captured())
            );
        }
        Ok(seconds)
    })
}

fn native_bash(bash: &Path, scenario: &Scenario, input: &Path) -> anyhow::Result<()> {
    let mut command = Command::new(bash);
    command.args(["--norc", "-c", &scenario.script]).env("LC_ALL", "C.UTF-8");
    let answer = native::run_on_file(&mut command, input)?;
    ensure!(answer == scenario.wanted, "bash answered {} bytes", answer.len());
    Ok(())
}

/// `probe-line`: reads `SCENARIO CALLS` a line and answers the median seconds of each block, for a shell that stays.
pub(crate) fn probe(_: &[String]) -> anyhow::Result<()> {
    let (docked, runtime) = (Docked::open()?, docked::runtime()?);
    let limits = Limits {
        fuel_max: u64::MAX / 2,
        stdout_bytes_max: 1 << 30,
        memory_bytes_max: 1 << 30,
        ..Limits::default()
    };
    let setup = Setup { limits: Some(limits), ..Setup::profile("minimal") };
    let mut shell = docked.dock.shell("bench", setup, ShellSetup::default())?;
    let mut scenarios = scenarios();
    scenarios.push(("colon", Scenario::of(":", b"", Vec::new())));
    scenarios.push(("plain", Scenario::of("echo hi", b"", b"hi\n".to_vec())));
    for line in std::io::stdin().lines() {
        let line = line?;
        let (name, calls) = line.split_once(' ').unwrap_or((&line, "20"));
        let found = scenarios.iter().find(|it| it.0 == name);
        let Some((_, scenario)) = found else { anyhow::bail!("no scenario {name}") };
        let mut seconds = ours(&runtime, &mut shell, scenario, calls.parse()?)?;
        seconds.sort_by(f64::total_cmp);
        println!("{:e}", seconds[seconds.len() / 2]);
    }
    Ok(())
}

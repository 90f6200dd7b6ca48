//! A pipeline that is recorded, against the same one that is not; and its replay, against the pipeline itself.

use std::{
    fs,
    process::Command,
    thread,
    time::{Duration, Instant},
};

use anyhow::{Context as _, ensure};
use bytes::Bytes;
use drydock_embed::{
    Dock, Setup, ShellSetup,
    contract::{Limits, Sink, Source, Streams},
    store::{TapeBody, TapeLabel, Tapes},
    tape::{Deck, Live, Player, RecordSettings, Recorder},
};
use tokio::runtime::Runtime;

use super::{Bench, shell};
use crate::{
    docked::{self, Docked},
    figure::{Amount, Bound, Figure},
    harness::{Contender, Samples, interleave},
    native,
    scenario::Scenario,
};

const PLAIN: usize = 0;
const RECORDED: usize = 1;
const REPLAYED: usize = 2;
/// After this a file is old enough to be known by a note.
const SETTLED: Duration = Duration::from_millis(2500);

pub(super) fn measure(bench: &Bench) -> anyhow::Result<Vec<Figure>> {
    let (docked, runtime) = (Docked::open()?, docked::runtime()?);
    let dock = &docked.dock;
    let scenario = shell::pipeline();
    let tape = recorded(&runtime, dock, &scenario)?.1;
    let mut keepers = Keepers::default();
    let mut contenders = vec![
        Contender::timing_itself(|calls| times(calls, || plain(&runtime, dock, &scenario))),
        Contender::timing_itself(|calls| {
            let tapes = keepers.next(dock)?;
            times(calls, || kept(&runtime, dock, &tapes, &scenario))
        }),
        Contender::timing_itself(|calls| times(calls, || replayed(&runtime, dock, &tape, &scenario))),
    ];
    let samples = interleave(bench.plan, &mut contenders)?;
    drop(contenders);
    let figure = |name: &str, ours| compared(name, &samples, ours, Bound::Known);
    Ok(vec![
        as_processes(bench, &scenario)?,
        figure("recording it and keeping the tape, through the library: times slower than not", RECORDED),
        figure("replaying it, through the library: times the original", REPLAYED),
    ])
}

/// What somebody has who adds `--record`: one process for one line, its tape kept in the data directory.
fn as_processes(bench: &Bench, scenario: &Scenario) -> anyhow::Result<Figure> {
    let (home, drydock) = (tempfile::tempdir().context("no temporary folder")?, bench.drydock()?);
    let input = home.path().join("input");
    fs::write(&input, &scenario.stdin)?;
    let line = |words: &[&str]| {
        let mut command = Command::new(drydock);
        command.args(words).arg(&scenario.script).env("DRYDOCK_HOME", home.path().join("home"));
        let answer = native::run_on_file(&mut command, &input)?;
        ensure!(answer == scenario.wanted, "a process answered otherwise");
        anyhow::Ok(())
    };
    line(&["sh", "-c"])?;
    line(&["sh", "--record", "-c"])?;
    // What was just compiled is read through until it is two seconds old (decision 0046), and warm is what comes after.
    thread::sleep(SETTLED);
    line(&["sh", "-c"])?;
    let samples = interleave(
        bench.plan,
        &mut [
            Contender::calling(|| line(&["sh", "-c"])),
            Contender::calling(|| line(&["sh", "--record", "-c"])),
        ],
    )?;
    let name = "`drydock sh --record -c 'jq | grep | tr'` on 10 KiB as a process: times slower than without `--record`";
    Ok(compared(name, &samples, RECORDED, Bound::AtMost(1.3)))
}

fn compared(name: &str, samples: &Samples, ours: usize, bound: Bound) -> Figure {
    Figure {
        group: "tape",
        name: name.to_owned(),
        ours: Amount::Seconds(samples.seconds(ours)),
        peer: Some(Amount::Seconds(samples.seconds(PLAIN))),
        judged: samples.ratio(ours, PLAIN),
        bound,
    }
}

fn times(calls: usize, mut call: impl FnMut() -> anyhow::Result<f64>) -> anyhow::Result<Vec<f64>> {
    (0..calls).map(|_| call()).collect()
}

/// One shell, one line, as a process of the command line has it.
fn line(runtime: &Runtime, dock: &Dock, deck: &dyn Deck, scenario: &Scenario) -> anyhow::Result<Vec<u8>> {
    let limits = Limits { fuel_max: u64::MAX / 2, ..Limits::default() };
    let mut setup = Setup { limits: Some(limits), ..Setup::profile("minimal") };
    deck.prepare(&mut setup);
    let mut shell = dock.shell("bench", setup, ShellSetup::default())?;
    let stdin = Bytes::from(scenario.stdin.clone());
    let stdin = deck.stream("stdin", &mut || Ok(Source::Bytes(stdin.clone())))?;
    let streams = Streams { stdin, stdout: Sink::capture(), stderr: Sink::capture(), ..Streams::default() };
    let (_, streams) = runtime.block_on(shell.run(&scenario.script, streams))?;
    let answer = streams.stdout.into_captured();
    ensure!(answer == scenario.wanted, "ours answered otherwise");
    Ok(answer)
}

fn plain(runtime: &Runtime, dock: &Dock, scenario: &Scenario) -> anyhow::Result<f64> {
    let started = Instant::now();
    line(runtime, dock, &Live, scenario)?;
    Ok(started.elapsed().as_secs_f64())
}

fn recorded(runtime: &Runtime, dock: &Dock, scenario: &Scenario) -> anyhow::Result<(f64, TapeBody)> {
    let started = Instant::now();
    let recorder = Recorder::begin(RecordSettings::default());
    let answer = line(runtime, dock, &recorder, scenario)?;
    let body = recorder.finish("exited(0)", &[&answer])?;
    Ok((started.elapsed().as_secs_f64(), body))
}

/// Whose tapes are kept: each block's are another tenant's, so that none has many, and none is removed. On ext4 a file that
/// is made right after others were removed waits for a search among those.
#[derive(Default)]
struct Keepers(usize);

impl Keepers {
    fn next(&mut self, dock: &Dock) -> anyhow::Result<Tapes> {
        self.0 += 1;
        Ok(dock.for_tenant(format!("keeper-{}", self.0).parse()?).tapes()?)
    }
}

/// Recorded, and kept on disk.
fn kept(runtime: &Runtime, dock: &Dock, tapes: &Tapes, scenario: &Scenario) -> anyhow::Result<f64> {
    let started = Instant::now();
    let (_, body) = recorded(runtime, dock, scenario)?;
    tapes.keep(TapeLabel::default(), &body)?;
    Ok(started.elapsed().as_secs_f64())
}

fn replayed(runtime: &Runtime, dock: &Dock, tape: &TapeBody, scenario: &Scenario) -> anyhow::Result<f64> {
    let started = Instant::now();
    let player = Player::new(tape.frames(), tape.frames()).context("the tape cannot be read")?;
    let (machine, _) = dock.replaying(&player);
    let answer = line(runtime, &machine, &player, scenario)?;
    player.finish("exited(0)", &[&answer]).context("it diverged")?;
    Ok(started.elapsed().as_secs_f64())
}

/// `probe-tape plain|recorded|kept|replayed COUNT`
pub(crate) fn probe(args: &[String]) -> anyhow::Result<()> {
    let (docked, runtime) = (Docked::open()?, docked::runtime()?);
    let dock = &docked.dock;
    let scenario = shell::pipeline();
    let mut keepers = Keepers::default();
    let mut tapes = keepers.next(dock)?;
    let mut done = 0;
    let tape = recorded(&runtime, dock, &scenario)?.1;
    let count: usize = args.get(1).context("how often?")?.parse()?;
    let mut seconds = times(count, || match args[0].as_str() {
        "plain" => plain(&runtime, dock, &scenario),
        "recorded" => Ok(recorded(&runtime, dock, &scenario)?.0),
        "kept" => {
            done += 1;
            if done % 20 == 0 {
                tapes = keepers.next(dock)?;
            }
            kept(&runtime, dock, &tapes, &scenario)
        }
        _ => replayed(&runtime, dock, &tape, &scenario),
    })?;
    seconds.sort_by(f64::total_cmp);
    println!("{} {:.1} us", args[0], seconds[count / 2] * 1e6);
    Ok(())
}

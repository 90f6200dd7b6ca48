//! Python and clang from the catalog, against the native ones: as a process, and as a line of the library in a sandbox
//! that is new each time. What is installed is installed by the release binary, once, in a data directory below `target`.

use std::{
    fs,
    path::{Path, PathBuf},
    process::{Command, Stdio},
    time::{Duration, Instant},
};

use anyhow::{Context as _, ensure};
use drydock_embed::Dock;

use super::Bench;
use crate::{
    docked,
    figure::{Amount, Bound, Figure},
    harness::{Contender, Plan, Samples, interleave},
    native,
    spread::Spread,
};

const HELLO: &str = "#include <stdio.h>\nint main(void) { puts(\"hello\"); return 0; }\n";
/// The row whose sources have SQLite's one file.
const SQLITE: &str = "crates/catalog/rows/sqlite3.toml";

pub(super) fn measure(bench: &Bench) -> anyhow::Result<Vec<Figure>> {
    let installed = Installed::with(bench, &["python", "clang"])?;
    let mut figures = starts(bench, &installed)?;
    figures.push(cpu(bench, &installed)?);
    figures.push(hello(bench, &installed)?);
    figures.extend(sqlite(bench, &installed)?);
    figures.extend(install(bench, &installed)?);
    Ok(figures)
}

/// A data directory with programs of the catalog.
struct Installed<'b> {
    drydock: &'b Path,
    home: PathBuf,
    scratch: tempfile::TempDir,
}

impl<'b> Installed<'b> {
    fn with(bench: &'b Bench, rows: &[&str]) -> anyhow::Result<Self> {
        let home = bench.root.join("target/bench/home");
        fs::create_dir_all(&home)?;
        let this = Self { drydock: bench.drydock()?, home, scratch: tempfile::tempdir()? };
        done(this.drydock().args(["catalog", "add"]).args(rows))?;
        Ok(this)
    }

    fn drydock(&self) -> Command {
        drydock(self.drydock, &self.home, self.scratch.path())
    }

    /// A run of Python over the scratch directory.
    fn python(&self, args: &[&str]) -> Command {
        let mut command = self.drydock();
        command.args(["run", "--timeout", "10m", "--dir", ".", "python"]).args(args);
        command
    }

    fn line(&self, line: &str) -> Command {
        let mut command = self.drydock();
        command.args(["sh", "--timeout", "20m", "--dir", ".", "-c", line]);
        command
    }
}

fn drydock(binary: &Path, home: &Path, at: &Path) -> Command {
    let mut command = Command::new(binary);
    command.env("DRYDOCK_HOME", home).current_dir(at);
    command
}

/// Runs it to its end; it must succeed.
fn done(command: &mut Command) -> anyhow::Result<Vec<u8>> {
    let output = command.stdin(Stdio::null()).output().with_context(|| format!("{command:?}"))?;
    let told = String::from_utf8_lossy(&output.stderr);
    ensure!(output.status.success(), "{command:?} ended with {}: {told}", output.status);
    Ok(output.stdout)
}

/// The interpreter itself: what is on the path may be a shim that looks for it at each start.
fn native_python() -> anyhow::Result<PathBuf> {
    let asked = ["-c", "import sys; print(sys.executable)"];
    let told = done(Command::new(native::find("python3")?).args(asked))?;
    Ok(PathBuf::from(String::from_utf8(told)?.trim()))
}

/// A call takes as long as a block of others.
fn slowly(bench: &Bench, blocks: usize) -> Plan {
    Plan { blocks: if bench.quick { 3 } else { blocks }, calls: 1 }
}

fn slower(name: &str, samples: &Samples, (ours, peer): (usize, usize), most: f64) -> Figure {
    Figure {
        group: "programs",
        name: name.into(),
        ours: Amount::Seconds(samples.seconds(ours)),
        peer: Some(Amount::Seconds(samples.seconds(peer))),
        judged: samples.ratio(ours, peer),
        bound: Bound::AtMost(most),
    }
}

fn alone(name: &str, judged: Spread, seconds_max: f64) -> Figure {
    let ours = Amount::Seconds(judged.median);
    Figure {
        group: "programs",
        name: name.into(),
        ours,
        peer: None,
        judged,
        bound: Bound::AtMost(seconds_max),
    }
}

fn starts(bench: &Bench, installed: &Installed<'_>) -> anyhow::Result<Vec<Figure>> {
    let (native, runtime) = (native_python()?, docked::runtime()?);
    let dock = Dock::open(&installed.home)?;
    let library = || -> anyhow::Result<()> {
        let run = runtime.block_on(dock.exec("python -c 'print(1)'").into_future())?;
        ensure!(run.text() == "1\n", "python answered {run:?}");
        Ok(())
    };
    let args = ["-c", "print(1)"];
    let plan = Plan { calls: 5, ..bench.plan };
    let samples = interleave(
        plan,
        &mut [
            Contender::calling(|| done(&mut installed.python(&args)).map(drop)),
            Contender::calling(library),
            Contender::calling(|| done(Command::new(&native).args(args)).map(drop)),
        ],
    )?;
    let name = |how: &str| format!("`python -c 'print(1)'` {how}: times slower than native python3");
    Ok(vec![
        slower(&name("as a process"), &samples, (0, 2), 2.0),
        slower(&name("through the library, a fresh sandbox"), &samples, (1, 2), 2.0),
    ])
}

fn cpu(bench: &Bench, installed: &Installed<'_>) -> anyhow::Result<Figure> {
    let (native, at) = (native_python()?, installed.scratch.path());
    fs::copy(bench.root.join("xtask/python/cpu.py"), at.join("cpu.py"))?;
    let natively = || done(Command::new(&native).arg("cpu.py").current_dir(at));
    ensure!(natively()? == done(&mut installed.python(&["cpu.py"]))?, "the two compute differently");
    let samples = interleave(
        slowly(bench, 9),
        &mut [
            Contender::calling(|| done(&mut installed.python(&["cpu.py"])).map(drop)),
            Contender::calling(|| natively().map(drop)),
        ],
    )?;
    Ok(slower("a CPU-bound Python script: times slower than native python3", &samples, (0, 1), 4.0))
}

fn hello(bench: &Bench, installed: &Installed<'_>) -> anyhow::Result<Figure> {
    fs::write(installed.scratch.path().join("hello.c"), HELLO)?;
    let mut seconds = Vec::new();
    for _ in 0..if bench.quick { 3 } else { 9 } {
        let started = Instant::now();
        done(&mut installed.line("clang -O1 hello.c -o hello"))?;
        seconds.push(started.elapsed().as_secs_f64());
    }
    let told = done(&mut installed.line("clang -O1 hello.c -o hello && ./hello"))?;
    ensure!(told == b"hello\n", "hello said {told:?}");
    Ok(alone("clang hello: compile and link, as a process", Spread::of(&seconds), 0.5))
}

/// SQLite's one file, where there is a native clang to compare with.
fn sqlite(bench: &Bench, installed: &Installed<'_>) -> anyhow::Result<Option<Figure>> {
    let Ok(clang) = native::find("clang") else {
        eprintln!("no native clang: sqlite3.c is not measured");
        return Ok(None);
    };
    let at = installed.scratch.path();
    fs::copy(sqlite_source(bench, installed)?, at.join("sqlite3.c"))?;
    let line = "clang -O2 -c -DSQLITE_THREADSAFE=0 -DSQLITE_OMIT_LOAD_EXTENSION sqlite3.c -o ours.o";
    let flags =
        ["-O2", "-c", "-DSQLITE_THREADSAFE=0", "-DSQLITE_OMIT_LOAD_EXTENSION", "sqlite3.c", "-o", "native.o"];
    let samples = interleave(
        Plan { blocks: 1, ..slowly(bench, 1) },
        &mut [
            Contender::calling(|| done(&mut installed.line(line)).map(drop)),
            Contender::calling(|| done(Command::new(&clang).args(flags).current_dir(at)).map(drop)),
        ],
    )?;
    Ok(Some(slower("clang -O2 of sqlite3.c: times slower than native clang", &samples, (0, 1), 3.0)))
}

/// Out of the row's archive, by tar.
fn sqlite_source(bench: &Bench, installed: &Installed<'_>) -> anyhow::Result<PathBuf> {
    let row = fs::read_to_string(bench.root.join(SQLITE))?;
    let quoted = |key: &str| -> anyhow::Result<String> {
        let line =
            row.lines().find(|it| it.starts_with(key)).with_context(|| format!("{SQLITE}: no {key}"))?;
        Ok(line.split('"').nth(1).with_context(|| format!("{SQLITE}: {line}"))?.to_owned())
    };
    done(installed.drydock().args(["catalog", "add", "sqlite3"]))?;
    let archive = installed.home.join("catalog/archives").join(quoted("sha256")?);
    let inside = quoted("from")?.split_once('#').context("nothing inside")?.1.to_owned() + "/sqlite3.c";
    let at = installed.scratch.path();
    done(Command::new("tar").arg("-xzf").arg(&archive).arg(&inside).current_dir(at))?;
    Ok(at.join(inside))
}

/// Python into an empty data directory that has its archive, and into the same one again.
fn install(bench: &Bench, installed: &Installed<'_>) -> anyhow::Result<Vec<Figure>> {
    let (mut first, mut second) = (Vec::new(), Vec::new());
    for _ in 0..if bench.quick { 1 } else { 3 } {
        let home = tempfile::tempdir()?;
        let archives = home.path().join("catalog/archives");
        fs::create_dir_all(&archives)?;
        for entry in fs::read_dir(installed.home.join("catalog/archives"))?.flatten() {
            fs::copy(entry.path(), archives.join(entry.file_name()))?;
        }
        let add = || -> anyhow::Result<Duration> {
            let started = Instant::now();
            let mut command = drydock(installed.drydock, home.path(), home.path());
            done(command.args(["catalog", "add", "--offline", "python"]))?;
            Ok(started.elapsed())
        };
        first.push(add()?.as_secs_f64());
        second.push(add()?.as_secs_f64());
    }
    Ok(vec![
        alone("installing python without the download", Spread::of(&first), 8.0),
        alone("installing python where it is installed", Spread::of(&second), 0.5),
    ])
}

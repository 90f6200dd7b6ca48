//! `cargo xtask python [--drydock BIN] [--native PYTHON] [--rounds N]`: an installed `python` against the one of the
//! machine, byte for byte and by the clock.
//!
//! Needs a data directory (`DRYDOCK_HOME`) where `drydock catalog add python` was done; `cargo xtask catalog` does the
//! comparison in its own. Every case is run by both, from the snapshot and plainly; what they print and how they end
//! must be the same. Then both start, and run a CPU-bound script, in turn: the medians and their ratio are printed, and judged by whoever reads them.

mod replay;

use std::{
    io::Write as _,
    path::{Path, PathBuf},
    process::{Command, Output, Stdio},
    time::{Duration, Instant},
};

use anyhow::{Context as _, bail};

pub(crate) use replay::replays;

/// Arguments and stdin. `file.py` and `package` lie in the working directory.
const CASES: &[(&[&str], &str)] = &[
    (&["-c", "print(1)"], ""),
    (&["-c", "import sys; print(sys.argv, sys.orig_argv[1:])", "a", "-b"], ""),
    (&["-c", "print(sorted(globals()))"], ""),
    (&["-c", "print(__name__, __doc__, __spec__, __package__, __builtins__.__name__)"], ""),
    (&["-c", "print('__file__' in globals(), __loader__.__name__)"], ""),
    (&["-c", "import sys; print(sys.path[0] == '', sys.flags.safe_path, sys.flags.dont_write_bytecode)"], ""),
    (&["-c", "import os; print(os.environ.get('GREETING'), os.getenv('NOTHING'))"], ""),
    (&["-c", "import sys; sys.exit(7)"], ""),
    (&["-c", "import sys; sys.exit('gone')"], ""),
    (&["-c", "raise SystemExit"], ""),
    (&["-c", "1/0"], ""),
    (&["-c", "def f():\n  raise KeyError('x')\nf()"], ""),
    (&["-c", "print("], ""),
    (&["-c", "import atexit; atexit.register(print, 'bye'); print('hi')"], ""),
    (&["-c", "import sys; sys.stdout.write('no newline')"], ""),
    (&["-c", "import sys; print(sys.stdin.read().upper(), end='')"], "some input\n"),
    (&["-c", "print(input() + input())"], "a\nb\n"),
    (&["-c", "import os; os._exit(3)"], ""),
    (&["-c", "import random; print(0 <= random.random() < 1)"], ""),
    (&["-c", "import sys; print(sys.stdout.line_buffering, sys.stdin.encoding, sys.stdout.errors)"], ""),
    (&["-c", "import warnings; warnings.warn('careful')"], ""),
    (&["-c", "def f(): return f()\ntry: f()\nexcept RecursionError: print('deep')"], ""),
    (&["-c", "import gc, weakref\nclass A:\n  def __del__(self): print('del')\na = A()"], ""),
    (&["-"], "import sys; print(sys.argv, __name__)\n"),
    (&["-", "x"], "import sys; print(sys.argv)\n1/0\n"),
    (&[], "print(__file__)\n"),
    (&["file.py", "a"], ""),
    (&["package"], ""),
    (&["-m", "package", "b"], ""),
    (&["-m", "no_such_module_at_all"], ""),
    (&["no_such_file.py"], ""),
    (&["-m", "json.tool"], "{\"b\": [1, 2]}"),
    (&["-u", "-c", "print(2)"], ""),
    (&["-O", "-c", "assert False; print(3)"], ""),
    (&["-B", "-I", "-c", "import sys; print(sys.flags.isolated)"], ""),
    (&["-W", "error", "-c", "import warnings; warnings.warn('x')"], ""),
    (&["-X", "utf8", "-c", "print('é')"], ""),
];

/// Arguments with which the interpreter itself prints libc's number of an error, and the path as libc would have it:
/// there the status alone is compared.
const OTHER_WORDS: &[&[&str]] = &[&["no_such_file.py"]];

const FILES: &[(&str, &str)] = &[
    (
        "file.py",
        "import sys, os\nprint(__name__, os.path.basename(__file__), sys.argv[1:])\n\ndef f():\n    raise ValueError('from a file')\n\nf()\n",
    ),
    ("package/__init__.py", ""),
    ("package/__main__.py", "import sys\nprint(__name__, sys.argv[1:])\n"),
];

struct Contenders {
    drydock: PathBuf,
    /// The data directory, if it is not the environment's.
    home: Option<PathBuf>,
    native: PathBuf,
    dir: tempfile::TempDir,
}

impl Contenders {
    fn command(&self, native: bool, args: &[&str]) -> Command {
        let mut command = if native {
            Command::new(&self.native)
        } else {
            let mut command = Command::new(&self.drydock);
            if let Some(home) = &self.home {
                command.env("DRYDOCK_HOME", home);
            }
            command.args(["run", "--timeout", "300s", "--env", "GREETING=hello", "--dir", ".", "python"]);
            command
        };
        command.args(args).current_dir(self.dir.path()).env("GREETING", "hello");
        command.env("PYTHONDONTWRITEBYTECODE", "").env_remove("PYTHONDONTWRITEBYTECODE");
        command
    }

    fn put_files(&self) -> anyhow::Result<()> {
        for (path, text) in FILES {
            let path = self.dir.path().join(path);
            std::fs::create_dir_all(path.parent().unwrap_or(self.dir.path()))?;
            std::fs::write(path, text)?;
        }
        Ok(())
    }

    fn run(&self, native: bool, args: &[&str], stdin: &str) -> anyhow::Result<(Output, Duration)> {
        let started = Instant::now();
        let mut command = self.command(native, args);
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().with_context(|| format!("{command:?}"))?;
        if let Some(mut pipe) = child.stdin.take() {
            // One that does not read has ended.
            let _ = pipe.write_all(stdin.as_bytes());
        }
        Ok((child.wait_with_output()?, started.elapsed()))
    }
}

pub(crate) fn run(root: &Path, args: &[String]) -> anyhow::Result<()> {
    let option = |name: &str| args.iter().position(|it| it == name).and_then(|at| args.get(at + 1));
    let rounds: usize = option("--rounds").map_or(Ok(10), |it| it.parse())?;
    let both = Contenders {
        drydock: option("--drydock").map_or_else(|| root.join("target/debug/drydock"), PathBuf::from),
        home: None,
        native: option("--native").map_or_else(|| PathBuf::from("python3"), PathBuf::from),
        dir: tempfile::tempdir()?,
    };
    both.put_files()?;
    std::fs::copy(root.join("xtask/python/cpu.py"), both.dir.path().join("cpu.py"))?;
    let home = std::env::var_os("DRYDOCK_HOME").context("set DRYDOCK_HOME")?;
    let replayed = replays(&both.drydock, Path::new(&home))?;
    if !replayed.is_empty() {
        bail!("{}", replayed.join("\n"));
    }
    let different = compare(&both)?;
    measure(&both, "start", &["-c", "print(1)"], rounds)?;
    measure(&both, "cpu", &["cpu.py"], rounds.div_ceil(3))?;
    if different > 0 {
        bail!("{different} of {} cases differ", CASES.len());
    }
    Ok(())
}

/// Compares an installed `python` of that data directory with the machine's own, where there is one; answers what
/// differs.
pub(crate) fn same_as_native(binary: &Path, home: &Path) -> anyhow::Result<Vec<String>> {
    if Command::new("python3").arg("--version").output().is_err() {
        println!("python is compared with nothing: this machine has no python3");
        return Ok(Vec::new());
    }
    let both = Contenders {
        drydock: binary.to_path_buf(),
        home: Some(home.to_path_buf()),
        native: PathBuf::from("python3"),
        dir: tempfile::tempdir()?,
    };
    both.put_files()?;
    let different = compare(&both)?;
    Ok((different > 0).then(|| format!("{different} cases of `cargo xtask python`")).into_iter().collect())
}

/// Runs every case by both; answers how many differ.
fn compare(both: &Contenders) -> anyhow::Result<usize> {
    let mut different = 0;
    for (args, stdin) in CASES {
        let (native, _) = both.run(true, args, stdin)?;
        let (ours, _) = both.run(false, args, stdin)?;
        let same = native.stdout == ours.stdout
            && native.status.code() == ours.status.code()
            && (errors(&native.stderr) == errors(&ours.stderr) || OTHER_WORDS.contains(args));
        if same {
            continue;
        }
        different += 1;
        println!("differs: python {args:?}");
        for (who, it) in [("native", &native), ("drydock", &ours)] {
            println!(
                "  {who}: {:?} {}",
                it.status.code(),
                String::from_utf8_lossy(&it.stdout).escape_debug()
            );
            println!("    {}", String::from_utf8_lossy(&it.stderr).escape_debug());
        }
    }
    println!("{} of {} cases are the same", CASES.len() - different, CASES.len());
    Ok(different)
}

/// What went to stderr, without the paths of the two machines in front of file names, and without the line of
/// carets, which differs between versions.
fn errors(stderr: &[u8]) -> Vec<String> {
    let text = String::from_utf8_lossy(stderr);
    let caret = |line: &&str| !line.trim().is_empty() && line.trim().chars().all(|it| it == '^' || it == '~');
    text.lines()
        .filter(|line| !caret(line))
        .map(|line| match (line.find("File \""), line.rfind('/')) {
            (Some(from), Some(slash)) if slash > from => {
                format!("{}{}", &line[..from + 6], &line[slash + 1..])
            }
            _ => line
                .rsplit_once("python: ")
                .or_else(|| line.rsplit_once("python3: "))
                .map_or(line, |it| it.1)
                .to_owned(),
        })
        .collect()
}

/// Runs both in turn and prints medians and their ratio.
fn measure(both: &Contenders, what: &str, args: &[&str], rounds: usize) -> anyhow::Result<()> {
    let mut times = [Vec::new(), Vec::new()];
    for _ in 0..rounds.max(1) {
        for (native, times) in [true, false].into_iter().zip(&mut times) {
            let (output, took) = both.run(native, args, "")?;
            if !output.status.success() {
                bail!("{what}: {}", String::from_utf8_lossy(&output.stderr));
            }
            times.push(took.as_secs_f64() * 1e3);
        }
    }
    let [native, ours] = times.map(|mut all| {
        all.sort_by(f64::total_cmp);
        all[all.len() / 2]
    });
    println!("{what}: native {native:.1} ms, drydock {ours:.1} ms, ratio {:.2}", ours / native);
    Ok(())
}

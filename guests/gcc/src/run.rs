//! Has the host run what a plan asks for, and leaves no temporary files behind.

use std::io::Write as _;

use child::{Children, Command, Ended, Stdin};

use crate::jobs::{self, CLANG, Job, Scratch};
use crate::line::Plan;

/// Linked into every program: what `runtime/` says, compiled.
const RUNTIME: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/runtime.a"));

/// A program's bits before the mask.
const EXECUTABLE: u32 = 0o777;

/// Runs all of it, and returns the exit status.
pub(crate) fn run(called: &str, args: &[String], plan: &Plan, children: &dyn Children) -> i32 {
    if plan.question {
        let job = Job { program: CLANG, args: args.to_vec(), reads_stdin: false };
        return start(called, &job, children);
    }
    let scratch = scratch();
    let work = jobs::work(plan, &scratch);
    if plan.verbose || plan.dry {
        work.jobs.iter().for_each(show);
    }
    if plan.dry {
        return 0;
    }
    let status =
        if work.program.is_some() && !plan.bare && std::fs::write(scratch.runtime(), RUNTIME).is_err() {
            complain(called, &format!("could not write to {}", scratch.folder));
            1
        } else {
            all(called, &work.jobs, children)
        };
    for path in &work.temporary {
        // It may never have been made.
        let _ = std::fs::remove_file(path);
    }
    if let (0, Some(program)) = (status, &work.program) {
        let path = std::path::Path::new(program);
        // Where bits are not kept, none is missing either.
        let _ = modes::set(path, true, EXECUTABLE & !modes::umask());
    }
    status
}

/// Every source is compiled, so that all of their errors are seen; what failed is not linked.
fn all(called: &str, jobs: &[Job], children: &dyn Children) -> i32 {
    let mut worst = 0;
    for job in jobs {
        if worst != 0 && job.program == jobs::LINKER {
            break;
        }
        let status = start(called, job, children);
        // Without a compiler the next one fails for the same reason.
        if status >= 126 {
            return status;
        }
        worst = worst.max(i32::from(status != 0));
    }
    worst
}

fn start(called: &str, job: &Job, children: &dyn Children) -> i32 {
    let args: Vec<Vec<u8>> = job.args.iter().map(|it| it.clone().into_bytes()).collect();
    let env = child::environment();
    let stdin = if job.reads_stdin { Stdin::Ours } else { Stdin::Empty };
    let command = Command {
        name: job.program.as_bytes(),
        args: &args,
        env: &env,
        directory: None,
        stdin,
        wall_ms_max: None,
    };
    let ended = children.run(&command);
    match &ended {
        Ended::Exited(_) => {}
        Ended::NotFound => complain(
            called,
            &format!("`{}` is not installed; `drydock catalog add clang` brings the compiler", job.program),
        ),
        Ended::Refused(why, _) => complain(called, &format!("`{}` may not run: {why}", job.program)),
        Ended::Stopped(why, _) => {
            complain(called, &format!("fatal error: `{}` was stopped: {why}", job.program))
        }
        Ended::TimedOut => complain(called, &format!("fatal error: `{}` ran out of time", job.program)),
    }
    match ended {
        Ended::Stopped(..) | Ended::TimedOut => 1,
        other => other.status(),
    }
}

/// As `gcc -v` shows a command.
fn show(job: &Job) {
    let words: Vec<String> = job.args.iter().map(|it| format!("\"{}\"", it.escape_default())).collect();
    let _ = writeln!(std::io::stderr(), " \"{}\" {}", job.program, words.join(" "));
}

fn complain(called: &str, problem: &str) {
    let _ = writeln!(std::io::stderr(), "{called}: {problem}");
}

/// `/tmp` where there is one, else the working directory.
fn scratch() -> Scratch {
    let there = std::path::Path::new("/tmp").is_dir();
    let folder = if there { "/tmp".to_owned() } else { ".".to_owned() };
    // Two lines may compile at once over the same files.
    let number = {
        use std::hash::{BuildHasher as _, RandomState};
        RandomState::new().hash_one(0) as u32
    };
    Scratch { folder, number }
}

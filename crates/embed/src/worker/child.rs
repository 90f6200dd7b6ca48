//! The worker's own side: gives up every right, compiles one module, ends.

use std::{
    io::{self, Read as _, Write as _},
    process::ExitCode,
};

use drydock_contract::{
    ARTIFACT_BYTES_MAX,
    port::{CompileThreads, LaneSettings},
};
use drydock_engine::{Cpu, Effort, precompile};

use super::{
    REJECTED,
    confine::{self, Walls},
    probe,
};

/// How a worker ends when it was not started as one.
const MISUSED: u8 = 2;

/// Serves one request as a compile worker; for the program that [`WorkerProgram`](super::WorkerProgram) names,
/// called before it has started any thread. `args` are the arguments that came after its own.
pub fn serve(args: &[String]) -> ExitCode {
    let args: Vec<&str> = args.iter().map(String::as_str).collect();
    match args.as_slice() {
        ["compile", lane, memory, cpu, threads] => {
            match (lane.parse(), memory.parse(), cpu.parse(), CompileThreads::named(threads)) {
                (Ok(lane), Ok(memory), Ok(cpu), Some(threads)) => compile(lane, memory, cpu, threads),
                _ => misused(),
            }
        }
        ["probe"] => probe::run(Walls::ALL),
        // For the test that shows that each wall holds by itself, and that without them nothing does.
        ["probe", walls] => probe::run(Walls::named(walls)),
        _ => misused(),
    }
}

fn misused() -> ExitCode {
    say("this program is started by Drydock to compile modules, and by nobody else");
    ExitCode::from(MISUSED)
}

fn compile(
    lane: LaneSettings,
    memory_bytes_max: u64,
    cpu_seconds_max: u64,
    threads: CompileThreads,
) -> ExitCode {
    if let Err(error) = confine::limit(memory_bytes_max, cpu_seconds_max) {
        say(&format!("limits: {error}"));
        return ExitCode::FAILURE;
    }
    confine::raise(Walls::ALL);
    let mut wasm = Vec::new();
    if let Err(error) = io::stdin().lock().take(ARTIFACT_BYTES_MAX).read_to_end(&mut wasm) {
        say(&format!("stdin: {error}"));
        return ExitCode::FAILURE;
    }
    match precompile(&wasm, lane, Cpu::Host, Effort::Full, threads) {
        Ok(code) => {
            let mut stdout = io::stdout().lock();
            match stdout.write_all(&code).and_then(|()| stdout.flush()) {
                Ok(()) => ExitCode::SUCCESS,
                Err(_) => ExitCode::FAILURE,
            }
        }
        Err(reason) => {
            say(&reason);
            ExitCode::from(REJECTED as u8)
        }
    }
}

fn say(text: &str) {
    let _ = writeln!(io::stderr(), "{text}");
}

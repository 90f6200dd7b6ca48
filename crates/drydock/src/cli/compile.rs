//! Compiling modules of others: the flags that bound it, and the worker that does it.

use std::{process::ExitCode, time::Duration};

use clap::Args;
use drydock_embed::{CompileLimits, serve_compile_worker};

use crate::units;

#[derive(Debug, Default, Args)]
pub(crate) struct CompileFlags {
    /// Time that compiling a command may take, if it is not built in [default: 60s]
    #[arg(long, value_name = "TIME", value_parser = units::duration)]
    compile_timeout: Option<Duration>,
    /// Memory that compiling it may take [default: 1GiB]
    #[arg(long, value_name = "SIZE", value_parser = units::size)]
    compile_memory: Option<u64>,
}

impl CompileFlags {
    /// What the flags say, time and memory.
    pub(crate) fn chosen(&self) -> (Option<Duration>, Option<u64>) {
        (self.compile_timeout, self.compile_memory)
    }

    pub(crate) fn limits(&self) -> CompileLimits {
        let usual = CompileLimits::default();
        CompileLimits {
            wall_max: self.compile_timeout.unwrap_or(usual.wall_max),
            memory_bytes_max: self.compile_memory.unwrap_or(usual.memory_bytes_max),
        }
    }
}

#[derive(Debug, Args)]
pub(crate) struct CompileWorker {
    /// What to do, in the words of whoever started it
    args: Vec<String>,
}

pub(crate) fn worker(worker: CompileWorker) -> ExitCode {
    serve_compile_worker(&worker.args)
}

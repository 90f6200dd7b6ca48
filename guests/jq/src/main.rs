//! The guest `jq`: jq's command line, exit codes and printing around jaq's language.
//!
//! `main` is the table of contents: arguments, program, inputs, outputs, exit status. The library of
//! definitions is made ready before the first run: the build calls `wizer-initialize` and keeps
//! the memory it leaves behind (see `library`).

mod cli;
mod data;
mod error;
mod exec;
mod input;
mod library;
mod output;
mod stdio;

use error::Failure;
use std::process::exit;

#[cfg(target_family = "wasm")]
#[global_allocator]
static HEAP: heap::SmallBlocks = heap::SmallBlocks::new();

fn main() {
    place::enter();
    let args: Vec<String> = std::env::args_os().skip(1).map(|it| it.to_string_lossy().into_owned()).collect();
    let status = match run(&args) {
        Ok(status) => status,
        Err(failure) => {
            stdio::complain(&failure.to_string());
            failure.status()
        }
    };
    halt(status)
}

fn run(args: &[String]) -> Result<i32, Failure> {
    match cli::parse(args)? {
        cli::Request::Help => {
            stdio::print(cli::HELP.as_bytes());
            Ok(0)
        }
        cli::Request::Version => {
            stdio::print(concat!("jq-1.7-drydock-", env!("CARGO_PKG_VERSION"), "\n").as_bytes());
            Ok(0)
        }
        cli::Request::Run(options) => exec::run(*options),
    }
}

/// Called once, when the module is built; what it leaves in memory is part of the module.
#[unsafe(export_name = "wizer-initialize")]
extern "C" fn initialize() {
    library::prepare();
}

/// Ends the run at once, from wherever a program says `halt`.
fn halt(status: i32) -> ! {
    stdio::flush();
    exit(status)
}

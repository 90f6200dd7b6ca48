//! The compile worker as a program of its own, for embedders that do not want to be their own worker.

use std::process::ExitCode;

fn main() -> ExitCode {
    let args: Vec<String> = std::env::args().skip(1).collect();
    drydock_embed::serve_compile_worker(&args)
}

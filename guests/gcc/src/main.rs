//! The guest `gcc`, and by its other names `cc`, `c99`, `c89`, `g++`, `c++`, `clang`, `clang++`, `cpp`: gcc's
//! command line in front of clang and wasm-ld.
//!
//! `line` reads it, `jobs` says what to run, and `run` has the host run it: each job is a command at the gate like
//! any other. This guest compiles nothing itself and holds nothing that the line which called it does not hold.

mod jobs;
mod line;
mod option;
mod response;
mod run;
mod source;

use std::io::Write as _;

#[cfg(target_family = "wasm")]
#[global_allocator]
static HEAP: heap::SmallBlocks = heap::SmallBlocks::new();

fn main() {
    place::enter();
    let called = options::called();
    let args = response::expanded(options::arguments());
    let status = match args.and_then(|args| line::read(&called, &args).map(|plan| (args, plan))) {
        Ok((args, plan)) => run::run(&called, &args, &plan, &child::System),
        Err(problem) => {
            let _ = writeln!(std::io::stderr(), "{called}: error: {problem}");
            1
        }
    };
    std::process::exit(status)
}

//! The guest `diff`, and by its other names `cmp` and `patch`.

mod cmp;
mod diff;
mod patch;

use std::io::Write as _;

#[cfg(target_family = "wasm")]
#[global_allocator]
static HEAP: heap::SmallBlocks = heap::SmallBlocks::new();

/// Something is wrong with the question, not with the files.
const TROUBLE: i32 = 2;

fn main() {
    place::enter();
    let args = options::arguments();
    let status = match options::called().as_str() {
        "cmp" => cmp::run(&args),
        "patch" => patch::run(&args),
        _ => diff::run(&args),
    };
    std::process::exit(status)
}

/// Writes to stdout; false if nobody reads it any more.
fn print(bytes: &[u8]) -> bool {
    let mut stdout = std::io::stdout().lock();
    stdout.write_all(bytes).and_then(|()| stdout.flush()).is_ok()
}

fn complain(program: &str, problem: &str) -> i32 {
    let _ = writeln!(std::io::stderr(), "{program}: {problem}");
    TROUBLE
}

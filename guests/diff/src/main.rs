//! The guest `diff`, and by its other names `cmp` and `patch`.

mod cmp;
mod diff;
mod patch;

use std::io::{Read as _, Write as _};

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

/// The whole of a file, or of stdin where the name is `-`.
fn read(name: &str) -> std::io::Result<Vec<u8>> {
    if name != "-" {
        return std::fs::read(name);
    }
    let mut bytes = Vec::new();
    std::io::stdin().lock().read_to_end(&mut bytes)?;
    Ok(bytes)
}

/// What an error is called in C.
fn words(error: &std::io::Error) -> String {
    let text = error.to_string();
    text.split(" (os error").next().unwrap_or(&text).to_owned()
}

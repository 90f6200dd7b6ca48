//! The guest `stat`, and by its other names `column`, `du`, `file`, `hd`, `hexdump`, `strings`,
//! `tree` and `xxd`: looking at files, and at bytes as text.

mod column;
mod du;
mod file;
mod hexdump;
mod stat;
mod strings;
mod tree;
mod xxd;

use std::io::Write as _;

#[cfg(target_family = "wasm")]
#[global_allocator]
static HEAP: heap::SmallBlocks = heap::SmallBlocks::new();

fn main() {
    place::enter();
    let args = options::arguments();
    let called = options::called();
    let status = match called.as_str() {
        "column" => column::run(&args),
        "du" => du::run(&args),
        "file" => file::run(&args),
        "hd" => hexdump::run(&args, hexdump::Style::Canonical),
        "hexdump" => hexdump::run(&args, hexdump::Style::Words),
        "strings" => strings::run(&args),
        "tree" => tree::run(&args),
        "xxd" => xxd::run(&args),
        _ => stat::run(&args),
    };
    std::process::exit(status)
}

/// Writes to stdout; the status says whether anybody read it.
fn print(bytes: &[u8]) -> i32 {
    let mut stdout = std::io::stdout().lock();
    i32::from(stdout.write_all(bytes).and_then(|()| stdout.flush()).is_err())
}

fn complain(program: &str, problem: &str) -> i32 {
    let _ = writeln!(std::io::stderr(), "{program}: {problem}");
    1
}

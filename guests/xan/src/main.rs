//! The guest `xan`, and by its other name `qsv`.

use std::io::Write as _;
use xan::Base;

#[cfg(target_family = "wasm")]
#[global_allocator]
static HEAP: heap::SmallBlocks = heap::SmallBlocks::new();

fn main() {
    place::enter();
    let args = options::arguments();
    let base = if options::called() == "qsv" { Base::One } else { Base::Zero };
    let (status, complaint) = xan::run(&args, base, Box::new(std::io::stdin()), Box::new(std::io::stdout()));
    let _ = std::io::stderr().write_all(complaint.as_bytes());
    std::process::exit(status)
}

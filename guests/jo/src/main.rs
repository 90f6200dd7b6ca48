//! The guest `jo`, and by its other name `uuidgen`: small things made of words and of chance.

mod json;
mod uuid;
mod words;

use std::io::Write as _;

#[cfg(target_family = "wasm")]
#[global_allocator]
static HEAP: heap::SmallBlocks = heap::SmallBlocks::new();

fn main() {
    place::enter();
    let args = options::arguments();
    let done = match options::called().as_str() {
        "uuidgen" => uuid::run(&args),
        _ => words::run(&args),
    };
    std::process::exit(match done {
        Ok(text) => i32::from(std::io::stdout().write_all(text.as_bytes()).is_err()),
        Err((status, text)) => {
            let _ = writeln!(std::io::stderr(), "{text}");
            status
        }
    })
}

/// What a program prints, or its status and what it says on stderr.
type Done = Result<String, (i32, String)>;

//! The guest `html-to-markdown`, and by its other name `html-to-json`: a page from a file or standard input, as text for
//! people and models. Nothing is fetched, and no script runs.

mod json;
mod markdown;

use std::io::{Read as _, Write as _};

#[cfg(target_family = "wasm")]
#[global_allocator]
static HEAP: heap::SmallBlocks = heap::SmallBlocks::new();

/// A page is read whole; this is as much of one as fits beside its tree.
const PAGE_BYTES_MAX: usize = 16 << 20;

fn main() {
    place::enter();
    let (called, args) = (options::called(), options::arguments());
    let (name, done) = match called.as_str() {
        "html-to-json" => ("html-to-json", json::run(&args)),
        _ => ("html-to-markdown", markdown::run(&args)),
    };
    let (status, text) = match done {
        Ok(text) => (0, text),
        Err(problem) => {
            let _ = writeln!(std::io::stderr(), "{name}: {problem}");
            (1, String::new())
        }
    };
    let written = std::io::stdout().write_all(text.as_bytes());
    std::process::exit(if written.is_err() { 1 } else { status })
}

fn read(file: &str) -> Result<Vec<u8>, String> {
    let mut bytes = Vec::new();
    let limit = PAGE_BYTES_MAX as u64 + 1;
    let got = match file {
        "-" => std::io::stdin().take(limit).read_to_end(&mut bytes),
        file => {
            std::fs::File::open(facts::name::path(file)).and_then(|it| it.take(limit).read_to_end(&mut bytes))
        }
    };
    got.map_err(|cause| format!("{file}: {}", cause.to_string().split(" (os").next().unwrap_or_default()))?;
    match bytes.len() > PAGE_BYTES_MAX {
        true => Err(format!("{file}: a page has at most {PAGE_BYTES_MAX} bytes")),
        false => Ok(bytes),
    }
}

//! `snapshot warm IN OUT [LIST]`: runs the export `wizer-initialize` of a guest and writes the guest as it is
//! afterwards, with the functions first that the list names. `snapshot time FILE...`: how long the host takes to compile each module.
//!
//! Initialisation sees no host at all: every import traps, so that a warm module cannot have taken
//! anything from the machine it was built on.

mod memory;
mod order;
mod timing;
mod warm;

use anyhow::{Result, bail};

fn main() -> Result<()> {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let args: Vec<&str> = args.iter().map(String::as_str).collect();
    match args.as_slice() {
        ["warm", input, output, list @ ..] if list.len() <= 1 => {
            let mut wasm = warm::warm(&std::fs::read(input)?)?;
            if let [list] = list {
                wasm = order::order(&wasm, &std::fs::read_to_string(list)?)?;
            }
            std::fs::write(output, wasm)?;
            Ok(())
        }
        ["time", files @ ..] if !files.is_empty() => timing::report(files),
        _ => bail!("usage: snapshot warm IN OUT [LIST] | snapshot time FILE..."),
    }
}

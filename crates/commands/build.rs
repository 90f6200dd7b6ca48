//! Turns `wasm/guests.lock.json` into a table of the built-in modules. The lock is the one list:
//! what is in it is built in, with the hash it says; nothing is hashed or trusted here.

// A build script runs on the builder's machine, before there is a sandbox to keep rules for.
#![allow(clippy::disallowed_methods)]

use std::{env, error::Error, fmt::Write as _, fs, path::PathBuf};

use serde_json::Value;

fn main() -> Result<(), Box<dyn Error>> {
    let folder = PathBuf::from(env::var("CARGO_MANIFEST_DIR")?).join("wasm");
    let lock_path = folder.join("guests.lock.json");
    println!("cargo::rerun-if-changed={}", lock_path.display());
    let lock: Vec<Value> = serde_json::from_str(&fs::read_to_string(&lock_path)?)?;
    let mut table = String::from("&[\n");
    for guest in &lock {
        let text =
            |key: &str| guest[key].as_str().ok_or_else(|| format!("guests.lock.json: `{key}` is missing"));
        let file = folder.join(text("file")?);
        println!("cargo::rerun-if-changed={}", file.display());
        let applets: Vec<&str> =
            guest["applets"].as_array().into_iter().flatten().filter_map(Value::as_str).collect();
        let kind = match guest["kind"].as_str() {
            None | Some("command") => "Command",
            Some("runtime") => "Runtime",
            Some(other) => return Err(format!("guests.lock.json: `{other}` is no kind").into()),
        };
        writeln!(
            table,
            "    Module {{ name: {:?}, sha256: {:?}, bytes: include_bytes!({file:?}), applets: &{applets:?}, kind: ModuleKind::{kind} }},",
            text("name")?,
            text("sha256")?,
        )?;
    }
    table.push(']');
    fs::write(PathBuf::from(env::var("OUT_DIR")?).join("modules.rs"), table)?;
    Ok(())
}

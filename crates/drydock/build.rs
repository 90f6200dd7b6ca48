//! Puts the hashes of precompiled code into the binary: `DRYDOCK_SHIPPED` names the list that
//! `drydock precompile` wrote. Without it there is none.

use std::{env, error::Error, fmt::Write as _, fs, path::PathBuf};

fn main() -> Result<(), Box<dyn Error>> {
    println!("cargo::rerun-if-env-changed=DRYDOCK_SHIPPED");
    println!("cargo::rerun-if-changed=build.rs");
    // Addresses that the program itself contains are put right before `main`; packed they are a fiftieth to read.
    if env::var("CARGO_CFG_TARGET_OS").is_ok_and(|it| it == "linux") {
        println!("cargo::rustc-link-arg-bins=-Wl,-z,pack-relative-relocs");
    }
    let mut code = String::from("&[");
    if let Some(list) = env::var_os("DRYDOCK_SHIPPED") {
        println!("cargo::rerun-if-changed={}", list.to_string_lossy());
        for line in fs::read_to_string(&list)?.lines() {
            let [file, module, lane, blake3] = line.split(' ').collect::<Vec<_>>()[..] else {
                return Err(format!("`{line}` is no line of such a list").into());
            };
            let (module, blake3) = (bytes(module)?, bytes(blake3)?);
            write!(
                code,
                "ShippedCode {{ file: {file:?}, module: {module:?}, lane: {lane:?}, blake3: {blake3:?} }},"
            )?;
        }
    }
    code.push(']');
    let out = PathBuf::from(env::var_os("OUT_DIR").ok_or("cargo sets OUT_DIR")?);
    Ok(fs::write(out.join("shipped.rs"), code)?)
}

fn bytes(hex: &str) -> Result<[u8; 32], Box<dyn Error>> {
    let mut raw = [0; 32];
    if hex.len() != 64 || !hex.is_ascii() {
        return Err(format!("`{hex}` is no hash").into());
    }
    for (at, byte) in raw.iter_mut().enumerate() {
        *byte = u8::from_str_radix(&hex[2 * at..2 * at + 2], 16)?;
    }
    Ok(raw)
}

//! Compiles what every program is linked with (`runtime/`) into an archive that the guest carries.
//!
//! It is C for the programs' target, whatever target this crate itself is built for: native tests carry an
//! empty archive, since they link nothing.

use std::{env, error::Error, fs, path::PathBuf};

const PARTS: [&str; 6] = ["assert", "random", "signal", "sort", "start", "system"];

fn main() -> Result<(), Box<dyn Error>> {
    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::rerun-if-changed=runtime");
    let archive = PathBuf::from(env::var("OUT_DIR")?).join("runtime.a");
    if env::var("CARGO_CFG_TARGET_FAMILY").is_ok_and(|it| it == "wasm") {
        let mut build = cc::Build::new();
        build.opt_level(2).warnings(true).define("_WASI_EMULATED_SIGNAL", None).cargo_metadata(false);
        // Paths of the builder's machine must not show in the bytes.
        build.flag("-fmacro-prefix-map=runtime=/runtime").debug(false);
        for part in PARTS {
            build.file(format!("runtime/{part}.c"));
        }
        build.compile("drydock_runtime");
        fs::rename(archive.with_file_name("libdrydock_runtime.a"), &archive)?;
        println!("cargo::rustc-link-arg-bins=--initial-memory=2097152");
    } else {
        fs::write(&archive, b"!<arch>\n")?;
    }
    Ok(())
}

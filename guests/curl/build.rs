//! Asks the linker for memory enough that a small run never has to grow it.

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    if std::env::var("CARGO_CFG_TARGET_FAMILY").is_ok_and(|it| it == "wasm") {
        println!("cargo::rustc-link-arg-bins=--initial-memory=2097152");
    }
}

//! Asks the linker for a small stack: the guest's calls are three deep.

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    if std::env::var("CARGO_CFG_TARGET_FAMILY").is_ok_and(|it| it == "wasm") {
        println!("cargo::rustc-link-arg-bins=-zstack-size=16384");
    }
}

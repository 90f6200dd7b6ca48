//! Where a guest's memory lies: a small stack at its front, so that it runs into the end of memory and not into data, and the
//! exports that a host looks for.

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    if std::env::var("CARGO_CFG_TARGET_FAMILY").is_ok_and(|it| it == "wasm") {
        for arg in ["-zstack-size=65536", "--no-entry", "--export=__heap_base", "--export=lembeh_handle"] {
            println!("cargo::rustc-link-arg-bins={arg}");
        }
    }
}

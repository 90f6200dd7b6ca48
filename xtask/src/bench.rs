//! `cargo xtask bench`: the benchmarks are a workspace of their own, always built optimised.

use std::path::Path;

use crate::{cargo, must_succeed};

pub(crate) fn run(root: &Path, args: &[String]) -> anyhow::Result<()> {
    let mut command = cargo();
    command.args(["run", "--quiet", "--release", "--manifest-path"]).arg(root.join("bench/Cargo.toml"));
    if std::env::var_os("CARGO_TARGET_DIR").is_none() {
        command.arg("--target-dir").arg(root.join("target"));
    }
    command.arg("--").args(args).current_dir(root);
    must_succeed(&mut command)
}

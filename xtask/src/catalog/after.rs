//! What is proven of a row beyond its own checks, once it is there: programs and lines, compared with the machine's own
//! interpreter and compiler where there are.

use std::{path::Path, process::Command};

use super::{c_programs, lines, py_cases, py_network, py_pip, py_programs, py_revoked};
use crate::{must_succeed, python};

/// Answers what went otherwise.
pub(super) fn run(root: &Path, binary: &Path, home: &Path, row: &str) -> anyhow::Result<Vec<String>> {
    let mut failed = Vec::new();
    match row {
        "python" => {
            failed.extend(py_cases::run(binary, home)?);
            failed.extend(py_programs::run(root, binary, home)?);
            failed.extend(py_network::run(binary, home)?);
            failed.extend(py_pip::run(binary, home)?);
            failed.extend(py_revoked::run(binary, home)?);
            failed.extend(python::same_as_native(binary, home)?);
            failed.extend(python::replays(binary, home)?);
        }
        // The compiler is proven by what it makes.
        "clang" => failed.extend(c_programs::run(root, binary, home)?),
        // What it bundles is run by qjs.
        "esbuild" => {
            must_succeed(Command::new(binary).args(["catalog", "add", "qjs"]).env("DRYDOCK_HOME", home))?;
        }
        _ => {}
    }
    failed.extend(lines::run(binary, home, row)?);
    Ok(failed)
}

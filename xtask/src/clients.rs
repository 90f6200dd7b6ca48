//! `cargo xtask clients`: foreign clients from the registries against the binary that `cargo build` makes.
//!
//! They are installed into `target/clients`, once for each pinned version, and run a fixed scenario each. What
//! is absent (python3, node, a registry) is an error and never a pass.

use std::{
    fs,
    path::{Path, PathBuf},
    process::Command,
};

use anyhow::{Context as _, bail};
use serde_json::Value;

use crate::{cargo, must_succeed, openapi};

/// The official Python SDK of MCP.
const PYTHON_SDK: &str = "mcp==2.3.0";
/// The inspector, for its command line. The newest that runs on Node 20.
const INSPECTOR: &str = "@modelcontextprotocol/inspector@0.15.0";

/// How long the server's description is tried.
const FUZZED_SECONDS: u64 = 20;

pub(crate) fn run(root: &Path, args: &[String]) -> anyhow::Result<()> {
    if let Some(first) = args.first() {
        bail!("`clients` takes no arguments, and was given `{first}`");
    }
    let scratch = target(root).join("clients");
    fs::create_dir_all(&scratch)?;
    must_succeed(cargo().args(["build", "--quiet", "--package", "drydock"]).current_dir(root))?;
    let binary = target(root).join("debug/drydock");
    python(root, &scratch, &binary).context("the Python SDK of MCP")?;
    inspector(&scratch, &binary).context("the inspector of MCP")?;
    openapi::run(root, &scratch, &binary, FUZZED_SECONDS).context("the OpenAPI description")?;
    println!("clients: {PYTHON_SDK} and {INSPECTOR} agree with us");
    Ok(())
}

fn target(root: &Path) -> PathBuf {
    std::env::var_os("CARGO_TARGET_DIR").map_or_else(|| root.join("target"), PathBuf::from)
}

/// Whether what is installed is what is pinned; if not, the place is emptied.
fn is_installed(place: &Path, version: &str) -> anyhow::Result<bool> {
    if fs::read_to_string(place.join("pinned")).is_ok_and(|it| it == version) {
        return Ok(true);
    }
    if place.exists() {
        fs::remove_dir_all(place)?;
    }
    fs::create_dir_all(place)?;
    Ok(false)
}

fn python(root: &Path, scratch: &Path, binary: &Path) -> anyhow::Result<()> {
    let python = python_with(scratch, "python", PYTHON_SDK)?;
    let work = tempfile::tempdir_in(scratch)?;
    let scenario = root.join("xtask/clients/mcp_sdk.py");
    must_succeed(Command::new(&python).arg(scenario).arg(binary).arg(work.path()))
}

/// A Python that has this package, in a place of that name.
pub(crate) fn python_with(scratch: &Path, name: &str, package: &str) -> anyhow::Result<PathBuf> {
    let place = scratch.join(name);
    let python = place.join("venv/bin/python");
    if !is_installed(&place, package)? {
        must_succeed(Command::new("python3").args(["-m", "venv"]).arg(place.join("venv")))?;
        let mut pip = Command::new(&python);
        must_succeed(pip.args(["-m", "pip", "install", "--quiet", "--disable-pip-version-check", package]))?;
        fs::write(place.join("pinned"), package)?;
    }
    Ok(python)
}

fn inspector(scratch: &Path, binary: &Path) -> anyhow::Result<()> {
    let place = scratch.join("inspector");
    if !is_installed(&place, INSPECTOR)? {
        fs::write(place.join("package.json"), "{}")?;
        let mut npm = Command::new("npm");
        npm.args(["install", "--no-audit", "--no-fund", "--silent", INSPECTOR]).current_dir(&place);
        must_succeed(&mut npm)?;
        fs::write(place.join("pinned"), INSPECTOR)?;
    }
    let work = tempfile::tempdir_in(scratch)?;
    fs::write(work.path().join("a.txt"), "one\ntwo\n")?;
    let ask = |args: &[&str]| -> anyhow::Result<Value> {
        let mut command = Command::new(place.join("node_modules/.bin/mcp-inspector"));
        command.arg("--cli").arg(binary).args(["mcp", "--dir"]).arg(work.path()).arg("--method").args(args);
        command.env("DRYDOCK_HOME", work.path().join("home"));
        let output = command.output().with_context(|| format!("could not start {command:?}"))?;
        let told = String::from_utf8_lossy(&output.stderr);
        if !output.status.success() {
            bail!("{command:?} ended with {}: {told}", output.status);
        }
        serde_json::from_slice(&output.stdout)
            .with_context(|| format!("{command:?} answered no JSON: {told}"))
    };
    let expect = |what: &str, got: &Value, want: Value| match *got == want {
        true => Ok(()),
        false => bail!("{what}: expected {want}, got {got}"),
    };
    let tools = ask(&["tools/list"])?;
    expect("the first tool", &tools["tools"][0]["name"], "sh".into())?;
    let listed = tools["tools"].as_array().is_some_and(|all| all.iter().any(|it| it["name"] == "py"));
    expect("the tool `py`", &listed.into(), true.into())?;
    let done = ask(&["tools/call", "--tool-name", "sh", "--tool-arg", "script=sort -r a.txt"])?;
    expect("sh", &done["structuredContent"]["stdout"], "two\none\n".into())?;
    let done = ask(&["tools/call", "--tool-name", "py", "--tool-arg", "code=1"])?;
    expect("py where there is none", &done["isError"], true.into())?;
    let done = ask(&["tools/call", "--tool-name", "read_file", "--tool-arg", "path=../a.txt"])?;
    expect("a path that leaves", &done["isError"], true.into())?;
    let listed = ask(&["resources/list"])?;
    let files = listed["resources"].as_array().map_or(0, Vec::len);
    expect("a list of resources", &(files > 0).into(), true.into())
}

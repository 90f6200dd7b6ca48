//! A client that reads the server's own description and asks whatever that allows, and what it does not: schemathesis from
//! the registry, against the binary. No answer may be a 5xx that is not a guest's own, none may be described otherwise.

use std::{
    fs,
    path::Path,
    process::{Command, Stdio},
};

use anyhow::{Context as _, ensure};

use crate::{clients::python_with, load::Server};

/// The fuzzing client.
pub(crate) const SCHEMATHESIS: &str = "schemathesis==4.32.5";
/// What is checked of each answer.
const CHECKS: &str = "not_a_server_error,status_code_conformance,content_type_conformance,response_headers_conformance,\
                      response_schema_conformance";
/// Names that are there, so that more than absent things is asked for.
const SETTINGS: &str = "[parameters]\nextension = \"echo\"\nname = \"w\"\npath = \"workspace/a\"\n";

pub(crate) fn run(root: &Path, scratch: &Path, binary: &Path, seconds: u64) -> anyhow::Result<()> {
    let python = python_with(scratch, "schemathesis", SCHEMATHESIS)?;
    let work = tempfile::tempdir_in(scratch)?;
    let settings = work.path().join("schemathesis.toml");
    fs::write(&settings, SETTINGS)?;
    let server = Server::start(binary, &root.join("bench/src/group/echo.wat"))?;
    let mut client = server.client()?;
    for (method, path, body) in [
        ("PUT", "/v1/workspaces/w", ""),
        ("PUT", "/v1/workspaces/w/files/workspace/a", "text"),
        ("POST", "/v1/workspaces/w/snapshots", r#"{"name":"s"}"#),
    ] {
        let answer = client.ask(method, path, body.as_bytes())?;
        ensure!(answer.status == 200, "{method} {path} answered {}", answer.status);
    }
    let seconds = seconds.to_string();
    let mut command = Command::new(python.with_file_name("schemathesis"));
    command
        .arg("--config-file")
        .arg(&settings)
        .arg("run")
        .arg(format!("http://{}/openapi.json", server.address));
    // What it would remove it could not ask for any more.
    command.args(["--exclude-operation-id", "uninstall", "--exclude-operation-id", "workspace_remove"]);
    command.args(["--checks", CHECKS, "--workers", "1", "--max-time", &seconds, "--warnings", "off"]);
    let output = command.current_dir(work.path()).stdin(Stdio::null()).output().context("schemathesis")?;
    let told = String::from_utf8_lossy(&output.stdout);
    ensure!(
        output.status.success(),
        "schemathesis found something: {told}{}",
        String::from_utf8_lossy(&output.stderr)
    );
    let cases = told.lines().find(|it| it.contains("generated")).unwrap_or("no cases").trim();
    ensure!(cases.contains("passed"), "schemathesis tried nothing: {told}");
    let answered = server.metric("drydock_extension_answers_total")?;
    ensure!(answered > 0, "no extension was reached");
    server.end()?;
    println!("clients: {SCHEMATHESIS}: {cases}; {answered} requests reached an extension");
    Ok(())
}

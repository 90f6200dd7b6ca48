//! A client that reads the server's own description and asks whatever that allows, and what it does not: schemathesis from
//! the registry, against the binary. No answer may be a 5xx that is not a guest's own, none may be described otherwise.

use std::{
    fs,
    path::Path,
    process::{Command, Stdio},
    time::{Duration, Instant},
};

use anyhow::{Context as _, ensure};
use serde_json::Value;

use crate::{clients::python_with, load::Server};

/// The fuzzing client.
pub(crate) const SCHEMATHESIS: &str = "schemathesis==4.32.5";
/// What is checked of each answer.
const CHECKS: &str = "not_a_server_error,status_code_conformance,content_type_conformance,response_headers_conformance,\
                      response_schema_conformance";
/// Names that are there, so that more than absent things is asked for; and for what removes something names of what is not,
/// because whatever it removed could not be asked for any more.
fn settings(process: &str) -> String {
    let absent = "0123456789abcdef0123456789abcdef";
    format!(
        r#"request-timeout = 60.0

[parameters]
extension = "echo"
name = "w"
path = "workspace/a"
key = "k"
topic = "t"
id = "{absent}"

[[operations]]
include-operation-id = ["extension", "extension_logs"]
parameters = {{ name = "echo" }}

[[operations]]
include-operation-id = ["process", "process_stdin", "process_stdout", "process_stderr"]
parameters = {{ id = "{process}" }}

[[operations]]
include-operation-id = ["uninstall", "workspace_remove", "secret_remove"]
parameters = {{ name = "absent" }}

[[operations]]
include-operation-id = ["file_remove"]
parameters = {{ path = "workspace/absent" }}

[[operations]]
include-operation-id = ["kv_delete"]
parameters = {{ key = "absent" }}
"#
    )
}

pub(crate) fn run(root: &Path, scratch: &Path, binary: &Path, seconds: u64) -> anyhow::Result<()> {
    let python = python_with(scratch, "schemathesis", SCHEMATHESIS)?;
    let work = tempfile::tempdir_in(scratch)?;
    let server = Server::start(binary, &root.join("bench/src/group/echo.wat"))?;
    let mut client = server.client()?;
    for (method, path, body) in [
        ("PUT", "/v1/workspaces/w", ""),
        ("PUT", "/v1/workspaces/w/files/workspace/a", "text"),
        ("POST", "/v1/workspaces/w/snapshots", r#"{"name":"s"}"#),
        ("PUT", "/v1/kv/k", "a value"),
        ("POST", "/v1/queues/t/messages", "a message"),
        ("PUT", "/v1/secrets/w", "a secret of some length"),
    ] {
        let answer = client.ask(method, path, body.as_bytes())?;
        ensure!(answer.status == 200, "{method} {path} answered {}", answer.status);
    }
    // One that ends by itself: nothing waits for what it will write.
    let started = client.ask("POST", "/v1/processes", br#"{"command":"upper","stdin":"text"}"#)?;
    let started: Value = serde_json::from_slice(&started.body).context("no process")?;
    let process = started["id"].as_str().with_context(|| format!("no process: {started}"))?;
    let config = work.path().join("schemathesis.toml");
    fs::write(&config, settings(process))?;
    let fuzz = |seconds: u64, token: Option<&str>| {
        let mut command = Command::new(python.with_file_name("schemathesis"));
        command.arg("--config-file").arg(&config).arg("run");
        command.arg(format!("http://{}/openapi.json", server.address));
        command.args(["--checks", CHECKS, "--workers", "1", "--warnings", "off"]);
        command.args(["--max-time", &seconds.to_string()]);
        if let Some(token) = token {
            command.args(["--header", &format!("authorization: Bearer {token}")]);
        }
        let output =
            command.current_dir(work.path()).stdin(Stdio::null()).output().context("schemathesis")?;
        let told = String::from_utf8_lossy(&output.stdout);
        let errors = String::from_utf8_lossy(&output.stderr);
        ensure!(output.status.success(), "schemathesis found something: {told}{errors}");
        let cases = told.lines().find(|it| it.contains("generated")).unwrap_or("no cases").trim().to_owned();
        ensure!(cases.contains("passed"), "schemathesis tried nothing: {told}");
        anyhow::Ok(cases)
    };
    let cases = fuzz(seconds.div_ceil(2), None)?;
    let answered = server.metric("drydock_extension_answers_total")?;
    ensure!(answered > 0, "no extension was reached");
    // The same with a token, without which nobody is let in from now on.
    let token = server.token(binary, "dev")?;
    let began = Instant::now();
    while server.client()?.get("/v1/workspaces")?.status != 401 {
        ensure!(began.elapsed() < Duration::from_secs(10), "a token closes the door for all without one");
    }
    let with_a_token = fuzz(seconds.div_ceil(2), Some(&token))?;
    server.end()?;
    println!(
        "clients: {SCHEMATHESIS}: {cases}; with a token {with_a_token}; {answered} requests reached an extension"
    );
    Ok(())
}

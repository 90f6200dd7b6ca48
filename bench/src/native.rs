//! The native way: a process for each command.

use std::{
    fs::File,
    io::{Read as _, Write as _},
    path::{Path, PathBuf},
    process::{Command, Stdio},
};

use anyhow::{Context as _, ensure};

/// Where a program is, looked up once so that its contender need not each time.
pub(crate) fn find(name: &str) -> anyhow::Result<PathBuf> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let mut places = std::env::split_paths(&path).map(|folder| folder.join(name));
    places.find(|it| it.is_file()).with_context(|| format!("there is no `{name}` on the path"))
}

/// Spawns `tr a-z A-Z`, feeds it, reads it and waits for it.
pub(crate) fn run_tr(tr: &Path, text: &[u8]) -> anyhow::Result<Vec<u8>> {
    let mut command = Command::new(tr);
    command.args(["a-z", "A-Z"]).stdin(Stdio::piped()).stdout(Stdio::piped());
    let mut child = command.spawn()?;
    // Less than a pipe holds: nobody waits for anybody.
    child.stdin.take().context("stdin is piped")?.write_all(text)?;
    let mut answer = Vec::with_capacity(text.len());
    child.stdout.take().context("stdout is piped")?.read_to_end(&mut answer)?;
    ensure!(child.wait()?.success(), "tr failed");
    Ok(answer)
}

/// The same on a runtime.
pub(crate) async fn run_tr_async(tr: &Path, text: &[u8]) -> anyhow::Result<Vec<u8>> {
    use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
    let mut command = tokio::process::Command::new(tr);
    command.args(["a-z", "A-Z"]).stdin(Stdio::piped()).stdout(Stdio::piped());
    let mut child = command.spawn()?;
    child.stdin.take().context("stdin is piped")?.write_all(text).await?;
    let mut answer = Vec::with_capacity(text.len());
    child.stdout.take().context("stdout is piped")?.read_to_end(&mut answer).await?;
    ensure!(child.wait().await?.success(), "tr failed");
    Ok(answer)
}

/// Runs a command with a file for stdin, and answers what it wrote to stdout.
pub(crate) fn run_on_file(command: &mut Command, stdin: &Path) -> anyhow::Result<Vec<u8>> {
    let input = File::open(stdin)?;
    let mut child = command.stdin(input).stdout(Stdio::piped()).spawn()?;
    let mut answer = Vec::new();
    child.stdout.take().context("stdout is piped")?.read_to_end(&mut answer)?;
    let status = child.wait()?;
    ensure!(status.success(), "{command:?} ended with {status}");
    Ok(answer)
}

//! A Python program in flight whose principal is revoked by another process: it ends, and both its ends are on record.

use std::{
    path::Path,
    process::{Command, Stdio},
    thread,
    time::{Duration, Instant},
};

use anyhow::Context as _;
use serde_json::Value;

use crate::must_succeed;

/// As good as for ever, for what ends within a second.
const PATIENCE: Duration = Duration::from_secs(60);
/// Between two looks.
const LOOK: Duration = Duration::from_millis(50);

/// Answers what went otherwise.
pub(super) fn run(binary: &Path, home: &Path) -> anyhow::Result<Vec<String>> {
    let drydock = |args: &[&str]| {
        let mut command = Command::new(binary);
        command.args(args).env("DRYDOCK_HOME", home);
        command
    };
    let before = records(&drydock)?.len();
    let mut endless = drydock(&["py", "--timeout", "10m", "-c", "while True: pass"])
        .stdin(Stdio::null())
        .spawn()
        .context("could not start a program")?;
    let begun = Instant::now();
    while records(&drydock)?.len() == before && begun.elapsed() < PATIENCE {
        thread::sleep(LOOK);
    }
    must_succeed(&mut drydock(&["revoke", "cli"]))?;
    let revoked = Instant::now();
    let ended = loop {
        match endless.try_wait()? {
            Some(status) => break Some(status),
            None if revoked.elapsed() > PATIENCE => break None,
            None => thread::sleep(LOOK),
        }
    };
    let took = revoked.elapsed();
    if ended.is_none() {
        endless.kill()?;
        endless.wait()?;
    }
    must_succeed(&mut drydock(&["unrevoke", "cli"]))?;
    let records = records(&drydock)?;
    let decisions: Vec<&str> = records[before..].iter().filter_map(|it| it["decision"].as_str()).collect();
    let one_call = records[before..].windows(2).all(|it| it[0]["call"] == it[1]["call"]);
    println!("a Python program ended {:.1} s after its principal was revoked", took.as_secs_f64());
    let is_as_wanted = ended.is_some_and(|it| !it.success()) && one_call && decisions.len() == 2;
    Ok((!is_as_wanted)
        .then(|| format!("a revoked Python program ended as {ended:?}, with records {decisions:?}"))
        .into_iter()
        .collect())
}

/// The records of Python programs, oldest first.
fn records(drydock: &impl Fn(&[&str]) -> Command) -> anyhow::Result<Vec<Value>> {
    let output = drydock(&["audit", "--json", "--limit", "100000"]).output()?;
    let all: Result<Vec<Value>, _> =
        String::from_utf8_lossy(&output.stdout).lines().map(serde_json::from_str).collect();
    let of_python = |it: &Value| it["operation"] == "code.run" && it["subject"] == "python";
    Ok(all?.into_iter().filter(of_python).collect())
}

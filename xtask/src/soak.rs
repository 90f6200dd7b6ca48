//! `cargo xtask soak [--schedules N] [--processes N] [--seed N] [--release]`: a hundred thousand random schedules of the
//! async hub, and ten thousand processes of which half are killed. The small forms of both are tests; this is the same code
//! with larger numbers, and its figures printed. Too long for `.ci/run`.

use std::path::Path;

use anyhow::{Context as _, bail};

use crate::{cargo, must_succeed};

pub(crate) fn run(root: &Path, args: &[String]) -> anyhow::Result<()> {
    let (mut schedules, mut processes, mut seed, mut release) = (100_000, 10_000, 7, false);
    let mut rest = args.iter();
    while let Some(arg) = rest.next() {
        let mut number = || -> anyhow::Result<u64> {
            rest.next().with_context(|| format!("{arg} takes a number"))?.parse().context("no number")
        };
        match arg.as_str() {
            "--schedules" => schedules = number()?,
            "--processes" => processes = number()?,
            "--seed" => seed = number()?,
            "--release" => release = true,
            other => bail!("`soak` does not know `{other}`"),
        }
    }
    // The seed is that of the processes: schedules are numbered from nought, and one that fails says its own.
    let (many_schedules, many_processes) =
        ([("DRYDOCK_SCHEDULES", schedules)], [("DRYDOCK_PROCESSES", processes), ("DRYDOCK_SEED", seed)]);
    let all = [
        ("simulation", "no_schedule_breaks_a_law", many_schedules.as_slice()),
        (
            "processes",
            "of_many_processes_of_which_half_are_killed_at_any_moment_nothing_is_left",
            &many_processes,
        ),
    ];
    for (test, name, variables) in all {
        let mut command = cargo();
        command.args(["test", "--quiet", "--workspace", "--test", test]).current_dir(root);
        if release {
            command.arg("--release");
        }
        command.args(["--", "--nocapture", "--exact", name]);
        command.envs(variables.iter().map(|(key, value)| (*key, value.to_string())));
        must_succeed(&mut command)?;
    }
    Ok(())
}

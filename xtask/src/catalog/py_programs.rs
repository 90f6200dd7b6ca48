//! Programs in Python, run by `python3` in a line, must say and end as CPython does: `xtask/cases/python/*.py`, each with
//! a `.want` that is its stdout and a last line with its status. The machine's own python3 is asked too, so that no
//! expectation is only ours.

use std::{
    fs,
    path::{Path, PathBuf},
    process::Command,
};

use anyhow::{Context as _, bail};

use super::c_programs::finished;

/// Runs every program over a data directory that has the interpreter; answers which failed.
pub(super) fn run(root: &Path, binary: &Path, home: &Path) -> anyhow::Result<Vec<String>> {
    let folder = root.join("xtask/cases/python");
    let mut sources: Vec<PathBuf> = fs::read_dir(&folder)?.flatten().map(|it| it.path()).collect();
    sources.retain(|it| it.extension().is_some_and(|it| it == "py"));
    sources.sort();
    if sources.is_empty() {
        bail!("there are no programs in {}", folder.display());
    }
    let native = Command::new("python3").arg("--version").output().is_ok();
    let mut failed = Vec::new();
    for source in &sources {
        let name = source.file_stem().unwrap_or_default().to_string_lossy().into_owned();
        let want = fs::read_to_string(source.with_extension("want"))
            .with_context(|| format!("{name}.py has no {name}.want"))?;
        let text = fs::read_to_string(source)?;
        let input = text.lines().find_map(|it| it.strip_prefix("# stdin: ")).unwrap_or_default();
        // Both in a directory of their own: programs write files.
        let mut inside = Command::new(binary);
        let line = format!("python3 {name}.py");
        inside.args(["sh", "--dir", ".", "-c", &line]).env("DRYDOCK_HOME", home);
        let mut outside = Command::new("python3");
        outside.arg(format!("{name}.py"));
        for (place, mut command) in [("inside", inside), ("by python3", outside)] {
            if place == "by python3" && !native {
                continue;
            }
            let scratch = tempfile::tempdir()?;
            fs::copy(source, scratch.path().join(format!("{name}.py")))?;
            command.current_dir(scratch.path());
            let got = finished(command, input)?;
            if got != want {
                println!("python program {name}, {place}: wanted\n{want}got\n{got}");
                failed.push(format!("{name} {place}"));
            }
        }
    }
    println!(
        "{} python programs run inside{}",
        sources.len(),
        if native { ", and by python3" } else { "; there is no python3 to ask" }
    );
    Ok(failed)
}

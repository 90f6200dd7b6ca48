//! Programs in C and C++, compiled and run inside, must say and end as they do where gcc compiled them:
//! `xtask/cases/c/*.c` and `*.cpp`, each with a `.want` that is its stdout and a last line with its status. Where gcc is on this machine, it is asked too, so
//! that no expectation is only ours.

use std::{
    fs,
    io::Write as _,
    path::{Path, PathBuf},
    process::{Command, Stdio},
};

use anyhow::{Context as _, bail};

/// Runs every program over a data directory that has the compiler; answers which failed.
pub(super) fn run(root: &Path, binary: &Path, home: &Path) -> anyhow::Result<Vec<String>> {
    let folder = root.join("xtask/cases/c");
    let mut sources: Vec<PathBuf> = fs::read_dir(&folder)?.flatten().map(|it| it.path()).collect();
    sources.retain(|it| it.extension().is_some_and(|it| it == "c" || it == "cpp"));
    sources.sort();
    if sources.is_empty() {
        bail!("there are no programs in {}", folder.display());
    }
    let native = Command::new("gcc").arg("--version").output().is_ok();
    let mut failed = Vec::new();
    for source in &sources {
        let name = source.file_stem().unwrap_or_default().to_string_lossy().into_owned();
        let want = fs::read_to_string(source.with_extension("want"))
            .with_context(|| format!("{name}.c has no {name}.want"))?;
        let input = stdin_of(&fs::read_to_string(source)?);
        let inside = inside(binary, home, source, &name, &input)?;
        let outside = if native { outside(source, &name, &input)? } else { want.clone() };
        for (place, got) in [("inside", inside), ("by gcc", outside)] {
            if got != want {
                println!("c program {name}, {place}: wanted\n{want}got\n{got}");
                failed.push(format!("{name} {place}"));
            }
        }
    }
    println!(
        "{} c programs compiled and run inside{}",
        sources.len(),
        if native { ", and by gcc" } else { "; there is no gcc to ask" }
    );
    Ok(failed)
}

/// What a program reads: the text of a comment at its beginning.
fn stdin_of(source: &str) -> String {
    let line = source.lines().find_map(|it| it.strip_prefix("/* stdin: ")?.strip_suffix(" */"));
    line.unwrap_or_default().to_owned()
}

fn compiler_of(source: &Path) -> &'static str {
    if source.extension().is_some_and(|it| it == "cpp") { "g++" } else { "gcc" }
}

fn inside(binary: &Path, home: &Path, source: &Path, name: &str, input: &str) -> anyhow::Result<String> {
    let folder = source.parent().context("a program has a folder")?;
    let file = source.file_name().unwrap_or_default().to_string_lossy();
    let line = format!("{} -w {file} -o {name} -lm && ./{name}", compiler_of(source));
    let mut command = Command::new(binary);
    command.args(["sh", "--dir"]).arg(folder).args(["-c", &line]).env("DRYDOCK_HOME", home);
    finished(command, input)
}

fn outside(source: &Path, name: &str, input: &str) -> anyhow::Result<String> {
    let folder = tempfile::tempdir()?;
    let program = folder.path().join(name);
    crate::must_succeed(
        Command::new(compiler_of(source)).arg("-w").arg(source).arg("-o").arg(&program).arg("-lm"),
    )?;
    // Through a shell, which knows how a signal is shown.
    let mut command = Command::new("bash");
    command.current_dir(&folder).args(["-c", &format!("{{ ./{name}; }} 2>/dev/null; exit $?")]);
    finished(command, input)
}

pub(super) fn finished(mut command: Command, input: &str) -> anyhow::Result<String> {
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().with_context(|| format!("could not start {command:?}"))?;
    if let Some(mut stdin) = child.stdin.take() {
        // A program that reads nothing may be gone already.
        let _ = stdin.write_all(input.as_bytes());
    }
    let output = child.wait_with_output()?;
    let status = output.status.code().context("it was killed")?;
    Ok(format!("{}status {status}\n", String::from_utf8_lossy(&output.stdout)))
}

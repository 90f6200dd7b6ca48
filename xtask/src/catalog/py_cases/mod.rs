//! `drydock py` with CPython itself: a table of programs, what each must print and how it must end. The same bytes
//! and status as the machine's own python3, where the row says so and there is one.

mod results;
mod runner;
mod served;
mod table;

use std::{
    fs,
    io::Write as _,
    path::Path,
    process::{Command, Stdio},
};

use anyhow::Context as _;

pub(crate) use table::CASES;

/// One program.
pub(crate) struct Case {
    /// A sentence about what it proves.
    pub(crate) name: &'static str,
    /// Flags of `drydock py`.
    pub(crate) flags: &'static [&'static str],
    /// The program.
    pub(crate) code: &'static str,
    /// What it reads.
    pub(crate) stdin: &'static str,
    /// What it must print.
    pub(crate) stdout: &'static str,
    /// How it must end.
    pub(crate) status: i32,
    /// What must be in its stderr.
    pub(crate) stderr_has: &'static str,
    /// Whether python3 of the machine must do the same.
    pub(crate) like_native: bool,
}

/// A program that ends well and says nothing on stderr.
pub(crate) const PLAIN: Case = Case {
    name: "",
    flags: &[],
    code: "",
    stdin: "",
    stdout: "",
    status: 0,
    stderr_has: "",
    like_native: false,
};

/// Runs every case in a home where `python` is installed; answers what went otherwise.
pub(super) fn run(binary: &Path, home: &Path) -> anyhow::Result<Vec<String>> {
    let work = tempfile::tempdir()?;
    fs::write(work.path().join("helper.py"), "def f():\n    return 42\n")?;
    let mut failed = Vec::new();
    for case in CASES {
        let mut command = Command::new(binary);
        command.arg("py").args(case.flags).args(["-c", case.code]).env("DRYDOCK_HOME", home);
        let (stdout, stderr, status) = said(command.current_dir(work.path()), case.stdin)?;
        let is_right =
            stdout == case.stdout && status == Some(case.status) && stderr.contains(case.stderr_has);
        if !is_right {
            failed.push(format!("{}: status {status:?}, stdout {stdout:?}, stderr {stderr:?}", case.name));
        }
        if case.like_native {
            let mut native = Command::new("python3");
            native.args(["-c", case.code]).current_dir(work.path());
            match said(&mut native, case.stdin) {
                Ok((native, _, ended)) if native != stdout || ended != status => {
                    failed
                        .push(format!("{}: python3 printed {native:?} and ended with {ended:?}", case.name));
                }
                Ok(_) => {}
                // Only a machine without one may skip the comparison, and says so.
                Err(error) => println!("{}: not compared: {error:#}", case.name),
            }
        }
    }
    failed.extend(runner::run(binary, home)?);
    failed.extend(results::run(binary, home)?);
    failed.extend(served::run(binary, home)?);
    println!("drydock py: {} of {} cases", CASES.len() - failed.len().min(CASES.len()), CASES.len());
    Ok(failed)
}

pub(super) fn said(command: &mut Command, stdin: &str) -> anyhow::Result<(String, String, Option<i32>)> {
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().with_context(|| format!("could not start {command:?}"))?;
    if let Some(mut input) = child.stdin.take() {
        // A program that does not read it is free to.
        let _ = input.write_all(stdin.as_bytes());
    }
    let output = child.wait_with_output()?;
    let text = |bytes: Vec<u8>| String::from_utf8_lossy(&bytes).into_owned();
    Ok((text(output.stdout), text(output.stderr), output.status.code()))
}

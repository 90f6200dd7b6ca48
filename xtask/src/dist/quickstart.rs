//! Installs the wheel into a fresh venv and the package into a fresh node project, and runs what README
//! shows there: the quickstarts are README's own blocks, so that they cannot drift apart. The types that the
//! clients come with are read by mypy and tsc, from the registries.

use std::{fs, path::Path, process::Command};

use anyhow::{Context as _, ensure};

use crate::must_succeed;

/// Reads the types of the Python client.
const MYPY: &str = "mypy==2.4.1";
/// Reads the types of the node client, which name types of node's own.
const TYPESCRIPT: &[&str] = &["typescript@5.9.3", "@types/node@20.19.25"];

/// Runs both; fails if python3, node, npm, a block or an answer is missing.
pub(crate) fn run(root: &Path, wheel: &Path, npm: &Path) -> anyhow::Result<()> {
    let readme = fs::read_to_string(root.join("README.md"))?;
    let scratch = tempfile::tempdir()?;
    python(&readme, wheel, &scratch.path().join("python"))?;
    node(&readme, npm, &scratch.path().join("node"))?;
    // Longer scenarios, with the same installed packages.
    let of = |name: &str| root.join("clients").join(name);
    let venv = scratch.path().join("python/venv/bin/python");
    must_succeed(fresh(&venv, &scratch.path().join("python")).arg(of("python/scenario.py")))?;
    let scenario = scratch.path().join("node/scenario.mjs");
    fs::copy(of("npm/scenario.mjs"), &scenario)?;
    must_succeed(fresh(Path::new("node"), &scratch.path().join("node")).arg(&scenario))
}

fn python(readme: &str, wheel: &Path, folder: &Path) -> anyhow::Result<()> {
    fs::create_dir_all(folder)?;
    must_succeed(Command::new("python3").args(["-m", "venv", "venv"]).current_dir(folder))?;
    let pip = ["-m", "pip", "install", "--quiet", "--no-index", "--disable-pip-version-check"];
    must_succeed(fresh(&folder.join("venv/bin/python"), folder).args(pip).arg(wheel))?;
    let code = block(readme, "python").context("README has no python block")?;
    fs::write(folder.join("quickstart.py"), code)?;
    let python = folder.join("venv/bin/python");
    must_succeed(fresh(&python, folder).arg("quickstart.py"))?;
    let pip = ["-m", "pip", "install", "--quiet", "--disable-pip-version-check", MYPY];
    must_succeed(fresh(&python, folder).args(pip))?;
    must_succeed(fresh(&python, folder).args(["-m", "mypy", "--strict", "quickstart.py"]))?;
    // A wrong type is found, or the package is not typed at all.
    fs::write(
        folder.join("wrong.py"),
        "from drydock import Sandbox\n\nn: int = Sandbox().sh(\"x\").stdout\n",
    )?;
    must_object(fresh(&python, folder).args(["-m", "mypy", "--strict", "wrong.py"]), "[assignment]")
}

fn node(readme: &str, npm: &Path, folder: &Path) -> anyhow::Result<()> {
    fs::create_dir_all(folder)?;
    fs::write(folder.join("package.json"), "{\"private\":true,\"type\":\"module\"}\n")?;
    let install = ["install", "--silent", "--offline", "--no-audit", "--no-fund"];
    must_succeed(Command::new("npm").args(install).arg(npm).current_dir(folder))?;
    let code = block(readme, "js").context("README has no js block")?;
    fs::write(folder.join("quickstart.mjs"), code)?;
    must_succeed(fresh(Path::new("node"), folder).arg("quickstart.mjs"))?;
    let install = ["install", "--silent", "--no-audit", "--no-fund", "--save-dev"];
    must_succeed(Command::new("npm").args(install).args(TYPESCRIPT).current_dir(folder))?;
    let tsc = folder.join("node_modules/.bin/tsc");
    let flags = ["--noEmit", "--strict", "--module", "nodenext", "--target", "es2022", "--types", "node"];
    fs::write(folder.join("quickstart.mts"), code)?;
    must_succeed(fresh(&tsc, folder).args(flags).arg("quickstart.mts"))?;
    let wrong = "import { Sandbox } from \"drydock\";\nexport const n: number = (await new Sandbox().sh(\"x\")).stdout;\n";
    fs::write(folder.join("wrong.mts"), wrong)?;
    must_object(fresh(&tsc, folder).args(flags).arg("wrong.mts"), "TS2322")
}

/// That a checker finds what is wrong, and says so with this word.
fn must_object(checker: &mut Command, word: &str) -> anyhow::Result<()> {
    let said = checker.output()?;
    let text = String::from_utf8_lossy(&said.stdout);
    ensure!(!said.status.success() && text.contains(word), "{checker:?} found nothing wrong: {text}");
    Ok(())
}

/// A program in `folder` with a data directory of its own and no binary but the installed one.
fn fresh(program: &Path, folder: &Path) -> Command {
    let mut command = Command::new(program);
    command.current_dir(folder).env("DRYDOCK_HOME", folder.join("home")).env_remove("DRYDOCK_BINARY");
    command
}

/// The first fenced block of that language.
fn block<'r>(readme: &'r str, language: &str) -> Option<&'r str> {
    let (_, rest) = readme.split_once(&format!("\n```{language}\n"))?;
    rest.split_once("\n```").map(|it| it.0)
}

/// That a fresh install can be tried at all.
pub(crate) fn needs() -> anyhow::Result<()> {
    for (program, package) in [("python3", "python3-venv"), ("node", "nodejs"), ("npm", "npm")] {
        let there = Command::new(program).arg("--version").output().is_ok_and(|it| it.status.success());
        ensure!(there, "`{program}` is needed to try the clients; install {package}");
    }
    Ok(())
}

//! The server: the binary in a home of its own, with extensions that answer, trap and loop.

use std::{
    fs,
    io::{BufRead as _, BufReader},
    net::SocketAddr,
    path::Path,
    process::{Child, ChildStdout, Command, Stdio},
};

use anyhow::{Context as _, bail, ensure};

use super::client::Client;
use crate::must_succeed;

const TRAP: &str = r#"(module (memory (export "memory") 1) (func (export "alloc") (param i32) (result i32) (i32.const 16))
  (func (export "handler") (param i32 i32 i32) (result i32) unreachable))"#;
const LOOP: &str = r#"(module (memory (export "memory") 1) (func (export "alloc") (param i32) (result i32) (i32.const 16))
  (func (export "handler") (param i32 i32 i32) (result i32) (loop $on (br $on)) (i32.const 0)))"#;

/// A server that runs until it is dropped.
pub(crate) struct Server {
    child: Child,
    _stdout: BufReader<ChildStdout>,
    pub(crate) address: SocketAddr,
    /// Its home, where nobody else has it.
    home: Option<tempfile::TempDir>,
}

/// All that a token may have.
const POWERS: [&str; 10] =
    ["invoke", "install", "secrets", "run", "workspaces", "kept", "agents", "reviews", "audit", "metrics"];

impl Server {
    /// In a new home, with extensions.
    pub(crate) fn start(binary: &Path, echo: &Path) -> anyhow::Result<Self> {
        let home = tempfile::tempdir()?;
        install(binary, home.path(), echo)?;
        let mut server = Self::over(binary, home.path())?;
        server.home = Some(home);
        Ok(server)
    }

    /// Over a home that is there.
    pub(crate) fn over(binary: &Path, home: &Path) -> anyhow::Result<Self> {
        let mut command = Command::new(binary);
        command.args(["serve", "--listen", "0", "--header-timeout", "300s"]).env("DRYDOCK_HOME", home);
        let mut child = command.stdout(Stdio::piped()).spawn().context("could not start the server")?;
        let mut stdout = BufReader::new(child.stdout.take().context("no stdout")?);
        let mut line = String::new();
        stdout.read_line(&mut line)?;
        let port = line.trim().rsplit(':').next().and_then(|it| it.parse().ok());
        let address = ([127, 0, 0, 1], port.with_context(|| format!("it says no port: {line:?}"))?).into();
        Ok(Self { child, _stdout: stdout, address, home: None })
    }

    /// A token of this tenant that may everything. From a moment later on everybody needs one.
    pub(crate) fn token(&self, binary: &Path, tenant: &str) -> anyhow::Result<String> {
        let home = self.home.as_ref().context("the home is somebody else's")?;
        let mut command = Command::new(binary);
        command.args(["token", "add", tenant]).env("DRYDOCK_HOME", home.path());
        for power in POWERS {
            command.args(["--power", power]);
        }
        let output = command.output().context("could not start the binary")?;
        ensure!(output.status.success(), "token add: {}", String::from_utf8_lossy(&output.stderr));
        Ok(String::from_utf8(output.stdout)?.trim().to_owned())
    }

    pub(crate) fn client(&self) -> anyhow::Result<Client> {
        Client::connect(self.address)
    }

    /// A figure of `/metrics`, all of its rows together.
    pub(crate) fn metric(&self, name: &str) -> anyhow::Result<u64> {
        let answer = self.client()?.get("/metrics")?;
        ensure!(answer.status == 200, "/metrics answered {}", answer.status);
        let text = String::from_utf8(answer.body)?;
        let rows = text.lines().filter(|it| it.starts_with(name));
        rows.map(|it| it.rsplit(' ').next().and_then(|it| it.parse::<u64>().ok()).context("no number")).sum()
    }

    /// KiB that are resident, and descriptors that are open.
    pub(crate) fn held(&self) -> anyhow::Result<(u64, usize)> {
        let process = Path::new("/proc").join(self.child.id().to_string());
        let status = fs::read_to_string(process.join("status"))?;
        let resident = status.lines().find_map(|it| it.strip_prefix("VmRSS:")).context("no VmRSS")?;
        let resident = resident.trim().trim_end_matches("kB").trim().parse()?;
        Ok((resident, fs::read_dir(process.join("fd"))?.count()))
    }

    /// At once, as a power cut would.
    pub(crate) fn kill(mut self) -> anyhow::Result<()> {
        self.child.kill()?;
        self.child.wait()?;
        Ok(())
    }

    /// As an operator would.
    pub(crate) fn end(mut self) -> anyhow::Result<()> {
        must_succeed(Command::new("kill").arg("-TERM").arg(self.child.id().to_string()))?;
        let status = self.child.wait()?;
        if !status.success() {
            bail!("the server ended with {status}");
        }
        Ok(())
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
        drop(self.home.take());
    }
}

/// Extensions `echo`, `trap` and `loop`, which is given 50 ms.
pub(crate) fn install(binary: &Path, home: &Path, echo: &Path) -> anyhow::Result<()> {
    let files = tempfile::tempdir()?;
    let (trap, endless) = (files.path().join("trap.wat"), files.path().join("loop.wat"));
    fs::write(&trap, TRAP)?;
    fs::write(&endless, LOOP)?;
    for (name, file, more) in
        [("echo", echo, &[][..]), ("trap", &trap, &[]), ("loop", &endless, &["--timeout-ms", "50"])]
    {
        let mut command = Command::new(binary);
        command
            .args(["ext", "install", name])
            .arg(file)
            .args(more)
            .env("DRYDOCK_HOME", home)
            .stdout(Stdio::null());
        must_succeed(&mut command)?;
    }
    Ok(())
}

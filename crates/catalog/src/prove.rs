//! Whether what is installed is what the rows say, and works: hashes anew, and each row's own checks.

use std::collections::BTreeSet;

use drydock_contract::{Outcome, port::LoadError};
use drydock_embed::{Dock, Setup, ShellSetup, line_limits, store::TreeStore};

use crate::{
    error::CatalogError,
    install::Catalog,
    row::{Check, Row},
};

/// What is known of a row.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum State {
    /// Nobody installed it.
    NotInstalled,
    /// It is installed, its bytes are right; its checks did not run.
    Installed,
    /// Its checks ran and gave what they must.
    Proven,
    /// It is installed and broken, or a check gave something else.
    Failed(String),
}

impl State {
    /// The stable name.
    pub const fn as_str(&self) -> &'static str {
        match self {
            Self::NotInstalled => "not installed",
            Self::Installed => "installed",
            Self::Proven => "proven",
            Self::Failed(_) => "failed",
        }
    }
}

impl Catalog {
    /// Hashes an installed row anew, and runs its checks if asked to. Installs nothing.
    pub async fn verify(&self, dock: &Dock, row: &Row, checks: bool) -> State {
        let Some(installed) = self.installed(dock, row) else { return State::NotInstalled };
        if let Err(error) = intact(dock, &installed) {
            return State::Failed(format!("{}: {error}", error.code()));
        }
        if !checks {
            return State::Installed;
        }
        for (number, check) in row.checks.iter().enumerate() {
            if let Err(why) = passes(dock, check).await {
                return State::Failed(format!("check {}: {why}", number + 1));
            }
        }
        State::Proven
    }

    /// Takes the names of a row away. Its module, its archive and its directories stay, as runs may use them.
    pub fn remove(&self, dock: &Dock, name: &str) -> Result<Vec<String>, CatalogError> {
        let row = self.row(name)?;
        let records = self.records(dock);
        let installed = records.of(row.name.as_str());
        let installed = installed.ok_or_else(|| CatalogError::NotInstalled(row.name.to_string()))?;
        let mut removed = Vec::new();
        for command in &installed.commands {
            use drydock_contract::port::Registry as _;
            let entry = dock.registry().lookup(command.as_str(), None);
            // A name that was bound to something else since is not the row's any more.
            if entry.is_some_and(|it| !it.builtin && it.digest == installed.sha256) {
                dock.registry().remove(command.as_str())?;
                removed.push(command.to_string());
            }
        }
        let gone = records.remove(row.name.as_str());
        gone.map_err(|cause| CatalogError::Write { path: self.root(dock).join("installed"), cause })?;
        Ok(removed)
    }
}

/// Hashes the module, the snapshot that runs in its place where there is one, and every file of its directories.
fn intact(dock: &Dock, installed: &crate::Installed) -> Result<(), LoadError> {
    use drydock_contract::port::Registry as _;
    let artifacts = dock.registry().artifacts();
    artifacts.verify(installed.sha256)?;
    let images = installed.commands.iter().filter_map(|name| {
        let entry = dock.registry().lookup(name.as_str(), None)?;
        entry.options.image.as_ref().map(|it| it.module)
    });
    images.collect::<BTreeSet<_>>().into_iter().try_for_each(|it| artifacts.verify(it))?;
    let trees = TreeStore::new(dock.home());
    installed.trees.iter().try_for_each(|it| trees.verify(*it).map(drop))
}

/// Runs one check in a sandbox of its own.
async fn passes(dock: &Dock, check: &Check) -> Result<(), String> {
    let (status, stdout, stderr) = match &check.line {
        Some(line) => line_of(dock, check, line).await?,
        None => command_of(dock, check).await?,
    };
    if status != check.status.to_string() {
        return Err(format!("expected status {}, got {status}: {}", check.status, start_of(&stderr)));
    }
    if stdout != check.stdout.as_bytes() {
        return Err(format!("expected {}, got {}", start_of(check.stdout.as_bytes()), start_of(&stdout)));
    }
    Ok(())
}

type Ended = (String, Vec<u8>, Vec<u8>);

async fn command_of(dock: &Dock, check: &Check) -> Result<Ended, String> {
    let Some((name, args)) = check.argv.split_first() else { return Err("it runs nothing".into()) };
    let mut setup = Setup::allowing([name.as_str()]).map_err(|error| error.to_string())?;
    setup = setup.with_files(check.files.iter()).map_err(|error| error.to_string())?;
    setup.env.push(("PWD".into(), "/workspace".into()));
    let session = dock.session(PRINCIPAL, setup).map_err(|error| error.to_string())?;
    let args: Vec<&str> = args.iter().map(String::as_str).collect();
    let run = session.run(name, &args, check.stdin.clone().into_bytes()).await;
    let run = run.map_err(|error| format!("{}: {error}", error.code()))?;
    let status = match run.outcome {
        Outcome::Exited(status) => status.to_string(),
        other => other.to_string(),
    };
    Ok((status, run.stdout, run.stderr))
}

async fn line_of(dock: &Dock, check: &Check, line: &str) -> Result<Ended, String> {
    let mut setup = Setup::profile("minimal");
    setup = setup.with_files(check.files.iter()).map_err(|error| error.to_string())?;
    let exec = dock.exec(line).with(PRINCIPAL, setup).shell(ShellSetup::default());
    let done = exec.timeout(line_limits().wall_max).stdin(check.stdin.clone().into_bytes()).await;
    let done = done.map_err(|error| error.to_string())?;
    let status = done.limit.unwrap_or_else(|| done.status.to_string());
    Ok((status, done.stdout, done.stderr))
}

/// Who checks run for, in the audit journal.
const PRINCIPAL: &str = "catalog";

fn start_of(bytes: &[u8]) -> String {
    let text = String::from_utf8_lossy(bytes.get(..200).unwrap_or(bytes)).into_owned();
    format!("{text:?}")
}

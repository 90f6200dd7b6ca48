//! What `drydock kv` and `drydock queue` have in common: a session for what a tenant's guests keep, and the one way in which
//! both say that there is no answer.

use std::{io::Read as _, process::ExitCode};

use anyhow::Context as _;
use drydock_embed::{
    DockSession,
    broker::{Answer, Failure},
    contract::{CallError, Tenant},
};
use tokio::runtime::Runtime;

use super::{revoke, run::PRINCIPAL};
use crate::{exit, home};

/// Who asks, and a thread that waits.
pub(super) struct Keeper {
    pub(super) session: DockSession,
    pub(super) runtime: Runtime,
}

/// What came of a request that is no answer.
#[derive(Debug)]
struct NoAnswer {
    code: String,
    message: String,
}

impl std::fmt::Display for NoAnswer {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for NoAnswer {}

impl Keeper {
    pub(super) fn of(tenant: &Tenant) -> anyhow::Result<Self> {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
        let session = home::dock()?.for_tenant(tenant.clone()).kept(PRINCIPAL)?;
        Ok(Self { session, runtime })
    }
}

/// The answer; else an error that knows its code.
pub(super) fn told<T>(answered: Result<Answer<T>, CallError>) -> anyhow::Result<T> {
    let (code, message) = match answered {
        Ok(Ok(answer)) => return Ok(answer),
        Ok(Err(Failure { code, message })) => (code.into_owned(), message),
        Err(error) => (error.code().to_owned(), error.to_string()),
    };
    Err(NoAnswer { code, message }.into())
}

/// The end of the command. What has a code is told with it.
pub(super) fn ended(done: anyhow::Result<()>, tenant: &Tenant, json: bool) -> anyhow::Result<ExitCode> {
    let Err(error) = done else { return Ok(ExitCode::SUCCESS) };
    let code = error.downcast_ref::<NoAnswer>().map(|it| it.code.clone());
    match code {
        Some(code) => {
            let status = exit::report_code(&code, &error, json)?;
            if code == "revoked" && !json {
                exit::warn(&revoke::hint(PRINCIPAL, Some(tenant)));
            }
            Ok(status)
        }
        None => Err(error),
    }
}

/// Bytes of an argument, or of stdin where it is `-` or missing. More than that are not read.
pub(super) fn bytes(given: Option<String>, bytes_max: usize) -> anyhow::Result<Vec<u8>> {
    match given {
        Some(text) if text != "-" => Ok(text.into_bytes()),
        _ => {
            if std::io::IsTerminal::is_terminal(&std::io::stdin()) {
                exit::warn("reading stdin; Ctrl-D ends it");
            }
            let mut bytes = Vec::new();
            let mut stdin = std::io::stdin().lock().take(bytes_max as u64 + 1);
            stdin.read_to_end(&mut bytes).context("could not read stdin")?;
            Ok(bytes)
        }
    }
}

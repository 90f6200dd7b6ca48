//! `drydock secret`: the secrets of a tenant. They are kept, made or referred to here, and shown nowhere.

use std::{
    io::{self, IsTerminal as _, Read as _},
    path::PathBuf,
    process::ExitCode,
    sync::Arc,
};

use anyhow::{Context as _, bail};
use clap::{Args, Subcommand};
use drydock_embed::{
    Dock, SecretName, SecretRef, StoredSecret, StoredSecrets,
    change::{GENERATE, KEEP, REFER, REMOVE},
    contract::{Outcome, Tenant},
    store::{KEPT_BYTES_MAX, SqliteLedger},
};
use serde_json::json;
use zeroize::Zeroizing;

use super::run::PRINCIPAL;
use crate::{exit, home, show, typed};

#[derive(Debug, Args)]
#[command(after_help = "\
A secret is kept, sealed under a key of this installation (keep, generate), or referred to (add): env:VARIABLE of
the process that sends requests, or file:/PATH that it reads. Guests sign with a kept one where they were granted
its name (--allow-secret NAME), and never see it. All of them can go into headers of requests
(--secret NAME=kept, ext install --secret). No command shows a value.

Examples:
  drydock secret keep WEBHOOK < webhook.key
  drydock secret generate IDENTITY
  drydock secret add SHOP_KEY env:SHOP_API_KEY --tenant acme")]
pub(crate) struct Secret {
    #[command(subcommand)]
    act: Act,
    /// Whose
    #[arg(long, value_name = "T", default_value_t = Tenant::default(), global = true)]
    tenant: Tenant,
    /// Print JSON
    #[arg(long, global = true)]
    json: bool,
}

#[derive(Debug, Subcommand)]
enum Act {
    /// Keep a value from stdin, typed or piped, or from a file, in the place of another of its name
    Keep {
        name: SecretName,
        /// Where it is read once [default: stdin]
        file: Option<PathBuf>,
        /// Keep the line end after it too
        #[arg(long)]
        exact: bool,
    },
    /// Make and keep a key pair of Ed25519, and show its public half
    Generate {
        name: SecretName,
        /// In the place of another secret of its name, which is lost
        #[arg(long)]
        replace: bool,
    },
    /// Refer to a secret, in the place of another of its name
    Add {
        name: SecretName,
        /// env:VARIABLE or file:/PATH
        #[arg(value_name = "FROM")]
        from: SecretRef,
    },
    /// List secrets and where they come from
    List,
    /// Forget a secret
    Rm { name: SecretName },
}

pub(crate) fn run(secret: Secret) -> anyhow::Result<ExitCode> {
    let tenant = &secret.tenant;
    match secret.act {
        Act::Keep { name, file, exact } => {
            let value = read(file, exact, &name)?;
            let before = changing(tenant, KEEP, &name, |dock| {
                let before = dock.secrets().find(&name)?;
                dock.vault().keep(tenant, &name, &value)?;
                Ok(before)
            })?;
            if before.is_some() {
                exit::warn(&format!("secret `{name}` is in the place of another of its name"));
            }
        }
        Act::Generate { name, replace } => {
            let public_key = changing(tenant, GENERATE, &name, |dock| {
                if !replace && dock.secrets().find(&name)?.is_some() {
                    bail!(
                        "there is a secret `{name}`, and nobody could get it back; --replace puts a new key pair in its place"
                    );
                }
                Ok(dock.vault().generate(tenant, &name)?)
            })?;
            let public_key = hex(&public_key);
            match secret.json {
                true => {
                    show::json(&json!({ "name": name, "algorithm": "ed25519", "public_key": public_key }))?
                }
                false => show::line(&public_key)?,
            }
        }
        Act::Add { from: SecretRef::Registered | SecretRef::Kept, .. } => {
            bail!("a secret is referred to by env:VARIABLE or file:/PATH")
        }
        Act::Add { name, from } => {
            if !changing(tenant, REFER, &name, |dock| Ok(dock.secrets().put(&name, &from)?))? {
                bail!("somebody else changed secret `{name}` at the same time; try again");
            }
        }
        Act::List => {
            let ledger = Arc::new(SqliteLedger::of(&home::open()?));
            list(&StoredSecrets::new(ledger as _, tenant.clone()).all()?, secret.json)?;
        }
        Act::Rm { name } => {
            if !changing(tenant, REMOVE, &name, |dock| Ok(dock.secrets().remove(&name)?))? {
                bail!("there is no secret `{name}`; `drydock secret list` shows those there are");
            }
        }
    }
    Ok(ExitCode::SUCCESS)
}

/// Makes a change that is on record from before it is made, with the secret's name and nothing else of it.
fn changing<T>(
    tenant: &Tenant,
    operation: &'static str,
    name: &SecretName,
    change: impl FnOnce(&Dock) -> anyhow::Result<T>,
) -> anyhow::Result<T> {
    let dock = home::dock()?.for_tenant(tenant.clone());
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let work = runtime.block_on(dock.kept(PRINCIPAL)?.begin_change(operation, name.as_str()))?;
    let done = change(&dock);
    work.end(Outcome::Exited(i32::from(done.is_err())));
    done
}

/// The value. One line end after a text is the editor's, not the secret's.
fn read(file: Option<PathBuf>, exact: bool, name: &SecretName) -> anyhow::Result<Zeroizing<Vec<u8>>> {
    // As much as may be kept and a little more, which makes it none. All of it at once: a buffer that grows leaves copies.
    let mut value = Zeroizing::new(Vec::with_capacity(KEPT_BYTES_MAX + 64));
    let bytes_max = KEPT_BYTES_MAX as u64 + 16;
    match file {
        Some(path) => {
            let shown = || format!("could not read `{}`", path.display());
            let file = std::fs::File::open(&path).with_context(shown)?;
            file.take(bytes_max).read_to_end(&mut value).with_context(shown)?;
        }
        None => {
            let done = match io::stdin().is_terminal() {
                true => typed::line(&format!("value of `{name}`"), &mut value, bytes_max),
                false => io::stdin().lock().take(bytes_max).read_to_end(&mut value).map(drop),
            };
            done.context("could not read stdin")?;
        }
    }
    if !exact && std::str::from_utf8(&value).is_ok() && value.last() == Some(&b'\n') {
        value.pop();
        if value.last() == Some(&b'\r') {
            value.pop();
        }
    }
    Ok(value)
}

fn list(all: &[StoredSecret], json: bool) -> anyhow::Result<()> {
    let algorithm = |it: &StoredSecret| it.kept.as_ref().map(|it| it.algorithm);
    let public_key = |it: &StoredSecret| it.kept.as_ref().and_then(|it| it.public_key).map(|it| hex(&it));
    if json {
        let row = |it: &StoredSecret| json!({ "name": it.name, "from": it.from, "algorithm": algorithm(it), "public_key": public_key(it) });
        show::json(&all.iter().map(row).collect::<Vec<_>>())?;
    } else if all.is_empty() {
        show::line("no secrets")?;
    } else {
        let row = |it: &StoredSecret| {
            let algorithm = algorithm(it).map_or("-".to_owned(), |it| it.to_string());
            [it.name.to_string(), it.from.to_string(), algorithm, public_key(it).unwrap_or("-".into())]
        };
        show::table(["NAME", "FROM", "SIGNS", "PUBLIC KEY"], all.iter().map(row))?;
    }
    Ok(())
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

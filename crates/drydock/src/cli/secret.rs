//! `drydock secret`: where the secrets of a tenant come from. The values are never here.

use std::{process::ExitCode, sync::Arc};

use anyhow::bail;
use clap::{Args, Subcommand};
use drydock_embed::{SecretName, SecretRef, StoredSecrets, contract::Tenant, store::SqliteLedger};
use serde_json::json;

use crate::{home, show};

#[derive(Debug, Args)]
#[command(after_help = "\
A secret is kept by reference: env:VARIABLE of the process that sends requests, or file:/PATH that it reads.
Callers over HTTP can name a registered secret for an extension that they install, and nothing else.

Example:
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
    /// Register a secret, in the place of another of its name
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
    let ledger = Arc::new(SqliteLedger::of(&home::open()?));
    let secrets = StoredSecrets::new(ledger as _, secret.tenant);
    match secret.act {
        Act::Add { from: SecretRef::Registered, .. } => {
            bail!("a secret comes from env:VARIABLE or file:/PATH")
        }
        Act::Add { name, from } => {
            if !secrets.put(&name, &from)? {
                bail!("somebody else changed secret `{name}` at the same time; try again");
            }
        }
        Act::List => {
            let all = secrets.all()?;
            if secret.json {
                let rows = all.iter().map(|(name, from)| json!({ "name": name, "from": from }));
                show::json(&rows.collect::<Vec<_>>())?;
            } else if all.is_empty() {
                show::line("no secrets")?;
            } else {
                show::table(
                    ["NAME", "FROM"],
                    all.iter().map(|(name, from)| [name.to_string(), from.to_string()]),
                )?;
            }
        }
        Act::Rm { name } => {
            if !secrets.remove(&name)? {
                bail!("there is no secret `{name}`; `drydock secret list` shows those there are");
            }
        }
    }
    Ok(ExitCode::SUCCESS)
}

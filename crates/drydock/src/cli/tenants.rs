//! `drydock tenants`: who keeps something in this data directory, and how much. Reads; changes nothing.

use std::{collections::BTreeMap, process::ExitCode, sync::Arc};

use clap::Args;
use drydock_embed::{
    Installations, StoredGrants, StoredSecrets,
    contract::{Node, Tenant},
    store::{CommandRegistry, Home, Origin, Quota, SqliteLedger, Tokens, Workspaces},
};
use serde::Serialize;

use crate::{home, show};

#[derive(Debug, Args)]
#[command(after_help = "\
A tenant is there as soon as it keeps something, has a token or is revoked. The command line is `dev`.
What cannot be read is shown as ?, and as null in JSON: it is that tenant's trouble alone.")]
pub(crate) struct Tenants {
    /// Print JSON
    #[arg(long)]
    json: bool,
}

/// What one tenant keeps; nothing where it cannot be read.
#[derive(Debug, Serialize)]
struct Kept {
    tenant: Tenant,
    commands: Option<usize>,
    extensions: Option<usize>,
    workspaces: Option<usize>,
    secrets: Option<usize>,
    grants: Option<usize>,
    tokens: usize,
    audit_bytes: u64,
    bytes: u64,
    /// Since when the whole tenant is revoked.
    revoked: Option<String>,
}

pub(crate) fn run(tenants: Tenants) -> anyhow::Result<ExitCode> {
    let home = home::open()?;
    let ledger = Arc::new(SqliteLedger::of(&home));
    let mut tokens: BTreeMap<Tenant, usize> = BTreeMap::new();
    for token in Tokens::of(&home).all()? {
        *tokens.entry(token.tenant.clone()).or_default() += 1;
    }
    let revoked: BTreeMap<Tenant, String> = ledger
        .revoked()?
        .into_iter()
        .filter_map(|it| match &it.node {
            Node::Tenant(tenant) => Some((tenant.clone(), it.at_text())),
            Node::Principal(..) | Node::Grant(..) => None,
        })
        .collect();
    let (mut names, nameless) = home.all_tenants()?;
    names.extend(tokens.keys().chain(revoked.keys()).cloned());
    names.sort();
    names.dedup();
    let rows: Vec<Kept> = names
        .into_iter()
        .map(|tenant| Kept {
            tokens: tokens.get(&tenant).copied().unwrap_or_default(),
            revoked: revoked.get(&tenant).cloned(),
            ..kept(&home, &ledger, tenant)
        })
        .collect();
    for folder in nameless {
        crate::exit::warn(&format!("the folder `{folder}` of tenants does not say whose it is"));
    }
    tell(&rows, tenants.json)?;
    Ok(ExitCode::SUCCESS)
}

fn kept(home: &Home, ledger: &Arc<SqliteLedger>, tenant: Tenant) -> Kept {
    let folder = home.tenant(&tenant);
    let registry = CommandRegistry::open(&folder, Vec::new()).ok().filter(|it| it.check().is_ok());
    let own = |it: &CommandRegistry| {
        it.list().iter().filter(|it| matches!(it.origin, Origin::Registered { .. })).count()
    };
    let (bytes, audit_bytes) = folder.held_bytes();
    Kept {
        commands: registry.as_ref().map(own),
        extensions: count(Installations::new(Arc::clone(ledger) as _, tenant.clone()).all()),
        workspaces: count(Workspaces::of(&folder, Quota::default()).list()),
        secrets: count(StoredSecrets::new(Arc::clone(ledger) as _, tenant.clone()).all()),
        grants: count(StoredGrants::new(Arc::clone(ledger) as _, tenant.clone()).all()),
        tokens: 0,
        audit_bytes,
        bytes,
        revoked: None,
        tenant,
    }
}

fn count<T, E>(listed: Result<Vec<T>, E>) -> Option<usize> {
    listed.ok().map(|it| it.len())
}

fn tell(rows: &[Kept], json: bool) -> anyhow::Result<()> {
    if json {
        return Ok(show::json(&rows)?);
    }
    if rows.is_empty() {
        return Ok(show::line("no tenant keeps anything here")?);
    }
    let number = |it: Option<usize>| it.map_or_else(|| "?".to_owned(), |it| it.to_string());
    let row = |it: &Kept| {
        [
            it.tenant.to_string(),
            number(it.commands),
            number(it.extensions),
            number(it.workspaces),
            number(it.secrets),
            number(it.grants),
            it.tokens.to_string(),
            show::size(it.audit_bytes),
            show::size(it.bytes),
            it.revoked.as_ref().map_or_else(|| "-".to_owned(), |it| format!("since {it}")),
        ]
    };
    let heading = [
        "TENANT",
        "COMMANDS",
        "EXTENSIONS",
        "WORKSPACES",
        "SECRETS",
        "GRANTS",
        "TOKENS",
        "AUDIT",
        "ON DISK",
        "REVOKED",
    ];
    Ok(show::table(heading, rows.iter().map(row))?)
}

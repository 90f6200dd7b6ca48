//! `drydock revoke | unrevoke`: who is let in no longer, in every process that uses this data.
//!
//! Writes what the gates of all those processes read; it opens no session and starts nothing itself.

use std::process::ExitCode;

use anyhow::bail;
use clap::Args;
use drydock_embed::{
    SystemClock,
    contract::{
        Node, Principal, Tenant,
        port::{Clock as _, Ledger as _, LedgerError},
    },
    store::{Revoked, SqliteLedger},
};
use serde_json::{Value, json};

use crate::{exit, home, show};

#[derive(Debug, Args)]
pub(crate) struct Revoke {
    #[command(flatten)]
    whom: Whom,
    /// Show what is revoked, instead
    #[arg(long, conflicts_with = "principal")]
    list: bool,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct Unrevoke {
    #[command(flatten)]
    whom: Whom,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

#[derive(Debug, Args)]
struct Whom {
    /// Which one; the command line itself is `cli`
    #[arg(value_name = "PRINCIPAL")]
    principal: Option<Principal>,
    /// Of which tenant, if not dev; alone: the whole tenant
    #[arg(long, value_name = "T")]
    tenant: Option<Tenant>,
}

impl Whom {
    fn node(self) -> anyhow::Result<Node> {
        match (self.principal, self.tenant) {
            (Some(principal), tenant) => Ok(Node::Principal(tenant.unwrap_or_default(), principal)),
            (None, Some(tenant)) => Ok(Node::Tenant(tenant)),
            (None, None) => bail!("name a principal, or a whole tenant with --tenant T"),
        }
    }
}

pub(crate) fn run(revoke: Revoke) -> anyhow::Result<ExitCode> {
    let Revoke { whom, list: listed, json } = revoke;
    answer(if listed { list(whom.tenant.as_ref(), json) } else { change(whom, true, json) }, json)
}

pub(crate) fn unrevoke(unrevoke: Unrevoke) -> anyhow::Result<ExitCode> {
    answer(change(unrevoke.whom, false, unrevoke.json), unrevoke.json)
}

fn answer(done: anyhow::Result<()>, json: bool) -> anyhow::Result<ExitCode> {
    let Err(error) = done else { return Ok(ExitCode::SUCCESS) };
    match error.downcast_ref::<LedgerError>() {
        Some(ledger) => exit::report_code(ledger.code, &error, json),
        None => Err(error),
    }
}

fn change(whom: Whom, revoke: bool, json: bool) -> anyhow::Result<()> {
    let node = whom.node()?;
    let ledger = SqliteLedger::of(&home::open()?);
    let changed = match revoke {
        true => ledger.revoke(&node, SystemClock.now())?,
        false => ledger.unrevoke(&node)?,
    };
    if json {
        let mut told = described(&node);
        (told["revoked"], told["changed"]) = (revoke.into(), changed.into());
        return Ok(show::json(&told)?);
    }
    let text = match (revoke, changed) {
        (true, true) => format!("revoked {node}; what runs now hears it within a second"),
        (true, false) => format!("{node} was revoked already"),
        (false, true) => format!("{node} may ask again; what was ended stays ended"),
        (false, false) => format!("{node} was not revoked"),
    };
    Ok(show::line(&text)?)
}

/// What to say to somebody whose principal may not ask any more.
pub(super) fn hint(principal: &str, tenant: Option<&Tenant>) -> String {
    let of = tenant.map(|it| format!(" --tenant {it}")).unwrap_or_default();
    format!(
        "hint: `{principal}` is revoked; `drydock unrevoke {principal}{of}` takes that back, and `drydock revoke --list` \
         shows since when"
    )
}

fn list(tenant: Option<&Tenant>, json: bool) -> anyhow::Result<()> {
    let mut all = SqliteLedger::of(&home::open()?).revoked()?;
    all.retain(|it| tenant.is_none_or(|tenant| it.node.tenant() == tenant));
    if json {
        let row = |it: &Revoked| {
            let mut told = described(&it.node);
            told["at"] = it.at_text().into();
            told
        };
        return Ok(show::json(&all.iter().map(row).collect::<Vec<_>>())?);
    }
    if all.is_empty() {
        return Ok(show::line("nothing is revoked")?);
    }
    let row = |it: Revoked| {
        let (kind, name) = match &it.node {
            Node::Tenant(_) => ("tenant", String::new()),
            Node::Principal(_, principal) => ("principal", principal.to_string()),
            Node::Grant(_, id) => ("grant", id.to_string()),
        };
        [it.at_text(), it.node.tenant().to_string(), kind.to_owned(), name]
    };
    Ok(show::table(["SINCE", "TENANT", "WHAT", "NAME"], all.into_iter().map(row))?)
}

fn described(node: &Node) -> Value {
    let mut told = json!({ "tenant": node.tenant() });
    match node {
        Node::Tenant(_) => {}
        Node::Principal(_, principal) => told["principal"] = json!(principal),
        Node::Grant(_, id) => told["grant"] = json!(**id),
    }
    told
}

//! `drydock token`: who may ask over HTTP, for which tenant, and for how much.

use std::{process::ExitCode, time::Duration};

use anyhow::bail;
use clap::{Args, Subcommand};
use drydock_embed::{
    HostEntry, SystemClock,
    contract::{Tenant, port::Clock as _},
    store::{Ceiling, CeilingLimits, Token as Kept, Tokens},
};
use serde_json::{Value, json};

use crate::{home, show, units};

/// What a token may be for.
const POWERS: [&str; 10] =
    ["invoke", "install", "secrets", "run", "workspaces", "kept", "agents", "reviews", "audit", "metrics"];

#[derive(Debug, Args)]
#[command(after_help = "\
A token is told once, when it is made; what is kept of it lets nobody in. Its tenant is whose extensions,
workspaces, commands and records it sees. Powers: invoke (requests to extensions), install (extensions),
secrets (their names, and new ones), run (commands, lines, programs), workspaces, kept (values by key, and
messages), audit; and only where they are named: metrics, which is about all tenants, agents (runs, whose
models cost money) and reviews (answers to what runs ask). Without --power it is all of them but these three.

Examples:
  drydock token add acme --expires 90d
  drydock token add acme --power invoke --timeout-ms 2000 --in-flight 8
  curl -H \"authorization: Bearer $TOKEN\" http://127.0.0.1:8080/x/shop/")]
pub(crate) struct Token {
    #[command(subcommand)]
    act: Act,
    /// Print JSON
    #[arg(long, global = true)]
    json: bool,
}

#[derive(Debug, Subcommand)]
enum Act {
    /// Make a token and print it
    Add(Add),
    /// List tokens by id, without their secrets
    List,
    /// Remove a token: from now on it lets nobody in
    Rm {
        /// Its id
        id: String,
    },
}

#[derive(Debug, Args)]
struct Add {
    /// For whom it asks
    tenant: Tenant,
    /// When it ends, such as 12h or 90d [default: never]
    #[arg(long, value_name = "TIME", value_parser = units::lifetime)]
    expires: Option<Duration>,
    /// What it may be used for; may be repeated [default: all but metrics, agents and reviews]
    #[arg(long, value_name = "NAME", value_parser = clap::builder::PossibleValuesParser::new(POWERS))]
    power: Vec<String>,
    /// A host that extensions it installs may be allowed; may be repeated [default: none]
    #[arg(long, value_name = "HOST[:PORT]")]
    allow_host: Vec<HostEntry>,
    /// The most time that a request may ask for
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..=86_400_000))]
    timeout_ms: Option<u64>,
    /// The most memory in MiB that a request may ask for
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..=4096))]
    memory_mb: Option<u64>,
    /// Requests at once
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=64))]
    in_flight: Option<u32>,
}

pub(crate) fn run(token: Token) -> anyhow::Result<ExitCode> {
    let tokens = Tokens::of(&home::open()?);
    match token.act {
        Act::Add(add) => add.make(&tokens, token.json)?,
        Act::List => list(&tokens, token.json)?,
        Act::Rm { id } => {
            tokens.remove(&id)?;
            if token.json {
                show::json(&json!({ "removed": id }))?;
            }
        }
    }
    Ok(ExitCode::SUCCESS)
}

impl Add {
    fn make(self, tokens: &Tokens, as_json: bool) -> anyhow::Result<()> {
        let now = SystemClock.now();
        let expires = self.expires.map(|it| now.plus(it));
        if self.power.iter().enumerate().any(|(at, it)| self.power[..at].contains(it)) {
            bail!("a power is named twice");
        }
        let limits = CeilingLimits {
            timeout_ms: self.timeout_ms,
            memory_mb: self.memory_mb,
            in_flight: self.in_flight,
        };
        let hosts = self.allow_host.iter().map(ToString::to_string).collect();
        let ceiling = Ceiling { powers: (!self.power.is_empty()).then_some(self.power), hosts, limits };
        let made = tokens.add(self.tenant, ceiling, expires, now)?;
        match as_json {
            true => {
                let mut told = described(&made.token);
                told["token"] = made.text.into();
                Ok(show::json(&told)?)
            }
            false => Ok(show::line(&made.text)?),
        }
    }
}

fn described(it: &Kept) -> Value {
    json!({
        "id": it.id, "tenant": it.tenant, "created": it.created.to_rfc3339(),
        "expires": it.expires.map(|end| end.to_rfc3339()), "ceiling": it.ceiling,
    })
}

fn list(tokens: &Tokens, as_json: bool) -> anyhow::Result<()> {
    let all = tokens.all()?;
    if as_json {
        return Ok(show::json(&all.iter().map(|it| described(it)).collect::<Vec<_>>())?);
    }
    if all.is_empty() {
        return Ok(show::line("no tokens")?);
    }
    let now = SystemClock.now();
    let rows = all.iter().map(|it| {
        let expires = match it.expires {
            None => "never".to_owned(),
            Some(end) if end <= now => format!("{} (over)", end.to_rfc3339()),
            Some(end) => end.to_rfc3339(),
        };
        let powers =
            it.ceiling.powers.as_ref().map_or("all but metrics, agents, reviews".into(), |it| it.join(" "));
        [it.id.clone(), it.tenant.to_string(), expires, powers]
    });
    Ok(show::table(["ID", "TENANT", "EXPIRES", "POWERS"], rows)?)
}

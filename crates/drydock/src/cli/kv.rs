//! `drydock kv`: the values that a tenant's guests keep by key.

use std::{process::ExitCode, time::Duration};

use clap::{Args, Subcommand};
use drydock_embed::{
    contract::{Tenant, Timestamp},
    kv::{
        DELETE, Delete, Deleted, GET, Get, INCREMENT, Increment, KvRequest, KvValue, LIST, PUT, Put,
        VALUE_BYTES_MAX,
    },
    listing::{Listing, ROWS_MAX},
};

use super::kept::{Keeper, bytes, ended, told};
use crate::{show, units};

#[derive(Debug, Args)]
#[command(after_help = "\
Guests keep values through the capability `kv`; here is what a tenant has of them. What is read and
changed here is on record like what guests do.

Examples:
  drydock kv list app/
  drydock kv get app/state > state.json
  drydock kv put app/state < state.json
  drydock kv put app/lock mine --ttl 30s --if-version 0
  drydock kv incr app/visits")]
pub(crate) struct Kv {
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
    /// List keys
    List {
        /// Only those that begin so
        #[arg(default_value = "", hide_default_value = true)]
        prefix: String,
        /// Only those behind this one
        #[arg(long, value_name = "KEY")]
        after: Option<String>,
        /// How many at most
        #[arg(long, value_name = "N", default_value_t = ROWS_MAX, value_parser = clap::value_parser!(u32).range(1..=i64::from(ROWS_MAX)))]
        limit: u32,
    },
    /// Write a value to stdout, as it is
    Get { key: String },
    /// Keep a value, in the place of what was there
    Put {
        key: String,
        /// The value; - or nothing for stdin
        value: Option<String>,
        /// After how long it is gone, such as 30s or 1h [default: never]
        #[arg(long, value_name = "TIME", value_parser = units::lifetime)]
        ttl: Option<Duration>,
        /// Only if the key has this version; 0 if there must be none
        #[arg(long, value_name = "N")]
        if_version: Option<u64>,
    },
    /// Add to a number, and print the sum; what is not there counts as 0
    Incr {
        key: String,
        /// By how much
        #[arg(default_value_t = 1, allow_negative_numbers = true)]
        by: i64,
        /// After how long it is gone, where there was none before [default: never]
        #[arg(long, value_name = "TIME", value_parser = units::lifetime)]
        ttl: Option<Duration>,
    },
    /// Remove a value
    Rm { key: String },
}

pub(crate) fn run(kv: Kv) -> anyhow::Result<ExitCode> {
    let (tenant, json) = (kv.tenant.clone(), kv.json);
    ended(act(kv), &tenant, json)
}

fn milliseconds(ttl: Option<Duration>) -> Option<u64> {
    ttl.map(|it| u64::try_from(it.as_millis()).unwrap_or(u64::MAX))
}

fn act(kv: Kv) -> anyhow::Result<()> {
    let (operation, request) = match kv.act {
        Act::List { prefix, after, limit } => (LIST, KvRequest::List(Listing::new(prefix, after, limit))),
        Act::Get { key } => (GET, KvRequest::Get(Get { key })),
        Act::Put { key, value, ttl, if_version } => {
            let value = bytes(value, VALUE_BYTES_MAX)?.into();
            (PUT, KvRequest::Put(Put { key, value, if_version, ttl_ms: milliseconds(ttl) }))
        }
        Act::Incr { key, by, ttl } => {
            (INCREMENT, KvRequest::Increment(Increment { key, by, ttl_ms: milliseconds(ttl) }))
        }
        Act::Rm { key } => (DELETE, KvRequest::Delete(Delete { key, if_version: None })),
    };
    let keeper = Keeper::of(&kv.tenant)?;
    let answer = told(keeper.runtime.block_on(keeper.session.ask_kv(operation, request)))?;
    if kv.json {
        return Ok(show::json(&answer)?);
    }
    match answer {
        KvValue::Value(found) => show::bytes(&found.value.0)?,
        KvValue::Written(written) => show::line(&format!("version {}", written.version))?,
        KvValue::Deleted(Deleted { deleted: true }) => show::line("removed")?,
        KvValue::Deleted(Deleted { deleted: false }) => show::line("there was no such key")?,
        KvValue::Sum(sum) => show::line(&sum.sum.to_string())?,
        KvValue::Keys(listed) if listed.keys.is_empty() => show::line("no keys")?,
        KvValue::Keys(listed) => {
            let row = |it: drydock_embed::kv::Key| {
                let expires = it.expires_ms.map(|ms| Timestamp(ms.saturating_mul(1_000_000)).to_rfc3339());
                [it.version.to_string(), show::size(it.bytes), expires.unwrap_or_else(|| "-".into()), it.key]
            };
            show::table(["VERSION", "SIZE", "EXPIRES", "KEY"], listed.keys.into_iter().map(row))?;
            if let Some(next) = listed.next {
                crate::exit::warn(&format!("there are more: go on with --after {}", show::plain(&next)));
            }
        }
    }
    Ok(())
}

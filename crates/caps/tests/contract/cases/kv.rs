//! `kv`: over what really keeps values, behind a door that never answers for one key.

use std::sync::Arc;

use drydock_abi::kv::{DELETE, GET, INCREMENT, KEY_BYTES_MAX, LIST, PUT, VALUE_BYTES_MAX};
use drydock_caps::{
    broker::{Broker as _, Brokered},
    kv::Kv,
};
use drydock_contract::{
    BoxFuture, Tenant, Timestamp,
    port::{KeptValue, KeyChange, KeyChanged, KeyRefusal, KeyValues, LedgerError, ListedKey},
};
use drydock_gate::{CapSpec, Gate};
use drydock_store::{Home, SqliteKeyValues};
use drydock_testkit::FixedClock;
use serde_json::json;

use crate::{
    fakes::{WAITS, Working, clock},
    suite::{Ask, Case, Later, Refusal, Who},
};

pub(crate) struct OfKv {
    kept: Arc<SqliteKeyValues>,
    working: Working,
    _home: tempfile::TempDir,
}

impl Default for OfKv {
    fn default() -> Self {
        let home = tempfile::tempdir().unwrap();
        let kept = Arc::new(SqliteKeyValues::of(&Home::open(home.path()).unwrap()));
        Self { kept, working: Working::default(), _home: home }
    }
}

/// A tenant that has as many keys as it may is told so of this one.
const ONE_TOO_MANY: &str = "one-too-many";

struct Door(Arc<SqliteKeyValues>, Working);

impl KeyValues for Door {
    fn get<'a>(
        &'a self,
        tenant: &'a Tenant,
        key: &'a str,
        now: Timestamp,
    ) -> BoxFuture<'a, Result<Option<KeptValue>, LedgerError>> {
        match key {
            WAITS => Box::pin(self.1.for_ever()),
            _ => self.0.get(tenant, key, now),
        }
    }

    fn change<'a>(
        &'a self,
        tenant: &'a Tenant,
        key: &'a str,
        change: KeyChange,
        now: Timestamp,
    ) -> BoxFuture<'a, Result<Result<KeyChanged, KeyRefusal>, LedgerError>> {
        match key {
            WAITS => Box::pin(self.1.for_ever()),
            ONE_TOO_MANY => Box::pin(async { Ok(Err(KeyRefusal::TooManyKeys { max: 10_000 })) }),
            _ => self.0.change(tenant, key, change, now),
        }
    }

    fn list<'a>(
        &'a self,
        tenant: &'a Tenant,
        prefix: &'a str,
        after: Option<&'a str>,
        rows_max: usize,
        now: Timestamp,
    ) -> BoxFuture<'a, Result<Vec<ListedKey>, LedgerError>> {
        match prefix {
            WAITS => Box::pin(self.1.for_ever()),
            _ => self.0.list(tenant, prefix, after, rows_max, now),
        }
    }
}

fn about(operation: &str, key: &str) -> Ask {
    Ask::json(&match operation {
        PUT => json!({ "key": key, "value": "x" }),
        LIST => json!({ "prefix": key }),
        GET | DELETE | INCREMENT => json!({ "key": key }),
        other => panic!("{other} is new"),
    })
}

impl Case for OfKv {
    fn spec(&self) -> &'static CapSpec {
        &Kv::SPEC
    }

    fn bounds(&self) -> &'static [&'static str] {
        Kv::BOUNDS
    }

    fn behind(&self, gate: Gate, at: &Arc<FixedClock>) -> Gate {
        let values = Arc::new(Door(Arc::clone(&self.kept), self.working.clone()));
        gate.with(Brokered::new(Kv::new(values, clock(at)), clock(at)))
    }

    fn elsewhere(&self) -> (&'static str, &'static str) {
        ("other", "denied")
    }

    fn good<'a>(&'a self, operation: &'static str, _: &'a Who) -> Later<'a, Ask> {
        Box::pin(async move { about(operation, "a") })
    }

    fn malformed(&self, operation: &'static str) -> Vec<Ask> {
        match operation {
            PUT | INCREMENT => vec![Ask::json(&json!({ "key": "a", "value": "x", "ttl_ms": 0 }))],
            LIST => vec![Ask::json(&json!({ "limit": 0 }))],
            _ => vec![Ask::json(&json!({ "key": 7 }))],
        }
    }

    fn refusals<'a>(&'a self, operation: &'static str, _: &'a Who) -> Later<'a, Vec<Refusal>> {
        Box::pin(async move {
            let mut all =
                vec![Refusal::judged("invalid_key", about(operation, &"k".repeat(KEY_BYTES_MAX + 1)))];
            if operation != LIST {
                all.push(Refusal::judged("invalid_key", about(operation, "")));
            }
            if operation == PUT {
                let value = "v".repeat(VALUE_BYTES_MAX + 1);
                let long = Ask::json(&json!({ "key": "a", "value": value }));
                all.push(Refusal::judged("value_too_large", long));
            }
            if [PUT, INCREMENT].contains(&operation) {
                all.push(Refusal::acting("quota_exceeded", about(operation, ONE_TOO_MANY)));
            }
            all
        })
    }

    fn waiting<'a>(&'a self, operation: &'static str, _: &'a Who) -> Option<Later<'a, Ask>> {
        Some(Box::pin(async move { about(operation, WAITS) }))
    }

    fn working(&self) -> Option<usize> {
        Some(self.working.count())
    }
}

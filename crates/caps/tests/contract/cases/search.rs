//! `search`: a provider that refuses, and one that never takes the connection.

use std::{sync::Arc, time::Duration};

use drydock_caps::{
    broker::{Broker as _, Brokered},
    search::{Provider, ProviderKind, Search},
};
use drydock_gate::{CapSpec, Gate};
use drydock_testkit::FixedClock;
use parking_lot::Mutex;
use serde_json::json;

use crate::{
    fakes::{CLOSED, SILENT, World, clock},
    suite::{Ask, Case, Later, Who},
};

#[derive(Default)]
pub(crate) struct OfSearch(World, Arc<Mutex<bool>>);

fn words(query: &str) -> Ask {
    Ask::json(&json!({ "query": query }))
}

impl Case for OfSearch {
    fn spec(&self) -> &'static CapSpec {
        &Search::SPEC
    }

    fn bounds(&self) -> &'static [&'static str] {
        Search::BOUNDS
    }

    fn behind(&self, gate: Gate, at: &Arc<FixedClock>) -> Gate {
        let waits = Arc::clone(&self.1);
        let source = move || {
            let port = if *waits.lock() { SILENT } else { CLOSED };
            let base_url = format!("http://a.test:{port}");
            let (kind, total_max) = (ProviderKind::Searxng, Duration::from_secs(20));
            Ok(Some(Arc::new(Provider { kind, base_url, key: None, total_max })))
        };
        gate.with(Brokered::new(Search::new(self.0.egress(), Arc::new(source)), clock(at)))
    }

    fn elsewhere(&self) -> (&'static str, &'static str) {
        ("other", "denied")
    }

    fn good<'a>(&'a self, _: &'static str, _: &'a Who) -> Later<'a, Ask> {
        Box::pin(async {
            *self.1.lock() = false;
            words("wasm")
        })
    }

    fn malformed(&self, _: &'static str) -> Vec<Ask> {
        ["", " "].map(words).into()
    }

    fn waiting<'a>(&'a self, _: &'static str, _: &'a Who) -> Option<Later<'a, Ask>> {
        Some(Box::pin(async {
            *self.1.lock() = true;
            words("wasm")
        }))
    }

    fn working(&self) -> Option<usize> {
        Some(self.0.0.count())
    }
}

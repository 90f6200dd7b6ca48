//! `browse`: hosts that refuse, that are silent, and that are not public.

use std::sync::Arc;

use drydock_caps::{
    broker::{Broker as _, Brokered, Policy},
    browse::Browse,
};
use drydock_gate::{CapSpec, Gate};
use drydock_testkit::{FixedClock, TinyRegistry};
use serde_json::json;

use crate::{
    fakes::{CLOSED, INSIDE, Patient, SILENT, World, clock},
    suite::{Ask, Case, Later, Refusal, Who},
};

#[derive(Default)]
pub(crate) struct OfBrowse(World);

fn page(url: &str) -> Ask {
    Ask::json(&json!({ "url": url }))
}

impl Case for OfBrowse {
    fn spec(&self) -> &'static CapSpec {
        &Browse::SPEC
    }

    fn bounds(&self) -> &'static [&'static str] {
        Browse::BOUNDS
    }

    fn behind(&self, gate: Gate, at: &Arc<FixedClock>) -> Gate {
        let (registry, runner) =
            (Arc::new(TinyRegistry::of(&["html-to-json"])), Arc::new(Patient::default()));
        let browse = Browse::new(self.0.egress(), registry, runner, Policy { clock: clock(at) });
        gate.with(Brokered::new(browse, clock(at)))
    }

    fn elsewhere(&self) -> (&'static str, &'static str) {
        ("other.test:80", "host_not_granted")
    }

    fn good<'a>(&'a self, _: &'static str, _: &'a Who) -> Later<'a, Ask> {
        Box::pin(async { page(&format!("http://a.test:{CLOSED}/")) })
    }

    fn malformed(&self, _: &'static str) -> Vec<Ask> {
        ["", "a.test", "http://", "http://a.test:99999/"].map(page).into()
    }

    fn refusals<'a>(&'a self, _: &'static str, _: &'a Who) -> Later<'a, Vec<Refusal>> {
        Box::pin(async {
            vec![
                Refusal::judged("host_not_granted", page("http://me@a.test/")),
                Refusal::judged("host_not_granted", page("ftp://a.test/")),
                Refusal::judged("host_not_granted", page("http://127.0.0.1/")),
                Refusal::acting("host_not_granted", page(&format!("http://{INSIDE}:{CLOSED}/"))),
            ]
        })
    }

    fn waiting<'a>(&'a self, _: &'static str, _: &'a Who) -> Option<Later<'a, Ask>> {
        Some(Box::pin(async { page(&format!("http://a.test:{SILENT}/")) }))
    }

    fn working(&self) -> Option<usize> {
        Some(self.0.0.count())
    }
}

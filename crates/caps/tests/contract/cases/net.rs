//! `net`: hosts that refuse, that are silent, and that are not public.

use std::sync::Arc;

use drydock_abi::fetch::FETCH_BODY_BYTES_MAX;
use drydock_caps::net::Net;
use drydock_egress::Egress;
use drydock_gate::{CapSpec, Capability as _, Gate};
use drydock_testkit::FixedClock;
use serde_json::json;

use crate::{
    fakes::{CLOSED, INSIDE, SILENT, World, clock},
    suite::{Ask, Case, Later, Refusal, Who},
};

#[derive(Default)]
pub(crate) struct OfNet(World);

fn get(host: &str, port: u16) -> Ask {
    Ask::json(&json!({ "url": format!("http://{host}:{port}/") }))
}

impl Case for OfNet {
    fn spec(&self) -> &'static CapSpec {
        &Net::<Egress>::SPEC
    }

    fn behind(&self, gate: Gate, at: &Arc<FixedClock>) -> Gate {
        gate.with(Net::new(self.0.egress(), clock(at)))
    }

    fn elsewhere(&self) -> (&'static str, &'static str) {
        ("other.test:80", "host_not_granted")
    }

    fn good<'a>(&'a self, _: &'static str, _: &'a Who) -> Later<'a, Ask> {
        Box::pin(async { get("a.test", CLOSED) })
    }

    fn malformed(&self, _: &'static str) -> Vec<Ask> {
        let bad = ["", "a.test", "http://", "http://a.test:99999/", "http://a.test\n/"];
        bad.iter().map(|it| Ask::json(&json!({ "url": it }))).collect()
    }

    fn refusals<'a>(&'a self, _: &'static str, _: &'a Who) -> Later<'a, Vec<Refusal>> {
        let body = "A".repeat(FETCH_BODY_BYTES_MAX as usize / 3 * 4 + 8);
        let posts = json!({ "url": "http://a.test/", "method": "POST", "body_b64": body });
        Box::pin(async move {
            vec![
                Refusal::judged("host_not_granted", Ask::json(&json!({ "url": "http://me@a.test/" }))),
                Refusal::judged("host_not_granted", Ask::json(&json!({ "url": "ftp://a.test/" }))),
                Refusal::judged("host_not_granted", get("127.0.0.1", CLOSED)),
                Refusal::judged("too_large", Ask::json(&posts)),
                Refusal::acting("host_not_granted", get(INSIDE, CLOSED)),
            ]
        })
    }

    fn waiting<'a>(&'a self, _: &'static str, _: &'a Who) -> Option<Later<'a, Ask>> {
        Some(Box::pin(async { get("a.test", SILENT) }))
    }

    fn working(&self) -> Option<usize> {
        Some(self.0.0.count())
    }
}

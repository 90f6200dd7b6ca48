//! `llm`: a scripted model, and one whose server never takes the connection.

use std::sync::Arc;

use drydock_abi::llm::{Script, wire::Dialect};
use drydock_caps::{
    broker::{Broker as _, Brokered},
    llm::{Endpoint, Llm, Model, Patience, Served},
};
use drydock_gate::{CapSpec, Gate};
use drydock_testkit::FixedClock;
use serde_json::json;

use crate::{
    fakes::{SILENT, WAITS, World, clock},
    suite::{Ask, Case, Later, Who},
};

#[derive(Default)]
pub(crate) struct OfLlm(World);

fn turn(model: &str) -> Ask {
    Ask::json(&json!({ "model": model, "messages": [{ "role": "user", "content": "how are you?" }] }))
}

fn at(host: &str, port: u16) -> Served {
    Served::At(Box::new(Endpoint {
        dialect: Dialect::OpenAi,
        target: format!("http://{host}:{port}/v1").parse().unwrap(),
        model: "m".into(),
        key: None,
        extra: serde_json::Map::new(),
        patience: Patience::default(),
    }))
}

impl Case for OfLlm {
    fn spec(&self) -> &'static CapSpec {
        &Llm::SPEC
    }

    fn bounds(&self) -> &'static [&'static str] {
        Llm::BOUNDS
    }

    fn behind(&self, gate: Gate, at_: &Arc<FixedClock>) -> Gate {
        let models = |name: &str| {
            let served = match name {
                WAITS => at("a.test", SILENT),
                _ => Served::Scripted(Script::parse(r#"{"content":"fine"}"#).unwrap()),
            };
            Ok(Some(Arc::new(Model { served, prices: None })))
        };
        gate.with(Brokered::new(Llm::new(self.0.egress(), Arc::new(models)), clock(at_)))
    }

    fn elsewhere(&self) -> (&'static str, &'static str) {
        ("other", "denied")
    }

    fn good<'a>(&'a self, _: &'static str, _: &'a Who) -> Later<'a, Ask> {
        Box::pin(async { turn("m") })
    }

    fn waiting<'a>(&'a self, _: &'static str, _: &'a Who) -> Option<Later<'a, Ask>> {
        Some(Box::pin(async { turn(WAITS) }))
    }

    fn working(&self) -> Option<usize> {
        Some(self.0.0.count())
    }
}

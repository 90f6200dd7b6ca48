//! `parallel`: maps of commands that end at once, and of one that waits.

use std::sync::Arc;

use drydock_abi::parallel::{INPUTS_MAX, TOO_MANY_INPUTS};
use drydock_caps::{exec::Exec, parallel::Parallel};
use drydock_contract::Cap;
use drydock_gate::{CapSpec, Capability as _, Gate, Grant};
use drydock_testkit::{FixedClock, TinyRegistry};
use serde_json::json;

use crate::{
    fakes::{Patient, WAITS},
    suite::{Ask, Case, Later, Refusal, Who},
};

#[derive(Default)]
pub(crate) struct OfParallel(Patient);

fn map(command: &str, inputs: usize) -> Ask {
    Ask::json(&json!({ "command": command, "inputs": vec!["x"; inputs] }))
}

impl Case for OfParallel {
    fn spec(&self) -> &'static CapSpec {
        &Parallel::SPEC
    }

    fn bounds(&self) -> &'static [&'static str] {
        &[TOO_MANY_INPUTS]
    }

    fn behind(&self, gate: Gate, _: &Arc<FixedClock>) -> Gate {
        let registry = Arc::new(TinyRegistry::of(&["echo", WAITS]));
        gate.with(Exec::new(registry, Arc::new(self.0.clone()))).with(Parallel::default())
    }

    fn beside(&self) -> Vec<Grant> {
        vec![Grant::of(Cap::Exec)]
    }

    fn elsewhere(&self) -> (&'static str, &'static str) {
        ("other", "denied")
    }

    fn good<'a>(&'a self, _: &'static str, _: &'a Who) -> Later<'a, Ask> {
        Box::pin(async { map("echo", 3) })
    }

    fn malformed(&self, _: &'static str) -> Vec<Ask> {
        vec![Ask::json(&json!({ "command": "echo" })), Ask::json(&json!({ "command": 7, "inputs": [] }))]
    }

    fn refusals<'a>(&'a self, _: &'static str, _: &'a Who) -> Later<'a, Vec<Refusal>> {
        Box::pin(async { vec![Refusal::judged(TOO_MANY_INPUTS, map("echo", INPUTS_MAX + 1))] })
    }

    fn waiting<'a>(&'a self, _: &'static str, _: &'a Who) -> Option<Later<'a, Ask>> {
        Some(Box::pin(async { map(WAITS, 20) }))
    }

    fn working(&self) -> Option<usize> {
        Some(self.0.0.count())
    }
}

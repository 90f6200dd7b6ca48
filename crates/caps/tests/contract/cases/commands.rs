//! `commands`: the names there are.

use std::sync::Arc;

use drydock_caps::commands::Commands;
use drydock_gate::{CapSpec, Capability as _, Gate};
use drydock_testkit::{FixedClock, TinyRegistry};

use crate::suite::{Ask, Case, Later, Who};

pub(crate) struct OfCommands;

impl Case for OfCommands {
    fn spec(&self) -> &'static CapSpec {
        &Commands::SPEC
    }

    fn behind(&self, gate: Gate, _: &Arc<FixedClock>) -> Gate {
        gate.with(Commands::new(Arc::new(TinyRegistry::of(&["jq"]))))
    }

    fn elsewhere(&self) -> (&'static str, &'static str) {
        ("other", "denied")
    }

    fn good<'a>(&'a self, _: &'static str, _: &'a Who) -> Later<'a, Ask> {
        Box::pin(async { Ask::bytes("") })
    }
}

//! `tool`: tools that answer with their input, and one that waits.

use std::sync::Arc;

use bytes::Bytes;
use drydock_abi::tool::encode_request;
use drydock_caps::tool::Tool;
use drydock_contract::ToolRequest;
use drydock_gate::{CapSpec, Capability as _, Gate, SessionSpec};
use drydock_testkit::FixedClock;

use crate::{
    fakes::{Mirrors, WAITS},
    suite::{Ask, Case, Later, Who},
};

#[derive(Default)]
pub(crate) struct OfTool(Mirrors);

fn call(tool: &str) -> Ask {
    let (provider, input) = ("web".into(), Some(Bytes::from_static(b"{}")));
    Ask::bytes(encode_request(&ToolRequest { provider, tool: tool.into(), input, span: 0, depth: 0 }))
}

impl Case for OfTool {
    fn spec(&self) -> &'static CapSpec {
        &Tool::SPEC
    }

    fn behind(&self, gate: Gate, _: &Arc<FixedClock>) -> Gate {
        gate.with(Tool)
    }

    fn session(&self, spec: SessionSpec) -> SessionSpec {
        SessionSpec { tools: Some(Arc::new(self.0.clone())), ..spec }
    }

    fn elsewhere(&self) -> (&'static str, &'static str) {
        ("files.read", "tool_not_granted")
    }

    fn good<'a>(&'a self, _: &'static str, _: &'a Who) -> Later<'a, Ask> {
        Box::pin(async { call("echo") })
    }

    fn waiting<'a>(&'a self, _: &'static str, _: &'a Who) -> Option<Later<'a, Ask>> {
        Some(Box::pin(async { call(WAITS) }))
    }

    fn working(&self) -> Option<usize> {
        Some(self.0.0.count())
    }
}

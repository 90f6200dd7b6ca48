//! `exec`: commands that end at once, and one that waits.

use std::sync::Arc;

use drydock_abi::exec::{COMMAND, encode_command, encode_request};
use drydock_caps::exec::Exec;
use drydock_contract::Limits;
use drydock_gate::{CapSpec, Capability as _, Gate, SessionSpec};
use drydock_testkit::{FixedClock, TinyRegistry};

use crate::{
    fakes::{Patient, WAITS},
    suite::{Ask, Case, Later, Refusal, Who},
};

#[derive(Default)]
pub(crate) struct OfExec(Patient);

fn of(operation: &str, name: &str, args: &[&[u8]], stdin: &[u8]) -> Ask {
    Ask::bytes(match operation {
        COMMAND => encode_command(&[b"A=1"], name, args, stdin).unwrap(),
        _ => encode_request(name, args, stdin).unwrap(),
    })
}

impl Case for OfExec {
    fn spec(&self) -> &'static CapSpec {
        &Exec::SPEC
    }

    fn behind(&self, gate: Gate, _: &Arc<FixedClock>) -> Gate {
        gate.with(Exec::new(Arc::new(TinyRegistry::of(&["echo", WAITS])), Arc::new(self.0.clone())))
    }

    fn session(&self, spec: SessionSpec) -> SessionSpec {
        let limits = Limits { argv_bytes_max: 100, stdin_bytes_max: 100, ..spec.limits };
        SessionSpec { limits, ..spec }
    }

    fn elsewhere(&self) -> (&'static str, &'static str) {
        ("other", "command_not_granted")
    }

    fn good<'a>(&'a self, operation: &'static str, _: &'a Who) -> Later<'a, Ask> {
        Box::pin(async move { of(operation, "echo", &[b"hello"], b"") })
    }

    fn malformed(&self, operation: &'static str) -> Vec<Ask> {
        let nul = of(operation, "echo", &[b"a\0b"], b"");
        let no_name = encode_command(&[b"novalue"], "echo", &[b""; 0], b"").unwrap();
        [nul].into_iter().chain((operation == COMMAND).then(|| Ask::bytes(no_name))).collect()
    }

    fn refusals<'a>(&'a self, operation: &'static str, _: &'a Who) -> Later<'a, Vec<Refusal>> {
        Box::pin(async move {
            vec![
                Refusal::judged("unknown_command", of(operation, "missing", &[], b"")),
                Refusal::judged("too_large", of(operation, "echo", &[&[b'x'; 101]], b"")),
                Refusal::judged("too_large", of(operation, "echo", &[], &[b'x'; 101])),
            ]
        })
    }

    fn waiting<'a>(&'a self, operation: &'static str, _: &'a Who) -> Option<Later<'a, Ask>> {
        Some(Box::pin(async move { of(operation, WAITS, &[], b"") }))
    }

    fn working(&self) -> Option<usize> {
        Some(self.0.0.count())
    }
}

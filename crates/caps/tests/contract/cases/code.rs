//! `code`: programs are closures.

use std::sync::Arc;

use drydock_caps::code::Code;
use drydock_contract::Outcome;
use drydock_gate::{CapSpec, Capability as _, Gate, ProgramEnd, ProgramStart};
use drydock_testkit::FixedClock;

use crate::{
    fakes::Working,
    suite::{Ask, Case, Later, Who},
};

#[derive(Default)]
pub(crate) struct OfCode(Working);

impl Case for OfCode {
    fn spec(&self) -> &'static CapSpec {
        &Code::SPEC
    }

    fn behind(&self, gate: Gate, _: &Arc<FixedClock>) -> Gate {
        gate.with(Code)
    }

    fn elsewhere(&self) -> (&'static str, &'static str) {
        ("python", "denied")
    }

    fn good<'a>(&'a self, _: &'static str, _: &'a Who) -> Later<'a, Ask> {
        Box::pin(async {
            let end = || ProgramEnd { result: Box::new(()), outcome: Outcome::Exited(0), digested: None };
            program(Box::new(move |_| Box::pin(async move { end() })))
        })
    }

    fn malformed(&self, _: &'static str) -> Vec<Ask> {
        vec![Ask::bytes("1 + 1")]
    }

    fn waiting<'a>(&'a self, _: &'static str, _: &'a Who) -> Option<Later<'a, Ask>> {
        let working = self.0.clone();
        let run: Run = Box::new(move |_| Box::pin(async move { working.for_ever().await }));
        Some(Box::pin(async { program(run) }))
    }

    fn working(&self) -> Option<usize> {
        Some(self.0.count())
    }
}

type Run =
    Box<dyn FnOnce(drydock_gate::StartedProgram) -> drydock_contract::BoxFuture<'static, ProgramEnd> + Send>;

fn program(run: Run) -> Ask {
    Ask::typed(ProgramStart { language: "javascript".into(), text: "1 + 1".into(), run })
}

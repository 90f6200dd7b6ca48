//! `instance`: handlers, kernels and lembeh guests that answer what they are given, and a module that never comes to be.

use std::sync::Arc;

use drydock_abi::{
    kernel::{self, CALL, CLOSE, CallKernel, OPEN, Open},
    lembeh::run::{RUN, RunGuest},
    runner::{ContextFrom, INVOKE, Invoke, SentRequest},
};
use drydock_caps::instance::{Instance, Shelf, Shelved};
use drydock_contract::{Artifact, Digest, Kernel, Limits, Node, Reply, Tenant};
use drydock_gate::{CapSpec, Capability as _, Gate};
use drydock_testkit::{FixedClock, principal};
use parking_lot::Mutex;

use crate::{
    fakes::{NoHost, Patient, WAITS},
    suite::{Ask, Case, Later, Outlives, Refusal, Who},
};

pub(crate) struct OfInstance {
    runner: Patient,
    shelf: Arc<Shelf>,
    module: Shelved,
    waits: Shelved,
}

impl Default for OfInstance {
    fn default() -> Self {
        let shelf: Arc<Shelf> = Arc::default();
        let module = shelf.put(Artifact::hash(b"module".to_vec()));
        let waits = shelf.put(Artifact::hash(WAITS.as_bytes().to_vec()));
        Self { runner: Patient::default(), shelf, module, waits }
    }
}

fn invoke(module: Digest, request: &str) -> Ask {
    let sent = SentRequest::read(request.as_bytes());
    Ask::typed(Invoke { module, extension: "shop".into(), context_from: ContextFrom::Host, sent })
}

fn run(module: Digest) -> Ask {
    let host = Arc::new(Mutex::new(NoHost));
    Ask::typed(RunGuest { module, host, limits: Limits::default() })
}

fn open(module: Digest) -> Ask {
    Ask::bytes(kernel::encode_open(&Open { module, kernel: Kernel::default(), memory_bytes_max: None }))
}

impl OfInstance {
    async fn opened(&self, who: &Who) -> u64 {
        kernel::decode_opened(&who.told(OPEN, open(self.module.digest())).await).unwrap().unwrap()
    }

    fn call(&self, id: u64, input: &[u8]) -> Ask {
        let module = self.module.digest();
        Ask::bytes(kernel::encode_call(&CallKernel { id, module, wall_ms: 1_000, input }))
    }
}

impl Case for OfInstance {
    fn spec(&self) -> &'static CapSpec {
        &Instance::SPEC
    }

    fn behind(&self, gate: Gate, _: &Arc<FixedClock>) -> Gate {
        gate.with(Instance::new(Arc::new(self.runner.clone()), Arc::clone(&self.shelf)))
    }

    fn elsewhere(&self) -> (&'static str, &'static str) {
        ("other", "denied")
    }

    fn good<'a>(&'a self, operation: &'static str, who: &'a Who) -> Later<'a, Ask> {
        Box::pin(async move {
            let module = self.module.digest();
            match operation {
                INVOKE => invoke(module, "{}"),
                RUN => run(module),
                OPEN => open(module),
                CLOSE => Ask::bytes(kernel::encode_close(self.opened(who).await, module)),
                _ => self.call(self.opened(who).await, b"hello"),
            }
        })
    }

    fn malformed(&self, operation: &'static str) -> Vec<Ask> {
        let unknown = Digest::of(b"unknown");
        match operation {
            INVOKE => {
                let others = r#"{"context":{"tenant_id":"acme"}}"#;
                let asked = ["[]", others].map(|it| invoke(self.module.digest(), it));
                asked.into_iter().chain([invoke(unknown, "{}")]).collect()
            }
            RUN => vec![run(unknown)],
            OPEN => vec![open(unknown)],
            CLOSE => vec![Ask::bytes(kernel::encode_close(1 << 40, self.module.digest()))],
            CALL => vec![self.call(1 << 40, b"")],
            other => panic!("{other} is new"),
        }
    }

    fn refusals<'a>(&'a self, operation: &'static str, who: &'a Who) -> Later<'a, Vec<Refusal>> {
        Box::pin(async move {
            if operation != OPEN {
                return Vec::new();
            }
            for _ in 0..1_024 {
                self.opened(who).await;
            }
            vec![Refusal::judged("too_many_processes", open(self.module.digest()))]
        })
    }

    fn waiting<'a>(&'a self, operation: &'static str, who: &'a Who) -> Option<Later<'a, Ask>> {
        let waits = self.waits.digest();
        match operation {
            CLOSE => None,
            INVOKE => Some(Box::pin(async move { invoke(waits, "{}") })),
            RUN => Some(Box::pin(async move { run(waits) })),
            OPEN => Some(Box::pin(async move { open(waits) })),
            _ => Some(Box::pin(async move { self.call(self.opened(who).await, WAITS.as_bytes()) })),
        }
    }

    fn working(&self) -> Option<usize> {
        Some(self.runner.0.count())
    }

    fn outlives(&self, operation: &'static str) -> Outlives {
        if operation == OPEN { Outlives::State } else { Outlives::Nothing }
    }

    fn lost<'a>(&'a self, _: &'static str, reply: Reply, who: &'a Who) -> Later<'a, ()> {
        Box::pin(async move {
            let id = kernel::decode_opened(&reply.payload).unwrap().unwrap();
            // Also for whoever gets their rights back.
            let node = Node::Principal(Tenant::default(), principal("me"));
            who.gate.unrevoke(&node).unwrap();
            let code =
                who.ask(CALL, self.call(id, b"hello")).await.map_or_else(|it| it.code(), |_| "answered");
            assert!(["malformed", "cancelled", "revoked", "denied"].contains(&code), "{code}");
        })
    }
}

//! `serve`: listeners that nobody binds, connections that nobody made, and a guest that never answers one request.

use core::net::IpAddr;
use std::sync::{
    Arc,
    atomic::{AtomicUsize, Ordering},
};

use bytes::Bytes;
use drydock_abi::serve::{ACCEPT, CLIENT_CONNECTIONS_MAX, LISTEN, Protocol, REQUEST};
use drydock_caps::{
    instance::{Shelf, Shelved},
    serve::{
        Accept, Accepted, Ask as AskGuest, Handler, Listen, SERVE_ID_TAKEN, Serve, Serving,
        TOO_MANY_CONNECTIONS,
    },
};
use drydock_contract::{Artifact, Digest, Reply};
use drydock_gate::{CapSpec, Capability as _, Gate};
use drydock_testkit::FixedClock;

use crate::{
    fakes::{Patient, WAITS, clock},
    suite::{Ask, Case, Later, Outlives, Refusal, Who},
};

pub(crate) struct OfServe {
    runner: Patient,
    shelf: Arc<Shelf>,
    module: Shelved,
    waits: Shelved,
    /// Listeners so far: each has a name of its own.
    listeners: AtomicUsize,
}

impl Default for OfServe {
    fn default() -> Self {
        let shelf: Arc<Shelf> = Arc::default();
        let module = shelf.put(Artifact::hash(b"module".to_vec()));
        let waits = shelf.put(Artifact::hash(WAITS.as_bytes().to_vec()));
        Self { runner: Patient::default(), shelf, module, waits, listeners: AtomicUsize::new(0) }
    }
}

const CLIENT: IpAddr = IpAddr::V4(core::net::Ipv4Addr::LOCALHOST);
/// Requests that a client may make in a minute.
const CALLS_MAX: u32 = 3;

impl OfServe {
    fn listen(&self, address: &str, module: Digest) -> Listen {
        let serve_id = format!("shop-{}", self.listeners.fetch_add(1, Ordering::SeqCst));
        let (protocol, address, handler) =
            (Protocol::Http, address.parse().unwrap(), Handler::Module(module));
        Listen { protocol, address, serve_id, handler, client_calls_max: CALLS_MAX }
    }

    fn here(&self) -> Listen {
        self.listen("127.0.0.1:8080", self.module.digest())
    }

    async fn serving(&self, who: &Who) -> Arc<Serving> {
        match who.ask(LISTEN, Ask::typed(self.here())).await {
            Ok(mut reply) => reply.value().unwrap(),
            Err(error) => panic!("{error}"),
        }
    }
}

fn accept(serving: &Arc<Serving>) -> Ask {
    Ask::typed(Accept { serving: Arc::clone(serving), client: CLIENT })
}

fn request(serving: &Arc<Serving>, text: &'static str) -> Ask {
    let serving = Arc::clone(serving);
    Ask::typed(AskGuest { serving, client: CLIENT, bytes: Bytes::from_static(text.as_bytes()) })
}

impl Case for OfServe {
    fn spec(&self) -> &'static CapSpec {
        &Serve::SPEC
    }

    fn bounds(&self) -> &'static [&'static str] {
        &[SERVE_ID_TAKEN, TOO_MANY_CONNECTIONS]
    }

    fn behind(&self, gate: Gate, at: &Arc<FixedClock>) -> Gate {
        gate.with(Serve::new(Arc::new(self.runner.clone()), Arc::clone(&self.shelf), clock(at)))
    }

    fn elsewhere(&self) -> (&'static str, &'static str) {
        ("http:127.0.0.1:9090", "denied")
    }

    fn good<'a>(&'a self, operation: &'static str, who: &'a Who) -> Later<'a, Ask> {
        Box::pin(async move {
            match operation {
                LISTEN => Ask::typed(self.here()),
                ACCEPT => accept(&self.serving(who).await),
                _ => request(&self.serving(who).await, "hello"),
            }
        })
    }

    fn malformed(&self, operation: &'static str) -> Vec<Ask> {
        if operation != LISTEN {
            return Vec::new();
        }
        let blank = Listen { serve_id: "a b".into(), ..self.here() };
        let unknown = self.listen("127.0.0.1:8080", Digest::of(b"unknown"));
        vec![Ask::typed(blank), Ask::typed(unknown)]
    }

    fn refusals<'a>(&'a self, operation: &'static str, who: &'a Who) -> Later<'a, Vec<Refusal>> {
        Box::pin(async move {
            let serving = self.serving(who).await;
            match operation {
                LISTEN => {
                    let first = Listen { serve_id: "shop".into(), ..self.here() };
                    let again = Listen { serve_id: "shop".into(), ..self.here() };
                    let held = who.ask(LISTEN, Ask::typed(first)).await.map_err(|it| it.code()).unwrap();
                    let beyond = self.listen("192.0.2.1:8080", self.module.digest());
                    vec![
                        Refusal::judged(SERVE_ID_TAKEN, Ask::typed(again).holding(held)),
                        Refusal::judged("denied", Ask::typed(beyond)),
                    ]
                }
                ACCEPT => {
                    let mut held = Vec::new();
                    for _ in 0..CLIENT_CONNECTIONS_MAX {
                        held.push(who.ask(ACCEPT, accept(&serving)).await.map_err(|it| it.code()).unwrap());
                    }
                    vec![Refusal::acting(TOO_MANY_CONNECTIONS, accept(&serving).holding(held))]
                }
                _ => {
                    for _ in 0..CALLS_MAX {
                        who.ask(REQUEST, request(&serving, "hello")).await.map_err(|it| it.code()).unwrap();
                    }
                    vec![Refusal::acting("rate_limited", request(&serving, "hello"))]
                }
            }
        })
    }

    fn waiting<'a>(&'a self, operation: &'static str, who: &'a Who) -> Option<Later<'a, Ask>> {
        match operation {
            LISTEN => {
                Some(Box::pin(async { Ask::typed(self.listen("127.0.0.1:8080", self.waits.digest())) }))
            }
            ACCEPT => None,
            _ => Some(Box::pin(async move { request(&self.serving(who).await, WAITS) })),
        }
    }

    fn working(&self) -> Option<usize> {
        Some(self.runner.0.count())
    }

    fn outlives(&self, operation: &'static str) -> Outlives {
        if operation == REQUEST { Outlives::Nothing } else { Outlives::Lease }
    }

    fn lost<'a>(&'a self, operation: &'static str, mut reply: Reply, who: &'a Who) -> Later<'a, ()> {
        Box::pin(async move {
            if operation == ACCEPT {
                return drop(reply.value::<Accepted>().unwrap());
            }
            let serving: Arc<Serving> = reply.value().unwrap();
            assert!(!serving.still_valid());
            assert!(who.ask(ACCEPT, accept(&serving)).await.is_err(), "it takes nobody in any more");
        })
    }
}

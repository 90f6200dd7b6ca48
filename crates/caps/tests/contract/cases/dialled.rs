//! `tcp`, `tls` and `udp`: hosts that take connections, refuse them, and never answer.

use std::{future::poll_fn, io::ErrorKind, marker::PhantomData, sync::Arc};

use drydock_abi::{
    exchange::{DATAGRAM_BYTES_MAX, EXCHANGE_DATA_BYTES_MAX},
    tcp::{ConnectAnswer, ConnectRequest, Connected},
};
use drydock_caps::dialled::{Dialled, Protocol, Wire};
use drydock_contract::Reply;
use drydock_gate::{CapSpec, Gate};
use drydock_testkit::FixedClock;
use serde_json::json;

use crate::{
    fakes::{CLOSED, INSIDE, INSIDE_ADDRESS, OPEN, SECURE, SILENT, World, clock},
    suite::{Ask, Case, Later, Outlives, Refusal, Who},
};

pub(crate) struct OfDialled<P>(World, PhantomData<P>);

impl<P> Default for OfDialled<P> {
    fn default() -> Self {
        Self(World::default(), PhantomData)
    }
}

fn connects(operation: &str) -> bool {
    operation.ends_with(".connect")
}

fn to(operation: &str, host: &str, port: u16) -> Ask {
    if connects(operation) {
        let host = host.into();
        return Ask::typed(ConnectRequest { host, port, prefer_ipv6: false, timeout_ms: 20_000 });
    }
    Ask::json(&json!({ "host": host, "port": port, "data": "hello" }))
}

impl<P: Protocol> Case for OfDialled<P> {
    fn spec(&self) -> &'static CapSpec {
        &P::SPEC
    }

    fn behind(&self, gate: Gate, at: &Arc<FixedClock>) -> Gate {
        gate.with(Dialled::<P>::new(self.0.egress(), clock(at)))
    }

    fn subjects(&self) -> Option<Vec<String>> {
        let opened = format!("private:{INSIDE_ADDRESS}:{SECURE}");
        (P::WIRE == Wire::Tls).then(|| vec!["a.test:*".into(), format!("{INSIDE}:*"), opened])
    }

    fn elsewhere(&self) -> (&'static str, &'static str) {
        ("other.test:80", "host_not_granted")
    }

    fn good<'a>(&'a self, operation: &'static str, _: &'a Who) -> Later<'a, Ask> {
        Box::pin(async move {
            match (self.outlives(operation), P::WIRE) {
                // Only those who open an address trust who says what it is.
                (Outlives::Lease, Wire::Tls) => to(operation, INSIDE, SECURE),
                (Outlives::Lease, _) => to(operation, "a.test", OPEN),
                _ => to(operation, "a.test", CLOSED),
            }
        })
    }

    fn malformed(&self, operation: &'static str) -> Vec<Ask> {
        let bad = ["", "a b", "a/b", "me@a.test", "a:1"];
        bad.iter().map(|it| to(operation, it, OPEN)).chain([to(operation, "a.test", 0)]).collect()
    }

    fn refusals<'a>(&'a self, operation: &'static str, _: &'a Who) -> Later<'a, Vec<Refusal>> {
        Box::pin(async move {
            let mut all = vec![
                Refusal::judged("host_not_granted", to(operation, "127.0.0.1", CLOSED)),
                Refusal::acting("host_not_granted", to(operation, INSIDE, CLOSED)),
            ];
            if !connects(operation) {
                let max = if P::WIRE == Wire::Udp { DATAGRAM_BYTES_MAX } else { EXCHANGE_DATA_BYTES_MAX };
                let data = "x".repeat(usize::try_from(max).unwrap() + 1);
                let large = Ask::json(&json!({ "host": "a.test", "port": OPEN, "data": data }));
                all.push(Refusal::judged("too_large", large));
            }
            all
        })
    }

    fn waiting<'a>(&'a self, operation: &'static str, _: &'a Who) -> Option<Later<'a, Ask>> {
        Some(Box::pin(async move { to(operation, "a.test", SILENT) }))
    }

    fn working(&self) -> Option<usize> {
        Some(self.0.0.count())
    }

    fn outlives(&self, operation: &'static str) -> Outlives {
        match connects(operation) {
            true => Outlives::Lease,
            false => Outlives::Nothing,
        }
    }

    fn lost<'a>(&'a self, _: &'static str, mut reply: Reply, _: &'a Who) -> Later<'a, ()> {
        Box::pin(async move {
            let answer = reply.value::<ConnectAnswer>().unwrap();
            let Ok(Connected { mut source, mut sink }) = answer else { panic!("it was connected") };
            let read = poll_fn(|cx| source.poll_read(cx, &mut [0])).await;
            assert_eq!(read.unwrap_err().kind(), ErrorKind::BrokenPipe);
            let written = poll_fn(|cx| sink.poll_write(cx, b"x")).await;
            assert_eq!(written.unwrap_err().kind(), ErrorKind::BrokenPipe);
        })
    }
}

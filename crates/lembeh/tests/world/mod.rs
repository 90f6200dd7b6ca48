//! A hub with powers that do as a test tells them, and its events as words.
#![allow(dead_code, clippy::unwrap_used)]

use drydock_abi::lembeh::{
    CapSelector, Trace,
    zax::{Event, next_event},
};
use drydock_lembeh::{Begun, Closed, Failure, Hub, HubLimits, Offer, Powers, Read};

/// Selectors that say what they do: `wait` stays pending, `now` and `quiet` are over, `fail` fails, `large` promises
/// much; others are refused by name.
#[derive(Debug, Default)]
pub(crate) struct Script {
    pub(crate) started: Vec<u64>,
    pub(crate) cancelled: Vec<u64>,
}

impl Powers for Script {
    fn offer(&self, _: &str, _: &str, selector: &str) -> Result<Offer, Trace> {
        match selector {
            "wait" | "now" | "quiet" | "fail" => Ok(Offer { value_bytes_max: 64 }),
            "large" => Ok(Offer { value_bytes_max: 40_000 }),
            "missing" => Err(Trace::CapMissing),
            "denied" => Err(Trace::CapDenied),
            "disabled" => Err(Trace::AsyncUnsupported),
            _ => Err(Trace::AsyncUnknownSelector),
        }
    }

    fn start(&mut self, id: u64, call: &CapSelector<'_>, value: &mut Vec<u8>) -> Result<Begun, Failure> {
        assert!(value.is_empty(), "each start has a buffer without what was in it");
        self.started.push(id);
        match call.selector {
            "now" => value.extend_from_slice(b"now"),
            "quiet" => {}
            "fail" => return Err(Trace::ExecBusy.into()),
            _ => return Ok(Begun::Pending),
        }
        Ok(Begun::Done)
    }

    fn cancel(&mut self, id: u64) {
        assert!(!self.cancelled.contains(&id), "future {id} is cancelled once");
        self.cancelled.push(id);
    }
}

/// A hub, its powers, and the time.
#[derive(Debug)]
pub(crate) struct World {
    pub(crate) hub: Hub,
    pub(crate) powers: Script,
    pub(crate) now_ms: u64,
}

impl Default for World {
    fn default() -> Self {
        Self::new(HubLimits::default())
    }
}

impl World {
    pub(crate) fn new(limits: HubLimits) -> Self {
        Self { hub: Hub::new(limits), powers: Script::default(), now_ms: 0 }
    }

    pub(crate) fn write(&mut self, bytes: &[u8]) -> Result<usize, Closed> {
        self.hub.write(bytes, self.now_ms, &mut self.powers)
    }

    /// One read that drops what it reads.
    pub(crate) fn read(&mut self) -> Read {
        self.hub.read(&mut [0; 64], self.now_ms, &mut self.powers)
    }

    pub(crate) fn end(&mut self) {
        self.hub.end(&mut self.powers);
    }

    /// Every event there is, as words.
    pub(crate) fn events(&mut self) -> Vec<String> {
        let mut bytes = Vec::new();
        let mut piece = [0; 4096];
        while let Read::Bytes(count) = self.hub.read(&mut piece, self.now_ms, &mut self.powers) {
            bytes.extend_from_slice(&piece[..count]);
        }
        let mut rest = &bytes[..];
        let mut all = Vec::new();
        while !rest.is_empty() {
            let (event, length) = next_event(rest).unwrap().unwrap();
            all.push(shown(&event));
            rest = &rest[length..];
        }
        all
    }
}

fn shown(event: &Event<'_>) -> String {
    match event {
        Event::Ack { req_id } => format!("ack {req_id}"),
        Event::Fail { req_id, code, .. } => format!("refused {req_id} {code}"),
        Event::FutureOk { future_id, value } => {
            format!("ok {future_id} {}", String::from_utf8_lossy(value))
        }
        Event::FutureFail { future_id, failure } => match failure.cause.len() {
            0 => format!("fail {future_id} {}", failure.trace),
            more => format!("fail {future_id} {} +{more}", failure.trace),
        },
        Event::FutureCancelled { future_id } => format!("cancelled {future_id}"),
        Event::JoinResult { req_id } => format!("joined {req_id}"),
        Event::JoinLimit { req_id, code, .. } => format!("limit {req_id} {code}"),
        Event::Extension { header, .. } => format!("extension {}", header.op),
    }
}

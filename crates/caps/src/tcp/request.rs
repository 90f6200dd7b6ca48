//! Requests of `tcp`: something to send as JSON or as a value, a connection as a value only.

use std::any::Any;

use drydock_abi::{
    broker::parse,
    exchange::ExchangeRequest,
    tcp::{CONNECT, ConnectRequest},
};
use drydock_contract::Denial;

use super::policy::BOUNDS;
use crate::{
    dialled::{Asked, Wire},
    sent,
};

pub(super) fn decode(operation: &str, payload: &[u8]) -> Result<Asked, Denial> {
    match operation {
        CONNECT => Err(Denial::Malformed("a connection is asked for by a host, and not in bytes".into())),
        _ => sent::exchange(Wire::Tcp, BOUNDS, parse(operation, payload)?),
    }
}

pub(super) fn decode_typed(operation: &str, value: Box<dyn Any + Send>) -> Option<Asked> {
    match operation {
        CONNECT => sent::connect(Wire::Tcp, *value.downcast::<ConnectRequest>().ok()?),
        _ => sent::exchange(Wire::Tcp, BOUNDS, *value.downcast::<ExchangeRequest>().ok()?).ok(),
    }
}

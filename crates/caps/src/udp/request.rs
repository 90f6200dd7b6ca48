//! Requests of `udp`, as JSON or as a value.

use std::any::Any;

use drydock_abi::{broker::parse, exchange::DatagramRequest};
use drydock_contract::Denial;

use super::policy::BOUNDS;
use crate::{dialled::Asked, sent};

pub(super) fn decode(operation: &str, payload: &[u8]) -> Result<Asked, Denial> {
    sent::datagram(BOUNDS, parse(operation, payload)?)
}

pub(super) fn decode_typed(value: Box<dyn Any + Send>) -> Option<Asked> {
    sent::datagram(BOUNDS, *value.downcast::<DatagramRequest>().ok()?).ok()
}

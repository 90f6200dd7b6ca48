//! Requests of `secret.sign`, as JSON. A name that can be none is no request.

use drydock_abi::{broker::parse, secret::SignRequest};
use drydock_contract::Denial;

pub(super) fn decode(operation: &str, payload: &[u8]) -> Result<SignRequest, Denial> {
    parse(operation, payload)
}

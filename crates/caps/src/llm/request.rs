//! A request of `llm.complete`, which whoever asks by value has judged already: the type can hold no other.

use drydock_abi::llm::Asked;
use drydock_contract::Denial;

pub(super) fn decode(payload: &[u8]) -> Result<Asked, Denial> {
    Asked::parse(payload).map_err(|error| Denial::Malformed(error.to_string()))
}

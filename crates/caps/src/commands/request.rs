//! A request with nothing in it.

use drydock_contract::Denial;

/// A request for the list of commands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct List;

pub(super) fn decode(payload: &[u8]) -> Result<List, Denial> {
    if !payload.is_empty() {
        return Err(Denial::Malformed("commands.list takes no bytes".into()));
    }
    Ok(List)
}

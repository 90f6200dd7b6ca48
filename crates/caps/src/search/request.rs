//! A request of `search.query`.

use drydock_abi::{
    broker::parse,
    search::{Query, SEARCH},
};
use drydock_contract::Denial;

pub(super) fn decode(payload: &[u8]) -> Result<Query, Denial> {
    let query: Query = parse(SEARCH, payload)?;
    query.judge().map_err(Denial::Malformed)?;
    Ok(query)
}

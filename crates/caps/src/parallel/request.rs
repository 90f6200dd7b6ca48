//! A map, in JSON or as a value.

use drydock_abi::{
    broker::parse,
    parallel::{MAP, MapRequest},
};
use drydock_contract::Denial;

pub(super) fn decode(payload: &[u8]) -> Result<Map, Denial> {
    parse::<MapRequest>(MAP, payload).map(Map::of)
}

/// A map, and what its record's digest is made of.
pub struct Map {
    pub(super) asked: MapRequest,
    digested: Vec<u8>,
}

impl Map {
    /// Lengths go along, so that no two maps are digested alike.
    pub(super) fn of(asked: MapRequest) -> Self {
        let mut digested = Vec::new();
        for part in asked.args.iter().chain(&asked.inputs) {
            digested.extend_from_slice(&(part.0.len() as u64).to_le_bytes());
        }
        digested.extend_from_slice(&(asked.args.len() as u64).to_le_bytes());
        for part in asked.args.iter().chain(&asked.inputs) {
            digested.extend_from_slice(&part.0);
        }
        Self { asked, digested }
    }

    pub(super) fn digested(&self) -> [&[u8]; 2] {
        [self.asked.command.as_bytes(), &self.digested]
    }
}

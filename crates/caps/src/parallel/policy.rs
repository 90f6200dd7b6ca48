//! Are there too many inputs? What the command may be, and with which arguments, is judged where it is started.

use std::sync::Arc;

use drydock_abi::parallel::{INPUTS_MAX, MapRequest, TOO_MANY_INPUTS};
use drydock_contract::{Cap, Denial};
use drydock_gate::Refused;

use super::request::Map;
use crate::program::short;

/// A map that may begin.
pub struct Ready {
    pub(super) label: Arc<str>,
    pub(super) asked: MapRequest,
}

pub(super) fn check(map: Map) -> Result<Ready, Refused> {
    let Map { asked, .. } = map;
    let label = short(&asked.command);
    if asked.inputs.len() > INPUTS_MAX {
        let why = format!("a map takes at most {INPUTS_MAX} inputs; split them over several maps");
        let denial = Denial::ByPower { cap: Cap::Parallel, code: TOO_MANY_INPUTS, why };
        return Err(Refused { denial, subjects: label.into() });
    }
    Ok(Ready { label, asked })
}

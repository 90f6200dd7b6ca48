//! A grant names hosts with their ports. Whoever holds one is told that there is nobody to carry the request out.

use drydock_abi::runner::FETCH;
use drydock_contract::{Cap, Denial};
use drydock_gate::Refused;

use super::Fetch;

pub(super) fn not_admitted(request: &Fetch) -> Denial {
    let subjects = Denial::subject(request.host()).into();
    Denial::NotGranted { cap: Cap::Net, subjects, why: ": the grant is for other hosts" }
}

pub(super) fn refuse(request: &Fetch) -> Refused {
    let denial = Denial::UnknownOperation(FETCH.into());
    Refused { denial, subjects: crate::program::short(request.host()).into() }
}

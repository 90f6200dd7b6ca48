//! Whoever holds the power may ask for any words: what comes of them is judged where it is acted on.

use drydock_abi::search::Query;
use drydock_contract::{Denial, port::Subjects};
use drydock_gate::Refused;

use super::SUBJECT;

pub(super) fn check(request: Query) -> Result<Query, Refused> {
    // One that a caller in this process made was not read from bytes.
    match request.judge() {
        Ok(()) => Ok(request),
        Err(why) => Err(Refused { denial: Denial::Malformed(why), subjects: Subjects::cut(SUBJECT) }),
    }
}

//! A model that a grant names may be asked anything: what it may cost is for the session's budget, and what comes of its
//! words is judged where they are acted on.

use drydock_abi::llm::Asked;
use drydock_gate::Refused;

pub(super) fn check(request: Asked) -> Result<Asked, Refused> {
    Ok(request)
}

//! What may be signed: anything, up to so many bytes.

use drydock_abi::secret::{SIGN_DATA_BYTES_MAX, SignRequest};
use drydock_contract::Denial;
use drydock_gate::Refused;

use crate::program::short;

/// A signature that may be made.
pub struct Ready {
    pub(super) request: SignRequest,
}

pub(super) fn check(request: SignRequest) -> Result<Ready, Refused> {
    let bytes = request.data.0.len() as u64;
    if bytes > SIGN_DATA_BYTES_MAX {
        let denial = Denial::TooLarge { what: "data to sign", bytes, max: SIGN_DATA_BYTES_MAX };
        return Err(Refused { denial, subjects: short(request.name.as_str()).into() });
    }
    Ok(Ready { request })
}

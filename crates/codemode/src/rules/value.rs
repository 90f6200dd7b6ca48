//! Whether a value is small and flat enough to be passed on.

use drydock_abi::json::depth;
use drydock_contract::FailureCode;

use crate::protocol::Failure;

/// Whether JSON, called `what` in the refusal, is within both limits. Nothing always is.
pub(crate) fn fits(
    what: &str,
    json: Option<&[u8]>,
    bytes_max: usize,
    depth_max: usize,
) -> Result<(), Failure> {
    let Some(json) = json else { return Ok(()) };
    let bad = |text| Err(Failure::new(FailureCode::SerializationError, text));
    let bytes = json.len();
    if bytes > bytes_max {
        return bad(format!("{what} of {bytes} bytes exceeds the limit of {bytes_max}"));
    }
    // Every level takes two brackets, so most are too short to be too deep.
    if bytes <= depth_max.saturating_mul(2) {
        return Ok(());
    }
    match depth(json) {
        depth if depth > depth_max => {
            bad(format!("{what} is nested {depth} levels deep; the limit is {depth_max}"))
        }
        _ => Ok(()),
    }
}

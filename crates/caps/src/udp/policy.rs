//! How much one datagram and the wait for its answer may be. Which hosts grants name is judged alike for all that dial.

use drydock_abi::exchange::{DATAGRAM_BYTES_MAX, DATAGRAM_TIME_MS_MAX};

use crate::sent::Bounds;

pub(super) const BOUNDS: Bounds = Bounds {
    data_bytes_max: DATAGRAM_BYTES_MAX,
    reply_bytes_max: DATAGRAM_BYTES_MAX,
    time_ms_max: DATAGRAM_TIME_MS_MAX,
};

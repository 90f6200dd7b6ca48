//! How much one request over TCP may send, bring and take. Which hosts grants name is judged alike for all that dial.

use drydock_abi::exchange::{EXCHANGE_DATA_BYTES_MAX, EXCHANGE_REPLY_BYTES_MAX, EXCHANGE_TIME_MS_MAX};

use crate::sent::Bounds;

pub(super) const BOUNDS: Bounds = Bounds {
    data_bytes_max: EXCHANGE_DATA_BYTES_MAX,
    reply_bytes_max: EXCHANGE_REPLY_BYTES_MAX,
    time_ms_max: EXCHANGE_TIME_MS_MAX,
};

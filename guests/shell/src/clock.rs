//! The session's time, by WASI.

use crate::wasi;
use drydock_contract::{Timestamp, port::Clock};

pub(crate) struct HostClock;

impl Clock for HostClock {
    fn now(&self) -> Timestamp {
        Timestamp(wasi::now())
    }
}

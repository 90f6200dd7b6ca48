//! The descriptors of this process that open files of guests hold, all guests together.
//!
//! A few hundred are kept back for the host: without them one guest that opens what it may would leave
//! nothing for another's files, the journal and the code cache.

use std::sync::atomic::{AtomicU64, Ordering};

use drydock_contract::port::{FileError, FileLimit, FileResult};
use rustix::process::{Resource, getrlimit};

/// What is kept back, or a quarter of all where that is less.
const RESERVE: u64 = 320;

static HELD: AtomicU64 = AtomicU64::new(0);

/// One descriptor, for as long as it lives.
#[derive(Debug)]
pub(super) struct Held(());

impl Held {
    /// Takes one, if there is one left for guests.
    pub(super) fn take() -> FileResult<Self> {
        // Asked each time: the limit may be raised, and costs less to ask for than a file to open.
        let all = getrlimit(Resource::Nofile).current.unwrap_or(u64::MAX);
        let max = all - RESERVE.min(all / 4);
        let more = |held: u64| (held < max).then_some(held + 1);
        match HELD.fetch_update(Ordering::Relaxed, Ordering::Relaxed, more) {
            Ok(_) => Ok(Self(())),
            Err(_) => Err(FileError::Quota(FileLimit::OpenHandles)),
        }
    }
}

impl Drop for Held {
    fn drop(&mut self) {
        HELD.fetch_sub(1, Ordering::Relaxed);
    }
}

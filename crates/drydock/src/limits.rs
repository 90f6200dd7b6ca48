//! What this process asks of the system before anything else: as many descriptors as it may have, and an
//! error instead of death where a file may not grow.

use std::sync::{Arc, atomic::AtomicBool};

use rustix::process::{Resource, Rlimit, Signal, getrlimit, setrlimit};

/// Neither is worth failing for: what cannot be had is met again, as an error with a name.
pub(crate) fn prepare() {
    let files = getrlimit(Resource::Nofile);
    let _ = setrlimit(Resource::Nofile, Rlimit { current: files.maximum, ..files });
    // Whoever listens to SIGXFSZ is not killed by it, and the write fails with EFBIG. Not by a runtime: this is asked
    // of every process, and most of its start would be that one's.
    let _ = signal_hook::flag::register(Signal::XFSZ.as_raw(), Arc::new(AtomicBool::new(false)));
}

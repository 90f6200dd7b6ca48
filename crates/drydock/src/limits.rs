//! What this process asks of the system before anything else: as many descriptors as it may have, and an
//! error instead of death where a file may not grow.

use rustix::process::{Resource, Rlimit, Signal, getrlimit, setrlimit};
use tokio::signal::unix::{SignalKind, signal};

/// Neither is worth failing for: what cannot be had is met again, as an error with a name.
pub(crate) fn prepare() {
    let files = getrlimit(Resource::Nofile);
    let _ = setrlimit(Resource::Nofile, Rlimit { current: files.maximum, ..files });
    // Whoever listens to SIGXFSZ is not killed by it, and the write fails with EFBIG. The listening outlasts
    // the runtime that it needs to begin.
    let runtime = tokio::runtime::Builder::new_current_thread().enable_io().build();
    if let Ok(runtime) = runtime {
        let _entered = runtime.enter();
        let _ = signal(SignalKind::from_raw(Signal::XFSZ.as_raw()));
    }
}

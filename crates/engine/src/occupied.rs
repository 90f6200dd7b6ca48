//! Whether anybody but the one who waits for a compilation wants the processor.
//!
//! A compilation takes all cores only where nothing else goes on: no run is in flight, and the process serves
//! nobody. A run that waits for the very command it started does not count. The code is the same either way.

use std::sync::{
    Arc,
    atomic::{AtomicBool, AtomicUsize, Ordering},
};

use drydock_contract::port::CompileThreads;

/// What goes on in the lanes of one engine.
#[derive(Debug, Default)]
pub(crate) struct Occupied {
    serving: AtomicBool,
    runs: AtomicUsize,
}

impl Occupied {
    /// From now on somebody is served here, whether a run is in flight or not.
    pub(crate) fn serve(&self) {
        self.serving.store(true, Ordering::Relaxed);
    }

    /// What a compilation that begins now may take.
    pub(crate) fn threads(&self) -> CompileThreads {
        match self.serving.load(Ordering::Relaxed) || self.runs.load(Ordering::Relaxed) > 0 {
            true => CompileThreads::One,
            false => CompileThreads::All,
        }
    }

    /// A run begins, and ends when what is returned is dropped.
    pub(crate) fn run(self: &Arc<Self>) -> Running {
        self.runs.fetch_add(1, Ordering::Relaxed);
        Running(Arc::clone(self))
    }
}

/// One run in flight.
#[derive(Debug)]
pub(crate) struct Running(Arc<Occupied>);

impl Running {
    /// It waits for a command that it started, until what is returned is dropped.
    pub(crate) fn waits(&self) -> Waiting {
        self.0.runs.fetch_sub(1, Ordering::Relaxed);
        Waiting(Arc::clone(&self.0))
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        self.0.runs.fetch_sub(1, Ordering::Relaxed);
    }
}

/// A run that waits.
#[derive(Debug)]
pub(crate) struct Waiting(Arc<Occupied>);

impl Drop for Waiting {
    fn drop(&mut self) {
        self.0.runs.fetch_add(1, Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_cores_are_for_who_waits_alone() {
        let occupied = Arc::new(Occupied::default());
        assert_eq!(occupied.threads(), CompileThreads::All);
        let first = occupied.run();
        assert_eq!(occupied.threads(), CompileThreads::One, "a run is in flight");
        let waiting = first.waits();
        assert_eq!(occupied.threads(), CompileThreads::All, "it waits for what is compiled");
        let second = occupied.run();
        assert_eq!(occupied.threads(), CompileThreads::One);
        drop((second, waiting));
        assert_eq!(occupied.threads(), CompileThreads::One);
        drop(first);
        assert_eq!(occupied.threads(), CompileThreads::All);
        occupied.serve();
        assert_eq!(occupied.threads(), CompileThreads::One);
    }
}

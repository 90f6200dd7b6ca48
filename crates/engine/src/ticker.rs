//! Moves an engine's epoch on while its guests compute, and rests when none has for a while.
//!
//! A guest that computes comes back to the host with the next tick. Resting and waking cost a call to the
//! kernel, so the ticker goes on for some ticks after the last guest: a busy engine never pays for it.

use std::{
    sync::{
        Arc,
        atomic::{AtomicBool, AtomicUsize, Ordering::SeqCst},
    },
    thread::JoinHandle,
    time::Duration,
};

use wasmtime::EngineWeak;

/// How finely time is cut.
pub(crate) const TICK: Duration = Duration::from_millis(1);
/// Ticks without a guest after which the ticker rests.
const IDLE_TICKS_MAX: u32 = 50;

/// The thread that ticks, and what it looks at.
pub(crate) struct Ticker {
    state: Arc<State>,
    thread: Option<JoinHandle<()>>,
}

#[derive(Default)]
struct State {
    /// Guests that compute at this moment.
    computing: AtomicUsize,
    is_resting: AtomicBool,
    is_over: AtomicBool,
}

/// A guest computes for as long as this lives.
pub(crate) struct Computing<'a>(&'a State);

impl Ticker {
    pub(crate) fn start(engine: EngineWeak) -> std::io::Result<Self> {
        let state = Arc::new(State::default());
        let shared = Arc::clone(&state);
        let thread = std::thread::Builder::new().name("drydock-ticker".into());
        let thread = Some(thread.spawn(move || tick(&engine, &shared))?);
        Ok(Self { state, thread })
    }

    /// Says that a guest computes, so that there are ticks to interrupt it.
    pub(crate) fn computing(&self) -> Computing<'_> {
        self.state.computing.fetch_add(1, SeqCst);
        // Either this sees that the ticker rests, or the ticker, before it does, sees the guest.
        if self.state.is_resting.load(SeqCst) {
            self.wake();
        }
        Computing(&self.state)
    }

    fn wake(&self) {
        self.state.is_resting.store(false, SeqCst);
        if let Some(thread) = &self.thread {
            thread.thread().unpark();
        }
    }
}

impl Drop for Computing<'_> {
    fn drop(&mut self) {
        self.0.computing.fetch_sub(1, SeqCst);
    }
}

impl Drop for Ticker {
    fn drop(&mut self) {
        self.state.is_over.store(true, SeqCst);
        self.wake();
        if let Some(thread) = self.thread.take() {
            // It cannot panic, and there would be nobody to tell.
            let _ = thread.join();
        }
    }
}

fn tick(engine: &EngineWeak, state: &State) {
    let mut idle_ticks = 0;
    while !state.is_over.load(SeqCst) {
        std::thread::sleep(TICK);
        let Some(engine) = engine.upgrade() else { return };
        engine.increment_epoch();
        drop(engine);
        idle_ticks = if state.computing.load(SeqCst) == 0 { idle_ticks + 1 } else { 0 };
        if idle_ticks >= IDLE_TICKS_MAX {
            idle_ticks = 0;
            rest(state);
        }
    }
}

/// Waits for a guest, or for the end.
fn rest(state: &State) {
    state.is_resting.store(true, SeqCst);
    while state.is_resting.load(SeqCst) && state.computing.load(SeqCst) == 0 && !state.is_over.load(SeqCst) {
        std::thread::park();
    }
    state.is_resting.store(false, SeqCst);
}

#[cfg(test)]
mod tests {
    use std::time::Instant;

    use super::*;

    fn engine() -> wasmtime::Engine {
        let mut config = wasmtime::Config::new();
        config.epoch_interruption(true);
        wasmtime::Engine::new(&config).unwrap()
    }

    fn within_a_minute(what: &str, mut is_so: impl FnMut() -> bool) {
        let started = Instant::now();
        while !is_so() {
            assert!(started.elapsed() < Duration::from_secs(60), "never: {what}");
            std::thread::sleep(TICK);
        }
    }

    #[test]
    fn it_rests_without_guests_and_wakes_for_one() {
        let engine = engine();
        let ticker = Ticker::start(engine.weak()).unwrap();
        for _ in 0..3 {
            within_a_minute("it rests", || ticker.state.is_resting.load(SeqCst));
            let computing = ticker.computing();
            within_a_minute("it wakes", || !ticker.state.is_resting.load(SeqCst));
            std::thread::sleep(TICK * (IDLE_TICKS_MAX + 20));
            assert!(!ticker.state.is_resting.load(SeqCst), "it rested although a guest computes");
            drop(computing);
        }
    }

    #[test]
    fn it_ends_with_its_engine_resting_or_not() {
        for idle in [Duration::ZERO, TICK * (IDLE_TICKS_MAX + 20)] {
            let engine = engine();
            let ticker = Ticker::start(engine.weak()).unwrap();
            std::thread::sleep(idle);
            drop(ticker);
        }
    }
}

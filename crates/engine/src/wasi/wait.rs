//! Sleeping, and waiting for an answer of a tool.
//!
//! Files and outputs are always ready; stdin is said to be, and the read that follows waits for it. So whoever waits for
//! such a thing too never sleeps.

use std::{
    pin::{Pin, pin},
    time::Duration,
};

use wasmtime::Caller;

use crate::{guest::Guest, host::tool, wait::wait_for};

/// What a guest waits for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Wanted {
    /// Nanoseconds from now.
    Timer(u64),
    /// Something that is ready already.
    Ready,
    /// An answer on `/dev/drydock`, while calls are open.
    Answer,
}

/// What has happened.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Happened {
    /// Timers of at most so many nanoseconds have run out.
    passed: u64,
    answered: bool,
}

impl Happened {
    /// Whether this has.
    pub(crate) fn has(self, wanted: Wanted) -> bool {
        match wanted {
            Wanted::Timer(nanos) => nanos <= self.passed,
            Wanted::Ready => true,
            Wanted::Answer => self.answered,
        }
    }
}

/// Waits for the first of them.
pub(crate) async fn wait(
    caller: &mut Caller<'_, Guest>,
    wanted: impl Iterator<Item = Wanted> + Clone,
) -> Happened {
    let soonest = |it| match it {
        Wanted::Timer(nanos) => nanos,
        Wanted::Ready => 0,
        Wanted::Answer => u64::MAX,
    };
    let mut passed = wanted.clone().map(soonest).min().unwrap_or_default();
    let mut answered = false;
    if wanted.into_iter().any(|it| it == Wanted::Answer) {
        answered = tool::wait(caller, passed).await;
        if answered {
            // Timers did not run out, but for those that had nothing left.
            passed = 0;
        }
    } else if passed > 0 {
        match caller.data().clock.sleep(passed) {
            Some(mut sleep) => wait_for(caller, |_, cx| Pin::new(&mut sleep).poll(cx)).await,
            None => {
                let mut sleep = pin!(tokio::time::sleep(Duration::from_nanos(passed)));
                wait_for(caller, |_, cx| sleep.as_mut().poll(cx)).await;
            }
        }
    }
    Happened { passed, answered }
}

//! The work a line may do: every step is counted, and now and then somebody asks for the time, the memory and the end.

use std::{sync::atomic::Ordering, time::Duration};

use drydock_contract::{exit, schedule};

use super::{Env, Eval, Flow};

impl Env {
    /// Counts one unit of work; now and then lets others run and looks at the clock.
    pub(crate) async fn step(&mut self) -> Eval<()> {
        let shared = &self.shared;
        if shared.aborted.load(Ordering::Relaxed) {
            return Err(Flow::Abort);
        }
        if self.traps.inbox.any() {
            self.take_signals().await?;
        }
        if self.is_late() {
            return Err(Flow::Exit(i32::from(exit::TIMED_OUT)));
        }
        let shared = &self.shared;
        let done = shared.steps.fetch_add(1, Ordering::Relaxed) + 1;
        if done > shared.limits.steps_max {
            let text = format!("the line took more than {} steps", shared.limits.steps_max);
            return Err(self.abort(text));
        }
        // A step may be long, so time is asked for more often than others get their turn.
        if done.is_multiple_of(16) {
            self.check_expired()?;
        }
        if done.is_multiple_of(256) {
            shared.door.slice_done();
            schedule::slice_done().await;
        }
        Ok(())
    }

    /// Whether its time is up.
    pub(crate) fn is_late(&self) -> bool {
        self.time_left().is_some_and(|it| it.is_zero())
    }

    /// Ends the run if whoever started it wants that.
    pub(crate) fn check_expired(&self) -> Eval<()> {
        match self.shared.door.expired() {
            Some(why) => Err(self.abort(why)),
            None => Ok(()),
        }
    }

    /// Ends the whole run.
    pub(crate) fn abort(&self, text: String) -> Flow {
        let mut abort = self.shared.abort.lock();
        if abort.is_none() {
            *abort = Some(text);
        }
        self.shared.aborted.store(true, Ordering::Relaxed);
        Flow::Abort
    }

    /// What is left of its time, where whoever started it allows less than the line has.
    pub(crate) fn time_left(&self) -> Option<Duration> {
        self.nested.as_ref()?.time_left()
    }
}

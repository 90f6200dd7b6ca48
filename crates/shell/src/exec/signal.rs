//! What a shell does with its signals: the trap, or the end.

use std::{future::poll_fn, io, pin::Pin, task::Poll};

use drydock_contract::{BoxFuture, schedule};

use crate::{
    builtin::signal_name,
    expand::INSIDE_MAX,
    fd::Fd,
    inbox::{SIGINT, is_deadly},
    state::{Env, Eval, Flow},
    tasks::Handle,
};

/// What came first.
pub(crate) enum Heard {
    /// Some bytes, the end, or an error.
    Read(io::Result<usize>),
    Signal,
    TimeIsUp,
}

impl Env {
    /// Tells the door whether the line's own shell has a trap for Ctrl-C. Who ignores it has none: somebody who presses it
    /// wants the end.
    pub(crate) fn tell_interrupts(&self) {
        if self.identity.id == 1 {
            let trap = self.traps.set.get("INT");
            self.shared.door.catches_interrupt(trap.is_some_and(|it| !it.inert && !it.text.is_empty()));
        }
    }

    /// Runs the traps of signals that came, or ends.
    pub(crate) fn take_signals(&mut self) -> BoxFuture<'_, Eval<()>> {
        Box::pin(async move {
            if !self.traps.owns_inbox {
                // A subshell dies with its shell; what its shell has a trap for is not its own.
                return match self.traps.inbox.deadly() {
                    None if self.traps.inbox.is_interrupted() => Err(Flow::Exit(128 + i32::from(SIGINT))),
                    Some(signal) => Err(Flow::Exit(128 + i32::from(signal))),
                    None => Ok(()),
                };
            }
            // A trap that sends its own signal waits for the one it runs in.
            if self.frame.inside_itself >= INSIDE_MAX {
                return Ok(());
            }
            while let Some(signal) = self.traps.inbox.take() {
                let name = signal_name(signal);
                // Nobody can catch KILL.
                let trapped = signal != 9 && self.traps.set.get(name).is_some_and(|trap| !trap.inert);
                if trapped {
                    self.run_signal_trap(name).await?;
                } else if is_deadly(signal) {
                    if signal == 9 {
                        self.traps.set = Default::default();
                    }
                    return Err(Flow::Exit(128 + i32::from(signal)));
                }
            }
            Ok(())
        })
    }

    /// A signal's trap runs even within another trap.
    async fn run_signal_trap(&mut self, name: &str) -> Eval<()> {
        let inside = std::mem::replace(&mut self.traps.is_running, false);
        self.frame.inside_itself += 1;
        let result = self.run_trap(name).await;
        self.frame.inside_itself -= 1;
        self.traps.is_running = inside;
        result
    }

    /// Whether `take_signals` would do anything.
    fn has_signal(&self) -> bool {
        let inbox = &self.traps.inbox;
        match self.traps.owns_inbox {
            true => inbox.any() && self.frame.inside_itself < INSIDE_MAX,
            false => inbox.deadly().is_some() || inbox.is_interrupted(),
        }
    }

    /// Reads once, unless a signal comes first or the time is up.
    pub(crate) async fn read_or_signal(
        &self,
        fd: &Fd,
        buffer: &mut [u8],
        mut due: Option<&mut BoxFuture<'static, ()>>,
    ) -> Heard {
        poll_fn(|cx| {
            if let Poll::Ready(read) = fd.poll_read(cx, buffer) {
                return Poll::Ready(Heard::Read(read));
            }
            self.traps.inbox.listen(cx.waker());
            if self.has_signal() {
                schedule::goes_on();
                return Poll::Ready(Heard::Signal);
            }
            if due.as_mut().is_some_and(|it| it.as_mut().poll(cx).is_ready()) {
                return Poll::Ready(Heard::TimeIsUp);
            }
            Poll::Pending
        })
        .await
    }

    /// Waits for a job; nothing if a signal came first.
    pub(crate) async fn job_or_signal(&self, done: &Handle<i32>) -> Option<i32> {
        let mut done = done.clone();
        poll_fn(|cx| {
            if let Poll::Ready(status) = Pin::new(&mut done).poll(cx) {
                return Poll::Ready(Some(status));
            }
            self.traps.inbox.listen(cx.waker());
            if self.traps.inbox.any() {
                schedule::goes_on();
                return Poll::Ready(None);
            }
            Poll::Pending
        })
        .await
    }
}

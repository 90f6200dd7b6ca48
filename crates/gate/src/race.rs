//! The work of a call against what may end it: a revocation, a cancellation, the loss of its grant, its deadline.
//!
//! A run hears of most of these by itself, and is given a moment to end in its own way and to hand its streams back;
//! whatever does not hear of them is dropped at once, and not polled once more.

use std::{
    future::poll_fn,
    pin::Pin,
    sync::Arc,
    task::{Context, Poll},
    time::{Duration, Instant},
};

use drydock_contract::{
    BoxFuture, CallError, Denial, Fault, SwitchMark,
    port::{CallFacts, Clock},
};
use event_listener::EventListener;

use crate::{Class, Grant, Session};

/// What a run gets to end by itself.
const GRACE: Duration = Duration::from_millis(500);
/// Between two looks at a deadline that moves.
const LOOK_AGAIN: Duration = Duration::from_millis(5);

/// Why the work is not done.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Cut {
    /// The principal was revoked, or the session cancelled.
    Lost(Denial),
    /// The grant that let it through was revoked, or the session has it no more.
    Grant,
    /// The time is up.
    Overdue,
}

impl Cut {
    /// What the caller is told.
    pub(crate) fn error(self, grant: &Grant, facts: &CallFacts) -> CallError {
        match self {
            Self::Lost(denial) => denial.into(),
            Self::Grant => {
                let subjects = facts.subjects.clone();
                Denial::NotGranted { cap: grant.cap(), subjects, why: ": the grant was taken back" }.into()
            }
            Self::Overdue => Fault::Overdue.into(),
        }
    }
}

/// What may end the work of a call.
pub(crate) struct Ends<'a> {
    pub(crate) session: &'a Session,
    /// When the call began.
    pub(crate) mark: SwitchMark,
    /// What let it through.
    pub(crate) grant: &'a Arc<Grant>,
    /// What it is counted with.
    pub(crate) class: Class,
}

impl Ends<'_> {
    /// Whether somebody ended it. A few atomic loads, and no look at a clock.
    fn ended(&self) -> Option<Cut> {
        let lost = self.session.lost_since(self.mark).map(Cut::Lost);
        lost.or_else(|| (!self.session.still_holds(self.grant)).then_some(Cut::Grant))
    }

    /// What the work gets to end by itself. No guest hears of a grant.
    fn grace(&self, cut: &Cut) -> Duration {
        match self.class {
            Class::Run if *cut != Cut::Grant => GRACE,
            _ => Duration::ZERO,
        }
    }
}

/// Does the work, unless something ends it first. Work that is done at once costs nothing more.
pub(crate) async fn race<T>(
    mut work: Pin<&mut impl Future<Output = T>>,
    ends: &Ends<'_>,
    clock: &dyn Clock,
) -> Result<T, Cut> {
    // Boxed, because most work is done at once: what watching takes is no part of its future.
    let mut watch: Option<Box<Watch>> = None;
    poll_fn(|cx| {
        if watch.is_some()
            && let Some(cut) = ends.ended()
            && ends.grace(&cut).is_zero()
        {
            return Poll::Ready(Err(cut));
        }
        if let Poll::Ready(done) = work.as_mut().poll(cx) {
            return Poll::Ready(Ok(done));
        }
        watch.get_or_insert_with(|| Box::new(Watch::new(ends))).poll(cx, ends, clock).map(Err)
    })
    .await
}

struct Watch {
    listeners: [EventListener; 2],
    timer: Option<BoxFuture<'static, ()>>,
    /// What happened, and when the work is given up.
    cut: Option<(Cut, Instant)>,
}

impl Watch {
    fn new(ends: &Ends<'_>) -> Self {
        let [revoked, cancelled] = ends.session.own_switches();
        Self { listeners: [revoked.listen(), cancelled.listen()], timer: None, cut: None }
    }

    fn poll(&mut self, cx: &mut Context<'_>, ends: &Ends<'_>, clock: &dyn Clock) -> Poll<Cut> {
        for (listener, switch) in self.listeners.iter_mut().zip(ends.session.own_switches()) {
            while Pin::new(&mut *listener).poll(cx).is_ready() {
                *listener = switch.listen();
            }
        }
        let deadline = ends.session.deadline();
        loop {
            let now = Instant::now();
            if self.cut.is_none() {
                let overdue = || deadline.is_some_and(|it| it.is_over(now)).then_some(Cut::Overdue);
                self.cut = ends.ended().or_else(overdue).map(|cut| {
                    let grace = ends.grace(&cut);
                    (cut, now + grace)
                });
                if self.cut.is_some() {
                    self.timer = None;
                }
            }
            let until = match (&self.cut, deadline) {
                (Some((cut, until)), _) if now >= *until => return Poll::Ready(cut.clone()),
                (Some((_, until)), _) => *until,
                (None, Some(deadline)) => deadline.at().max(now + LOOK_AGAIN),
                (None, None) => return Poll::Pending,
            };
            if self.timer.is_none() {
                self.timer = clock.alarm(until);
            }
            let Some(timer) = &mut self.timer else {
                // Nobody here keeps time: what has to end ends at once.
                return self.cut.clone().map_or(Poll::Pending, |(cut, _)| Poll::Ready(cut));
            };
            if timer.as_mut().poll(cx).is_pending() {
                return Poll::Pending;
            }
            self.timer = None;
        }
    }
}

//! The work of a call against what may end it: a revocation, a cancellation, its deadline.
//!
//! A power that hears of these by itself, as a run does, is given a moment to end in its own way and to hand its
//! streams back; whatever does not is dropped.

use std::{
    future::poll_fn,
    pin::Pin,
    sync::Arc,
    task::{Context, Poll},
    time::{Duration, Instant},
};

use drydock_contract::{BoxFuture, Deadline, Switch, port::Clock};
use event_listener::EventListener;

/// What work gets to end by itself.
const GRACE: Duration = Duration::from_millis(500);
/// Between two looks at a deadline that moves.
const LOOK_AGAIN: Duration = Duration::from_millis(5);

/// Why the work is not done.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Cut {
    /// A switch was thrown: the first of them is the revocation's.
    Switch(usize),
    /// The time is up.
    Overdue,
}

/// Does the work, unless something ends it first. Work that is done at once costs nothing more.
pub(crate) async fn race<T>(
    mut work: Pin<&mut impl Future<Output = T>>,
    switches: &[Arc<Switch>; 2],
    deadline: Option<&Deadline>,
    clock: &dyn Clock,
) -> Result<T, Cut> {
    let mut watch: Option<Watch> = None;
    poll_fn(|cx| {
        if let Poll::Ready(done) = work.as_mut().poll(cx) {
            return Poll::Ready(Ok(done));
        }
        watch.get_or_insert_with(|| Watch::new(switches)).poll(cx, switches, deadline, clock).map(Err)
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
    fn new(switches: &[Arc<Switch>; 2]) -> Self {
        Self { listeners: [switches[0].listen(), switches[1].listen()], timer: None, cut: None }
    }

    fn poll(
        &mut self,
        cx: &mut Context<'_>,
        switches: &[Arc<Switch>; 2],
        deadline: Option<&Deadline>,
        clock: &dyn Clock,
    ) -> Poll<Cut> {
        for (listener, switch) in self.listeners.iter_mut().zip(switches) {
            while Pin::new(&mut *listener).poll(cx).is_ready() {
                *listener = switch.listen();
            }
        }
        loop {
            let now = Instant::now();
            if self.cut.is_none() {
                let tripped = switches.iter().position(|it| it.is_tripped()).map(Cut::Switch);
                let overdue = deadline.is_some_and(|it| it.is_over(now)).then_some(Cut::Overdue);
                self.cut = tripped.or(overdue).map(|cut| (cut, now + GRACE));
                if self.cut.is_some() {
                    self.timer = None;
                }
            }
            let until = match (self.cut, deadline) {
                (Some((cut, until)), _) if now >= until => return Poll::Ready(cut),
                (Some((_, until)), _) => until,
                (None, Some(deadline)) => deadline.at().max(now + LOOK_AGAIN),
                (None, None) => return Poll::Pending,
            };
            if self.timer.is_none() {
                self.timer = clock.alarm(until);
            }
            let Some(timer) = &mut self.timer else {
                // Nobody here keeps time: what has to end ends at once.
                return self.cut.map_or(Poll::Pending, |(cut, _)| Poll::Ready(cut));
            };
            if timer.as_mut().poll(cx).is_pending() {
                return Poll::Pending;
            }
            self.timer = None;
        }
    }
}

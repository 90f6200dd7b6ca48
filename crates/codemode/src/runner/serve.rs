//! Carries out what an [`Endpoint`] says, with a guest, until the host has gone.
//!
//! Guest and host are listened to in turn, so that neither a flood of messages nor a busy guest keeps the
//! other waiting. A guest that panics is a failed execution; the runner lives on.

use std::{
    future::poll_fn,
    panic::AssertUnwindSafe,
    sync::Arc,
    task::{Context, Poll},
    time::Duration,
};

use drydock_contract::{BoxFuture, FailureCode, Switch};
use futures_util::FutureExt as _;

use super::{
    Endpoint, Finished, Guest, Heard, Input, Output, Port, Program, RunnerLimits,
    desk::{Desk, GuestTools},
};
use crate::{
    Time,
    protocol::{Failure, Json},
};

/// What happens before others get a turn, at most.
const STEPS_MAX: usize = 256;

/// How long a runner tries to say its last words.
const LEAVE_WITHIN: Duration = Duration::from_secs(1);

/// Serves executions until the host has gone; then the guest that still runs is dropped.
pub async fn serve(port: &mut dyn Port, guest: &dyn Guest, time: &dyn Time, limits: RunnerLimits) {
    let mut work = Work {
        endpoint: Endpoint::new(limits),
        port,
        guest,
        time,
        running: None,
        alarm: None,
        guest_first: false,
    };
    poll_fn(|cx| work.poll(cx)).await;
    work.running = None;
    // What was said last should arrive, but who has gone may never take it.
    let mut patience = time.sleep(LEAVE_WITHIN);
    poll_fn(|cx| match work.port.poll_sent(cx) {
        Poll::Pending => patience.as_mut().poll(cx),
        sent => sent,
    })
    .await;
}

struct Running<'a> {
    future: BoxFuture<'a, Finished>,
    desk: Arc<Desk>,
    cancel: Arc<Switch>,
}

struct Work<'a> {
    endpoint: Endpoint,
    port: &'a mut dyn Port,
    guest: &'a dyn Guest,
    time: &'a dyn Time,
    running: Option<Running<'a>>,
    alarm: Option<BoxFuture<'static, ()>>,
    guest_first: bool,
}

/// What happened next.
enum Step {
    Happened(Input),
    /// Something that has no meaning.
    Nothing,
    HostGone,
}

impl<'a> Work<'a> {
    fn poll(&mut self, cx: &mut Context<'_>) -> Poll<()> {
        for _ in 0..STEPS_MAX {
            while let Some(output) = self.endpoint.next_output() {
                self.carry_out(output);
            }
            match self.step(cx) {
                Poll::Ready(Step::Happened(input)) => self.endpoint.on(input, self.time.now()),
                Poll::Ready(Step::Nothing) => {}
                Poll::Ready(Step::HostGone) => return Poll::Ready(()),
                Poll::Pending => return Poll::Pending,
            }
        }
        cx.waker().wake_by_ref();
        Poll::Pending
    }

    fn step(&mut self, cx: &mut Context<'_>) -> Poll<Step> {
        if let Some(alarm) = &mut self.alarm
            && alarm.as_mut().poll(cx).is_ready()
        {
            self.alarm = None;
            return Poll::Ready(Step::Happened(Input::TimeUp));
        }
        self.guest_first = !self.guest_first;
        let both: [fn(&mut Self, &mut Context<'_>) -> Poll<Step>; 2] = match self.guest_first {
            true => [Self::hear_guest, Self::hear_host],
            false => [Self::hear_host, Self::hear_guest],
        };
        for hear in both {
            let heard = hear(self, cx);
            if heard.is_ready() {
                return heard;
            }
        }
        Poll::Pending
    }

    fn hear_host(&mut self, cx: &mut Context<'_>) -> Poll<Step> {
        self.port.poll_heard(cx).map(|heard| match heard {
            Heard::Message(message) => Step::Happened(Input::Message(message)),
            Heard::TooLong(head, bytes_max) => Step::Happened(Input::TooLong(head, bytes_max)),
            Heard::Junk => Step::Nothing,
            Heard::Closed => Step::HostGone,
        })
    }

    fn hear_guest(&mut self, cx: &mut Context<'_>) -> Poll<Step> {
        let Some(running) = &mut self.running else { return Poll::Pending };
        let called = |(ticket, request)| Step::Happened(Input::Called { ticket, request });
        if let Poll::Ready(call) = running.desk.poll_call(cx) {
            return Poll::Ready(called(call));
        }
        let finished = running.future.as_mut().poll(cx);
        // Calls it made in this very moment come before its end, also those nobody waits for.
        if let Poll::Ready(finished) = finished {
            while let Poll::Ready((ticket, request)) = running.desk.poll_call(cx) {
                self.endpoint.on(Input::Called { ticket, request }, self.time.now());
            }
            return Poll::Ready(Step::Happened(Input::Finished(finished)));
        }
        running.desk.poll_call(cx).map(called)
    }

    fn carry_out(&mut self, output: Output) {
        match output {
            Output::Send(message) => self.port.send(message),
            Output::Start(program) => self.running = Some(start(self.guest, program)),
            Output::Deliver { ticket, answer } => {
                if let Some(running) = &self.running {
                    running.desk.deliver(ticket, answer.map(Json::into_bytes));
                }
            }
            Output::CancelGuest => {
                if let Some(running) = &self.running {
                    running.cancel.trip();
                }
            }
            Output::SetAlarm(span) => self.alarm = Some(self.time.sleep(span)),
            Output::DropGuest => {
                self.running = None;
                self.alarm = None;
            }
        }
    }
}

fn start(guest: &dyn Guest, program: Program) -> Running<'_> {
    let (desk, cancel) = (Arc::new(Desk::default()), Arc::new(Switch::default()));
    let (tools, switch) = (Arc::new(GuestTools(Arc::clone(&desk))), Arc::clone(&cancel));
    let run = AssertUnwindSafe(async move { guest.run(program, tools, switch).await }).catch_unwind();
    let future = run.map(|ended| {
        ended.unwrap_or_else(|_| {
            Finished::without_logs(Err(Failure::new(FailureCode::InternalError, "the guest broke")))
        })
    });
    Running { future: Box::pin(future), desk, cancel }
}

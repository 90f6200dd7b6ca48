//! The calls of one program in this process: made at once, where the rules let them in.
//!
//! A tool that answers without waiting costs the program no turn of the executor: its answer is there when
//! `call` returns. Any other is handed to whoever drives the execution and goes on while the program does.

use std::{
    collections::HashMap,
    future::ready,
    pin::Pin,
    sync::Arc,
    task::{Context, Poll, Waker},
};

use drydock_contract::{
    BoxFuture, SteppedClock, ToolAnswer, ToolRequest, Tools,
    schedule::{self, Schedule, Turn},
};
use futures_util::stream::{FuturesUnordered, Stream as _};
use parking_lot::Mutex;

use crate::{
    result::timed_out,
    rules::{Admitted, CallLimits, CallRules},
};

/// What a program is given as its tools.
pub(super) struct Calls {
    tools: Arc<dyn Tools>,
    /// The programs' own clock, if their time is not the real one.
    clock: Option<Arc<SteppedClock>>,
    state: Mutex<State>,
}

/// A call that is under way, and what comes of it.
type Slow = BoxFuture<'static, (Admitted, ToolAnswer)>;

/// Calls that are under way. Made with the first of them: most programs have none.
#[derive(Default)]
pub(super) struct Driven {
    as_woken: Option<FuturesUnordered<Slow>>,
    /// By a clock that is not the real one.
    in_order: Schedule<(Admitted, ToolAnswer)>,
}

struct State {
    rules: CallRules<ToolRequest>,
    /// Calls that did not end at once and nobody drives yet.
    begun: Vec<Slow>,
    /// By the call's number.
    slots: HashMap<usize, Slot>,
    driver: Option<Waker>,
}

/// Where the program waits for an answer.
#[derive(Default)]
struct Slot {
    answer: Option<ToolAnswer>,
    program: Option<Waker>,
}

impl Calls {
    pub(super) fn new(tools: Arc<dyn Tools>, limits: CallLimits, clock: Option<Arc<SteppedClock>>) -> Self {
        let (rules, begun, slots) = (CallRules::new(limits), Vec::new(), HashMap::new());
        Self { tools, clock, state: Mutex::new(State { rules, begun, slots, driver: None }) }
    }

    /// A call that owns everything it needs.
    fn begin(&self, request: ToolRequest) -> BoxFuture<'static, ToolAnswer> {
        let tools = Arc::clone(&self.tools);
        Box::pin(async move { tools.call(request).await })
    }

    /// Moves on what is under way; true if an answer came of it.
    pub(super) fn poll(&self, driven: &mut Driven, cx: &mut Context<'_>) -> bool {
        {
            let mut state = self.state.lock();
            if !state.driver.as_ref().is_some_and(|it| it.will_wake(cx.waker())) {
                state.driver = Some(cx.waker().clone());
            }
            for call in state.begun.drain(..) {
                self.drive(driven, call);
            }
            while let Some((admitted, request)) = state.rules.next() {
                let call = self.begin(request);
                self.drive(driven, Box::pin(async move { (admitted, call.await) }));
            }
        }
        if let Some(clock) = &self.clock {
            return self.poll_in_order(clock, driven, cx);
        }
        let Some(under_way) = &mut driven.as_woken else { return false };
        let mut answered = false;
        while let Poll::Ready(Some((admitted, answer))) = Pin::new(&mut *under_way).poll_next(cx) {
            self.deliver(admitted, answer);
            answered = true;
        }
        answered
    }

    fn drive(&self, driven: &mut Driven, call: Slow) {
        match self.clock {
            None => driven.as_woken.get_or_insert_default().push(call),
            Some(_) => driven.in_order.push(call),
        }
    }

    /// One answer at a time, so that the program sees it before the next call goes on.
    fn poll_in_order(&self, clock: &SteppedClock, driven: &mut Driven, cx: &mut Context<'_>) -> bool {
        loop {
            match driven.in_order.turn(clock, cx) {
                Turn::Ended((admitted, answer)) => {
                    self.deliver(admitted, answer);
                    return true;
                }
                Turn::Next => {}
                Turn::AllInside | Turn::Slice | Turn::World => return false,
            }
        }
    }

    /// That an answer is JSON is for the program's own parser to find.
    fn deliver(&self, admitted: Admitted, answer: ToolAnswer) {
        let number = admitted.number();
        let mut state = self.state.lock();
        let answer = state.rules.end(admitted, answer);
        // A call that the program has given up gets nothing.
        let Some(slot) = state.slots.get_mut(&number) else { return };
        slot.answer = Some(answer);
        let program = slot.program.take();
        drop(state);
        if let Some(program) = program {
            program.wake();
        }
    }

    /// Nobody wants an answer any more: whoever still waits for one is told, and no call begins.
    pub(super) fn give_up(&self) {
        let mut state = self.state.lock();
        state.rules.give_up();
        let begun = std::mem::take(&mut state.begun);
        let mut programs = Vec::new();
        for slot in state.slots.values_mut().filter(|it| it.answer.is_none()) {
            slot.answer = Some(Err(timed_out()));
            programs.extend(slot.program.take());
        }
        drop(state);
        drop(begun);
        programs.into_iter().for_each(Waker::wake);
    }
}

impl State {
    fn wait_for(&mut self, number: usize) {
        self.slots.insert(number, Slot::default());
        if let Some(driver) = self.driver.take() {
            driver.wake();
        }
    }
}

impl Tools for Calls {
    fn call(&self, request: ToolRequest) -> BoxFuture<'_, ToolAnswer> {
        let mut state = self.state.lock();
        let admitted = match state.rules.admit(request.input.as_deref()) {
            Ok(admitted) => admitted,
            Err(failure) => return Box::pin(ready(Err(failure))),
        };
        let number = admitted.number();
        let Some((admitted, request)) = state.rules.start_or_queue(admitted, request) else {
            state.wait_for(number);
            return Box::pin(Waiting { calls: self, number });
        };
        drop(state);
        let mut call = self.begin(request);
        if self.clock.is_some() {
            // How far it would come by itself depends on the machine: it begins when it is its turn.
            return self.wait_for(admitted, call);
        }
        // Whom to wake is not known yet. If it has to wait, the driver asks again before it rests.
        match call.as_mut().poll(&mut Context::from_waker(Waker::noop())) {
            Poll::Ready(answer) => {
                let answer = self.state.lock().rules.end(admitted, answer);
                Box::pin(ready(answer))
            }
            Poll::Pending => self.wait_for(admitted, call),
        }
    }
}

impl Calls {
    /// Leaves a call to whoever drives the execution.
    fn wait_for(
        &self,
        admitted: Admitted,
        call: BoxFuture<'static, ToolAnswer>,
    ) -> BoxFuture<'_, ToolAnswer> {
        let number = admitted.number();
        let mut state = self.state.lock();
        state.begun.push(Box::pin(async move { (admitted, call.await) }));
        state.wait_for(number);
        Box::pin(Waiting { calls: self, number })
    }
}

/// A program that waits for an answer.
struct Waiting<'a> {
    calls: &'a Calls,
    number: usize,
}

impl Future for Waiting<'_> {
    type Output = ToolAnswer;

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<ToolAnswer> {
        let mut state = self.calls.state.lock();
        let slot = state.slots.entry(self.number).or_default();
        match slot.answer.take() {
            Some(answer) => Poll::Ready(answer),
            None => {
                slot.program = Some(cx.waker().clone());
                schedule::waits_inside();
                Poll::Pending
            }
        }
    }
}

impl Drop for Waiting<'_> {
    fn drop(&mut self) {
        self.calls.state.lock().slots.remove(&self.number);
    }
}

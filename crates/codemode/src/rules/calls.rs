//! The tool calls of one execution: which are let in, which run and which wait, what an answer may weigh.
//!
//! A call is weighed once, when it asks to be let in. What it gets, [`Admitted`], carries that weight until the
//! call ends, and nothing else ends one.

use std::collections::VecDeque;

use drydock_contract::FailureCode;

use super::fits;
use crate::{protocol::Failure, result::timed_out};

/// What the tool calls of one execution may take. An end that does not look at something has `usize::MAX` there.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct CallLimits {
    /// Calls that run at once; more wait for their turn.
    pub(crate) running_max: usize,
    /// Calls that run or wait; more are refused.
    pub(crate) pending_max: usize,
    /// Calls in all, refused ones among them; more are refused.
    pub(crate) calls_max: usize,
    /// Bytes of the inputs of calls that run or wait; more are refused.
    pub(crate) pending_bytes_max: usize,
    /// Bytes of one input.
    pub(crate) input_bytes_max: usize,
    /// Levels of nesting in one input.
    pub(crate) input_depth_max: usize,
    /// Bytes of one answer.
    pub(crate) answer_bytes_max: usize,
}

impl CallLimits {
    /// The narrower of the two in everything.
    pub(crate) fn narrowed(self, other: Self) -> Self {
        Self {
            running_max: self.running_max.min(other.running_max),
            pending_max: self.pending_max.min(other.pending_max),
            calls_max: self.calls_max.min(other.calls_max),
            pending_bytes_max: self.pending_bytes_max.min(other.pending_bytes_max),
            input_bytes_max: self.input_bytes_max.min(other.input_bytes_max),
            input_depth_max: self.input_depth_max.min(other.input_depth_max),
            answer_bytes_max: self.answer_bytes_max.min(other.answer_bytes_max),
        }
    }
}

/// A call that was let in. Neither copied nor made elsewhere, so a call is counted once and ends once.
#[derive(Debug, PartialEq, Eq)]
#[must_use = "a call that was let in is pending until it ends"]
pub(crate) struct Admitted {
    number: usize,
    input_bytes: usize,
}

impl Admitted {
    /// Which call of its execution it is.
    pub(crate) fn number(&self) -> usize {
        self.number
    }
}

/// The calls of one execution. `W` is what waits where only so many calls may run.
#[derive(Debug)]
pub(crate) struct CallRules<W> {
    limits: CallLimits,
    /// Calls that asked, let in or not.
    asked: usize,
    /// Calls that run or wait.
    pending: usize,
    pending_bytes: usize,
    waiting: VecDeque<(Admitted, W)>,
    /// Nobody wants an answer any more.
    given_up: bool,
}

impl<W> CallRules<W> {
    pub(crate) fn new(limits: CallLimits) -> Self {
        Self { limits, asked: 0, pending: 0, pending_bytes: 0, waiting: VecDeque::new(), given_up: false }
    }

    /// Lets one more call in, or says why not. It runs, unless [`start_or_queue`](Self::start_or_queue) says that
    /// it waits.
    pub(crate) fn admit(&mut self, input: Option<&[u8]>) -> Result<Admitted, Failure> {
        let input_bytes = input.map_or(0, <[u8]>::len);
        let number = self.ask(input_bytes)?;
        // Last, because it may have to look at every byte.
        fits("tool input", input, self.limits.input_bytes_max, self.limits.input_depth_max)?;
        self.pending += 1;
        self.pending_bytes += input_bytes;
        Ok(Admitted { number, input_bytes })
    }

    /// Why a call is refused that nobody could weigh. It counts like any other, and what would have been said to
    /// any other comes first.
    pub(crate) fn refuse(&mut self, why: Failure) -> Failure {
        self.ask(0).err().unwrap_or(why)
    }

    /// The number of one more call, if there is room for it.
    fn ask(&mut self, input_bytes: usize) -> Result<usize, Failure> {
        let (limits, number) = (&self.limits, self.asked);
        self.asked = number.saturating_add(1);
        let refuse = |text: String| Err(Failure::new(FailureCode::ToolError, text));
        if self.given_up {
            return Err(timed_out());
        }
        if number >= limits.calls_max {
            return refuse(format!("one execution may call tools {} times", limits.calls_max));
        }
        if self.pending >= limits.pending_max {
            return refuse(format!("{} tool calls are pending already", limits.pending_max));
        }
        if self.pending_bytes.saturating_add(input_bytes) > limits.pending_bytes_max {
            let max = limits.pending_bytes_max;
            return refuse(format!("the inputs of pending tool calls exceed {max} bytes"));
        }
        Ok(number)
    }

    /// Gives a call that was just let in back if it may run now; otherwise it is kept until it may.
    pub(crate) fn start_or_queue(&mut self, call: Admitted, what: W) -> Option<(Admitted, W)> {
        // It counts as running already. Who waits longer comes first, also where a turn is free.
        if self.running() > self.limits.running_max || !self.waiting.is_empty() {
            self.waiting.push_back((call, what));
            return None;
        }
        Some((call, what))
    }

    /// The call that waits longest, if it may run now.
    pub(crate) fn next(&mut self) -> Option<(Admitted, W)> {
        if self.running() >= self.limits.running_max {
            return None;
        }
        self.waiting.pop_front()
    }

    /// Ends a call with its answer, as the program may see it.
    pub(crate) fn end<A: AsRef<[u8]>>(
        &mut self,
        call: Admitted,
        answer: Result<A, Failure>,
    ) -> Result<A, Failure> {
        self.release(&call);
        let (bytes, max) = (answer.as_ref().map_or(0, |it| it.as_ref().len()), self.limits.answer_bytes_max);
        if bytes > max {
            let text = format!("tool result of {bytes} bytes exceeds the limit of {max}");
            return Err(Failure::new(FailureCode::SerializationError, text));
        }
        answer
    }

    /// Nobody wants an answer any more: what waits never runs, and what is called from now on has timed out.
    pub(crate) fn give_up(&mut self) {
        self.given_up = true;
        for (call, _) in std::mem::take(&mut self.waiting) {
            self.release(&call);
        }
    }

    fn running(&self) -> usize {
        self.pending - self.waiting.len()
    }

    fn release(&mut self, call: &Admitted) {
        self.pending -= 1;
        self.pending_bytes -= call.input_bytes;
    }
}

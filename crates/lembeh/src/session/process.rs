//! One program on its way: a process of the gate (`process.spawn`), awaited beside the guest and killed by being let go of.

use std::{sync::Arc, time::Duration};

use drydock_abi::{
    exec::COMMAND,
    lembeh::{
        Trace,
        exec::{State, Status},
    },
};
use drydock_contract::{BoxFuture, Call, CallError, Denial, Dispatch, Fault, Outcome, Streams};
use drydock_gate::process::{AWAIT, ProcessSpawn, ProcessState, SPAWN, SpawnedProcess};

use crate::policy::describe::{EXIT_KILLED, EXIT_LIMITS, EXIT_TIMEOUT};

/// One wait for the end of a process. It is waited for again.
const AWAIT_MAX: Duration = Duration::from_secs(60);

/// A program that was started. Dropping it ends the program.
pub(super) struct Running {
    pub(super) ended: BoxFuture<'static, Status>,
}

/// Starts it: `request` is one of `exec.command`.
pub(super) async fn start(
    door: Arc<dyn Dispatch>,
    request: Vec<u8>,
    streams: Streams,
) -> Result<Running, Trace> {
    let bytes = request.len() as u64;
    let call = Call::typed(SPAWN, ProcessSpawn { operation: COMMAND, request }, bytes, streams);
    let mut reply = door.dispatch(call).await.map_err(|error| trace_of(&error))?;
    let process = reply.value::<SpawnedProcess>().ok_or(Trace::ExecLimits)?;
    Ok(Running { ended: Box::pin(end_of(door, process)) })
}

/// How it ended, when it has.
async fn end_of(door: Arc<dyn Dispatch>, process: SpawnedProcess) -> Status {
    loop {
        let call = Call::typed(AWAIT, process.awaiting(AWAIT_MAX), 0, Streams::default());
        let state = match door.dispatch(call).await {
            Ok(mut reply) => reply.value::<ProcessState>(),
            // The guest lost what let it start this.
            Err(_) => Some(ProcessState::Killed),
        };
        match state {
            Some(ProcessState::Starting | ProcessState::Running) => {}
            Some(ProcessState::Exited(report)) => return status_of(&report.outcome),
            Some(ProcessState::Killed) => return status_of(&Outcome::Cancelled),
            // What let it run was taken back while it ran: policy ended it, and nothing of ours failed.
            Some(ProcessState::Failed { code: "denied" | "revoked", .. }) => {
                return status_of(&Outcome::Cancelled);
            }
            Some(ProcessState::Failed { .. }) | None => return FAILED,
        }
    }
}

/// The host failed.
const FAILED: Status = Status { state: State::Failed, code: EXIT_LIMITS };

/// How an ending is told.
fn status_of(outcome: &Outcome) -> Status {
    match outcome {
        Outcome::Exited(code) => Status { state: State::Exited, code: code.cast_unsigned() },
        Outcome::TimedOut => Status { state: State::Timeout, code: EXIT_TIMEOUT },
        Outcome::Cancelled => Status { state: State::Killed, code: EXIT_KILLED },
        _ => FAILED,
    }
}

/// What a start fails with that the gate refused.
fn trace_of(error: &CallError) -> Trace {
    match error {
        CallError::Denied(denial) => match denial {
            Denial::UnknownCommand(_) | Denial::NotExecutable { .. } => Trace::ExecNotFound,
            Denial::CommandNotGranted { .. } => Trace::ExecNotAllowed,
            Denial::TooLarge { .. } => Trace::ExecBadArgs,
            Denial::BudgetExceeded { .. } | Denial::MaxDepth { .. } => Trace::ExecLimits,
            Denial::TooManyProcesses { .. } | Denial::RateLimited { .. } => Trace::ExecBusy,
            Denial::Malformed(_) => Trace::AsyncBadParams,
            _ => Trace::CapDenied,
        },
        CallError::Failed(fault) => match fault {
            Fault::Overdue => Trace::CtlTimeout,
            Fault::Saturated(_) => Trace::ExecBusy,
            _ => Trace::ExecLimits,
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_ending_has_its_state_and_its_code() {
        let cases = [
            (Outcome::Exited(0), State::Exited, 0),
            (Outcome::Exited(3), State::Exited, 3),
            (Outcome::TimedOut, State::Timeout, 124),
            (Outcome::Cancelled, State::Killed, 137),
            (Outcome::OutOfMemory, State::Failed, 125),
            (Outcome::OutOfFuel, State::Failed, 125),
            (Outcome::OutputLimit, State::Failed, 125),
            (Outcome::InputLimit, State::Failed, 125),
            (Outcome::Trapped("unreachable".into()), State::Failed, 125),
        ];
        for (outcome, state, code) in cases {
            assert_eq!(status_of(&outcome), Status { state, code }, "{outcome:?}");
        }
    }

    #[test]
    fn what_the_gate_refuses_has_a_trace_of_the_seed() {
        let cases: [(CallError, &str); 5] = [
            (Denial::UnknownCommand("a".into()).into(), "t_exec_not_found"),
            (Denial::spent("fuel").into(), "t_exec_limits"),
            (Denial::Revoked.into(), "t_cap_denied"),
            (Fault::Overdue.into(), "t_ctl_timeout"),
            (Fault::Saturated("full".into()).into(), "t_exec_busy"),
        ];
        for (error, want) in cases {
            assert_eq!(trace_of(&error).code(), want, "{error}");
        }
    }
}

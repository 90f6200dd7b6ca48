//! One program on its way: a call at the gate, which runs beside the guest and is ended by being dropped.

use std::sync::Arc;

use drydock_abi::{
    exec::{COMMAND, take_report},
    lembeh::{
        Trace,
        exec::{State, Status},
    },
};
use drydock_contract::{BoxFuture, Call, CallError, Denial, Dispatch, Fault, Outcome, Streams};

use crate::policy::describe::{EXIT_KILLED, EXIT_LIMITS, EXIT_TIMEOUT};

/// A program that was started. Dropping it ends the program.
pub(super) struct Running {
    pub(super) ended: BoxFuture<'static, Status>,
}

/// Starts it.
pub(super) async fn start(
    door: Arc<dyn Dispatch>,
    request: Vec<u8>,
    streams: Streams,
) -> Result<Running, Trace> {
    let mut work = Box::pin(async move {
        let call = Call::new(COMMAND, &request, streams).answered_typed();
        let mut reply = door.dispatch(call).await?;
        Ok::<_, CallError>(take_report(&mut reply).map(|it| it.outcome))
    });
    // What is refused is refused at once; what is let through has begun.
    let first = std::future::poll_fn(|cx| std::task::Poll::Ready(work.as_mut().poll(cx))).await;
    match first {
        std::task::Poll::Ready(Err(error)) => Err(trace_of(&error)),
        std::task::Poll::Ready(Ok(report)) => {
            let status = report.map_or(FAILED, |it| status_of(&it));
            Ok(Running { ended: Box::pin(std::future::ready(status)) })
        }
        std::task::Poll::Pending => Ok(Running {
            ended: Box::pin(async move {
                match work.await {
                    Ok(Ok(outcome)) => status_of(&outcome),
                    Ok(Err(_)) | Err(_) => FAILED,
                }
            }),
        }),
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
            Denial::BudgetExceeded(_) | Denial::MaxDepth { .. } => Trace::ExecLimits,
            Denial::TooManyProcesses { .. } | Denial::RateLimited { .. } => Trace::ExecBusy,
            Denial::Malformed(_) => Trace::AsyncBadParams,
            _ => Trace::CapDenied,
        },
        CallError::Failed(fault) => match fault {
            Fault::Overdue => Trace::CtlTimeout,
            Fault::Saturated(_) => Trace::ExecBusy,
            Fault::BadModule { .. } | Fault::Import { .. } | Fault::Exports { .. } => Trace::ExecNotFound,
            _ => Trace::ExecLimits,
        },
    }
}

//! Commands as calls in this process: each start is one `exec.command`, with the streams beside it.

use std::{future::poll_fn, pin::pin, sync::Arc, task::Poll};

use drydock_abi::exec::{COMMAND, take_report};
use drydock_contract::{
    BoxFuture, BrokenWrites, Call, Dispatch, Numbered, SharedSink, SharedSource, Sink, Source, Streams,
    port::{Clock, TreePath},
    schedule,
};

use super::{Commands, Ended, NotRun, StageInput, StageNumbered, StageOutput, Start, stage};
use crate::{
    door::ShellFile,
    fd::{Fd, FdSource, FileEnd, ShellOutput},
};

/// How often a command may write to nobody before it is ended.
const BROKEN_MAX: u32 = 4;

/// Starts commands by calls at a gate.
pub struct CallingCommands {
    gate: Arc<dyn Dispatch>,
    is_stepped: bool,
}

impl CallingCommands {
    /// Calls at `gate`, in lines whose time is told by `clock`.
    pub fn new(gate: Arc<dyn Dispatch>, clock: &dyn Clock) -> Self {
        Self { gate, is_stepped: clock.stepped().is_some() }
    }

    async fn run(&self, start: Start<'_>) -> Ended {
        let Some(payload) = start.encode() else {
            return Ended { answer: Err(NotRun::TooLong), is_pipe_broken: false };
        };
        let broken = BrokenWrites::default();
        let numbered = start.streams.numbered.into_iter().map(|(number, it)| (number, numbered(it)));
        let streams = Streams {
            stdin: source(start.streams.stdin),
            stdout: broken.counted(sink(start.streams.stdout)),
            stderr: sink(start.streams.stderr),
            numbered: numbered.collect(),
            named: None,
        };
        let call = Call::new(COMMAND, &payload, streams).with_file_rules(start.file_rules).answered_typed();
        let mut answer = pin!(self.gate.dispatch(call.numbered(start.ordinal)));
        let answer = poll_fn(|cx| {
            if let Poll::Ready(answer) = answer.as_mut().poll(cx) {
                return Poll::Ready(Some(answer));
            }
            // How far a command comes before it notices depends on the machine; where the order must not, nobody asks
            // just now.
            let may_ask = !(self.is_stepped && schedule::is_machines());
            if may_ask && broken.count() >= BROKEN_MAX {
                schedule::goes_on();
                return Poll::Ready(None);
            }
            Poll::Pending
        })
        .await;
        let answer = match answer {
            None => Err(NotRun::BrokenPipe),
            Some(Err(error)) => Err(stage::refusal(&error).into()),
            Some(Ok(mut reply)) => take_report(&mut reply).map_err(|_| NotRun::MalformedReply),
        };
        Ended { answer, is_pipe_broken: broken.count() > 0 }
    }
}

impl Commands for CallingCommands {
    fn start<'a>(&'a self, start: Start<'a>) -> BoxFuture<'a, Ended> {
        Box::pin(self.run(start))
    }
}

fn source(input: StageInput) -> Source {
    match input {
        StageInput::Shell(source) => source,
        StageInput::Pipe(reader) => Source::Stream(Box::new(FdSource(Fd::PipeIn(reader)))),
        StageInput::File(file) => Source::Stream(Box::new(FdSource(whole(file)))),
    }
}

fn sink(output: StageOutput) -> Sink {
    let output = match output {
        StageOutput::Discard => return Sink::Discard,
        StageOutput::Shell(output) => output,
        StageOutput::Pipe(writer) => ShellOutput::new(Fd::PipeOut(writer)),
        StageOutput::File(file) => ShellOutput::new(whole(file)),
    };
    Sink::Stream(Box::new(output))
}

fn numbered(stream: StageNumbered) -> Numbered {
    match stream {
        StageNumbered::Reads(StageInput::Shell(Source::Empty)) => Numbered::Nothing,
        StageNumbered::Reads(input) => Numbered::In(SharedSource::new(source(input))),
        StageNumbered::Writes(output) => Numbered::Out(SharedSink::new(sink(output))),
    }
}

fn whole(file: Arc<dyn ShellFile>) -> Fd {
    Fd::File(Arc::new(FileEnd {
        file,
        path: TreePath::root(),
        is_appended: false,
        readable: true,
        writable: true,
        bytes_max: None,
    }))
}

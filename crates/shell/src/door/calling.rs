//! Commands as calls in this process: each start is one `exec.command`, with the streams beside it.

use std::{
    future::poll_fn,
    io,
    pin::pin,
    sync::{
        Arc,
        atomic::{AtomicBool, AtomicU32, Ordering},
    },
    task::{Context, Poll},
};

use drydock_abi::exec::{COMMAND, take_report};
use drydock_contract::{
    BoxFuture, ByteSink, Call, Dispatch, PipeEnd, Sink, Source, StreamFile, Streams,
    port::{Clock, TreePath},
    schedule,
};

use super::{Commands, Ended, NotRun, StageEnd, StageInput, StageOutput, Start, stage};
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
            return Ended { answer: Err(NotRun::TooLong), is_pipe_broken: false, is_file_full: false };
        };
        let (broken, full) = (Arc::new(AtomicU32::new(0)), Arc::new(AtomicBool::new(false)));
        let streams = Streams {
            stdin: source(start.streams.stdin),
            stdout: match output(start.streams.stdout) {
                Some(output) => Sink::Stream(Box::new(CountedOutput {
                    output,
                    broken: Arc::clone(&broken),
                    full: Arc::clone(&full),
                })),
                None => Sink::Discard,
            },
            stderr: match output(start.streams.stderr) {
                Some(output) => Sink::Stream(Box::new(output)),
                None => Sink::Discard,
            },
            numbered: start
                .streams
                .numbered
                .into_iter()
                .filter_map(|(number, it)| Some((number, end(it)?)))
                .collect(),
        };
        let call = Call::new(COMMAND, &payload, streams).with_umask(start.umask).answered_typed();
        let mut answer = pin!(self.gate.dispatch(call.numbered(start.ordinal)));
        let answer = poll_fn(|cx| {
            if let Poll::Ready(answer) = answer.as_mut().poll(cx) {
                return Poll::Ready(Some(answer));
            }
            // How far a command comes before it notices depends on the machine; where the order must not, nobody asks
            // just now.
            let may_ask = !(self.is_stepped && schedule::is_machines());
            if may_ask && broken.load(Ordering::Relaxed) >= BROKEN_MAX {
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
        let is_file_full = full.load(Ordering::Relaxed);
        Ended { answer, is_pipe_broken: broken.load(Ordering::Relaxed) > 0, is_file_full }
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

fn output(output: StageOutput) -> Option<ShellOutput> {
    match output {
        StageOutput::Discard => None,
        StageOutput::Shell(output) => Some(output),
        StageOutput::Pipe(writer) => Some(ShellOutput(Fd::PipeOut(writer))),
        StageOutput::File(file) => Some(ShellOutput(whole(file))),
    }
}

fn end(end: StageEnd) -> Option<PipeEnd> {
    match end {
        StageEnd::Reads(reader) => reader.end(),
        StageEnd::Writes(writer) => writer.end(),
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

/// An output that counts how often nobody was there to read, and notes a file that may not grow.
struct CountedOutput {
    output: ShellOutput,
    broken: Arc<AtomicU32>,
    full: Arc<AtomicBool>,
}

impl ByteSink for CountedOutput {
    fn poll_write(&mut self, cx: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        let answer = self.output.poll_write(cx, bytes);
        if let Poll::Ready(Err(error)) = &answer {
            match error.kind() {
                io::ErrorKind::BrokenPipe => drop(self.broken.fetch_add(1, Ordering::Relaxed)),
                io::ErrorKind::FileTooLarge => self.full.store(true, Ordering::Relaxed),
                _ => {}
            }
        }
        answer
    }

    fn poll_flush(&mut self, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.output.poll_flush(cx)
    }

    fn columns(&self) -> Option<u16> {
        self.output.columns()
    }

    fn file(&self) -> Option<StreamFile> {
        self.output.file()
    }
}

//! The shell's door: everything behind it is the host's.

use crate::clock::HostClock;
use crate::ends::{self, Reader, Writer};
use crate::files::{HostTree, from_root};
use crate::pump::{Drain, Feed};
use crate::{executor, host};
use drydock_abi::exec::decode_report;
use drydock_abi::shell::{
    Answered, BAD, CATCHES_INTERRUPT, COMMAND_NAMES, HAS_COMMAND, NONE, NOT_FOUND, NumberedStream, READS,
    TOO_MANY, WAS_CHANGED, WRITES, encode, file,
};
use drydock_abi::shell::{Refusal, RefusalKind, Start as Head};
use drydock_contract::port::{Clock, TreePath};
use drydock_contract::{BoxFuture, Source, exit};
use drydock_shell::door::{
    Commands, Door, Ended, NotRun, ReadEnd, ShellFile, StageInput, StageNumbered, StageOutput, Start, Tree,
    WriteEnd,
};
use std::future::poll_fn;
use std::sync::Arc;
use std::task::Poll;
use std::time::Duration;

/// Room for the names of all commands.
const NAMES_BYTES: usize = 64 << 10;

/// The line's own door, or that of a shell inside the line.
pub(crate) struct HostDoor {
    /// 0 is the line's.
    pub(crate) level: u32,
    pub(crate) is_timed: bool,
}

impl HostDoor {
    pub(crate) const LINE: Self = Self { level: 0, is_timed: false };
}

impl Commands for HostDoor {
    fn start<'a>(&'a self, start: Start<'a>) -> BoxFuture<'a, Ended> {
        Box::pin(run(self.level, start))
    }

    fn time_left(&self) -> Option<Duration> {
        if !self.is_timed {
            return None;
        }
        u64::try_from(host::left(self.level)).ok().map(Duration::from_millis)
    }
}

impl Door for HostDoor {
    fn tree(&self) -> Arc<dyn Tree> {
        Arc::new(HostTree)
    }

    fn clock(&self) -> Arc<dyn Clock> {
        Arc::new(HostClock)
    }

    fn has_command(&self, name: &str) -> bool {
        host::ask(HAS_COMMAND, name.as_bytes(), &mut []) == 1
    }

    fn command_names(&self) -> Vec<String> {
        let mut names = vec![0; NAMES_BYTES];
        let count = usize::try_from(host::ask(COMMAND_NAMES, &[], &mut names)).unwrap_or(0);
        let names = String::from_utf8_lossy(&names[..count.min(NAMES_BYTES)]);
        names.split('\n').filter(|it| !it.is_empty()).map(str::to_owned).collect()
    }

    fn not_found(&self, name: &str) -> String {
        let mut said = vec![0; 4 << 10];
        let count = host::ask(NOT_FOUND, &drydock_contract::text::to_bytes(name), &mut said);
        match usize::try_from(count) {
            Ok(count) => String::from_utf8_lossy(&said[..count.min(said.len())]).into_owned(),
            Err(_) => "command not found".to_owned(),
        }
    }

    fn was_changed(&self, path: &TreePath, open: &dyn ShellFile) -> bool {
        let Some(number) = open.number() else { return true };
        let about = [&*from_root(path), b"\0", number.to_string().as_bytes()].concat();
        host::ask(WAS_CHANGED, &about, &mut []) != 0
    }

    fn expired(&self) -> Option<String> {
        host::is_over().then(String::new)
    }

    fn catches_interrupt(&self, catches: bool) {
        host::ask(CATCHES_INTERRUPT, &[u8::from(catches)], &mut []);
    }

    fn slice_done(&self) {
        executor::slice_done();
    }

    fn timer(&self, after: Duration) -> Option<BoxFuture<'static, ()>> {
        let millis = u32::try_from(after.as_micros().div_ceil(1_000)).unwrap_or(u32::MAX);
        let timer = Running(host::timer(millis)?);
        Some(Box::pin(async move {
            poll_fn(|cx| executor::poll_ended(timer.0, cx)).await;
            timer.ended();
        }))
    }

    fn pipe(&self) -> Option<(Arc<dyn ReadEnd>, Arc<dyn WriteEnd>)> {
        let (reader, writer) = ends::pipe()?;
        Some((Arc::new(reader), Arc::new(writer)))
    }
}

/// A command or a timer that goes on at the host: dropping this ends it.
struct Running(u32);

impl Running {
    /// It has ended by itself, and who waited for it was told.
    fn ended(self) {
        std::mem::forget(self);
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        executor::forget(self.0);
        host::end(self.0);
    }
}

/// What is given to the host of a command's stream, and what the shell has to move for it.
struct Given<P> {
    handle: u32,
    pump: Option<P>,
    /// The host has its own by the time this goes.
    _reader: Option<Arc<dyn ReadEnd>>,
    _writer: Option<Arc<dyn WriteEnd>>,
    _kept: Option<(Option<Reader>, Option<Writer>, Option<Arc<dyn ShellFile>>)>,
}

impl<P> Given<P> {
    fn of(handle: u32) -> Self {
        Self { handle, pump: None, _reader: None, _writer: None, _kept: None }
    }

    /// The command has its end now; only what has to be moved is left.
    fn let_go(self) -> Option<P> {
        self.pump
    }
}

fn given_input(input: StageInput) -> Option<Given<Feed>> {
    Some(match input {
        StageInput::Shell(Source::Empty) => Given::of(NONE),
        StageInput::Pipe(reader) => {
            Given { _reader: Some(Arc::clone(&reader)), ..Given::of(reader.number()?) }
        }
        StageInput::File(open) => {
            let number = file(open.number()?);
            Given { _kept: Some((None, None, Some(open))), ..Given::of(number) }
        }
        StageInput::Shell(source) => {
            let (reader, writer) = ends::pipe()?;
            let handle = reader.0;
            let pump = Some(Feed::new(source, writer));
            Given { pump, _kept: Some((Some(reader), None, None)), ..Given::of(handle) }
        }
    })
}

fn given_output(output: StageOutput) -> Option<Given<Drain>> {
    Some(match output {
        StageOutput::Discard => Given::of(NONE),
        StageOutput::Pipe(writer) => {
            Given { _writer: Some(Arc::clone(&writer)), ..Given::of(writer.number()?) }
        }
        StageOutput::File(open) => {
            let number = file(open.number()?);
            Given { _kept: Some((None, None, Some(open))), ..Given::of(number) }
        }
        StageOutput::Shell(output) => {
            let (reader, writer) = ends::pipe()?;
            let handle = reader.0;
            let pump = Some(Drain::new(reader, output));
            Given { pump, _kept: Some((None, Some(writer), None)), ..Given::of(handle) }
        }
    })
}

/// The streams that a command opens by a number, and what the shell has to move for them.
#[derive(Default)]
struct GivenNumbered {
    told: Vec<NumberedStream>,
    inputs: Vec<Given<Feed>>,
    outputs: Vec<Given<Drain>>,
}

fn given_numbered(streams: Vec<(u32, StageNumbered)>) -> Option<GivenNumbered> {
    let mut all = GivenNumbered::default();
    for (number, stream) in streams {
        let (handle, end) = match stream {
            StageNumbered::Reads(input) => {
                let given = given_input(input)?;
                let handle = given.handle;
                all.inputs.push(given);
                (handle, READS)
            }
            StageNumbered::Writes(output) => {
                let given = given_output(output)?;
                let handle = given.handle;
                all.outputs.push(given);
                (handle, WRITES)
            }
        };
        all.told.push(NumberedStream { number, handle, end });
    }
    Some(all)
}

async fn run(level: u32, start: Start<'_>) -> Ended {
    let not_run = |why| Ended { answer: Err(why), is_pipe_broken: false };
    let Some(payload) = start.encode() else { return not_run(NotRun::TooLong) };
    let (rules, ordinal) = (start.file_rules, start.ordinal);
    let (umask, file_bytes_max) = (rules.umask.bits(), rules.bytes_max);
    let streams = start.streams;
    let given = (given_input(streams.stdin), given_output(streams.stdout), given_output(streams.stderr));
    let (Some(input), Some(output), Some(errors)) = given else { return not_run(too_many("pipes")) };
    let Some(numbered) = given_numbered(streams.numbered) else { return not_run(too_many("pipes")) };
    let [stdin, stdout, stderr] = [input.handle, output.handle, errors.handle];
    let head = Head { ordinal, umask, file_bytes_max, level, stdin, stdout, stderr, numbered: numbered.told };
    let mut request = encode(&head);
    request.extend_from_slice(&payload);
    let (number, has_ended) = match host::start(&request) {
        Ok(started) => started,
        Err(TOO_MANY) => return not_run(too_many("commands at once")),
        Err(_) => return not_run(NotRun::Refused(refused("the host refused to start it", BAD))),
    };
    let running = Running(number);
    // The host has its own ends now.
    let mut feeds: Vec<Feed> = numbered.inputs.into_iter().filter_map(Given::let_go).collect();
    let mut numbered: Vec<Drain> = numbered.outputs.into_iter().filter_map(Given::let_go).collect();
    let (mut feed, mut drains) = (input.let_go(), [output.let_go(), errors.let_go()]);
    if has_ended {
        executor::hear();
    }
    let mut ended = None;
    poll_fn(|cx| {
        if feed.as_mut().is_some_and(|it| it.poll(cx).is_ready()) {
            feed = None;
        }
        for drain in &mut drains {
            if drain.as_mut().is_some_and(|it| it.poll(cx).is_ready()) {
                *drain = None;
            }
        }
        feeds.retain_mut(|it| it.poll(cx).is_pending());
        numbered.retain_mut(|it| it.poll(cx).is_pending());
        if ended.is_none()
            && let Poll::Ready(done) = executor::poll_ended(number, cx)
        {
            ended = Some(done);
        }
        match ended.is_some() && drains.iter().all(Option::is_none) && numbered.is_empty() {
            true => Poll::Ready(()),
            false => Poll::Pending,
        }
    })
    .await;
    running.ended();
    match ended {
        None => not_run(NotRun::MalformedReply),
        Some(ended) => Ended { answer: answer(ended.answer), is_pipe_broken: ended.is_pipe_broken },
    }
}

fn answer(answered: Answered) -> Result<drydock_contract::RunReport, NotRun> {
    match answered {
        Answered::Ran(report) => decode_report(&report).map_err(|_| NotRun::MalformedReply),
        Answered::BrokenPipe => Err(NotRun::BrokenPipe),
        Answered::Refused(refusal) => Err(NotRun::Refused(refusal)),
    }
}

fn too_many(what: &str) -> NotRun {
    NotRun::Refused(refused(&format!("the line has too many {what}"), TOO_MANY))
}

fn refused(message: &str, code: i32) -> Refusal {
    let code = if code == TOO_MANY { "too_many" } else { "malformed" };
    Refusal { code: code.into(), message: message.into(), status: exit::LIMITED, kind: RefusalKind::Other }
}

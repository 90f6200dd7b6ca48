//! One line of a shell as its caller sees it: what it may still spend, and what ended it.

use std::{
    future::poll_fn,
    io,
    pin::Pin,
    sync::Arc,
    task::{Context, Poll, ready},
    time::{Duration, Instant},
};

use drydock_contract::{
    BoxFuture, ByteSink, ByteSource, Call, CallError, Denial, Dispatch, Limits, Outcome, Reply, Sink, Source,
    Streams, Switch, SwitchMark, Waited,
};
use drydock_gate::Session;
use event_listener::EventListener;
use parking_lot::Mutex;

use crate::pip;

/// Why a line was ended before its own end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum LineEnd {
    /// Somebody asked for it.
    Cancelled,
    /// Whoever it was for lost their rights.
    Revoked,
    /// Its time was up.
    TimedOut,
    /// It wrote more than its caller takes.
    OutputLimit,
}

impl LineEnd {
    /// The same end of a run: its stable name and its status are the line's too.
    pub(crate) const fn outcome(self) -> Outcome {
        match self {
            Self::Cancelled | Self::Revoked => Outcome::Cancelled,
            Self::TimedOut => Outcome::TimedOut,
            Self::OutputLimit => Outcome::OutputLimit,
        }
    }
}

/// The door of a shell, the same for all its lines, though each has its own session behind it.
pub(crate) struct Line {
    now: Mutex<Now>,
    over: Switch,
    /// The shell's own session: whoever cancels it ends the line too.
    shell: Session,
}

struct Now {
    door: Arc<dyn Dispatch>,
    /// The line's session, and when that began.
    session: Option<(Session, SwitchMark)>,
    started: Instant,
    time: Duration,
    waited: Waited,
    end: Option<LineEnd>,
}

impl Now {
    /// When its time is up, as far as that can be said now: compiling is not its time. None is never.
    fn until(&self) -> Option<Instant> {
        self.started.checked_add(self.time)?.checked_add(self.waited.so_far())
    }

    fn is_late(&self) -> bool {
        self.until().is_some_and(|until| Instant::now() >= until)
    }
}

impl Line {
    pub(crate) fn new(door: Arc<dyn Dispatch>, shell: Session) -> Self {
        let (started, waited) = (Instant::now(), Waited::default());
        let now = Now { door, session: None, started, time: Duration::MAX, waited, end: None };
        Self { now: Mutex::new(now), over: Switch::default(), shell }
    }

    /// A line begins, in a session of its own.
    pub(crate) fn begin(
        &self,
        door: Arc<dyn Dispatch>,
        (session, mark): (Session, SwitchMark),
        limits: &Limits,
    ) {
        self.over.reset();
        let (started, time) = (Instant::now(), limits.wall_max);
        let waited = Waited::from_now(Some(Arc::clone(session.preparing())));
        let session = Some((session, mark));
        *self.now.lock() = Now { door, session, started, time, waited, end: None };
    }

    /// Ends the line. The first reason stays.
    pub(crate) fn end(&self, why: LineEnd) {
        let mut now = self.now.lock();
        let Some((session, _)) = &now.session else { return };
        session.cancel();
        now.end.get_or_insert(why);
        drop(now);
        self.over.trip();
    }

    /// The line is done: what ended it, if it was not itself.
    pub(crate) fn finish(&self) -> Option<LineEnd> {
        let mut now = self.now.lock();
        now.session = None;
        now.end.take()
    }

    /// Waits until the line was told to end, whoever it is for lost their rights, or its time is up.
    pub(crate) async fn over(&self) {
        let [revoked, cancelled] = self.shell.switches();
        let told = async {
            loop {
                let heard = [revoked.listen(), cancelled.listen(), self.over.listen()];
                if self.over.is_tripped() {
                    return;
                }
                if let Some(end) = self.lost() {
                    return self.end(end);
                }
                any(heard).await;
            }
        };
        let mut told = std::pin::pin!(told);
        loop {
            let until = self.now.lock().until();
            let Some(until) = until else { return told.await };
            if tokio::time::timeout_at(until.into(), told.as_mut()).await.is_ok() {
                return;
            }
            // The line may have waited for a compilation meanwhile, which moves its end.
            if self.now.lock().is_late() {
                return self.end(LineEnd::TimedOut);
            }
        }
    }

    /// What the shell asks now and then: whether it must end. Whoever started the line says why.
    pub(crate) fn is_over(&self) -> bool {
        let (ended, late) = {
            let now = self.now.lock();
            (now.end.is_some(), now.is_late())
        };
        if ended {
            return true;
        }
        let why = self.lost().or(late.then_some(LineEnd::TimedOut));
        if let Some(why) = why {
            self.end(why);
        }
        why.is_some()
    }

    /// Whether the principal was revoked since the line began, or the shell's session cancelled.
    fn lost(&self) -> Option<LineEnd> {
        let mark = self.now.lock().session.as_ref()?.1;
        match self.shell.lost_since(mark)? {
            Denial::Revoked => Some(LineEnd::Revoked),
            _ => Some(LineEnd::Cancelled),
        }
    }

    /// Streams that end with the line, and outputs that end the line when they are full. The second
    /// half gets the streams back, also from a line that was dropped.
    pub(crate) fn guard(self: &Arc<Self>, streams: Streams, limits: &Limits) -> (Streams, Kept) {
        let kept = Kept {
            stdin: Arc::new(Mutex::new(streams.stdin)),
            stdout: Arc::new(Mutex::new(streams.stdout)),
            stderr: Arc::new(Mutex::new(streams.stderr)),
        };
        let sink = |sink: &Arc<Mutex<Sink>>, max: u64| match *sink.lock() {
            Sink::Discard => Sink::Discard,
            _ => {
                Sink::Stream(Box::new(Bounded { sink: Arc::clone(sink), left: max, line: Arc::clone(self) }))
            }
        };
        let stdin = match &mut *kept.stdin.lock() {
            Source::Stream(_) => {
                let source = Arc::clone(&kept.stdin);
                Source::Stream(Box::new(Interruptible { source, line: Arc::clone(self), told: None }))
            }
            whole => std::mem::take(whole),
        };
        let stdout = sink(&kept.stdout, limits.stdout_bytes_max);
        let stderr = sink(&kept.stderr, limits.stderr_bytes_max);
        (Streams { stdin, stdout, stderr, ..Streams::default() }, kept)
    }
}

/// Waits for the first of them.
async fn any(mut listeners: [EventListener; 3]) {
    poll_fn(|cx| {
        let heard = listeners.iter_mut().any(|it| Pin::new(it).poll(cx).is_ready());
        if heard { Poll::Ready(()) } else { Poll::Pending }
    })
    .await;
}

/// The caller's own streams while a line uses them.
pub(crate) struct Kept {
    stdin: Arc<Mutex<Source>>,
    stdout: Arc<Mutex<Sink>>,
    stderr: Arc<Mutex<Sink>>,
}

impl Kept {
    /// The streams, for the caller. What was left of an input that is not a stream is in `rest`.
    pub(crate) fn back(self, rest: Source) -> Streams {
        let stdin = std::mem::take(&mut *self.stdin.lock());
        let stdin =
            if matches!(stdin, Source::Empty) && !matches!(rest, Source::Stream(_)) { rest } else { stdin };
        let stdout = std::mem::take(&mut *self.stdout.lock());
        let stderr = std::mem::take(&mut *self.stderr.lock());
        Streams { stdin, stdout, stderr, ..Streams::default() }
    }
}

impl Dispatch for Line {
    fn dispatch<'a>(&'a self, call: Call<'a>) -> BoxFuture<'a, Result<Reply, CallError>> {
        // A shell numbers its calls itself, so that it does not matter when this is first polled.
        let door = Arc::clone(&self.now.lock().door);
        Box::pin(pip::dispatch(door, call))
    }
}

/// An input that is at its end when the line is.
struct Interruptible {
    source: Arc<Mutex<Source>>,
    line: Arc<Line>,
    told: Option<EventListener>,
}

impl ByteSource for Interruptible {
    fn poll_read(&mut self, cx: &mut Context<'_>, buffer: &mut [u8]) -> Poll<io::Result<usize>> {
        if self.line.over.is_tripped() {
            return Poll::Ready(Ok(0));
        }
        if let Poll::Ready(done) = self.source.lock().poll_read(cx, buffer) {
            return Poll::Ready(done);
        }
        loop {
            let told = self.told.get_or_insert_with(|| self.line.over.listen());
            if self.line.over.is_tripped() {
                return Poll::Ready(Ok(0));
            }
            if Pin::new(told).poll(cx).is_pending() {
                return Poll::Pending;
            }
            self.told = None;
        }
    }
}

/// An output of so many bytes.
struct Bounded {
    sink: Arc<Mutex<Sink>>,
    left: u64,
    line: Arc<Line>,
}

impl ByteSink for Bounded {
    fn poll_write(&mut self, cx: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        let room = usize::try_from(self.left).unwrap_or(usize::MAX).min(bytes.len());
        if room == 0 && !bytes.is_empty() {
            self.line.end(LineEnd::OutputLimit);
            return Poll::Ready(Err(io::ErrorKind::BrokenPipe.into()));
        }
        let written = ready!(self.sink.lock().poll_write(cx, &bytes[..room]))?;
        self.left = self.left.saturating_sub(written as u64);
        Poll::Ready(Ok(written))
    }

    fn poll_flush(&mut self, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.sink.lock().poll_flush(cx)
    }

    fn columns(&self) -> Option<u16> {
        self.sink.lock().columns()
    }
}

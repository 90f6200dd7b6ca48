//! One process that runs here: its output on its way to the disk, its input on its way in, and its end.

use std::{
    future::poll_fn,
    io,
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
    time::Duration,
};

use drydock_contract::{
    Call, CallError, Limits, Outcome, PIPE_BYTES_MAX, PipeReader, PipeWriter, Streams, Switch,
    port::Clock as _,
};
use drydock_gate::process::{AWAIT, KILL, ProcessState, SpawnedProcess};
use drydock_store::{ProcessOutput, ProcessRecord, ProcessStage, Spool};
use parking_lot::Mutex;
use tokio::sync::watch;

use crate::{DockSession, SystemClock, exec::tripped, instance::off_thread};

/// One wait for the end of a process. It is waited for again.
const AWAIT_MAX: Duration = Duration::from_secs(60);
/// The exit status of what was killed, as after a signal.
const KILLED: i32 = 137;

/// What others of this server do with a process that runs.
pub(super) struct Live {
    stdin: tokio::sync::Mutex<Option<PipeWriter>>,
    kill: Switch,
    changed: watch::Sender<u64>,
    limits: Limits,
}

impl Live {
    pub(super) fn new(stdin: Option<PipeWriter>, limits: Limits) -> Self {
        let changed = watch::Sender::new(0);
        Self { stdin: tokio::sync::Mutex::new(stdin), kill: Switch::default(), changed, limits }
    }

    /// Hears when there is more output, and when it has ended.
    pub(super) fn changes(&self) -> watch::Receiver<u64> {
        self.changed.subscribe()
    }

    /// There is more to hear of.
    pub(super) fn tell(&self) {
        self.changed.send_modify(|it| *it += 1);
    }

    pub(super) fn kill(&self) {
        self.kill.trip();
    }

    /// Writes what is taken within that time: how much that was, or nothing if nothing ever will be.
    pub(super) async fn write(&self, bytes: &[u8], end: bool, wait_max: Duration) -> Option<usize> {
        let mut stdin = self.stdin.lock().await;
        let writer = stdin.as_ref()?;
        let mut taken = 0;
        let writing = async {
            while taken < bytes.len() {
                match poll_fn(|cx| writer.poll_write(cx, &bytes[taken..])).await {
                    Ok(count) => taken += count,
                    Err(_) => return false,
                }
            }
            true
        };
        let is_open = tokio::time::timeout(wait_max, writing).await.unwrap_or(true);
        if !is_open || (end && taken == bytes.len()) {
            *stdin = None;
        }
        (is_open || taken > 0).then_some(taken)
    }
}

/// Bytes of output of all processes of a tenant.
#[derive(Default)]
pub(super) struct Quota {
    used: AtomicU64,
    max: AtomicU64,
}

impl Quota {
    pub(super) fn set(&self, used: u64, max: u64) {
        self.used.store(used, Ordering::Relaxed);
        self.max.store(max, Ordering::Relaxed);
    }

    /// Takes so many more; what the most is, if there are not so many left.
    fn take(&self, bytes: u64) -> Result<(), u64> {
        let max = self.max.load(Ordering::Relaxed);
        let fits = |used: u64| used.checked_add(bytes).filter(|it| *it <= max);
        self.used.fetch_update(Ordering::Relaxed, Ordering::Relaxed, fits).map(drop).map_err(|_| max)
    }
}

/// Why the output of a process is not kept any more.
enum Unkept {
    Quota(u64),
    Disk(io::Error),
}

/// Carries a process to its end: its output to the disk, and how it ended into its record.
pub(super) async fn supervise(
    live: &Live,
    spool: Spool,
    session: DockSession,
    process: SpawnedProcess,
    outputs: Vec<PipeReader>,
    quota: &Quota,
) {
    let spool = Arc::new(Mutex::new(spool));
    note(&spool, |record| record.stage = ProcessStage::Running).await;
    let mut outputs = outputs.into_iter();
    let mut pump = |output| carry(live, &spool, quota, output, outputs.next());
    let (stdout, stderr) = (pump(ProcessOutput::Stdout), pump(ProcessOutput::Stderr));
    let mut pumped = Box::pin(async { tokio::try_join!(stdout, stderr).map(drop) });
    let first = tokio::select! {
        biased;
        () = tripped(&live.kill) => None,
        done = &mut pumped => Some(done),
    };
    let (state, kept) = match first {
        // Its output ends when it does, or a moment before.
        Some(Ok(())) => (end_of(&session, &process, &live.kill).await, Ok(())),
        Some(Err(unkept)) => (ask(&session, KILL, process.killing()).await, Err(unkept)),
        // What it wrote until it was killed is still in the pipes, and no more than that.
        None => (ask(&session, KILL, process.killing()).await, pumped.await),
    };
    drop(process);
    let limits = live.limits;
    note(&spool, move |record| write_down(record, state, kept, &limits)).await;
    live.stdin.lock().await.take();
}

/// How the process ended, when it has, or when it is killed while it is waited for.
async fn end_of(
    session: &DockSession,
    process: &SpawnedProcess,
    kill: &Switch,
) -> Result<ProcessState, CallError> {
    loop {
        let state = tokio::select! {
            biased;
            state = ask(session, AWAIT, process.awaiting(AWAIT_MAX)) => state?,
            () = tripped(kill) => return ask(session, KILL, process.killing()).await,
        };
        if state.is_over() {
            return Ok(state);
        }
    }
}

async fn ask<T: Send + 'static>(
    session: &DockSession,
    operation: &str,
    request: T,
) -> Result<ProcessState, CallError> {
    let call = Call::typed(operation, request, 0, Streams::default());
    let mut reply = session.gate.dispatch(session.inner(), call).await?;
    let nothing = || drydock_contract::Fault::Internal("no state came of it".into()).into();
    reply.value().ok_or_else(nothing)
}

/// Carries one output to the disk, until the process has closed it.
async fn carry(
    live: &Live,
    spool: &Arc<Mutex<Spool>>,
    quota: &Quota,
    output: ProcessOutput,
    from: Option<PipeReader>,
) -> Result<(), Unkept> {
    let Some(from) = from else { return Ok(()) };
    let mut buffer = vec![0; PIPE_BYTES_MAX];
    loop {
        let count = poll_fn(|cx| from.poll_read(cx, &mut buffer)).await.map_err(Unkept::Disk)?;
        if count == 0 {
            return Ok(());
        }
        quota.take(count as u64).map_err(Unkept::Quota)?;
        let spool = Arc::clone(spool);
        let appended = off_thread(move || {
            let appended = spool.lock().append(output, &buffer[..count]);
            (appended, buffer)
        });
        let (done, again) = appended.await;
        done.map_err(Unkept::Disk)?;
        buffer = again;
        live.tell();
    }
}

fn write_down(
    record: &mut ProcessRecord,
    state: Result<ProcessState, CallError>,
    kept: Result<(), Unkept>,
    limits: &Limits,
) {
    record.ended_ms = Some(SystemClock.now().as_millis());
    match kept {
        Ok(()) => {}
        Err(Unkept::Quota(max)) => {
            let text = format!(
                "the output of this tenant's processes is longer than {max} bytes; --process-spool raises it"
            );
            return record.fail(Outcome::OutputLimit.code(), &text);
        }
        Err(Unkept::Disk(error)) => return record.fail("spool_failed", &error.to_string()),
    }
    match state {
        Ok(ProcessState::Exited(report)) => {
            let outcome = report.outcome;
            record.stage = ProcessStage::Exited;
            record.exit_code = Some(i32::from(outcome.exit_status()));
            record.code = Some(outcome.code().into());
            record.message = match outcome {
                Outcome::OutputLimit => Some(format!(
                    "an output was longer than {} bytes; --process-output raises it",
                    limits.stdout_bytes_max.min(limits.stderr_bytes_max)
                )),
                other => other.remark(limits, None),
            };
        }
        Ok(ProcessState::Killed | ProcessState::Starting | ProcessState::Running) => {
            record.stage = ProcessStage::Killed;
            (record.exit_code, record.code) = (Some(KILLED), Some("killed".into()));
        }
        Ok(ProcessState::Failed { code, message }) => record.fail(code, &message),
        Err(error) => record.fail(error.code(), &error.to_string()),
    }
}

/// Writes down how far it is. A record that cannot be written says of the process that its server ended, which is as true
/// as anything that this server could still say.
async fn note(spool: &Arc<Mutex<Spool>>, change: impl FnOnce(&mut ProcessRecord) + Send + 'static) {
    let spool = Arc::clone(spool);
    let noted = off_thread(move || spool.lock().note(change)).await;
    if let Err(error) = noted {
        tracing::error!("the record of a process could not be written: {error}");
    }
}

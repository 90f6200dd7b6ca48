//! Processes that go on by themselves: started over a session, with their output on disk, where it is read again from any
//! cursor by whoever comes back for it.
//!
//! What runs, and for how long, is decided by the gate (`process.spawn`, and `exec.start` behind it); what is kept, and for
//! how long, by the store. This joins the two: a task for each process that carries its output to the disk, and writes down
//! how it ended. A process of a server that dies is found by its lock, see [`ProcessSpools`].

mod live;
mod piece;

use std::{collections::HashMap, sync::Arc, time::Duration};

use bytes::Bytes;
use drydock_abi::exec::{START, encode_request};
use drydock_contract::{
    Call, CallError, Cap, Denial, Fault, Limits, Sink, Source, Streams, Tenant, pipe, port::Clock as _,
};
use drydock_gate::{
    Grant,
    process::{ProcessSpawn, SPAWN, SpawnedProcess},
};
use drydock_store::{
    ProcessId, ProcessOutput, ProcessRecord, ProcessSpoolError, ProcessSpools, SpoolBounds, SpoolChunk,
};
use parking_lot::Mutex;

use crate::{Dock, DockSession, Setup, SystemClock, instance::off_thread};
use live::{Live, Quota, supervise};
pub use piece::ProcessPiece;

/// Between two looks at the output of a process that another server of the home runs.
const LOOK_AGAIN: Duration = Duration::from_millis(250);

/// A process to start.
#[derive(Debug, Clone, Default)]
pub struct NewProcess {
    /// The command.
    pub command: String,
    /// Its arguments.
    pub args: Vec<Vec<u8>>,
    /// What it reads first.
    pub stdin: Bytes,
    /// Whether more may follow, by [`DockProcesses::write_stdin`].
    pub more_stdin: bool,
}

/// A process cannot be started, read or ended.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ProcessError {
    /// The gate refused it, or it could not be done.
    #[error(transparent)]
    Call(#[from] CallError),
    /// What is kept of processes.
    #[error(transparent)]
    Spool(#[from] ProcessSpoolError),
    /// There is no such process, or it is another tenant's: nobody can tell which.
    #[error("there is no process {0}")]
    Absent(ProcessId),
    /// It runs, and not here.
    #[error("process {0} runs in another server of this data directory; ask that one")]
    Elsewhere(ProcessId),
    /// It takes no more input.
    #[error("process {0} takes no more input: it has ended, or its stdin has")]
    NoInput(ProcessId),
}

impl ProcessError {
    /// The stable code.
    pub fn code(&self) -> &'static str {
        match self {
            Self::Call(error) => error.code(),
            Self::Spool(error) => error.code(),
            Self::Absent(_) => "not_found",
            Self::Elsewhere(_) => "elsewhere",
            Self::NoInput(_) => "no_input",
        }
    }
}

/// The processes of all tenants that run here.
#[derive(Default)]
pub(crate) struct RunningProcesses {
    live: Mutex<HashMap<(Tenant, ProcessId), Arc<Live>>>,
    quotas: Mutex<HashMap<Tenant, Arc<Quota>>>,
}

/// The processes of one tenant.
#[derive(Clone)]
pub struct DockProcesses {
    running: Arc<RunningProcesses>,
    tenant: Tenant,
    spools: ProcessSpools,
    bounds: SpoolBounds,
}

impl Dock {
    /// The processes of the tenant.
    pub fn processes(&self, bounds: SpoolBounds) -> DockProcesses {
        DockProcesses {
            running: Arc::clone(&self.processes),
            tenant: self.tenant.clone(),
            spools: ProcessSpools::of(&self.home.tenant(&self.tenant)),
            bounds,
        }
    }
}

impl Setup {
    /// The same, and what it runs may go on after the call.
    #[must_use]
    pub fn with_processes(mut self) -> Self {
        self.grants.push(Arc::new(Grant::of(Cap::Process)));
        self
    }
}

impl DockProcesses {
    /// Starts a process over a session, which is this process's own from now on.
    pub async fn spawn(&self, session: DockSession, new: NewProcess) -> Result<ProcessRecord, ProcessError> {
        let request = encode_request(&new.command, &new.args, &new.stdin).map_err(|too_long| {
            let bytes = too_long.0 as u64;
            CallError::from(Denial::TooLarge { what: "request", bytes, max: u64::from(u32::MAX) })
        })?;
        let (spools, bounds, tenant) = (self.spools.clone(), self.bounds, self.tenant.clone());
        let (command, principal) = (new.command.clone(), session.inner().spec().principal.to_string());
        let now = SystemClock.now();
        let spool = off_thread(move || spools.create(&command, &principal, now, &bounds)).await?;
        let id = spool.record().id.clone();
        let quota = self.quota(spool.used_before());

        let (stdin, input) = pipe();
        let (outputs, sinks): (Vec<_>, Vec<_>) = [pipe(), pipe()].into_iter().unzip();
        let mut sinks = sinks.into_iter().map(|it| Sink::Stream(Box::new(it)));
        let streams = Streams {
            stdin: if new.more_stdin { Source::Stream(Box::new(stdin)) } else { Source::Empty },
            stdout: sinks.next().unwrap_or_default(),
            stderr: sinks.next().unwrap_or_default(),
            ..Streams::default()
        };
        let bytes = request.len() as u64;
        let spawn = ProcessSpawn { operation: START, request };
        let call = Call::typed(SPAWN, spawn, bytes, streams);
        let process = match session.gate.dispatch(session.inner(), call).await {
            Ok(mut reply) => reply.value::<SpawnedProcess>(),
            Err(error) => {
                let spools = self.spools.clone();
                // Its lock is free once it is dropped, and then nobody's process is forgotten.
                drop(spool);
                off_thread(move || spools.remove(&id)).await?;
                return Err(error.into());
            }
        };
        let process =
            process.ok_or_else(|| CallError::from(Fault::Internal("no process came of it".into())))?;
        let live = Arc::new(Live::new(new.more_stdin.then_some(input), session.inner().spec().limits));
        self.running.live.lock().insert((tenant.clone(), id.clone()), Arc::clone(&live));
        let record = spool.record().clone();
        let running = Arc::clone(&self.running);
        tokio::spawn(async move {
            supervise(&live, spool, session, process, outputs, &quota).await;
            running.live.lock().remove(&(tenant, id));
            live.tell();
        });
        Ok(record)
    }

    /// All that are kept, those that were started last first.
    pub async fn list(&self) -> Result<Vec<ProcessRecord>, ProcessError> {
        let spools = self.spools.clone();
        Ok(off_thread(move || spools.list()).await?)
    }

    /// One by its id.
    pub async fn find(&self, id: &ProcessId) -> Result<ProcessRecord, ProcessError> {
        let (spools, wanted) = (self.spools.clone(), id.clone());
        off_thread(move || spools.find(&wanted)).await?.ok_or_else(|| ProcessError::Absent(id.clone()))
    }

    /// Bytes of an output from a cursor on, waited for so long if there are none yet.
    pub async fn read(
        &self,
        id: &ProcessId,
        output: ProcessOutput,
        from: u64,
        bytes_max: u64,
        wait_max: Duration,
    ) -> Result<SpoolChunk, ProcessError> {
        let until = tokio::time::Instant::now() + wait_max;
        loop {
            // Looked for before the bytes are: what is written in between is heard of.
            let mut changes = self.live(id).map(|it| it.changes());
            let (spools, wanted) = (self.spools.clone(), id.clone());
            let read = off_thread(move || spools.read(&wanted, output, from, bytes_max)).await?;
            let chunk = read.ok_or_else(|| ProcessError::Absent(id.clone()))?;
            if !chunk.bytes.is_empty() || chunk.is_end || tokio::time::Instant::now() >= until {
                return Ok(chunk);
            }
            let change = async {
                let heard = match &mut changes {
                    Some(changes) => changes.changed().await.is_ok(),
                    None => false,
                };
                if !heard {
                    tokio::time::sleep(LOOK_AGAIN).await;
                }
            };
            let _ = tokio::time::timeout_at(until, change).await;
        }
    }

    /// Adds to the input of a process, as much as it takes within that time, and ends it where that is said. Tells how
    /// many bytes were taken.
    pub async fn write_stdin(
        &self,
        id: &ProcessId,
        bytes: &[u8],
        end: bool,
        wait_max: Duration,
    ) -> Result<usize, ProcessError> {
        let Some(live) = self.live(id) else {
            let found = self.find(id).await?;
            return Err(match found.stage.is_over() {
                true => ProcessError::NoInput(id.clone()),
                false => ProcessError::Elsewhere(id.clone()),
            });
        };
        live.write(bytes, end, wait_max).await.ok_or_else(|| ProcessError::NoInput(id.clone()))
    }

    /// Ends a process, and answers once it has ended. One that had ended before is as it was.
    pub async fn kill(&self, id: &ProcessId) -> Result<ProcessRecord, ProcessError> {
        if let Some(live) = self.live(id) {
            let mut changes = live.changes();
            live.kill();
            while self.live(id).is_some() && changes.changed().await.is_ok() {}
        }
        let found = self.find(id).await?;
        match found.stage.is_over() {
            true => Ok(found),
            false => Err(ProcessError::Elsewhere(id.clone())),
        }
    }

    /// Ends a process and forgets it, its output too.
    pub async fn remove(&self, id: &ProcessId) -> Result<ProcessRecord, ProcessError> {
        let record = self.kill(id).await?;
        let (spools, wanted) = (self.spools.clone(), id.clone());
        off_thread(move || spools.remove(&wanted)).await?;
        Ok(record)
    }

    /// How many of the tenant run here.
    pub fn running(&self) -> usize {
        self.running.live.lock().keys().filter(|(tenant, _)| *tenant == self.tenant).count()
    }

    fn live(&self, id: &ProcessId) -> Option<Arc<Live>> {
        self.running.live.lock().get(&(self.tenant.clone(), id.clone())).cloned()
    }

    /// What all processes of the tenant write to, counted from what is there now.
    fn quota(&self, used: u64) -> Arc<Quota> {
        let mut quotas = self.running.quotas.lock();
        let quota = Arc::clone(quotas.entry(self.tenant.clone()).or_default());
        quota.set(used, self.bounds.bytes_max);
        quota
    }
}

/// The limits of a process that nobody chose others for: an hour, and what the spool keeps of its output. Its clock and its
/// memory bound it, so that its instructions are not.
pub fn process_limits(output_bytes_max: u64) -> Limits {
    Limits {
        wall_max: Duration::from_secs(60 * 60),
        fuel_max: u64::MAX,
        stdout_bytes_max: output_bytes_max,
        stderr_bytes_max: output_bytes_max,
        ..Limits::default()
    }
}

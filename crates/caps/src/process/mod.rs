//! `process`: starts commands that go on after the call, waits for them, and ends them.
//!
//! A process is a run of `exec` on a task of the host, asked for through the gate in the name of the session that spawned
//! it: what may be run, and with which arguments, is decided there and recorded there. What this power adds is the lease: a
//! place among at most 32 of its principal from `process.spawn` until its end was heard of, and the one switch that ends it.
//!
//! To kill is to drop the run. A guest that computes comes back to its task at the next tick of its lane, and is not entered
//! again; calls that it made are dropped with it, its streams are closed, its slots are free; then the state changes.

mod policy;
mod request;
#[cfg(test)]
mod tests;

use std::{
    any::Any,
    future::poll_fn,
    pin::pin,
    sync::Arc,
    task::Poll,
    time::{Duration, Instant},
};

use drydock_abi::exec::{REQUEST_BYTES_MAX, take_report};
use drydock_contract::{
    BoxFuture, Call, CallError, Cap, Denial, Dispatch, Fault, Reply, Streams, Switch,
    port::{Clock, FileRules},
};
use drydock_gate::{
    Audited, CapSpec, Capability, Class, NotAdmitted, Operation, Permit, Refused, Session,
    process::{AWAIT, KILL, PROCESSES_MAX, ProcessSpawn, ProcessState, SPAWN, SpawnedProcess},
};

use policy::Act;
pub use policy::Ready;
pub use request::Request;

use crate::processes::{Entry, Processes};

/// Bytes of a request that only names a process.
const NAMING_BYTES_MAX: u64 = 4096;

/// Puts work on a task of the host. Work that is dropped before it ended is a process that failed.
pub type Tasks = Arc<dyn Fn(BoxFuture<'static, ()>) + Send + Sync>;

/// The power to have processes.
pub struct Process {
    table: Arc<Processes>,
    tasks: Tasks,
    clock: Arc<dyn Clock>,
}

impl Process {
    /// Processes run on `tasks`, and who waits for one does so by `clock`.
    pub fn new(tasks: Tasks, clock: Arc<dyn Clock>) -> Self {
        Self { table: Arc::default(), tasks, clock }
    }
}

impl Capability for Process {
    const SPEC: CapSpec = CapSpec {
        cap: Cap::Process,
        operations: &[
            Operation {
                name: SPAWN,
                class: Class::Process,
                request_bytes_max: REQUEST_BYTES_MAX,
                in_flight_max: Some(PROCESSES_MAX),
                audited: Audited::Everything,
                summary: "Starts a command that goes on after the call. Asked by hosts only, so it has no encoding.",
            },
            Operation {
                name: AWAIT,
                class: Class::Look,
                request_bytes_max: NAMING_BYTES_MAX,
                in_flight_max: None,
                audited: Audited::Denials,
                summary: "Waits for the end of a process of this session. Asked by hosts only, so it has no encoding.",
            },
            Operation {
                name: KILL,
                class: Class::Look,
                request_bytes_max: NAMING_BYTES_MAX,
                in_flight_max: None,
                audited: Audited::Everything,
                summary: "Ends a process of this session. Asked by hosts only, so it has no encoding.",
            },
        ],
        imports: &[],
    };

    type Request = Request;
    type Ready = Ready;
    type Policy = Arc<Processes>;

    fn policy(&self) -> &Self::Policy {
        &self.table
    }

    fn decode(_: &str, _: &[u8]) -> Result<Request, Denial> {
        Err(Denial::Malformed("a process is asked for by a host, and not in bytes".into()))
    }

    fn decode_typed(operation: &str, value: Box<dyn Any + Send>) -> Option<Request> {
        request::decode(operation, value)
    }

    fn digested(request: &Request) -> Option<[&[u8]; 2]> {
        request.digested()
    }

    fn subject(request: &Request) -> &str {
        request.subject()
    }

    fn not_admitted(request: &Request, _: NotAdmitted) -> Denial {
        let subjects = Denial::subject(request.subject()).into();
        Denial::NotGranted { cap: Cap::Process, subjects, why: ": the grant is for other commands" }
    }

    fn check(table: &Arc<Processes>, session: &Session, request: Request) -> Result<Ready, Refused> {
        policy::check(table, session, request)
    }

    fn label(ready: &Ready) -> Arc<str> {
        Arc::clone(&ready.command)
    }

    async fn perform(
        &self,
        permit: Permit<'_, Self>,
        ready: Ready,
        streams: Streams,
    ) -> Result<Reply, CallError> {
        let state = match ready.act {
            Act::Spawn(spawn) => {
                return Ok(Reply::of_value(
                    self.spawn(permit, ready.command, spawn, streams),
                    Streams::default(),
                ));
            }
            Act::Await(entry, wall_max) => self.end_within(&entry, wall_max).await,
            Act::Kill(entry) => {
                entry.kill.trip();
                tripped(&entry.over).await;
                self.heard_of(&entry)
            }
        };
        Ok(Reply::of_value(state, streams))
    }
}

impl Process {
    fn spawn(
        &self,
        permit: Permit<'_, Self>,
        command: Arc<str>,
        spawn: ProcessSpawn,
        streams: Streams,
    ) -> SpawnedProcess {
        let file_rules = permit.file_rules();
        let lease = permit.into_lease();
        let (door, [principal, _]) = (lease.door(), lease.switches());
        let entry = self.table.enter(lease, Arc::clone(&command));
        let number = entry.number;
        let owner = Box::new(Owner { table: Arc::clone(&self.table), entry: Arc::clone(&entry) });
        let running = Running { table: Arc::clone(&self.table), entry };
        let work = Work { door, principal, spawn, file_rules, streams };
        (self.tasks)(Box::pin(drive(running, work)));
        SpawnedProcess { number, command, owner }
    }

    /// How far the process is after so long at most.
    async fn end_within(&self, entry: &Entry, wall_max: Duration) -> ProcessState {
        let until = (!wall_max.is_zero()).then(|| Instant::now().checked_add(wall_max)).flatten();
        let mut alarm = until.and_then(|it| self.clock.alarm(it));
        let mut over = pin!(tripped(&entry.over));
        poll_fn(|cx| {
            if over.as_mut().poll(cx).is_ready() || wall_max.is_zero() {
                return Poll::Ready(());
            }
            alarm.as_mut().map_or(Poll::Pending, |it| it.as_mut().poll(cx))
        })
        .await;
        self.heard_of(entry)
    }

    /// How far it is; what has ended gives its place back, because its end is told now.
    fn heard_of(&self, entry: &Entry) -> ProcessState {
        let state = entry.state();
        if state.is_over() {
            self.table.forget(entry);
        }
        state
    }
}

/// Whoever spawned it has this; without it there is no process.
struct Owner {
    table: Arc<Processes>,
    entry: Arc<Entry>,
}

impl Drop for Owner {
    fn drop(&mut self) {
        self.table.abandon(&self.entry);
    }
}

/// The task of one process. Its end is told on every path, also if nobody polls it any more.
struct Running {
    table: Arc<Processes>,
    entry: Arc<Entry>,
}

impl Drop for Running {
    fn drop(&mut self) {
        let message = "the host ended before the process did".into();
        self.table.end(&self.entry, ProcessState::Failed { code: "host_ended", message });
    }
}

/// What a process is made of.
struct Work {
    door: Arc<dyn Dispatch>,
    /// Woken when a grant of its principal is gone.
    principal: Arc<Switch>,
    spawn: ProcessSpawn,
    file_rules: FileRules,
    streams: Streams,
}

/// Runs one process to its end, or until it is killed or what let it begin is taken back.
async fn drive(running: Running, work: Work) {
    let Work { door, principal, spawn, file_rules, streams } = work;
    let entry = Arc::clone(&running.entry);
    let state = {
        let mut killed = pin!(tripped(&entry.kill));
        let mut lost = pin!(lost_grant(&entry, &principal));
        let call =
            Call::new(spawn.operation, &spawn.request, streams).answered_typed().with_file_rules(file_rules);
        // What is killed before its task begins is never asked for.
        let mut work = (!entry.kill.is_tripped()).then(|| door.dispatch(call));
        poll_fn(|cx| {
            if killed.as_mut().poll(cx).is_ready() {
                work = None;
                return Poll::Ready(ProcessState::Killed);
            }
            if lost.as_mut().poll(cx).is_ready() {
                work = None;
                let message = "the grant that let it be spawned was taken back".into();
                return Poll::Ready(ProcessState::Failed { code: "denied", message });
            }
            let Some(work) = &mut work else { return Poll::Ready(ProcessState::Killed) };
            let polled = work.as_mut().poll(cx);
            entry.begin();
            polled.map(state_of)
        })
        .await
    };
    // The run, its streams and its calls are gone by now: nobody hears of an end before it is one.
    running.table.end(&entry, state);
}

fn state_of(done: Result<Reply, CallError>) -> ProcessState {
    let failed = |error: &CallError| ProcessState::Failed { code: error.code(), message: error.to_string() };
    match done.map(|mut reply| take_report(&mut reply)) {
        Ok(Ok(report)) => ProcessState::Exited(report),
        Ok(Err(bad)) => failed(&Fault::Internal(bad.to_string()).into()),
        Err(error) => failed(&error),
    }
}

/// Waits until the process has lost its grant.
async fn lost_grant(entry: &Entry, principal: &Switch) {
    loop {
        let listener = principal.listen();
        if entry.lost_grant() {
            return;
        }
        listener.await;
    }
}

/// Waits until the switch is thrown.
async fn tripped(switch: &Switch) {
    loop {
        let listener = switch.listen();
        if switch.is_tripped() {
            return;
        }
        listener.await;
    }
}

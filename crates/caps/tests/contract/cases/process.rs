//! `process`: processes of commands that wait, on tasks of the test.

use std::{
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    time::{Duration, Instant},
};

use drydock_abi::exec::{START, encode_request};
use drydock_caps::{
    exec::Exec,
    process::{Process, Tasks},
};
use drydock_contract::{BoxFuture, Cap, Reply};
use drydock_gate::{
    CapSpec, Capability as _, Class, Gate, Grant,
    process::{AWAIT, KILL, PROCESSES_MAX, ProcessAwait, ProcessKill, ProcessSpawn, SPAWN, SpawnedProcess},
};
use drydock_testkit::{FixedClock, TinyRegistry};
use parking_lot::Mutex;

use crate::{
    fakes::{Patient, WAITS},
    suite::{Ask, Case, Later, Outlives, Refusal, Who},
};

#[derive(Default)]
pub(crate) struct OfProcess {
    runner: Patient,
    /// Whether tasks are put aside, where nobody polls them.
    aside: Arc<AtomicBool>,
    put: Arc<Mutex<Vec<BoxFuture<'static, ()>>>>,
}

fn spawn() -> Ask {
    let request = encode_request(WAITS, &[b""; 0], b"").unwrap();
    Ask::typed(ProcessSpawn { operation: START, request })
}

async fn spawned(who: &Who) -> SpawnedProcess {
    match who.ask(SPAWN, spawn()).await {
        Ok(mut reply) => reply.value().unwrap(),
        Err(error) => panic!("{error}"),
    }
}

impl Case for OfProcess {
    fn spec(&self) -> &'static CapSpec {
        &Process::SPEC
    }

    fn behind(&self, gate: Gate, clock: &Arc<FixedClock>) -> Gate {
        let exec = Exec::new(Arc::new(TinyRegistry::of(&[WAITS])), Arc::new(self.runner.clone()));
        self.put.lock().clear();
        self.aside.store(false, Ordering::SeqCst);
        let (aside, put) = (Arc::clone(&self.aside), Arc::clone(&self.put));
        let tasks: Tasks = Arc::new(move |work| match aside.load(Ordering::SeqCst) {
            true => put.lock().push(work),
            false => drop(tokio::spawn(work)),
        });
        gate.with(exec).with(Process::new(tasks, Arc::clone(clock) as _))
    }

    fn beside(&self) -> Vec<Grant> {
        vec![Grant::of(Cap::Exec)]
    }

    fn elsewhere(&self) -> (&'static str, &'static str) {
        ("other", "denied")
    }

    fn good<'a>(&'a self, operation: &'static str, who: &'a Who) -> Later<'a, Ask> {
        Box::pin(async move {
            if operation == SPAWN {
                return spawn();
            }
            let process = spawned(who).await;
            let ask = match operation {
                KILL => Ask::typed(process.killing()),
                _ => Ask::typed(process.awaiting(Duration::ZERO)),
            };
            ask.holding(process)
        })
    }

    fn malformed(&self, operation: &'static str) -> Vec<Ask> {
        let (number, command, wall_max) = (99, WAITS.into(), Duration::ZERO);
        vec![match operation {
            SPAWN => Ask::typed(ProcessSpawn { operation: "code.run", request: Vec::new() }),
            AWAIT => Ask::typed(ProcessAwait { number, command, wall_max }),
            _ => Ask::typed(ProcessKill { number, command }),
        }]
    }

    fn refusals<'a>(&'a self, operation: &'static str, who: &'a Who) -> Later<'a, Vec<Refusal>> {
        Box::pin(async move {
            if operation != SPAWN {
                return Vec::new();
            }
            let mut all = Vec::new();
            for _ in 0..PROCESSES_MAX {
                all.push(spawned(who).await);
            }
            vec![Refusal::judged("too_many_processes", spawn().holding(all))]
        })
    }

    fn waiting<'a>(&'a self, operation: &'static str, who: &'a Who) -> Option<Later<'a, Ask>> {
        match operation {
            SPAWN => None,
            AWAIT => Some(Box::pin(async move {
                let process = spawned(who).await;
                Ask::typed(process.awaiting(Duration::from_secs(600))).holding(process)
            })),
            _ => Some(Box::pin(async move {
                // Its task is never polled, so that it does not hear that it is to end.
                self.aside.store(true, Ordering::SeqCst);
                let process = spawned(who).await;
                Ask::typed(process.killing()).holding(process)
            })),
        }
    }

    fn outlives(&self, operation: &'static str) -> Outlives {
        if operation == SPAWN { Outlives::Lease } else { Outlives::Nothing }
    }

    fn lost<'a>(&'a self, _: &'static str, mut reply: Reply, who: &'a Who) -> Later<'a, ()> {
        Box::pin(async move {
            let process: SpawnedProcess = reply.value().unwrap();
            // Others of this test hold the machine's threads, too: only a hang is too long.
            let hung = Instant::now() + Duration::from_secs(60);
            while Instant::now() < hung {
                let alive = who.session.own_in_flight(Class::Process) + who.session.own_in_flight(Class::Run);
                if alive == 0 && self.runner.0.count() == 0 {
                    return drop(process);
                }
                tokio::task::yield_now().await;
            }
            panic!("process {} lives on", process.number);
        })
    }
}

//! What stands behind the hubs of one guest: programs, files, connections and values, each by its policy, and what of them
//! goes on beside the guest.

use std::{collections::BTreeMap, sync::Arc};

use drydock_abi::{
    lembeh::{
        CapSelector, Trace,
        exec::{self, Status},
    },
    tcp::Connected,
};
use drydock_contract::{Dispatch, Meter, port::Files};

use super::{
    handle::Handles,
    process::Running,
    processes::Processes,
    start::Streamed,
    work::{Cancel, Work},
};
use crate::{
    policy::{
        LembehPolicy,
        exec::ExecLoad,
        files::{FilesPolicy, Seen},
        judge::{Judged, Standing},
        net::NetLoad,
    },
    powers::{Begun, Failure, Offer, Powers},
    timer::Timer,
};

/// What ended beside the guest.
pub(super) enum Done {
    /// A program was started, or was not.
    Started(Asked, Result<(Running, Streamed), Trace>),
    /// A connection was made, or was not.
    Connected(Asked, Result<Connected, Trace>),
    /// A process ended.
    Exited(u32, Status),
}

/// Who asked: which future of which hub.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Asked {
    pub(super) hub: u32,
    pub(super) future_id: u64,
}

/// All of it.
pub(super) struct Desk {
    pub(super) policy: Arc<LembehPolicy>,
    pub(super) files: Option<Arc<dyn Files>>,
    /// The way to the gate of what is started.
    pub(super) door: Option<Arc<dyn Dispatch>>,
    /// The way to the gate of connections, which nothing that is started has.
    pub(super) net: Option<Arc<dyn Dispatch>>,
    pub(super) meter: Arc<Meter>,
    pub(super) timer: Arc<dyn Timer>,
    pub(super) handles: Handles,
    pub(super) processes: Processes,
    pub(super) work: Work<Done>,
    /// What is pending, by who asked.
    pub(super) pending: BTreeMap<Asked, Pending>,
    /// The hub that asks just now.
    pub(super) hub: u32,
    /// Something was begun that nobody has looked at yet.
    pub(super) is_fresh: bool,
    pub(super) now_ms: u64,
}

/// Something that was begun for a future.
pub(super) struct Pending {
    pub(super) cancel: Cancel<Done>,
    pub(super) is_connection: bool,
}

impl Desk {
    /// Forgets processes that nobody has to be told of.
    pub(super) fn forget(&mut self) {
        if let Some(exec) = &self.policy.exec {
            let grace_ms = exec.process.grace_ms.max(crate::policy::exec::GRACE_MS_MIN);
            self.processes.forget(self.now_ms, grace_ms);
        }
    }

    /// Programs and connections on their way.
    pub(super) fn begun(&self) -> (u32, u32) {
        let connections = self.pending.values().filter(|it| it.is_connection).count() as u32;
        (self.pending.len() as u32 - connections, connections)
    }

    /// The end of everything that the guest started.
    pub(super) fn clear(&mut self) {
        self.pending.clear();
        self.work.clear();
        self.handles.clear();
        self.processes.clear();
        (self.door, self.net) = (None, None);
    }
}

impl Standing for Desk {
    fn exec_load(&self) -> ExecLoad {
        let (starting, _) = self.begun();
        let starts_max = self.policy.exec.as_ref().map_or(0, |it| it.starts_max);
        ExecLoad {
            handles: self.processes.handles(),
            processes: self.processes.running() + starting,
            budget_spent: starts_max > 0 && self.processes.started() + starting >= starts_max,
        }
    }

    fn net_load(&self) -> NetLoad {
        let (_, connecting) = self.begun();
        let open = u32::try_from(self.handles.connections()).unwrap_or(u32::MAX);
        NetLoad { open, connecting }
    }

    fn status(&self, exec_id: u32) -> Option<Status> {
        self.processes.status(exec_id)
    }

    fn files(&self, policy: &FilesPolicy) -> Vec<Seen> {
        self.seen(policy)
    }
}

impl Powers for Desk {
    fn offer(&self, kind: &str, name: &str, selector: &str) -> Result<Offer, Trace> {
        self.policy.offer(kind, name, selector)
    }

    fn start(
        &mut self,
        future_id: u64,
        call: &CapSelector<'_>,
        value: &mut Vec<u8>,
    ) -> Result<Begun, Failure> {
        let asked = Asked { hub: self.hub, future_id };
        if call.kind == exec::KIND {
            self.forget();
        }
        let policy = Arc::clone(&self.policy);
        match policy.judge(call, &*self)? {
            Judged::Start(allowed) => self.start_program(asked, &allowed)?,
            Judged::Connect(connect) => self.connect(asked, &connect)?,
            Judged::Open(seen) => {
                value.extend_from_slice(&self.open_file(&seen)?);
                return Ok(Begun::Done);
            }
            Judged::Value(done) => {
                value.extend_from_slice(&done);
                return Ok(Begun::Done);
            }
        }
        Ok(Begun::Pending)
    }

    fn cancel(&mut self, future_id: u64) {
        if let Some(pending) = self.pending.remove(&Asked { hub: self.hub, future_id }) {
            pending.cancel.cancel();
        }
    }
}

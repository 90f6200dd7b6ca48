//! What stands behind the hubs of one guest: programs, files, connections and values, each by its policy, and what of them
//! goes on beside the guest.

use std::{collections::BTreeMap, sync::Arc};

use drydock_abi::{
    lembeh::{
        CapSelector, Trace, config,
        exec::{self, START_VALUE_BYTES, STATUS_VALUE_BYTES, Status},
        files, net,
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
    policy::LembehPolicy,
    powers::{Begun, Failure, Offer, Powers},
    timer::Timer,
};

/// The longest list of files, and the longest list and value of the configuration. The hub keeps so much of its queue free
/// while it answers.
const LIST_BYTES_MAX: u32 = 32 << 10;
/// The value of a handle: two numbers and the length of what is said beside them.
const OPENED_BYTES: u32 = 12;

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
    pub(super) policy: LembehPolicy,
    pub(super) files: Option<Arc<dyn Files>>,
    pub(super) door: Option<Arc<dyn Dispatch>>,
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

/// A capability and its selectors, each with the longest value.
type Row = (&'static str, &'static str, &'static [(&'static str, u32)]);

const ROWS: [Row; 4] = [
    (exec::KIND, exec::NAME, &[(exec::START, START_VALUE_BYTES), (exec::STATUS, STATUS_VALUE_BYTES)]),
    (files::KIND, files::NAME, &[(files::LIST, LIST_BYTES_MAX), (files::OPEN, OPENED_BYTES)]),
    (net::KIND, net::NAME, &[(net::CONNECT, OPENED_BYTES)]),
    (config::KIND, config::NAME, &[(config::GET, LIST_BYTES_MAX), (config::LIST, LIST_BYTES_MAX)]),
];

impl Desk {
    fn has(&self, kind: &str) -> bool {
        match kind {
            exec::KIND => self.policy.exec.is_some(),
            files::KIND => self.policy.files.is_some(),
            net::KIND => self.policy.net.is_some(),
            config::KIND => self.policy.config.is_some(),
            _ => false,
        }
    }

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
        self.door = None;
    }
}

impl Powers for Desk {
    fn offer(&self, kind: &str, name: &str, selector: &str) -> Result<Offer, Trace> {
        let row = ROWS.iter().find(|it| it.0 == kind && it.1 == name).ok_or(Trace::CapMissing)?;
        if self.policy.refused.iter().any(|it| it == kind) {
            return Err(Trace::CapDenied);
        }
        if !self.has(kind) {
            return Err(Trace::CapMissing);
        }
        let found = row.2.iter().find(|it| it.0 == selector).ok_or(Trace::AsyncUnknownSelector)?;
        if self.policy.disabled.iter().any(|it| it == selector) {
            return Err(Trace::AsyncUnsupported);
        }
        Ok(Offer { value_bytes_max: found.1 })
    }

    fn start(
        &mut self,
        future_id: u64,
        call: &CapSelector<'_>,
        value: &mut Vec<u8>,
    ) -> Result<Begun, Failure> {
        let asked = Asked { hub: self.hub, future_id };
        let done = match call.selector {
            exec::START => {
                self.start_program(asked, call.params)?;
                return Ok(Begun::Pending);
            }
            net::CONNECT => {
                self.connect(asked, call.params)?;
                return Ok(Begun::Pending);
            }
            exec::STATUS => self.status(call.params)?,
            files::LIST => self.list_files(call.params)?,
            files::OPEN => self.open_file(call.params)?,
            config::GET => self.policy.config.as_ref().ok_or(Trace::CapMissing)?.judge_get(call.params)?,
            config::LIST => self.policy.config.as_ref().ok_or(Trace::CapMissing)?.judge_list(call.params)?,
            _ => return Err(Trace::AsyncUnknownSelector.into()),
        };
        value.extend_from_slice(&done);
        Ok(Begun::Done)
    }

    fn cancel(&mut self, future_id: u64) {
        if let Some(pending) = self.pending.remove(&Asked { hub: self.hub, future_id }) {
            pending.cancel.cancel();
        }
    }
}

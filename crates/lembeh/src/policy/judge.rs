//! What a policy offers and what it says to a request, in the order in which refusals are found. Pure: what is open, running
//! and there is asked of [`Standing`].

use drydock_abi::lembeh::{
    CapSelector, Trace, config,
    exec::{self, START_VALUE_BYTES, STATUS_VALUE_BYTES, Status},
    files,
    net::{self, Connect},
};

use super::{
    LembehPolicy,
    exec::{Allowed, ExecLoad},
    files::{FilesPolicy, Seen},
    net::NetLoad,
};
use crate::powers::Offer;

/// The longest list of files, and the longest list and value of the configuration. The hub keeps so much of its queue free
/// while it answers.
pub(super) const LIST_BYTES_MAX: u32 = 32 << 10;
/// The value of a handle: two numbers and the length of what is said beside them.
const OPENED_BYTES: u32 = 12;

/// A capability and its selectors, each with the longest value.
type Row = (&'static str, &'static str, &'static [(&'static str, u32)]);

const ROWS: [Row; 4] = [
    (exec::KIND, exec::NAME, &[(exec::START, START_VALUE_BYTES), (exec::STATUS, STATUS_VALUE_BYTES)]),
    (files::KIND, files::NAME, &[(files::LIST, LIST_BYTES_MAX), (files::OPEN, OPENED_BYTES)]),
    (net::KIND, net::NAME, &[(net::CONNECT, OPENED_BYTES)]),
    (config::KIND, config::NAME, &[(config::GET, LIST_BYTES_MAX), (config::LIST, LIST_BYTES_MAX)]),
];

/// What a judgement has to know besides the policy.
pub trait Standing {
    /// Processes and their handles.
    fn exec_load(&self) -> ExecLoad;

    /// Connections.
    fn net_load(&self) -> NetLoad;

    /// How a process stands, if there is one of that number.
    fn status(&self, exec_id: u32) -> Option<Status>;

    /// The files of the root, as far as this policy shows them.
    fn files(&self, policy: &FilesPolicy) -> Vec<Seen>;
}

/// A request that is allowed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Judged<'a, 'p> {
    /// A program may be started.
    Start(Allowed<'a, 'p>),
    /// A file may be opened.
    Open(Seen),
    /// A connection may be made.
    Connect(Connect<'a>),
    /// It is answered already: the value.
    Value(Vec<u8>),
}

impl LembehPolicy {
    /// Whether the session has this selector, and what it promises: `t_cap_missing`, `t_cap_denied`,
    /// `t_async_unknown_selector` or `t_async_unsupported` if not, in that order.
    pub fn offer(&self, kind: &str, name: &str, selector: &str) -> Result<Offer, Trace> {
        let row = ROWS.iter().find(|it| it.0 == kind && it.1 == name).ok_or(Trace::CapMissing)?;
        if self.is_refused(kind) {
            return Err(Trace::CapDenied);
        }
        if !self.has(kind) {
            return Err(Trace::CapMissing);
        }
        let found = row.2.iter().find(|it| it.0 == selector).ok_or(Trace::AsyncUnknownSelector)?;
        if self.disabled.iter().any(|it| it == selector) {
            return Err(Trace::AsyncUnsupported);
        }
        Ok(Offer { value_bytes_max: found.1 })
    }

    /// Judges the params of a selector that is offered. Whatever begins something is only allowed by it.
    pub fn judge<'a>(
        &self,
        call: &CapSelector<'a>,
        standing: &impl Standing,
    ) -> Result<Judged<'a, '_>, Trace> {
        let missing = Trace::CapMissing;
        match call.selector {
            exec::START => {
                let policy = self.exec.as_ref().ok_or(missing)?;
                policy.judge_start(call.params, &standing.exec_load()).map(Judged::Start)
            }
            exec::STATUS => {
                let policy = self.exec.as_ref().ok_or(missing)?;
                let status = policy.judge_status(call.params, |id| standing.status(id))?;
                Ok(Judged::Value(status.encode()))
            }
            files::LIST => {
                let view = self.view(standing).ok_or(missing)?;
                view.judge_list(call.params).map(Judged::Value)
            }
            files::OPEN => {
                let view = self.view(standing).ok_or(missing)?;
                view.judge_open(call.params).cloned().map(Judged::Open)
            }
            net::CONNECT => {
                let policy = self.net.as_ref().ok_or(missing)?;
                policy.judge_connect(call.params, &standing.net_load()).map(Judged::Connect)
            }
            config::GET => self.config.as_ref().ok_or(missing)?.judge_get(call.params).map(Judged::Value),
            config::LIST => self.config.as_ref().ok_or(missing)?.judge_list(call.params).map(Judged::Value),
            _ => Err(Trace::AsyncUnknownSelector),
        }
    }

    /// Whether a capability is there and refused.
    pub fn is_refused(&self, kind: &str) -> bool {
        self.refused.iter().any(|it| it == kind)
    }

    /// The policy of files with what is there now.
    fn view(&self, standing: &impl Standing) -> Option<FilesPolicy> {
        let policy = self.files.as_ref()?;
        Some(FilesPolicy { files: standing.files(policy), ..policy.clone() })
    }

    fn has(&self, kind: &str) -> bool {
        match kind {
            exec::KIND => self.exec.is_some(),
            files::KIND => self.files.is_some(),
            net::KIND => self.net.is_some(),
            config::KIND => self.config.is_some(),
            _ => false,
        }
    }
}

//! Powers that keep account: what began, what was cancelled and whether it may have been.

use std::collections::{BTreeMap, BTreeSet};

use drydock_abi::lembeh::{CapSelector, Trace};
use drydock_lembeh::{Begun, Failure, Offer, Powers};

/// How a future stands with its power.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Standing {
    Pending { due_ms: Option<u64> },
    Completed,
    Cancelled,
}

#[derive(Debug, Default)]
pub(crate) struct Ledger {
    pub(crate) now_ms: u64,
    pub(crate) ending: bool,
    pub(crate) futures: BTreeMap<u64, Standing>,
    /// Ids of all CANCEL commands that were composed.
    pub(crate) cancels: BTreeSet<u64>,
    /// What is no frame was composed, which ends everything.
    pub(crate) may_break: bool,
}

impl Ledger {
    pub(crate) fn pending(&self) -> impl Iterator<Item = u64> {
        self.futures.iter().filter(|(_, it)| matches!(it, Standing::Pending { .. })).map(|(id, _)| *id)
    }

    pub(crate) fn over(&self) -> impl Iterator<Item = u64> {
        self.futures.iter().filter(|(_, it)| !matches!(it, Standing::Pending { .. })).map(|(id, _)| *id)
    }

    pub(crate) fn completed(&mut self, id: u64) {
        self.futures.insert(id, Standing::Completed);
    }

    pub(crate) fn failure() -> Failure {
        Trace::ExecLimits.into()
    }
}

impl Powers for Ledger {
    fn offer(&self, kind: &str, _: &str, selector: &str) -> Result<Offer, Trace> {
        match (kind, selector) {
            ("test", "wait" | "now" | "fail") => Ok(Offer { value_bytes_max: 60 }),
            ("test", "large") => Ok(Offer { value_bytes_max: 1_000 }),
            ("test", _) => Err(Trace::AsyncUnknownSelector),
            _ => Err(Trace::CapMissing),
        }
    }

    fn start(&mut self, id: u64, call: &CapSelector<'_>, value: &mut Vec<u8>) -> Result<Begun, Failure> {
        // The guest says the timeout twice: in the header for the hub, and in the params for this.
        let timeout = u16::from_le_bytes(call.params.try_into().unwrap_or_default());
        let due_ms = (timeout > 0).then(|| self.now_ms + u64::from(timeout));
        let (standing, result) = match call.selector {
            "now" => {
                value.extend_from_slice(b"now");
                (Standing::Completed, Ok(Begun::Done))
            }
            "fail" => (Standing::Completed, Err(Self::failure())),
            _ => (Standing::Pending { due_ms }, Ok(Begun::Pending)),
        };
        assert_eq!(self.futures.insert(id, standing), None, "future {id} begins once");
        result
    }

    fn cancel(&mut self, id: u64) {
        let standing = self.futures.insert(id, Standing::Cancelled);
        let Some(Standing::Pending { due_ms }) = standing else {
            panic!("future {id} is cancelled, and stands as {standing:?}");
        };
        let due = due_ms.is_some_and(|due| due <= self.now_ms);
        let asked = self.cancels.contains(&id);
        assert!(due || asked || self.ending || self.may_break, "future {id} is cancelled without a reason");
    }
}

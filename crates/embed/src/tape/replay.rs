//! The machine of a replay: the same gate, commands and engine, with nothing behind the powers that reach out.

use std::sync::Arc;

use drydock_caps::net::Played;
use drydock_contract::{
    BoxFuture, CallError, Timestamp,
    port::{AuditRecord, Clock, Journal, JournalError, Subjects},
};
use drydock_gate::HostWork;
use drydock_store::{Tape, TapeError, TapeId, Tapes};
use parking_lot::Mutex;

use super::Player;
use crate::{BadSetup, Dock, HostOutput, Provider, Setup, StandIn, wiring};

/// A clock that stands still: grants, rates and records of a replay go by the moment it was recorded.
struct Then(Timestamp);

impl Clock for Then {
    fn now(&self) -> Timestamp {
        self.0
    }
}

/// The records of a replay, for whoever compares them; none of them goes to the journal.
#[derive(Default)]
pub struct ReplayRecords(Mutex<Vec<AuditRecord>>);

impl ReplayRecords {
    /// All of them so far.
    pub fn take(&self) -> Vec<AuditRecord> {
        std::mem::take(&mut self.0.lock())
    }
}

impl Journal for ReplayRecords {
    fn append(&self, records: &[AuditRecord]) -> Result<(), JournalError> {
        self.0.lock().extend_from_slice(records);
        Ok(())
    }

    fn sync(&self) -> Result<(), JournalError> {
        Ok(())
    }
}

/// Knows what the catalog says of names, and installs nothing.
struct Told(Arc<dyn Provider>);

impl Provider for Told {
    fn remedy(&self, name: &str) -> Option<String> {
        self.0.remedy(name)
    }

    fn knows(&self, _: &str) -> bool {
        false
    }

    fn names(&self) -> Vec<String> {
        Vec::new()
    }

    fn install(&self, _: Dock, _: String) -> BoxFuture<'static, Result<(), String>> {
        Box::pin(std::future::ready(Err("a replay installs nothing".into())))
    }

    fn stands_in(&self, name: &str) -> bool {
        self.0.stands_in(name)
    }

    fn stand_in(&self, dock: Dock, call: StandIn) -> BoxFuture<'static, HostOutput> {
        self.0.stand_in(dock, StandIn { may_install: false, ..call })
    }
}

impl Dock {
    /// The tapes of this tenant.
    pub fn tapes(&self) -> Result<Tapes, TapeError> {
        Tapes::of(&self.home.tenant(&self.tenant))
    }

    /// A tape of this tenant, ready to be played.
    pub fn tape(&self, id: &TapeId) -> Result<Tape, TapeError> {
        self.tapes()?.open(id)
    }

    /// This machine as a replay needs it: its own gate, whose clock stands still and whose way out is the tape.
    #[must_use]
    pub fn replaying(&self, player: &Player) -> (Self, Arc<ReplayRecords>) {
        let records = Arc::new(ReplayRecords::default());
        let way = Arc::new(Played(Arc::clone(player.reel()) as _));
        let clock: Arc<dyn Clock> = Arc::new(Then(player.start()));
        let gate = wiring::gate_of_replay(self, way, clock, Arc::clone(&records) as _);
        let provider = self.provider.clone().map(|it| Arc::new(Told(it)) as Arc<dyn Provider>);
        (Self { gate: Arc::new(gate), egress: wiring::no_way_out(), provider, ..self.clone() }, records)
    }

    /// Asks whether this principal may replay the tape, and has it on record until the work is ended.
    pub async fn begin_replay(&self, principal: &str, id: &TapeId) -> Result<HostWork, BeginReplayError> {
        let session = self.session(principal, Setup::default())?;
        let lineage = session.inner().lineage().branch();
        let inner = session.inner().at(lineage.call, lineage.depth);
        let subjects = Subjects::cut(id.as_str());
        Ok(self.gate.begin_work_on(&inner, "tape.replay", session.inner().lineage().call, subjects).await?)
    }
}

/// A replay was not begun.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum BeginReplayError {
    /// It cannot be asked for like this.
    #[error(transparent)]
    Setup(#[from] BadSetup),
    /// The gate refused it.
    #[error(transparent)]
    Refused(#[from] CallError),
}

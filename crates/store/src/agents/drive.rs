//! What whoever drives a run wants of its tenant's file: a run is made or taken over, events are appended, and it is let go.

use std::{io, sync::Arc};

use drydock_contract::{
    AgentHead, AgentId, AgentStatus, Tenant,
    port::{AGENT_APPEND_BYTES_MAX, AGENT_EVENT_BYTES_MAX, AGENT_EVENTS_MAX, AgentRefusal},
};
use rusqlite::{Connection, OptionalExtension as _, params};

use super::{
    AGENT_RUNS_MAX, EVENTS_A_RUN, Shared,
    row::{Run, bump, expire, fits, holder, room, signed},
};
use crate::{commits::Work, key_values::number};

/// What came of it: nothing where there is no file, an error where this process could get no name to drive by.
pub(super) type Driven = Option<io::Result<Result<(), AgentRefusal>>>;

/// A run that is new.
pub(super) struct Create {
    pub(super) shared: Arc<Shared>,
    pub(super) id: AgentId,
    pub(super) head: Vec<u8>,
    pub(super) hold: u64,
}

impl Work for Create {
    type Made = Driven;
    const MAKES: bool = true;

    fn act(&mut self, conn: &Connection) -> rusqlite::Result<(Driven, bool)> {
        let refused = |why| Ok((Some(Ok(Err(why))), false));
        let holder = match self.shared.driver.holder(self.hold) {
            Ok(holder) => holder,
            Err(error) => return Ok((Some(Err(error)), false)),
        };
        let bytes = signed(self.head.len());
        let runs = conn.prepare_cached("SELECT runs FROM mark")?.query_row([], |row| number(row, 0))?;
        if runs >= AGENT_RUNS_MAX {
            return refused(AgentRefusal::TooMany { what: "runs of agents", max: AGENT_RUNS_MAX });
        }
        if let Some(why) = room(conn, bytes, false, self.shared.bytes_max)? {
            return refused(why);
        }
        let mut there = conn.prepare_cached("SELECT 1 FROM run WHERE id = ?1")?;
        if there.exists([self.id.as_str()])? {
            return refused(AgentRefusal::Diverged);
        }
        let version = bump(conn, bytes)?;
        conn.prepare_cached("UPDATE mark SET runs = runs + 1")?.execute([])?;
        let text = "INSERT INTO run (id, holder, cancel, changed, events, bytes, head)
            VALUES (?1, ?2, NULL, ?3, 0, ?4, ?5)";
        let row = params![self.id.as_str(), holder.bytes(), version.cast_signed(), bytes, self.head];
        conn.prepare_cached(text)?.execute(row)?;
        Ok((Some(Ok(Ok(()))), true))
    }
}

/// A run that is there, for another driver.
pub(super) struct Take {
    pub(super) shared: Arc<Shared>,
    pub(super) tenant: Tenant,
    pub(super) id: AgentId,
    pub(super) hold: u64,
    pub(super) version: u64,
}

impl Work for Take {
    type Made = Driven;
    const MAKES: bool = false;

    fn act(&mut self, conn: &Connection) -> rusqlite::Result<(Driven, bool)> {
        let holder = match self.shared.driver.holder(self.hold) {
            Ok(holder) => holder,
            Err(error) => return Ok((Some(Err(error)), false)),
        };
        let Some(run) = Run::find(conn, &self.id)? else {
            return Ok((Some(Ok(Err(AgentRefusal::Absent))), false));
        };
        if run.holder.is_some_and(|it| self.shared.driver.is_alive(it)) {
            return Ok((Some(Ok(Err(AgentRefusal::Held))), false));
        }
        self.version = bump(conn, 0)?;
        let text = "UPDATE run SET holder = ?2, cancel = NULL, changed = ?3 WHERE no = ?1";
        conn.prepare_cached(text)?.execute(params![run.no, holder.bytes(), self.version.cast_signed()])?;
        Ok((Some(Ok(Ok(()))), true))
    }

    /// Nobody outlives the machine who could hold anything.
    fn survives_the_machine(&self) -> bool {
        false
    }

    fn kept(&self, made: &Driven) {
        if let Some(Ok(Ok(()))) = made {
            self.shared.news.own(&self.tenant, &self.id, self.version);
        }
    }
}

/// Events at the end of a run, and its head.
pub(super) struct Append {
    pub(super) shared: Arc<Shared>,
    pub(super) tenant: Tenant,
    pub(super) id: AgentId,
    pub(super) hold: u64,
    pub(super) at: u64,
    pub(super) events: Vec<Vec<u8>>,
    pub(super) head: Vec<u8>,
    pub(super) status: AgentStatus,
    pub(super) version: u64,
}

impl Append {
    /// Whether they are ever kept, whatever is there.
    pub(super) fn check(run: &AgentId, head: &AgentHead, events: &[Vec<u8>]) -> Result<(), AgentRefusal> {
        if head.id != *run {
            return Err(AgentRefusal::Diverged);
        }
        for event in events {
            fits("an event", event.len(), AGENT_EVENT_BYTES_MAX)?;
        }
        let bytes = events.iter().map(Vec::len).sum();
        fits("what is appended at once", bytes, AGENT_APPEND_BYTES_MAX)
    }
}

impl Work for Append {
    type Made = Option<Result<(), AgentRefusal>>;
    const MAKES: bool = false;

    fn act(&mut self, conn: &Connection) -> rusqlite::Result<(Self::Made, bool)> {
        let refused = |why| Ok((Some(Err(why)), false));
        let text = "SELECT no, holder, events, length(head) FROM run WHERE id = ?1";
        let found = conn.prepare_cached(text)?.query_row([self.id.as_str()], |row| {
            Ok((row.get::<_, i64>(0)?, holder(row, 1)?, number(row, 2)?, row.get::<_, i64>(3)?))
        });
        let Some((no, holder, events, head_bytes)) = found.optional()? else {
            return refused(AgentRefusal::Absent);
        };
        // Somebody took this process for dead: what it knows of the run is no longer true.
        if holder.is_none() || holder != self.shared.driver.known_holder(self.hold) {
            return refused(AgentRefusal::Held);
        }
        if events != self.at {
            return refused(AgentRefusal::Diverged);
        }
        let new = self.events.len() as u64;
        if events + new > AGENT_EVENTS_MAX {
            return refused(AgentRefusal::TooMany { what: "events of this run", max: AGENT_EVENTS_MAX });
        }
        let event_bytes: usize = self.events.iter().map(Vec::len).sum();
        let more = signed(event_bytes) + signed(self.head.len()) - head_bytes;
        if let Some(why) = room(conn, more, new == 0, self.shared.bytes_max)? {
            return refused(why);
        }
        let mut insert = conn.prepare_cached("INSERT INTO event (at, body) VALUES (?1, ?2)")?;
        for (at, body) in (no * EVENTS_A_RUN + events.cast_signed()..).zip(&self.events) {
            insert.execute(params![at, body])?;
        }
        self.version = bump(conn, more)?;
        let text = "UPDATE run SET head = ?2, events = events + ?3, bytes = bytes + ?4, changed = ?5
            WHERE no = ?1";
        let row = params![no, self.head, new.cast_signed(), more, self.version.cast_signed()];
        conn.prepare_cached(text)?.execute(row)?;
        if self.status.is_over() {
            expire(conn, no)?;
        }
        Ok((Some(Ok(())), true))
    }

    /// A run that goes on has appends in each of its steps, and whoever must not lose one says so by a sync.
    fn survives_the_machine(&self) -> bool {
        self.status != AgentStatus::Running
    }

    fn kept(&self, made: &Self::Made) {
        if let Some(Ok(())) = made {
            self.shared.news.own(&self.tenant, &self.id, self.version);
            if !self.survives_the_machine() {
                self.shared.news.to_be_synced(&self.tenant);
            }
        }
    }
}

/// Nobody drives a run any more.
pub(super) struct Release {
    pub(super) shared: Arc<Shared>,
    pub(super) tenant: Tenant,
    pub(super) id: AgentId,
    pub(super) hold: u64,
    pub(super) version: Option<u64>,
}

impl Work for Release {
    type Made = ();
    const MAKES: bool = false;

    fn look(&mut self, conn: &Connection) -> rusqlite::Result<Option<()>> {
        let text = "SELECT holder FROM run WHERE id = ?1";
        let found = conn.prepare_cached(text)?.query_row([self.id.as_str()], |row| holder(row, 0));
        let is_held = found
            .optional()?
            .flatten()
            .is_some_and(|it| self.shared.driver.known_holder(self.hold) == Some(it));
        Ok((!is_held).then_some(()))
    }

    fn act(&mut self, conn: &Connection) -> rusqlite::Result<((), bool)> {
        self.version = None;
        let Some(run) = Run::find(conn, &self.id)? else { return Ok(((), false)) };
        if run.holder.is_none() || run.holder != self.shared.driver.known_holder(self.hold) {
            return Ok(((), false));
        }
        if let Some(at) = run.cancel.filter(|_| !run.head.status.is_over()) {
            self.version = Some(run.cancelled(conn, at)?);
            return Ok(((), true));
        }
        let version = bump(conn, 0)?;
        let text = "UPDATE run SET holder = NULL, cancel = NULL, changed = ?2 WHERE no = ?1";
        conn.prepare_cached(text)?.execute(params![run.no, version.cast_signed()])?;
        self.version = Some(version);
        Ok(((), true))
    }

    fn survives_the_machine(&self) -> bool {
        false
    }

    fn kept(&self, (): &()) {
        if let Some(version) = self.version {
            self.shared.news.own(&self.tenant, &self.id, version);
        }
    }
}

/// All that was written before survives the machine.
pub(super) struct Sync;

impl Work for Sync {
    type Made = ();
    const MAKES: bool = false;

    fn act(&mut self, conn: &Connection) -> rusqlite::Result<((), bool)> {
        // A commit with nothing in it would sync nothing.
        conn.prepare_cached("UPDATE mark SET synced = synced + 1")?.execute([])?;
        Ok(((), true))
    }
}

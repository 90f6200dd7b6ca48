//! What others want of a tenant's file: heads and events are read, and a run is ended or forgotten from outside.

use std::sync::Arc;

use drydock_contract::{AgentHead, AgentId, Tenant, port::AgentRefusal};
use rusqlite::{Connection, OptionalExtension as _, Row, params};

use super::{
    EVENTS_A_RUN, Shared,
    driver::{Holder, Living},
    news::News,
    row::{RUN, Run, bump, holder},
};
use crate::{commits::Work, key_values::number};

/// Rows of one answer.
pub(super) const ROWS_MAX: usize = 1_000;
/// Events of one answer.
const EVENTS_ANSWERED_MAX: i64 = 10_000;

/// Something that is read, at once or in line.
pub(super) trait Look: Send + 'static {
    type Made: Default + Send;

    fn of(&self, conn: &Connection) -> rusqlite::Result<Self::Made>;
}

/// The same as work.
pub(super) struct Looking<L>(pub(super) L);

impl<L: Look> Work for Looking<L> {
    type Made = L::Made;
    const MAKES: bool = false;

    fn look(&mut self, conn: &Connection) -> rusqlite::Result<Option<L::Made>> {
        self.0.of(conn).map(Some)
    }

    fn act(&mut self, conn: &Connection) -> rusqlite::Result<(L::Made, bool)> {
        Ok((self.0.of(conn)?, false))
    }
}

pub(super) struct Head {
    pub(super) shared: Arc<Shared>,
    pub(super) id: AgentId,
}

impl Look for Head {
    type Made = Option<AgentHead>;

    fn of(&self, conn: &Connection) -> rusqlite::Result<Self::Made> {
        let run = Run::find(conn, &self.id)?;
        Ok(run.map(|it| it.seen(&mut Living::of(&self.shared.driver))))
    }
}

pub(super) struct List {
    pub(super) shared: Arc<Shared>,
    pub(super) after: Option<AgentId>,
    pub(super) rows_max: usize,
}

impl Look for List {
    type Made = Vec<AgentHead>;

    fn of(&self, conn: &Connection) -> rusqlite::Result<Self::Made> {
        let Some(before) = behind(conn, "SELECT no FROM run WHERE id = ?1", self.after.as_ref())? else {
            return Ok(Vec::new());
        };
        let text = format!("SELECT {RUN} FROM run WHERE no < ?1 ORDER BY no DESC LIMIT ?2");
        let mut statement = conn.prepare_cached(&text)?;
        let mut living = Living::of(&self.shared.driver);
        let rows = statement.query_map([before, rows(self.rows_max)], Run::of)?;
        rows.map(|it| it.map(|run| run.seen(&mut living))).collect()
    }
}

/// Before which number a listing goes on; nothing where it went up to one that is gone.
pub(super) fn behind(
    conn: &Connection,
    number_of: &str,
    after: Option<&AgentId>,
) -> rusqlite::Result<Option<i64>> {
    let Some(after) = after else { return Ok(Some(i64::MAX)) };
    conn.prepare_cached(number_of)?.query_row([after.as_str()], |row| row.get(0)).optional()
}

/// Rows of an answer, as SQLite counts.
pub(super) fn rows(wanted: usize) -> i64 {
    i64::try_from(wanted.min(ROWS_MAX)).unwrap_or(i64::MAX)
}

pub(super) struct Events {
    pub(super) id: AgentId,
    pub(super) from: u64,
    pub(super) bytes_max: usize,
}

impl Look for Events {
    type Made = Vec<Vec<u8>>;

    fn of(&self, conn: &Connection) -> rusqlite::Result<Self::Made> {
        let text = "SELECT no, events FROM run WHERE id = ?1";
        let found = conn
            .prepare_cached(text)?
            .query_row([self.id.as_str()], |row| Ok((row.get::<_, i64>(0)?, number(row, 1)?)));
        let Some((no, count)) = found.optional()?.filter(|it| self.from < it.1) else {
            return Ok(Vec::new());
        };
        let first = no * EVENTS_A_RUN;
        let text = "SELECT body FROM event WHERE at >= ?1 AND at < ?2 ORDER BY at LIMIT ?3";
        let mut statement = conn.prepare_cached(text)?;
        let (from, end) = (first + self.from.cast_signed(), first + count.cast_signed());
        let mut rows = statement.query([from, end, EVENTS_ANSWERED_MAX])?;
        let (mut events, mut bytes) = (Vec::new(), 0_usize);
        while let Some(row) = rows.next()? {
            let body = row.get_ref(0)?.as_blob().map_err(|bad| {
                rusqlite::Error::FromSqlConversionFailure(0, rusqlite::types::Type::Blob, bad.into())
            })?;
            bytes = bytes.saturating_add(body.len());
            if !events.is_empty() && bytes > self.bytes_max {
                break;
            }
            events.push(body.to_vec());
        }
        Ok(events)
    }
}

/// How many events a run has, and the number of its last change.
pub(super) struct State {
    pub(super) id: AgentId,
}

impl Look for State {
    type Made = Option<(u64, u64)>;

    fn of(&self, conn: &Connection) -> rusqlite::Result<Self::Made> {
        let text = "SELECT events, changed FROM run WHERE id = ?1";
        let row = |row: &Row<'_>| Ok((number(row, 0)?, number(row, 1)?));
        conn.prepare_cached(text)?.query_row([self.id.as_str()], row).optional()
    }
}

/// What has changed since a number, for those that listen. Who looks for the first time hears of all that are to end:
/// somebody may have wanted that since whoever drives them began.
pub(super) fn news(conn: &Connection, since: Option<u64>) -> rusqlite::Result<News> {
    let version = conn.prepare_cached("SELECT version FROM mark")?.query_row([], |row| number(row, 0))?;
    let is_first = since.is_none();
    if since == Some(version) {
        return Ok(News { version, is_first, runs: Vec::new() });
    }
    let which = if is_first { "cancel IS NOT NULL AND ?1 = 0" } else { "changed > ?1" };
    let text = format!("SELECT id, cancel IS NOT NULL, holder FROM run WHERE {which}");
    let mut statement = conn.prepare_cached(&text)?;
    let rows = statement.query_map([since.unwrap_or(0).cast_signed()], |row| {
        let id = row.get::<_, String>(0)?.parse::<AgentId>().ok();
        let asked: bool = row.get(1)?;
        Ok((id, holder(row, 2)?.filter(|_| asked)))
    })?;
    let mut runs = Vec::new();
    for row in rows {
        let (id, holder) = row?;
        runs.extend(id.map(|id| (id, holder)));
    }
    Ok(News { version, is_first, runs })
}

/// The end of a run, wanted by somebody who need not drive it.
pub(super) struct Cancel {
    pub(super) shared: Arc<Shared>,
    pub(super) tenant: Tenant,
    pub(super) id: AgentId,
    pub(super) now_ms: u64,
    pub(super) done: Option<(u64, Option<Holder>)>,
}

impl Work for Cancel {
    type Made = bool;
    const MAKES: bool = false;

    fn act(&mut self, conn: &Connection) -> rusqlite::Result<(bool, bool)> {
        self.done = None;
        let Some(run) = Run::find(conn, &self.id)?.filter(|it| !it.head.status.is_over()) else {
            return Ok((false, false));
        };
        let driven = run.holder.filter(|it| self.shared.driver.is_alive(*it));
        if driven.is_none() {
            // It was wanted before, and whoever drove it is gone: it counts as cancelled already.
            let was_over = run.cancel.is_some();
            let version = run.cancelled(conn, self.now_ms)?;
            self.done = Some((version, None));
            return Ok((!was_over, true));
        }
        if run.cancel.is_some() {
            return Ok((true, false));
        }
        let version = bump(conn, 0)?;
        let text = "UPDATE run SET cancel = ?2, changed = ?3 WHERE no = ?1";
        let (at, version_now) = (millis(self.now_ms), version.cast_signed());
        conn.prepare_cached(text)?.execute(params![run.no, at, version_now])?;
        self.done = Some((version, driven));
        Ok((true, true))
    }

    fn kept(&self, _: &bool) {
        let Some((version, driven)) = self.done else { return };
        if let Some(holder) = driven {
            self.shared.driver.cancel(&self.tenant, &self.id, holder);
        }
        self.shared.news.own(&self.tenant, &self.id, version);
    }
}

/// A run is forgotten, with its events and its reviews.
pub(super) struct Remove {
    pub(super) shared: Arc<Shared>,
    pub(super) tenant: Tenant,
    pub(super) id: AgentId,
    pub(super) version: Option<u64>,
}

impl Work for Remove {
    type Made = Option<Result<bool, AgentRefusal>>;
    const MAKES: bool = false;

    fn act(&mut self, conn: &Connection) -> rusqlite::Result<(Self::Made, bool)> {
        self.version = None;
        let Some(run) = Run::find(conn, &self.id)? else { return Ok((Some(Ok(false)), false)) };
        let (no, bytes, holder) = (run.no, run.bytes, run.holder);
        let mut living = Living::of(&self.shared.driver);
        if living.holds(holder) {
            return Ok((Some(Err(AgentRefusal::Held)), false));
        }
        if !run.seen(&mut living).status.is_over() {
            return Ok((Some(Err(AgentRefusal::NotOver)), false));
        }
        let first = no * EVENTS_A_RUN;
        let text = "DELETE FROM event WHERE at >= ?1 AND at < ?2";
        conn.prepare_cached(text)?.execute([first, first + EVENTS_A_RUN])?;
        let reviews = conn.prepare_cached("DELETE FROM review WHERE run = ?1")?.execute([no])?;
        conn.prepare_cached("DELETE FROM run WHERE no = ?1")?.execute([no])?;
        let text = "UPDATE mark SET runs = runs - 1, reviews = reviews - ?1";
        conn.prepare_cached(text)?.execute([i64::try_from(reviews).unwrap_or(i64::MAX)])?;
        let bytes = i64::try_from(bytes).unwrap_or(i64::MAX);
        self.version = Some(bump(conn, -bytes)?);
        Ok((Some(Ok(true)), true))
    }

    fn kept(&self, _: &Self::Made) {
        if let Some(version) = self.version {
            self.shared.news.own(&self.tenant, &self.id, version);
        }
    }
}

/// A moment in milliseconds, as SQLite counts. What lies beyond is as far as it goes.
pub(super) fn millis(at: u64) -> i64 {
    i64::try_from(at).unwrap_or(i64::MAX)
}

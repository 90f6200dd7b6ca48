//! What a tenant's file has of runs: the row of one, its head as whoever asks sees it, and what everything that changes one
//! has in common.

use drydock_contract::{
    AgentHead, AgentId, AgentStatus,
    port::{AGENT_HEAD_BYTES_MAX, AgentRefusal},
};
use rusqlite::{Connection, OptionalExtension as _, Row, params, types::Type};
use serde::de::DeserializeOwned;

use super::driver::{Holder, Living};
use crate::key_values::number;

/// Why a run has failed whose driver is gone.
pub(super) const INTERRUPTED: &str = "interrupted";

/// The room that is left for ends of runs when everything else is refused.
const HEADS_ROOM_BYTES: u64 = 64 << 20;

/// A run as it is kept.
pub(super) struct Run {
    pub(super) no: i64,
    pub(super) head: AgentHead,
    pub(super) holder: Option<Holder>,
    /// When somebody asked for its end, in milliseconds since the epoch.
    pub(super) cancel: Option<u64>,
    /// Bytes of all that is kept of it.
    pub(super) bytes: u64,
    /// Bytes of its head among them.
    head_bytes: i64,
}

/// The columns of [`Run`].
pub(super) const RUN: &str = "no, head, holder, cancel, bytes, length(head)";

impl Run {
    pub(super) fn of(row: &Row<'_>) -> rusqlite::Result<Self> {
        Ok(Self {
            no: row.get(0)?,
            head: json(row, 1)?,
            holder: holder(row, 2)?,
            cancel: row.get::<_, Option<i64>>(3)?.map(|it| it.max(0).cast_unsigned()),
            bytes: number(row, 4)?,
            head_bytes: row.get(5)?,
        })
    }

    pub(super) fn find(conn: &Connection, id: &AgentId) -> rusqlite::Result<Option<Self>> {
        let text = format!("SELECT {RUN} FROM run WHERE id = ?1");
        conn.prepare_cached(&text)?.query_row([id.as_str()], Self::of).optional()
    }

    /// Its head, and what is true of it though nobody wrote it: whoever drove it is gone.
    pub(super) fn seen(self, living: &mut Living<'_>) -> AgentHead {
        let Self { mut head, holder, cancel, .. } = self;
        let goes_on = matches!(head.status, AgentStatus::Running | AgentStatus::Waiting);
        if !goes_on || living.holds(holder) {
            return head;
        }
        match cancel {
            // Whoever asked for its end was told that it ends.
            Some(at) => (head.status, head.updated_ms) = (AgentStatus::Cancelled, at.max(head.updated_ms)),
            None if head.status == AgentStatus::Running => {
                head.status = AgentStatus::Failed;
                head.reason = Some(INTERRUPTED.to_owned());
            }
            None => {}
        }
        head
    }

    /// Its own head says from now on that it was cancelled, and nobody drives it.
    pub(super) fn cancelled(mut self, conn: &Connection, at: u64) -> rusqlite::Result<u64> {
        (self.head.status, self.head.updated_ms) = (AgentStatus::Cancelled, at.max(self.head.updated_ms));
        let head = serde_json::to_vec(&self.head).unwrap_or_default();
        let more = signed(head.len()) - self.head_bytes;
        let version = bump(conn, more)?;
        let text = "UPDATE run SET head = ?2, holder = NULL, cancel = NULL, changed = ?3, bytes = bytes + ?4
            WHERE no = ?1";
        conn.prepare_cached(text)?.execute(params![self.no, head, version.cast_signed(), more])?;
        expire(conn, self.no)?;
        Ok(version)
    }
}

pub(super) fn holder(row: &Row<'_>, at: usize) -> rusqlite::Result<Option<Holder>> {
    let bytes = row
        .get_ref(at)?
        .as_blob_or_null()
        .map_err(|bad| rusqlite::Error::FromSqlConversionFailure(at, Type::Blob, bad.into()))?;
    Ok(bytes.and_then(Holder::read))
}

/// What is kept as JSON.
pub(super) fn json<T: DeserializeOwned>(row: &Row<'_>, at: usize) -> rusqlite::Result<T> {
    let broken = |bad| rusqlite::Error::FromSqlConversionFailure(at, Type::Blob, bad);
    let bytes = row.get_ref(at)?.as_bytes().map_err(|bad| broken(bad.into()))?;
    serde_json::from_slice(bytes).map_err(|bad| broken(bad.into()))
}

/// A head as it is kept.
pub(super) fn written(head: &AgentHead) -> Result<Vec<u8>, AgentRefusal> {
    // Texts and numbers: there is nothing in it that JSON cannot say.
    let bytes = serde_json::to_vec(head).unwrap_or_default();
    fits("the head of a run", bytes.len(), AGENT_HEAD_BYTES_MAX).map(|()| bytes)
}

pub(super) fn fits(what: &'static str, bytes: usize, bytes_max: usize) -> Result<(), AgentRefusal> {
    if bytes <= bytes_max {
        return Ok(());
    }
    Err(AgentRefusal::TooLong { what, bytes: bytes as u64, bytes_max: bytes_max as u64 })
}

/// Something of a run has changed: the number of that change, by which others find it. So many bytes more are kept.
pub(super) fn bump(conn: &Connection, bytes: i64) -> rusqlite::Result<u64> {
    let text = "UPDATE mark SET version = version + 1, bytes = bytes + ?1 RETURNING version";
    conn.prepare_cached(text)?.query_row([bytes], |row| number(row, 0))
}

/// Whether so many bytes more may be kept. What ends runs may be when nothing else is.
pub(super) fn room(
    conn: &Connection,
    more: i64,
    is_head_alone: bool,
    bytes_max: u64,
) -> rusqlite::Result<Option<AgentRefusal>> {
    let kept = conn.prepare_cached("SELECT bytes FROM mark")?.query_row([], |row| number(row, 0))?;
    let most = bytes_max + if is_head_alone { HEADS_ROOM_BYTES.min(bytes_max) } else { 0 };
    let is_full = more > 0 && kept.saturating_add_signed(more) > most;
    Ok(is_full.then_some(AgentRefusal::NoRoom { bytes_max }))
}

/// Questions of a run that wait do so no longer: it is over.
pub(super) fn expire(conn: &Connection, run: i64) -> rusqlite::Result<()> {
    let text = "UPDATE review SET state = 2 WHERE run = ?1 AND state = 0";
    conn.prepare_cached(text)?.execute([run]).map(drop)
}

/// A length as SQLite counts.
pub(super) fn signed(bytes: usize) -> i64 {
    i64::try_from(bytes).unwrap_or(i64::MAX)
}

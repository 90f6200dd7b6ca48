//! Messages that come, and what is known of topics. A topic is there as long as it has messages.

use drydock_contract::{
    Timestamp,
    port::{QueueRefusal, TopicDepth},
};
use rusqlite::{Connection, OptionalExtension as _, params, types::Type};

use super::{DEAD, TENANT_MESSAGES_MAX, TOPIC_MESSAGES_MAX};
use crate::{
    commits::Work,
    key_values::{Range, nanos, number},
};

/// The number of a topic, and how many messages it has.
pub(super) fn topic(conn: &Connection, name: &[u8]) -> rusqlite::Result<Option<(i64, u64)>> {
    let mut statement = conn.prepare_cached("SELECT id, messages FROM topic WHERE name = ?1")?;
    statement.query_row([name], |row| Ok((row.get(0)?, number(row, 1)?))).optional()
}

/// Counts so many more messages of a topic, and makes it if need be.
pub(super) fn more(conn: &Connection, name: &[u8], count: i64) -> rusqlite::Result<i64> {
    let text = "INSERT INTO topic (name, messages) VALUES (?1, ?2)
        ON CONFLICT (name) DO UPDATE SET messages = messages + excluded.messages RETURNING id";
    conn.prepare_cached(text)?.query_row(params![name, count], |row| row.get(0))
}

/// Counts so many fewer. A topic without messages is none.
pub(super) fn fewer(conn: &Connection, topic: i64, count: i64) -> rusqlite::Result<()> {
    let text = "UPDATE topic SET messages = messages - ?2 WHERE id = ?1 RETURNING messages";
    let left: i64 = conn.prepare_cached(text)?.query_row([topic, count], |row| row.get(0))?;
    if left <= 0 {
        conn.prepare_cached("DELETE FROM topic WHERE id = ?1")?.execute([topic])?;
    }
    Ok(())
}

/// Counts messages of the tenant.
pub(super) fn count(conn: &Connection, change: i64) -> rusqlite::Result<()> {
    conn.prepare_cached("UPDATE mark SET messages = messages + ?1")?.execute([change]).map(drop)
}

/// Messages that come.
pub(super) struct Publish {
    pub(super) topic: Vec<u8>,
    pub(super) messages: Vec<Vec<u8>>,
    pub(super) now: Timestamp,
    /// Wakes who waits for them.
    pub(super) ring: Box<dyn Fn() + Send>,
}

/// How deep the topic is then.
pub(super) struct Published(pub(super) Result<TopicDepth, QueueRefusal>);

impl Default for Published {
    fn default() -> Self {
        Self(Ok(TopicDepth::default()))
    }
}

impl Work for Publish {
    type Made = Published;
    const MAKES: bool = true;

    fn act(&mut self, conn: &Connection) -> rusqlite::Result<(Published, bool)> {
        let refused = |why| Ok((Published(Err(why)), false));
        let new = self.messages.len() as u64;
        let held = topic(conn, &self.topic)?.map_or(0, |it| it.1);
        let text = "SELECT next, messages FROM mark";
        let (next, all): (i64, u64) =
            conn.prepare_cached(text)?.query_row([], |row| Ok((row.get(0)?, number(row, 1)?)))?;
        if held + new > TOPIC_MESSAGES_MAX {
            return refused(QueueRefusal::TopicFull { max: TOPIC_MESSAGES_MAX });
        }
        if all + new > TENANT_MESSAGES_MAX {
            return refused(QueueRefusal::TenantFull { max: TENANT_MESSAGES_MAX });
        }
        let added = new.cast_signed();
        let topic = more(conn, &self.topic, added)?;
        let text = "UPDATE mark SET next = next + ?1, messages = messages + ?1";
        conn.prepare_cached(text)?.execute([added])?;
        let mut statement = conn.prepare_cached("INSERT INTO message VALUES (?1, ?2, 0, 0, 0, 0, ?3, ?4)")?;
        for (id, body) in (next..).zip(&self.messages) {
            statement.execute(params![id, topic, nanos(self.now), body])?;
        }
        Ok((Published(Ok(TopicDepth { messages: held + new, hidden: 0 })), true))
    }

    fn kept(&self, _: &Published) {
        (self.ring)();
    }
}

/// How deep a topic is.
pub(super) struct Depth {
    pub(super) topic: Vec<u8>,
    pub(super) now: Timestamp,
}

impl Work for Depth {
    type Made = TopicDepth;
    const MAKES: bool = false;

    fn look(&mut self, conn: &Connection) -> rusqlite::Result<Option<TopicDepth>> {
        let Some((id, messages)) = topic(conn, &self.topic)? else { return Ok(Some(TopicDepth::default())) };
        let text = "SELECT count(*) FROM message WHERE topic = ?1 AND visible > ?2";
        let hidden =
            conn.prepare_cached(text)?.query_row(params![id, nanos(self.now)], |row| number(row, 0))?;
        Ok(Some(TopicDepth { messages, hidden }))
    }

    fn act(&mut self, _: &Connection) -> rusqlite::Result<(TopicDepth, bool)> {
        Ok((TopicDepth::default(), false))
    }
}

/// Which topics there are.
pub(super) struct Topics {
    pub(super) range: Range,
    pub(super) rows_max: usize,
}

impl Work for Topics {
    type Made = Vec<(String, u64)>;
    const MAKES: bool = false;

    fn look(&mut self, conn: &Connection) -> rusqlite::Result<Option<Self::Made>> {
        let (from, left_out, end) = self.range.bounds();
        let text = "SELECT name, messages FROM topic WHERE name >= ?1 AND name < ?2 AND (name > ?1 OR NOT ?3)
            ORDER BY name LIMIT ?4";
        let mut statement = conn.prepare_cached(text)?;
        let most = i64::try_from(self.rows_max).unwrap_or(i64::MAX);
        let rows = statement.query_map(params![from, end, left_out, most], |row| {
            let name = String::from_utf8(row.get(0)?)
                .map_err(|bad| rusqlite::Error::FromSqlConversionFailure(0, Type::Blob, bad.into()))?;
            Ok((name, number(row, 1)?))
        })?;
        rows.collect::<rusqlite::Result<_>>().map(Some)
    }

    fn act(&mut self, _: &Connection) -> rusqlite::Result<(Self::Made, bool)> {
        Ok((Vec::new(), false))
    }
}

/// Moves messages of a topic to that for its dead, where they may be taken as if they had just come. `false` where the
/// topic is that of the dead: there nothing dies again.
pub(super) fn bury(conn: &Connection, name: &[u8], from: i64, dead: &[i64]) -> rusqlite::Result<bool> {
    if name.ends_with(DEAD.as_bytes()) || dead.is_empty() {
        return Ok(false);
    }
    let count = i64::try_from(dead.len()).unwrap_or(i64::MAX);
    let grave = more(conn, &[name, DEAD.as_bytes()].concat(), count)?;
    let text = "UPDATE message SET topic = ?2, visible = 0, is_leased = 0, attempts = 0, attempts_max = 0 WHERE id = ?1";
    let mut statement = conn.prepare_cached(text)?;
    for id in dead {
        statement.execute([*id, grave])?;
    }
    fewer(conn, from, count)?;
    Ok(true)
}

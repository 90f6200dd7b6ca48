//! Messages that go: for good, for a lease, or only for a look. The dead are moved out of the way when they are met.

use drydock_contract::{
    Timestamp,
    port::{QueueMessage, QueueRefusal, Taking},
};
use rusqlite::{Connection, params};

use super::{
    DEAD,
    sql::{bury, count, fewer, more, topic},
};
use crate::{
    commits::Work,
    key_values::{nanos, number},
};

/// Dead messages that are moved in one go.
const BURIED_MAX: usize = 100;

/// What was taken.
pub(super) struct Taken(pub(super) Result<Vec<QueueMessage>, QueueRefusal>);

impl Default for Taken {
    fn default() -> Self {
        Self(Ok(Vec::new()))
    }
}

pub(super) struct Take {
    pub(super) topic: Vec<u8>,
    pub(super) taking: Taking,
    pub(super) now: Timestamp,
}

impl Work for Take {
    type Made = Taken;
    const MAKES: bool = false;

    /// Whoever waits asks often, and mostly there is nothing.
    fn look(&mut self, conn: &Connection) -> rusqlite::Result<Option<Taken>> {
        let Some((id, _)) = topic(conn, &self.topic)? else { return Ok(Some(Taken::default())) };
        let text = "SELECT 1 FROM message WHERE topic = ?1 AND visible <= ?2 LIMIT 1";
        let any = conn.prepare_cached(text)?.exists(params![id, nanos(self.now)])?;
        Ok((!any).then(Taken::default))
    }

    fn act(&mut self, conn: &Connection) -> rusqlite::Result<(Taken, bool)> {
        let mut changed = false;
        loop {
            let Some((id, _)) = topic(conn, &self.topic)? else { return Ok((Taken::default(), changed)) };
            let Taking { messages_max, bytes_max, .. } = self.taking;
            let seen = seen(conn, (id, &self.topic), (messages_max, BURIED_MAX), bytes_max, self.now)?;
            changed |= bury(conn, &self.topic, id, &seen.dead)?;
            if !seen.dead.is_empty() && seen.messages.is_empty() && seen.too_long.is_none() {
                // Only dead ones were there: behind them may be others.
                continue;
            }
            if let (Some(bytes), true) = (seen.too_long, seen.messages.is_empty()) {
                return Ok((Taken(Err(QueueRefusal::TooLong { bytes })), changed));
            }
            let mut messages = seen.messages;
            if messages.is_empty() {
                return Ok((Taken::default(), changed));
            }
            match self.taking.lease {
                None => remove(conn, id, messages.iter().map(|it| it.id))?,
                Some(lease) => {
                    let text = "UPDATE message SET visible = ?2, is_leased = 1, attempts = attempts + 1, attempts_max = ?3
                        WHERE id = ?1";
                    let mut statement = conn.prepare_cached(text)?;
                    for message in &mut messages {
                        let until = nanos(lease.until);
                        statement.execute(params![message.id.cast_signed(), until, lease.attempts_max])?;
                        message.attempt += 1;
                    }
                }
            }
            return Ok((Taken(Ok(messages)), true));
        }
    }
}

/// Removes messages of a topic.
pub(super) fn remove(conn: &Connection, topic: i64, ids: impl Iterator<Item = u64>) -> rusqlite::Result<()> {
    let mut statement = conn.prepare_cached("DELETE FROM message WHERE id = ?1")?;
    let mut gone = 0;
    for id in ids {
        gone += i64::try_from(statement.execute([id.cast_signed()])?).unwrap_or_default();
    }
    count(conn, -gone)?;
    fewer(conn, topic, gone)
}

/// What can be seen at the head of a topic.
struct Seen {
    messages: Vec<QueueMessage>,
    /// Those that were leased too often.
    dead: Vec<i64>,
    /// How long the message is that did not fit.
    too_long: Option<u64>,
}

fn seen(
    conn: &Connection,
    (topic, name): (i64, &[u8]),
    (messages_max, dead_max): (usize, usize),
    bytes_max: u64,
    now: Timestamp,
) -> rusqlite::Result<Seen> {
    let text = "SELECT id, attempts, attempts_max, published, length(body), body FROM message
        WHERE topic = ?1 AND visible <= ?2 ORDER BY id";
    let mut statement = conn.prepare_cached(text)?;
    let mut rows = statement.query(params![topic, nanos(now)])?;
    let mut seen = Seen { messages: Vec::new(), dead: Vec::new(), too_long: None };
    let mut left = bytes_max;
    while seen.messages.len() < messages_max && seen.dead.len() < dead_max {
        let Some(row) = rows.next()? else { break };
        let (attempts, attempts_max): (u32, u32) = (row.get(1)?, row.get(2)?);
        if attempts_max > 0 && attempts >= attempts_max && !name.ends_with(DEAD.as_bytes()) {
            seen.dead.push(row.get(0)?);
            continue;
        }
        let bytes = number(row, 4)?;
        let Some(rest) = left.checked_sub(bytes) else {
            seen.too_long = Some(bytes);
            break;
        };
        left = rest;
        seen.messages.push(QueueMessage {
            id: number(row, 0)?,
            attempt: attempts,
            published: Timestamp(number(row, 3)?),
            body: row.get(5)?,
        });
    }
    Ok(seen)
}

/// The first messages, which stay.
pub(super) struct Peek {
    pub(super) topic: Vec<u8>,
    pub(super) messages_max: usize,
    pub(super) bytes_max: u64,
    pub(super) now: Timestamp,
}

impl Work for Peek {
    type Made = Vec<QueueMessage>;
    const MAKES: bool = false;

    fn look(&mut self, conn: &Connection) -> rusqlite::Result<Option<Self::Made>> {
        let Some((id, _)) = topic(conn, &self.topic)? else { return Ok(Some(Vec::new())) };
        // Nobody moves the dead out of the way here: they are walked past, and a topic has a bound.
        let most = (self.messages_max, usize::MAX);
        let seen = seen(conn, (id, &self.topic), most, self.bytes_max, self.now)?;
        Ok(Some(seen.messages))
    }

    fn act(&mut self, _: &Connection) -> rusqlite::Result<(Self::Made, bool)> {
        Ok((Vec::new(), false))
    }
}

/// Messages whose taker was gone before they were handed over. They go back to where they were, whatever is full.
pub(super) struct PutBack {
    pub(super) topic: Vec<u8>,
    pub(super) messages: Vec<QueueMessage>,
    pub(super) leased: bool,
}

impl Work for PutBack {
    type Made = ();
    const MAKES: bool = true;

    fn act(&mut self, conn: &Connection) -> rusqlite::Result<((), bool)> {
        if self.leased {
            let text = "UPDATE message SET visible = 0, is_leased = 0, attempts = attempts - 1
                WHERE id = ?1 AND attempts = ?2 AND is_leased = 1";
            let mut statement = conn.prepare_cached(text)?;
            for message in &self.messages {
                statement.execute(params![message.id.cast_signed(), message.attempt])?;
            }
            return Ok(((), true));
        }
        let back = i64::try_from(self.messages.len()).unwrap_or(i64::MAX);
        let topic = more(conn, &self.topic, back)?;
        count(conn, back)?;
        let mut statement =
            conn.prepare_cached("INSERT INTO message VALUES (?1, ?2, 0, 0, ?3, 0, ?4, ?5)")?;
        for it in &self.messages {
            statement.execute(params![
                it.id.cast_signed(),
                topic,
                it.attempt,
                nanos(it.published),
                it.body
            ])?;
        }
        Ok(((), true))
    }
}

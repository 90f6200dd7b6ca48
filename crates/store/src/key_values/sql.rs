//! What is asked of a tenant's file. A value whose time is over is not there, whoever asks; it is removed when somebody
//! writes.

use drydock_contract::{
    Timestamp,
    port::{KeptValue, KeyChanged, KeyRefusal, ListedKey},
};
use rusqlite::{Connection, OptionalExtension as _, params, types::Type};

use super::KEYS_MAX;
use crate::commits::Work;

/// Values whose time is over that one change removes, besides its own.
const SWEPT_MAX: i64 = 16;

/// What came of a change. Where there is no file there was nothing.
pub(super) struct Changed(pub(super) Result<KeyChanged, KeyRefusal>);

impl Default for Changed {
    fn default() -> Self {
        Self(Ok(KeyChanged { existed: false, version: 0, sum: None }))
    }
}

pub(super) fn get(conn: &Connection, key: &[u8], now: Timestamp) -> rusqlite::Result<Option<KeptValue>> {
    let text =
        "SELECT version, expires, value FROM pair WHERE key = ?1 AND (expires IS NULL OR expires > ?2)";
    let mut statement = conn.prepare_cached(text)?;
    let row = |row: &rusqlite::Row<'_>| {
        let (version, expires) = (number(row, 0)?, moment(row, 1)?);
        Ok(KeptValue { value: row.get(2)?, version, expires })
    };
    statement.query_row(params![key, nanos(now)], row).optional()
}

pub(super) struct Get {
    pub(super) key: Vec<u8>,
    pub(super) now: Timestamp,
}

impl Work for Get {
    type Made = Option<KeptValue>;
    const MAKES: bool = false;

    fn look(&mut self, conn: &Connection) -> rusqlite::Result<Option<Self::Made>> {
        get(conn, &self.key, self.now).map(Some)
    }

    fn act(&mut self, conn: &Connection) -> rusqlite::Result<(Self::Made, bool)> {
        Ok((get(conn, &self.key, self.now)?, false))
    }
}

pub(super) struct Put {
    pub(super) key: Vec<u8>,
    pub(super) value: Vec<u8>,
    pub(super) if_version: Option<u64>,
    pub(super) expires: Option<Timestamp>,
    pub(super) now: Timestamp,
}

impl Work for Put {
    type Made = Changed;
    const MAKES: bool = true;

    fn act(&mut self, conn: &Connection) -> rusqlite::Result<(Changed, bool)> {
        let found = Found::of(conn, &self.key, self.now)?;
        if self.if_version.is_some_and(|it| it != found.version()) {
            return Ok((Changed(Err(KeyRefusal::Conflict { version: found.version() })), false));
        }
        found.write(conn, &self.key, &self.value, self.expires, self.now, None)
    }
}

pub(super) struct Add {
    pub(super) key: Vec<u8>,
    pub(super) by: i64,
    pub(super) expires: Option<Timestamp>,
    pub(super) now: Timestamp,
}

impl Work for Add {
    type Made = Changed;
    const MAKES: bool = true;

    fn act(&mut self, conn: &Connection) -> rusqlite::Result<(Changed, bool)> {
        let refused = |why| Ok((Changed(Err(why)), false));
        let before = get(conn, &self.key, self.now)?;
        let (number, expires) = match &before {
            None => (Some(0), self.expires),
            Some(it) => (whole(&it.value), it.expires),
        };
        let Some(number) = number else { return refused(KeyRefusal::NotANumber) };
        let Some(sum) = number.checked_add(self.by) else { return refused(KeyRefusal::Overflow) };
        let found = Found::of(conn, &self.key, self.now)?;
        found.write(conn, &self.key, sum.to_string().as_bytes(), expires, self.now, Some(sum))
    }
}

/// The number that a value spells, as it is spelled here: no sign but a minus, no blanks.
fn whole(value: &[u8]) -> Option<i64> {
    let text = std::str::from_utf8(value).ok().filter(|it| !it.starts_with('+'))?;
    text.parse().ok()
}

pub(super) struct Delete {
    pub(super) key: Vec<u8>,
    pub(super) if_version: Option<u64>,
    pub(super) now: Timestamp,
}

impl Work for Delete {
    type Made = Changed;
    const MAKES: bool = false;

    fn act(&mut self, conn: &Connection) -> rusqlite::Result<(Changed, bool)> {
        let found = Found::of(conn, &self.key, self.now)?;
        if self.if_version.is_some_and(|it| it != found.version()) {
            return Ok((Changed(Err(KeyRefusal::Conflict { version: found.version() })), false));
        }
        let gone = conn.prepare_cached("DELETE FROM pair WHERE key = ?1")?.execute([&self.key])?;
        if gone > 0 {
            conn.prepare_cached("UPDATE mark SET keys = keys - 1")?.execute([])?;
        }
        let changed = KeyChanged { existed: found.version() > 0, version: 0, sum: None };
        Ok((Changed(Ok(changed)), gone > 0))
    }
}

/// What is there of a key before it is changed.
struct Found {
    /// Its version, and whether its time is over.
    row: Option<(u64, bool)>,
}

impl Found {
    fn of(conn: &Connection, key: &[u8], now: Timestamp) -> rusqlite::Result<Self> {
        let mut statement = conn.prepare_cached("SELECT version, expires FROM pair WHERE key = ?1")?;
        let row = statement
            .query_row([key], |row| Ok((number(row, 0)?, moment(row, 1)?.is_some_and(|it| it <= now))));
        Ok(Self { row: row.optional()? })
    }

    /// As whoever asks sees it: 0 for nothing.
    fn version(&self) -> u64 {
        self.row.filter(|(_, over)| !over).map_or(0, |it| it.0)
    }

    fn write(
        &self,
        conn: &Connection,
        key: &[u8],
        value: &[u8],
        expires: Option<Timestamp>,
        now: Timestamp,
        sum: Option<i64>,
    ) -> rusqlite::Result<(Changed, bool)> {
        let new = u64::from(self.row.is_none());
        sweep(conn, key, now, SWEPT_MAX)?;
        if new > 0 && keys(conn)? >= KEYS_MAX {
            sweep(conn, key, now, -1)?;
            if keys(conn)? >= KEYS_MAX {
                // What was swept may as well stay swept.
                return Ok((Changed(Err(KeyRefusal::TooManyKeys { max: KEYS_MAX })), true));
            }
        }
        let text = "UPDATE mark SET version = version + 1, keys = keys + ?1 RETURNING version";
        let version = conn.prepare_cached(text)?.query_row([new.cast_signed()], |row| number(row, 0))?;
        let text = "INSERT INTO pair (key, version, expires, value) VALUES (?1, ?2, ?3, ?4)
            ON CONFLICT (key) DO UPDATE SET version = excluded.version, expires = excluded.expires, value = excluded.value";
        let end = expires.map(nanos);
        conn.prepare_cached(text)?.execute(params![key, version.cast_signed(), end, value])?;
        Ok((Changed(Ok(KeyChanged { existed: self.version() > 0, version, sum })), true))
    }
}

fn keys(conn: &Connection) -> rusqlite::Result<u64> {
    conn.prepare_cached("SELECT keys FROM mark")?.query_row([], |row| number(row, 0))
}

/// Removes values whose time is over, but for this key's, which is about to be written.
fn sweep(conn: &Connection, key: &[u8], now: Timestamp, most: i64) -> rusqlite::Result<()> {
    let text =
        "DELETE FROM pair WHERE id IN (SELECT id FROM pair WHERE expires <= ?1 AND key <> ?2 LIMIT ?3)";
    let gone = conn.prepare_cached(text)?.execute(params![nanos(now), key, most])?;
    if gone > 0 {
        let gone = i64::try_from(gone).unwrap_or(i64::MAX);
        conn.prepare_cached("UPDATE mark SET keys = keys - ?1")?.execute([gone])?;
    }
    Ok(())
}

/// Keys that begin so: bytes from one on and before another.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Range {
    from: Vec<u8>,
    end: Vec<u8>,
    after: Option<Vec<u8>>,
}

impl Range {
    pub(crate) fn of(prefix: &str, after: Option<&str>) -> Self {
        // What follows every text that begins so: no byte of UTF-8 is the largest.
        let mut end = prefix.as_bytes().to_vec();
        match end.last_mut() {
            Some(last) => *last += 1,
            None => end.push(u8::MAX),
        }
        Self { from: prefix.into(), end, after: after.map(Vec::from) }
    }

    /// From where, whether that itself is left out, and before what.
    pub(crate) fn bounds(&self) -> (&[u8], bool, &[u8]) {
        match &self.after {
            Some(after) if **after >= *self.from => (after, true, &self.end),
            _ => (&self.from, false, &self.end),
        }
    }
}

pub(super) struct List {
    pub(super) range: Range,
    pub(super) rows_max: usize,
    pub(super) now: Timestamp,
}

impl List {
    pub(super) fn of(&self, conn: &Connection) -> rusqlite::Result<Vec<ListedKey>> {
        let (from, left_out, end) = self.range.bounds();
        let text = "SELECT key, length(value), version, expires FROM pair
            WHERE key >= ?1 AND key < ?2 AND (expires IS NULL OR expires > ?3) AND (key > ?1 OR NOT ?4)
            ORDER BY key LIMIT ?5";
        let mut statement = conn.prepare_cached(text)?;
        let most = i64::try_from(self.rows_max).unwrap_or(i64::MAX);
        let rows = statement.query_map(params![from, end, nanos(self.now), left_out, most], |row| {
            let key = String::from_utf8(row.get(0)?)
                .map_err(|bad| rusqlite::Error::FromSqlConversionFailure(0, Type::Blob, bad.into()))?;
            Ok(ListedKey { key, bytes: number(row, 1)?, version: number(row, 2)?, expires: moment(row, 3)? })
        })?;
        rows.collect()
    }
}

impl Work for List {
    type Made = Vec<ListedKey>;
    const MAKES: bool = false;

    fn look(&mut self, conn: &Connection) -> rusqlite::Result<Option<Self::Made>> {
        self.of(conn).map(Some)
    }

    fn act(&mut self, conn: &Connection) -> rusqlite::Result<(Self::Made, bool)> {
        Ok((self.of(conn)?, false))
    }
}

/// A moment as SQLite counts. What lies beyond is as far as it goes.
pub(crate) fn nanos(moment: Timestamp) -> i64 {
    i64::try_from(moment.0).unwrap_or(i64::MAX)
}

pub(crate) fn number(row: &rusqlite::Row<'_>, at: usize) -> rusqlite::Result<u64> {
    row.get::<_, i64>(at).map(|it| it.max(0).cast_unsigned())
}

fn moment(row: &rusqlite::Row<'_>, at: usize) -> rusqlite::Result<Option<Timestamp>> {
    let told: Option<i64> = row.get(at)?;
    Ok(told.map(|it| Timestamp(it.max(0).cast_unsigned())))
}

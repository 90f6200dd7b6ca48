//! What is revoked, of all tenants, in one file of the home: whoever opens a session must know, and a process that runs
//! asks several times a second.
//!
//! The mark to ask by is a number in the file that each change raises; it begins at a random one, so that a file which
//! was removed and made anew is never taken for the one before.

use std::time::Duration;

use drydock_contract::{Node, Tenant, Timestamp, port::LedgerError};
use rusqlite::{Connection, Row, params};

use super::file::{BUSY_WAIT, Kind, LedgerFile};
use crate::Home;

const KIND: Kind = Kind {
    tables: "
CREATE TABLE mark (generation INTEGER NOT NULL) STRICT;
INSERT INTO mark VALUES ((abs(random() >> 2) | 1));
CREATE TABLE revoked (
    tenant TEXT NOT NULL,
    kind INTEGER NOT NULL,            -- 0 the tenant, 1 a principal, 2 a grant
    name TEXT NOT NULL,
    at INTEGER NOT NULL,              -- nanoseconds
    PRIMARY KEY (tenant, kind, name)) STRICT, WITHOUT ROWID;
",
    version: 1,
    logged: false,
    bytes_max: 16 << 20,
    checked: true,
    remedy: "nobody can say what is revoked, so no session is opened. Put a backup in its place; or move it away, which \
             takes every revocation back, and revoke again what must be",
};

const LOCK: &str = "revocations";
/// How long a watcher waits for another process: four looks in a row that fail are a second, at four looks a second.
const WATCH_WAIT: Duration = Duration::from_millis(50);
/// The mark of a home in which nothing was ever revoked.
const NOTHING: u64 = 0;

/// Something that is revoked.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Revoked {
    /// What.
    pub node: Node,
    /// Since when.
    pub at: Timestamp,
}

impl Revoked {
    /// Since when, as the audit journal spells it: RFC 3339, UTC, with microseconds.
    pub fn at_text(&self) -> String {
        crate::audit::spell_time(self.at)
    }
}

#[derive(Debug)]
pub(super) struct Revocations {
    home: Home,
    file: LedgerFile,
    /// The watcher's own: it waits neither for a transaction of ours nor for long.
    watched: LedgerFile,
}

impl Revocations {
    pub(super) fn of(home: &Home) -> Self {
        static REVOCATIONS: Kind = KIND;
        let file = || LedgerFile::at(home.revocations_file(), &REVOCATIONS);
        Self { file: file(), watched: file().within(WATCH_WAIT), home: home.clone() }
    }

    pub(super) fn revoke(&self, node: &Node, at: Timestamp) -> Result<bool, LedgerError> {
        let (tenant, kind, name) = columns(node);
        let text = "INSERT OR IGNORE INTO revoked(tenant, kind, name, at) VALUES (?1, ?2, ?3, ?4)";
        let act =
            |conn: &mut Connection| changed(conn, text, params![tenant, kind, name, at.0.cast_signed()]);
        self.file.change(|| self.home.lock_within(LOCK, BUSY_WAIT), act)
    }

    pub(super) fn unrevoke(&self, node: &Node) -> Result<bool, LedgerError> {
        let (tenant, kind, name) = columns(node);
        let text = "DELETE FROM revoked WHERE tenant = ?1 AND kind = ?2 AND name = ?3";
        let done = self.file.look(|conn| changed(conn, text, params![tenant, kind, name]))?;
        Ok(done.unwrap_or(false))
    }

    pub(super) fn since(&self, seen: Option<u64>) -> Result<Option<(u64, Vec<Node>)>, LedgerError> {
        let look = |conn: &mut Connection| {
            // One look, so that the mark is of the very rows.
            let tx = conn.transaction()?;
            let generation: i64 =
                tx.prepare_cached("SELECT generation FROM mark")?.query_row([], |row| row.get(0))?;
            let mark = generation.cast_unsigned();
            Ok((mark, if seen == Some(mark) { None } else { Some(rows(&tx)?) }))
        };
        // Whoever has looked before is a watcher.
        let file = if seen.is_some() { &self.watched } else { &self.file };
        match file.look(look)? {
            None if seen == Some(NOTHING) => Ok(None),
            None => Ok(Some((NOTHING, Vec::new()))),
            Some((_, None)) => Ok(None),
            Some((mark, Some(rows))) => {
                let nodes = rows.into_iter().map(|row| row.map(|it| it.node)).collect::<Option<_>>();
                Ok(Some((mark, nodes.ok_or_else(|| self.file.damaged())?)))
            }
        }
    }

    pub(super) fn all(&self) -> Result<Vec<Revoked>, LedgerError> {
        let rows = self.file.look(|conn| rows(conn))?.unwrap_or_default();
        rows.into_iter().collect::<Option<_>>().ok_or_else(|| self.file.damaged())
    }
}

/// Changes one row, or none; only the former is a change that others must hear.
fn changed(conn: &mut Connection, text: &str, values: impl rusqlite::Params) -> rusqlite::Result<bool> {
    let tx = conn.transaction_with_behavior(rusqlite::TransactionBehavior::Immediate)?;
    let done = tx.execute(text, values)? > 0;
    if done {
        tx.execute("UPDATE mark SET generation = generation + 1", [])?;
        tx.commit()?;
    }
    Ok(done)
}

/// Everything that is revoked. A row that says nothing is `None`: whoever wrote it meant something.
fn rows(conn: &Connection) -> rusqlite::Result<Vec<Option<Revoked>>> {
    let mut statement =
        conn.prepare_cached("SELECT tenant, kind, name, at FROM revoked ORDER BY tenant, kind, name")?;
    statement.query_map([], node)?.collect()
}

fn node(row: &Row<'_>) -> rusqlite::Result<Option<Revoked>> {
    let (tenant, kind, name): (String, i64, String) = (row.get(0)?, row.get(1)?, row.get(2)?);
    let at = Timestamp(row.get::<_, i64>(3)?.cast_unsigned());
    let Ok(tenant) = tenant.parse::<Tenant>() else { return Ok(None) };
    let node = match kind {
        0 => Some(Node::Tenant(tenant)),
        1 => name.parse().ok().map(|principal| Node::Principal(tenant, principal)),
        2 => Some(Node::Grant(tenant, name.into())),
        _ => None,
    };
    Ok(node.map(|node| Revoked { node, at }))
}

fn columns(node: &Node) -> (&str, i64, &str) {
    match node {
        Node::Tenant(tenant) => (tenant.as_str(), 0, ""),
        Node::Principal(tenant, principal) => (tenant.as_str(), 1, principal.as_str()),
        Node::Grant(tenant, id) => (tenant.as_str(), 2, id),
    }
}

//! The end of a node: when its last name and its last handle are gone.

use drydock_contract::{Timestamp, port::FileResult};
use rusqlite::params;

use super::db::{Sql as _, Tx};

impl Tx<'_> {
    /// Takes one name's worth from a node, and forgets it if that was the last and nobody has it open.
    pub(super) fn unlink(&mut self, volume: i64, node: i64, now: Timestamp) -> FileResult<()> {
        if self.count_link(node, -1, now)? > 0 {
            return Ok(());
        }
        let mut handles = self.handles.lock();
        if handles.open.contains_key(&node) {
            handles.nameless.insert(node);
            return Ok(());
        }
        drop(handles);
        // Another process may be reading it; whoever is alone next sweeps it up.
        if self.others()? { Ok(()) } else { self.forget(volume, node) }
    }

    /// Removes a node and lets go of its bytes.
    pub(super) fn forget(&mut self, volume: i64, node: i64) -> FileResult<()> {
        let file = self.extent(node)?;
        for index in 0..file.chunks() {
            self.set_chunk(node, index, None)?;
        }
        self.shrink(volume, file.size.cast_signed());
        self.conn
            .prepare_cached("DELETE FROM node WHERE id = ?1")
            .sql()?
            .execute(params![node])
            .sql()
            .map(|_| ())
    }

    pub(super) fn sweep_nameless(&mut self) -> FileResult<()> {
        self.forget_all("SELECT volume, id FROM node WHERE links = 0", "")
    }

    /// Empties a volume, if there is one of that name.
    pub(super) fn clear_volume(&mut self, name: &str) -> FileResult<()> {
        let below = "WITH RECURSIVE below(id) AS (
                SELECT n.node FROM volume v JOIN name n ON n.parent = v.root WHERE v.name = ?1
                UNION SELECT n.node FROM below b JOIN name n ON n.parent = b.id)";
        let names = format!(
            "{below} DELETE FROM name WHERE parent IN
                (SELECT id FROM below UNION ALL SELECT root FROM volume WHERE name = ?1)"
        );
        let nodes = format!("{below} SELECT d.volume, d.id FROM below b JOIN node d ON d.id = b.id");
        // The names say which nodes there are, so they go last; a node someone has open stays.
        let found = self.pairs(&nodes, name)?;
        let gone = self.conn.execute(&names, params![name]).sql()?;
        for (volume, node) in found {
            if self.handles.lock().open.contains_key(&node) || self.others()? {
                self.conn.execute("UPDATE node SET links = 0 WHERE id = ?1", params![node]).sql()?;
                self.handles.lock().nameless.insert(node);
            } else {
                self.forget(volume, node)?;
            }
        }
        let volume = "SELECT id, root FROM volume WHERE name = ?1";
        for (volume, _) in self.pairs(volume, name)? {
            self.grown.entry(volume).or_default().files -= i64::try_from(gone).unwrap_or(i64::MAX);
        }
        Ok(())
    }

    fn forget_all(&mut self, text: &str, name: &str) -> FileResult<()> {
        for (volume, node) in self.pairs(text, name)? {
            self.forget(volume, node)?;
        }
        Ok(())
    }

    fn pairs(&self, text: &str, name: &str) -> FileResult<Vec<(i64, i64)>> {
        let mut statement = self.conn.prepare(text).sql()?;
        let pair = |row: &rusqlite::Row<'_>| Ok((row.get(0)?, row.get(1)?));
        let rows = match statement.parameter_count() {
            0 => statement.query_map([], pair),
            _ => statement.query_map(params![name], pair),
        };
        rows.sql()?.collect::<rusqlite::Result<_>>().sql()
    }
}

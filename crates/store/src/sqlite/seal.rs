//! Equal bytes are stored once. Sealing names a chunk by its hash, and where that hash is known
//! already, the chunk shares those bytes. It is never needed for a file to be right: what is not
//! sealed is only not shared.

use drydock_contract::{
    Timestamp,
    port::{FileError, FileLimit, FileResult},
};
use rusqlite::{OptionalExtension as _, params};

use super::{
    content::{Chunk, Extent},
    db::{Sql as _, Tx},
    node::Volume,
    schema::CHUNK_BYTES,
};

/// A file longer than this is not sealed when it is closed: closing should not take seconds.
pub(super) const SEAL_BYTES_MAX: u64 = 64 << 20;

impl Tx<'_> {
    /// Replaces the whole content of a file, sealed at once.
    pub(super) fn put(
        &mut self,
        volume: &Volume,
        file: Extent,
        bytes: &[u8],
        now: Timestamp,
    ) -> FileResult<()> {
        let size = bytes.len() as u64;
        if size > volume.quota.file_bytes_max {
            return Err(FileError::Quota(FileLimit::FileBytes));
        }
        self.shrink(volume.id, file.size.cast_signed());
        self.grow(volume, size)?;
        for index in size.div_ceil(CHUNK_BYTES).max(1)..file.chunks() {
            self.set_chunk(file.node, index, None)?;
        }
        for (index, part) in (1..).zip(bytes.chunks(CHUNK_BYTES as usize).skip(1)) {
            let chunk = self.sealed(part)?;
            self.set_chunk(file.node, index, Some(&chunk))?;
        }
        let first = &bytes[..bytes.len().min(CHUNK_BYTES as usize)];
        let chunk = if first.is_empty() { None } else { Some(self.sealed(first)?) };
        if file.size > 0
            && let Some(old) = self.chunk(file.node, 0)?
        {
            self.release(&old)?;
        }
        // Size, times and the first chunk in one step: all of a small file.
        let text = "UPDATE node SET size = ?2, mtime = ?3, ctime = ?3, content = ?4, hash = ?5 WHERE id = ?1";
        let (content, hash) = chunk.map_or((None, None), |it| (Some(it.content), it.hash));
        let (size, now) = (size.cast_signed(), now.0.cast_signed());
        let mut statement = self.conn.prepare_cached(text).sql()?;
        statement.execute(params![file.node, size, now, content, hash]).sql().map(|_| ())
    }

    /// Seals what is private of a file.
    pub(super) fn seal(&mut self, file: Extent) -> FileResult<()> {
        let mut buffer = Vec::new();
        for index in 0..file.chunks() {
            let Some(Chunk { content, hash: None }) = self.chunk(file.node, index)? else { continue };
            buffer.resize(file.of_chunk(index), 0);
            self.read_chunk(content, 0, &mut buffer)?;
            let hash = blake3::hash(&buffer);
            if self.share(hash.as_bytes())?.is_none() {
                // The bytes stay where they are, without what was kept in reserve behind them.
                let text = "UPDATE content SET bytes = ?2 WHERE id = ?1 AND length(bytes) <> ?3";
                self.conn
                    .prepare_cached(text)
                    .sql()?
                    .execute(params![content, buffer, buffer.len()])
                    .sql()?;
                self.name_content(hash.as_bytes(), content)?;
                self.point(file.node, index, Some(&Chunk { content, hash: Some(hash.as_bytes().to_vec()) }))?;
                continue;
            }
            let chunk = self.sealed_by(hash.as_bytes())?.ok_or(FileError::Io)?;
            self.set_chunk(file.node, index, Some(&chunk))?;
        }
        Ok(())
    }

    /// Bytes under their hash, one reference more.
    fn sealed(&self, bytes: &[u8]) -> FileResult<Chunk> {
        let hash = blake3::hash(bytes);
        let content = match self.share(hash.as_bytes())? {
            Some(content) => content,
            None => {
                let content = self.add_content(bytes)?;
                self.name_content(hash.as_bytes(), content)?;
                content
            }
        };
        Ok(Chunk { content, hash: Some(hash.as_bytes().to_vec()) })
    }

    /// One reference more, if the hash is known.
    fn share(&self, hash: &[u8]) -> FileResult<Option<i64>> {
        let text = "UPDATE sealed SET refs = refs + 1 WHERE hash = ?1 RETURNING content";
        let mut statement = self.conn.prepare_cached(text).sql()?;
        statement.query_row(params![hash], |row| row.get(0)).optional().sql()
    }

    fn sealed_by(&self, hash: &[u8]) -> FileResult<Option<Chunk>> {
        let mut statement = self.conn.prepare_cached("SELECT content FROM sealed WHERE hash = ?1").sql()?;
        let content = statement.query_row(params![hash], |row| row.get(0)).optional().sql()?;
        Ok(content.map(|content| Chunk { content, hash: Some(hash.to_vec()) }))
    }

    fn name_content(&self, hash: &[u8], content: i64) -> FileResult<()> {
        let text = "INSERT INTO sealed(hash, content, refs) VALUES (?1, ?2, 1)";
        self.conn.prepare_cached(text).sql()?.execute(params![hash, content]).sql().map(|_| ())
    }

    pub(super) fn chunk(&self, node: i64, index: u64) -> FileResult<Option<Chunk>> {
        let text = match index {
            0 => "SELECT content, hash FROM node WHERE id = ?1 AND content IS NOT NULL",
            _ => "SELECT content, hash FROM chunk WHERE node = ?1 AND idx = ?2",
        };
        let mut statement = self.conn.prepare_cached(text).sql()?;
        let get = |row: &rusqlite::Row<'_>| Ok(Chunk { content: row.get(0)?, hash: row.get(1)? });
        match index {
            0 => statement.query_row(params![node], get),
            _ => statement.query_row(params![node, index.cast_signed()], get),
        }
        .optional()
        .sql()
    }

    /// Lets go of a chunk's bytes and points it at others, or at nothing.
    pub(super) fn set_chunk(&self, node: i64, index: u64, new: Option<&Chunk>) -> FileResult<()> {
        if let Some(old) = self.chunk(node, index)? {
            self.release(&old)?;
        }
        self.point(node, index, new)
    }

    fn point(&self, node: i64, index: u64, new: Option<&Chunk>) -> FileResult<()> {
        let (content, hash) = new.map_or((None, None), |it| (Some(it.content), it.hash.as_deref()));
        let idx = index.cast_signed();
        let done = match (index, content) {
            (0, _) => {
                let text = "UPDATE node SET content = ?2, hash = ?3 WHERE id = ?1";
                self.conn.prepare_cached(text).sql()?.execute(params![node, content, hash])
            }
            (_, None) => {
                let text = "DELETE FROM chunk WHERE node = ?1 AND idx = ?2";
                self.conn.prepare_cached(text).sql()?.execute(params![node, idx])
            }
            (_, Some(_)) => {
                let text = "INSERT OR REPLACE INTO chunk(node, idx, content, hash) VALUES (?1, ?2, ?3, ?4)";
                self.conn.prepare_cached(text).sql()?.execute(params![node, idx, content, hash])
            }
        };
        done.sql().map(|_| ())
    }

    fn release(&self, old: &Chunk) -> FileResult<()> {
        if let Some(hash) = &old.hash {
            let text = "UPDATE sealed SET refs = refs - 1 WHERE hash = ?1 RETURNING refs";
            let mut statement = self.conn.prepare_cached(text).sql()?;
            let refs: i64 = statement.query_row(params![hash], |row| row.get(0)).sql()?;
            if refs > 0 {
                return Ok(());
            }
            self.conn
                .prepare_cached("DELETE FROM sealed WHERE hash = ?1")
                .sql()?
                .execute(params![hash])
                .sql()?;
        }
        let mut statement = self.conn.prepare_cached("DELETE FROM content WHERE id = ?1").sql()?;
        statement.execute(params![old.content]).sql().map(|_| ())
    }
}

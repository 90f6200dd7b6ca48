//! A file's bytes, in chunks. A private chunk is written in place, so that a write costs the pages it
//! touches; a sealed one is copied first. A chunk that is not there is zeros. A chunk that is there
//! reaches at least as far as the file does, and what lies past the file's end is zeros.

use drydock_contract::{
    Timestamp,
    port::{FileError, FileLimit, FileResult},
};
use rusqlite::{MAIN_DB, OptionalExtension as _, params};

use super::{
    db::{Sql as _, Tx},
    node::Volume,
    schema::CHUNK_BYTES,
};

/// Where a chunk's bytes are. With a hash they are sealed: shared, and not to be written.
pub(super) struct Chunk {
    pub(super) content: i64,
    pub(super) hash: Option<Vec<u8>>,
}

/// A file as a transaction finds it.
#[derive(Debug, Clone, Copy)]
pub(super) struct Extent {
    pub(super) node: i64,
    pub(super) size: u64,
}

impl Extent {
    /// How far the file reaches into its chunk `index`.
    pub(super) fn of_chunk(self, index: u64) -> usize {
        let bytes = self.size.saturating_sub(index * CHUNK_BYTES).min(CHUNK_BYTES);
        usize::try_from(bytes).unwrap_or(0)
    }

    pub(super) fn chunks(self) -> u64 {
        self.size.div_ceil(CHUNK_BYTES)
    }
}

/// Cuts a range into pieces of chunks: index, where in the chunk, how many bytes.
fn pieces(offset: u64, len: usize) -> impl Iterator<Item = (u64, usize, usize)> {
    let (mut at, end) = (offset, offset + len as u64);
    std::iter::from_fn(move || {
        let (index, within) = (at / CHUNK_BYTES, at % CHUNK_BYTES);
        let count = (CHUNK_BYTES - within).min(end - at);
        at += count;
        // Both are at most a chunk long.
        (count > 0).then_some((index, within as usize, count as usize))
    })
}

impl Tx<'_> {
    pub(super) fn extent(&self, node: i64) -> FileResult<Extent> {
        let mut statement = self.conn.prepare_cached("SELECT size FROM node WHERE id = ?1").sql()?;
        let size: Option<i64> = statement.query_row(params![node], |row| row.get(0)).optional().sql()?;
        Ok(Extent { node, size: size.ok_or(FileError::NotFound)?.cast_unsigned() })
    }

    pub(super) fn read_at(&self, file: Extent, offset: u64, buffer: &mut [u8]) -> FileResult<usize> {
        let rest = usize::try_from(file.size.saturating_sub(offset)).unwrap_or(usize::MAX);
        let len = rest.min(buffer.len());
        let mut done = 0;
        for (index, within, count) in pieces(offset.min(file.size), len) {
            let part = &mut buffer[done..done + count];
            match self.chunk(file.node, index)? {
                Some(chunk) => self.read_chunk(chunk.content, within, part)?,
                None => part.fill(0),
            }
            done += count;
        }
        Ok(done)
    }

    /// Where the next chunk is that is there, at or after `offset`.
    pub(super) fn next_data(&self, file: Extent, offset: u64) -> FileResult<u64> {
        let index = offset / CHUNK_BYTES;
        if offset >= file.size || self.chunk(file.node, index)?.is_some() {
            return Ok(offset.min(file.size));
        }
        let text = "SELECT min(idx) FROM chunk WHERE node = ?1 AND idx > ?2";
        let mut statement = self.conn.prepare_cached(text).sql()?;
        let next: Option<i64> =
            statement.query_row(params![file.node, index.cast_signed()], |row| row.get(0)).sql()?;
        let at = next.and_then(|it| it.cast_unsigned().checked_mul(CHUNK_BYTES));
        Ok(at.unwrap_or(file.size).min(file.size))
    }

    pub(super) fn write_at(
        &mut self,
        volume: &Volume,
        file: Extent,
        offset: u64,
        bytes: &[u8],
        now: Timestamp,
    ) -> FileResult<()> {
        if bytes.is_empty() {
            return Ok(());
        }
        let end = offset.checked_add(bytes.len() as u64).ok_or(FileError::TooBig)?;
        let file = self.reach(volume, file, file.size.max(end))?;
        let mut done = 0;
        for (index, within, count) in pieces(offset, bytes.len()) {
            self.write_chunk(file, index, within, &bytes[done..done + count])?;
            done += count;
        }
        self.set_size(file, now)
    }

    pub(super) fn set_len(
        &mut self,
        volume: &Volume,
        file: Extent,
        len: u64,
        now: Timestamp,
    ) -> FileResult<()> {
        let file =
            if len >= file.size { self.reach(volume, file, len)? } else { self.cut(volume, file, len)? };
        self.set_size(file, now)
    }

    /// The file as it is once it is `size` long: the last chunk there is reaches as far as it must.
    fn reach(&mut self, volume: &Volume, file: Extent, size: u64) -> FileResult<Extent> {
        if size == file.size {
            return Ok(file);
        }
        if size > volume.quota.file_bytes_max || i64::try_from(size).is_err() {
            return Err(FileError::Quota(FileLimit::FileBytes));
        }
        self.grow(volume, size - file.size)?;
        let longer = Extent { size, ..file };
        if let Some(last) = file.chunks().checked_sub(1)
            && longer.of_chunk(last) > file.of_chunk(last)
            && self.chunk(file.node, last)?.is_some()
        {
            self.write_chunk(longer, last, file.of_chunk(last), &[])?;
        }
        Ok(longer)
    }

    fn cut(&mut self, volume: &Volume, file: Extent, size: u64) -> FileResult<Extent> {
        let shorter = Extent { size, ..file };
        for index in shorter.chunks()..file.chunks() {
            self.set_chunk(file.node, index, None)?;
        }
        if let Some(last) = shorter.chunks().checked_sub(1) {
            let keep = shorter.of_chunk(last);
            if keep < file.of_chunk(last)
                && let Some(chunk) = self.chunk(file.node, last)?
            {
                let mut bytes = vec![0; keep];
                self.read_chunk(chunk.content, 0, &mut bytes)?;
                self.put_chunk(file.node, last, Some(chunk), &bytes)?;
            }
        }
        self.shrink(volume.id, file.size.saturating_sub(size).cast_signed());
        Ok(shorter)
    }

    /// Writes into a chunk of a file that is already as long as it will be.
    fn write_chunk(&mut self, file: Extent, index: u64, at: usize, bytes: &[u8]) -> FileResult<()> {
        let extent = file.of_chunk(index);
        let old = self.chunk(file.node, index)?;
        let mut held = 0;
        if let Some(chunk) = &old {
            held = self.chunk_len(chunk.content)?;
            if chunk.hash.is_none() && held >= extent {
                return self.write_in_place(chunk.content, at, bytes);
            }
        }
        // Twice as long as before, or a file that is appended to would be copied at each step.
        let room =
            if held == 0 || held >= extent { extent } else { extent.max(2 * held).min(CHUNK_BYTES as usize) };
        let mut whole = vec![0; room];
        if let Some(chunk) = &old
            && bytes.len() < extent
        {
            self.read_chunk(chunk.content, 0, &mut whole[..held.min(room)])?;
        }
        whole[at..at + bytes.len()].copy_from_slice(bytes);
        self.put_chunk(file.node, index, old, &whole)
    }

    fn write_in_place(&self, content: i64, at: usize, bytes: &[u8]) -> FileResult<()> {
        if bytes.is_empty() {
            return Ok(());
        }
        let mut blob = self.conn.blob_open(MAIN_DB, "content", "bytes", content, false).sql()?;
        blob.write_all_at(bytes, at).sql()
    }

    /// Gives a chunk other bytes, private ones.
    fn put_chunk(&mut self, node: i64, index: u64, old: Option<Chunk>, bytes: &[u8]) -> FileResult<()> {
        if let Some(Chunk { content, hash: None }) = old {
            let text = "UPDATE content SET bytes = ?2 WHERE id = ?1";
            return self.conn.prepare_cached(text).sql()?.execute(params![content, bytes]).sql().map(|_| ());
        }
        let content = self.add_content(bytes)?;
        self.set_chunk(node, index, Some(&Chunk { content, hash: None }))
    }

    pub(super) fn add_content(&self, bytes: &[u8]) -> FileResult<i64> {
        let mut statement = self.conn.prepare_cached("INSERT INTO content(bytes) VALUES (?1)").sql()?;
        statement.execute(params![bytes]).sql()?;
        Ok(self.conn.last_insert_rowid())
    }

    pub(super) fn read_chunk(&self, content: i64, at: usize, buffer: &mut [u8]) -> FileResult<()> {
        // A statement is cheaper to start, a blob handle reads only the pages it is asked for.
        if at > 0 || buffer.len() >= 16_384 {
            let blob = self.conn.blob_open(MAIN_DB, "content", "bytes", content, true).sql()?;
            return blob.read_at_exact(buffer, at).sql();
        }
        let text = "SELECT bytes FROM content WHERE id = ?1";
        let mut statement = self.conn.prepare_cached(text).sql()?;
        let mut rows = statement.query(params![content]).sql()?;
        let row = rows.next().sql()?.ok_or(FileError::Io)?;
        let bytes = row.get_ref(0).sql()?.as_blob().map_err(|_| FileError::Io)?;
        let part = bytes.get(at..at + buffer.len()).ok_or(FileError::Io)?;
        buffer.copy_from_slice(part);
        Ok(())
    }

    fn chunk_len(&self, content: i64) -> FileResult<usize> {
        let mut statement =
            self.conn.prepare_cached("SELECT length(bytes) FROM content WHERE id = ?1").sql()?;
        statement.query_row(params![content], |row| row.get(0)).sql()
    }

    fn set_size(&self, file: Extent, now: Timestamp) -> FileResult<()> {
        let text = "UPDATE node SET size = ?2, mtime = ?3, ctime = ?3 WHERE id = ?1";
        let (size, now) = (file.size.cast_signed(), now.0.cast_signed());
        self.conn.prepare_cached(text).sql()?.execute(params![file.node, size, now]).sql().map(|_| ())
    }
}

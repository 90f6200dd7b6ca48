//! Files of any length between a volume and the host, a piece at a time.
//!
//! What comes in is gathered under no name, so that a source that stalls holds no lock and one that
//! fails leaves nothing; the file has its new content in one step. What goes out is of one moment.

use std::io::{self, Read, Write};

use drydock_contract::{
    Timestamp,
    port::{FileError, FileResult, Follow, Mode, TreePath},
};
use rusqlite::params;

use super::{
    SqliteFiles,
    branch::Volumed,
    content::Extent,
    db::{Sql as _, Tx},
    node::New,
    seal::SEAL_BYTES_MAX,
};
use crate::tree::{self, Node};

/// How much is held at once.
const PIECE_BYTES: usize = 1 << 20;

/// Why a file was not copied in or out.
#[derive(Debug, thiserror::Error)]
pub enum StreamError {
    /// The other end failed.
    #[error("the other end failed")]
    Host(#[source] io::Error),
    /// The workspace said no.
    #[error(transparent)]
    Files(#[from] FileError),
}

impl SqliteFiles {
    /// Puts a file there with all that `source` has, making the directories above it. All or nothing;
    /// answers its length. A file that is replaced keeps its room until then.
    pub fn put_from(
        &self,
        path: &TreePath,
        source: &mut dyn Read,
        now: Timestamp,
    ) -> Result<u64, StreamError> {
        self.makes(path)?;
        let mut piece = vec![0; PIECE_BYTES];
        let count = fill(source, &mut piece)?;
        if count < piece.len() {
            self.put(path, &piece[..count], now)?;
            return Ok(count as u64);
        }
        let new = New::file(Mode::FILE, now);
        let nameless = self.db.write(|tx| tx.nameless(&self.volume, &new))?;
        let gathered = self.gather(nameless, source, piece, now).and_then(|size| {
            self.db.write(|tx| self.take_over(tx, path, Extent { node: nameless, size }, now))?;
            Ok(size)
        });
        if gathered.is_err() {
            // If even this fails, whoever opens the workspace alone next sweeps it up.
            let _ = self.db.write(|tx| tx.forget(self.volume.id, nameless));
        }
        gathered
    }

    /// Writes the content of a file to `sink`; answers its length.
    pub fn get_into(&self, path: &TreePath, sink: &mut dyn Write) -> Result<u64, StreamError> {
        let volume = &self.volume;
        let mut failed = None;
        let size = self.db.read(|tx| {
            let file = match tree::node(&Volumed { tx, volume }, path, Follow::Yes)? {
                Node::File(node) => tx.extent(node)?,
                Node::Dir(_) => return Err(FileError::IsADirectory),
                Node::Link(_) => return Err(FileError::Loop),
            };
            let (mut at, mut piece) = (0, vec![0; PIECE_BYTES]);
            while at < file.size && failed.is_none() {
                let count = tx.read_at(file, at, &mut piece)?;
                failed = sink.write_all(&piece[..count]).err();
                at += count as u64;
            }
            Ok(file.size)
        })?;
        match failed.or_else(|| sink.flush().err()) {
            Some(error) => Err(StreamError::Host(error)),
            None => Ok(size),
        }
    }

    fn gather(
        &self,
        node: i64,
        source: &mut dyn Read,
        mut piece: Vec<u8>,
        now: Timestamp,
    ) -> Result<u64, StreamError> {
        let (mut size, mut count) = (0, piece.len());
        while count > 0 {
            let file = Extent { node, size };
            self.db.write(|tx| tx.write_at(&self.volume, file, size, &piece[..count], now))?;
            size += count as u64;
            count = fill(source, &mut piece)?;
        }
        Ok(size)
    }

    /// Gives the file at `path` the content of a nameless one, which is gone then.
    fn take_over(&self, tx: &mut Tx<'_>, path: &TreePath, from: Extent, now: Timestamp) -> FileResult<()> {
        let to = self.make_for_put(tx, path, now)?;
        tx.set_len(&self.volume, to, 0, now)?;
        tx.move_content(from, to.node, now)?;
        let file = Extent { node: to.node, ..from };
        if file.size <= SEAL_BYTES_MAX { tx.seal(file) } else { Ok(()) }
    }
}

impl Tx<'_> {
    fn move_content(&self, from: Extent, to: i64, now: Timestamp) -> FileResult<()> {
        let now = now.0.cast_signed();
        let moved = "UPDATE chunk SET node = ?2 WHERE node = ?1";
        self.conn.execute(moved, params![from.node, to]).sql()?;
        let first =
            "UPDATE node SET size = f.size, content = f.content, hash = f.hash, mtime = ?3, ctime = ?3
            FROM (SELECT size, content, hash FROM node WHERE id = ?1) AS f WHERE id = ?2";
        self.conn.execute(first, params![from.node, to, now]).sql()?;
        self.conn.execute("DELETE FROM node WHERE id = ?1", params![from.node]).sql().map(|_| ())
    }
}

/// Reads until the piece is full or the source has no more.
fn fill(source: &mut dyn Read, piece: &mut [u8]) -> Result<usize, StreamError> {
    let mut count = 0;
    while count < piece.len() {
        match source.read(&mut piece[count..]) {
            Ok(0) => break,
            Ok(more) => count += more,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(StreamError::Host(error)),
        }
    }
    Ok(count)
}

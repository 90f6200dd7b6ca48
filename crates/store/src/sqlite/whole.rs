//! Whole files in one transaction each: what `ws put` and `ws get` do.

use drydock_contract::{
    Timestamp,
    port::{FileError, FileKind, FileLimit, FileResult, Follow, Mode, OpenHow, TreePath},
};

use super::{SqliteFiles, branch::Volumed, content::Extent, db::Tx, node::New};
use crate::tree::{self, Node, Opening};

const REPLACE: OpenHow = OpenHow { write: true, create: true, truncate: true, ..OpenHow::NONE };

impl SqliteFiles {
    /// Puts a file there with this content, making the directories above it. All or nothing.
    pub fn put(&self, path: &TreePath, bytes: &[u8], now: Timestamp) -> FileResult<()> {
        self.makes(path)?;
        self.db.write(|tx| {
            let file = self.make_for_put(tx, path, now)?;
            tx.put(&self.volume, file, bytes, now)
        })
    }

    /// The file at `path`, made if it is missing, and the directories above it.
    pub(super) fn make_for_put(
        &self,
        tx: &mut Tx<'_>,
        path: &TreePath,
        now: Timestamp,
    ) -> FileResult<Extent> {
        let volume = &self.volume;
        let opening = match tree::for_open(&Volumed { tx, volume }, path, REPLACE) {
            Err(FileError::NotFound) => {
                self.make_above(tx, path, now)?;
                tree::for_open(&Volumed { tx, volume }, path, REPLACE)?
            }
            opening => opening?,
        };
        match opening {
            Opening::There(node) => tx.extent(node),
            Opening::Make(parent, name) => {
                let node = tx.make(volume, parent, &name, &New::file(Mode::FILE, now))?;
                Ok(Extent { node, size: 0 })
            }
        }
    }

    /// The content of a file of at most `bytes_max` bytes.
    pub fn get(&self, path: &TreePath, bytes_max: u64) -> FileResult<Vec<u8>> {
        let volume = &self.volume;
        self.db.read(|tx| {
            let file = match tree::node(&Volumed { tx, volume }, path, Follow::Yes)? {
                Node::File(node) => tx.extent(node)?,
                Node::Dir(_) => return Err(FileError::IsADirectory),
                Node::Link(_) => return Err(FileError::Loop),
            };
            if file.size > bytes_max {
                return Err(FileError::TooBig);
            }
            let mut bytes = vec![0; usize::try_from(file.size).map_err(|_| FileError::TooBig)?];
            tx.read_at(file, 0, &mut bytes)?;
            Ok(bytes)
        })
    }

    /// Removes a file, a link, or a directory with all that is in it, in one step.
    pub fn remove_all(&self, path: &TreePath, now: Timestamp) -> FileResult<()> {
        let volume = &self.volume;
        self.db.write(|tx| {
            let (parent, name, dir) = match tree::for_rmdir(&Volumed { tx, volume }, path) {
                Err(FileError::NotADirectory) => {
                    let (parent, name, node) = tree::for_unlink(&Volumed { tx, volume }, path)?;
                    tx.remove_name(volume.id, parent, &name, now)?;
                    return tx.unlink(volume.id, node, now);
                }
                found => found?,
            };
            let mut dirs = vec![dir];
            while let Some(dir) = dirs.pop() {
                for entry in tx.list(dir)? {
                    tx.remove_name(volume.id, dir, &entry.name, now)?;
                    let node = entry.inode.cast_signed();
                    if entry.kind == FileKind::Directory {
                        dirs.push(node);
                    } else {
                        tx.unlink(volume.id, node, now)?;
                    }
                }
                tx.forget(volume.id, dir)?;
            }
            tx.remove_name(volume.id, parent, &name, now)
        })
    }

    /// Removes everything in the volume.
    pub fn clear(&self, now: Timestamp) -> FileResult<()> {
        let names = self.db.read(|tx| tx.list(self.volume.root))?;
        for entry in names {
            self.remove_all(&TreePath::new(&entry.name)?, now)?;
        }
        Ok(())
    }

    fn make_above(&self, tx: &mut Tx<'_>, path: &TreePath, now: Timestamp) -> FileResult<()> {
        let volume = &self.volume;
        let text = path.as_str().trim_end_matches('/');
        let ends = text.match_indices('/').map(|(at, _)| at).filter(|at| *at > 0);
        for end in ends {
            let above = TreePath::new(&text[..end])?;
            match tree::for_new(&Volumed { tx, volume }, &above) {
                Err(FileError::Exists) => {}
                Err(error) => return Err(error),
                Ok((parent, name)) => {
                    if tx.depth(volume, parent)? >= volume.quota.depth_max {
                        return Err(FileError::Quota(FileLimit::Depth));
                    }
                    tx.make(volume, parent, &name, &New::dir(Mode::DIRECTORY, now))?;
                }
            }
        }
        Ok(())
    }
}

//! A tree that is nothing but what a tape says of it. What the session writes is kept for it to read again, and goes
//! nowhere.

use std::sync::{Arc, atomic::Ordering};

use drydock_contract::{
    Timestamp,
    port::{
        DirEntry, FileError, FileKind, FileResult, FileTimes, Files, Follow, Mode, OpenFile, OpenHow, Stat,
        TreePath,
    },
};
use drydock_store::Seam;

use super::{
    answer::Reader,
    files::{Question, TreeTape, follows, moments, ways},
    player::Reel,
};

/// The tree.
pub(super) struct PlayedFiles {
    tree: Arc<TreeTape>,
    reel: Arc<Reel>,
}

impl PlayedFiles {
    pub(super) fn new(tree: Arc<TreeTape>, reel: Arc<Reel>) -> Self {
        Self { tree, reel }
    }
}

/// What the tape answers; a tape that diverges answers that reading failed, and the replay is over.
fn answer<T>(
    reel: &Reel,
    question: Question,
    read: impl FnOnce(&mut Reader<'_>) -> Option<T>,
) -> FileResult<T> {
    let Question { name, asked } = question;
    let bytes = reel.next(Seam::File, 0, &name, asked).map_err(|_| FileError::Io)?;
    let mut reader = Reader::new(&bytes);
    let result = reader.result(read);
    match result.filter(|_| reader.end().is_some()) {
        Some(result) => result,
        None => {
            reel.broken();
            Err(FileError::Io)
        }
    }
}

fn nothing(_: &mut Reader<'_>) -> Option<()> {
    Some(())
}

impl Files for PlayedFiles {
    fn stat(&self, path: &TreePath, follow: Follow) -> FileResult<Stat> {
        answer(&self.reel, self.tree.about("stat", path.as_str(), &[&follows(follow)]), |it| it.stat())
    }

    fn open(&self, path: &TreePath, how: OpenHow, _: Timestamp) -> FileResult<Arc<dyn OpenFile>> {
        let opened =
            answer(&self.reel, self.tree.about("open", path.as_str(), &[&ways(how)]), |it| it.number());
        if let Ok(inode) = &opened
            && *inode != 0
        {
            self.tree.known.lock().cut(*inode, 0);
        }
        let number = self.tree.opened.fetch_add(1, Ordering::Relaxed);
        opened?;
        let name = format!("{}#{number}", path.as_str());
        Ok(Arc::new(PlayedFile { name, tree: Arc::clone(&self.tree), reel: Arc::clone(&self.reel) }))
    }

    fn read_dir(&self, path: &TreePath) -> FileResult<Vec<DirEntry>> {
        answer(&self.reel, self.tree.about("list", path.as_str(), &[]), |it| it.entries())
    }

    fn create_dir(&self, path: &TreePath, mode: Mode, _: Timestamp) -> FileResult<()> {
        let question = self.tree.about("mkdir", path.as_str(), &[&mode.bits().to_le_bytes()]);
        answer(&self.reel, question, nothing)
    }

    fn remove_dir(&self, path: &TreePath, _: Timestamp) -> FileResult<()> {
        answer(&self.reel, self.tree.about("rmdir", path.as_str(), &[]), nothing)
    }

    fn unlink(&self, path: &TreePath, _: Timestamp) -> FileResult<()> {
        answer(&self.reel, self.tree.about("unlink", path.as_str(), &[]), nothing)
    }

    fn rename(&self, from: &TreePath, to: &TreePath, _: Timestamp) -> FileResult<()> {
        let question = self.tree.about("rename", from.as_str(), &[to.as_str().as_bytes()]);
        answer(&self.reel, question, nothing)
    }

    fn link(&self, from: &TreePath, follow: Follow, to: &TreePath, _: Timestamp) -> FileResult<()> {
        let more = [&follows(follow)[..], to.as_str().as_bytes()];
        answer(&self.reel, self.tree.about("link", from.as_str(), &more), nothing)
    }

    fn symlink(&self, target: &str, path: &TreePath, _: Timestamp) -> FileResult<()> {
        answer(&self.reel, self.tree.about("symlink", path.as_str(), &[target.as_bytes()]), nothing)
    }

    fn read_link(&self, path: &TreePath) -> FileResult<String> {
        answer(&self.reel, self.tree.about("readlink", path.as_str(), &[]), |it| it.text())
    }

    fn set_times(&self, path: &TreePath, follow: Follow, times: FileTimes, _: Timestamp) -> FileResult<()> {
        let question = self.tree.about("times", path.as_str(), &[&follows(follow), &moments(times)]);
        answer(&self.reel, question, nothing)
    }

    fn set_mode(&self, path: &TreePath, follow: Follow, mode: Mode, _: Timestamp) -> FileResult<()> {
        let more = [&follows(follow)[..], &mode.bits().to_le_bytes()];
        answer(&self.reel, self.tree.about("mode", path.as_str(), &more), nothing)
    }

    fn trail(&self, path: &TreePath) -> Vec<FileKind> {
        let entries = answer(&self.reel, self.tree.about("trail", path.as_str(), &[]), |it| it.entries());
        entries.unwrap_or_default().into_iter().map(|it| it.kind).collect()
    }
}

/// A file of such a tree.
struct PlayedFile {
    name: String,
    tree: Arc<TreeTape>,
    reel: Arc<Reel>,
}

/// What a read was answered with.
enum Read<'a> {
    Bytes(&'a [u8]),
    Own(u64, usize),
}

impl OpenFile for PlayedFile {
    fn read_at(&self, offset: u64, buffer: &mut [u8]) -> FileResult<usize> {
        let most = buffer.len().min(super::files::PIECE_BYTES_MAX);
        let question =
            self.tree.about("read", &self.name, &[&offset.to_le_bytes(), &(most as u64).to_le_bytes()]);
        let Question { name, asked } = question;
        let bytes = self.reel.next(Seam::File, 0, &name, asked).map_err(|_| FileError::Io)?;
        let mut reader = Reader::new(&bytes);
        let result = reader.result(|it| {
            Some(match it.byte()? {
                0 => Read::Bytes(it.bytes()?),
                1 => Read::Own(it.number()?, usize::try_from(it.number()?).ok()?),
                _ => return None,
            })
        });
        let read = match result {
            Some(Err(error)) => return Err(error),
            Some(Ok(Read::Bytes(bytes))) => Some(bytes.to_vec()),
            Some(Ok(Read::Own(inode, count))) if count <= most => {
                self.tree.known.lock().at(inode, offset, count)
            }
            _ => None,
        };
        match read.filter(|it| it.len() <= most) {
            Some(bytes) => {
                buffer[..bytes.len()].copy_from_slice(&bytes);
                Ok(bytes.len())
            }
            None => {
                self.reel.broken();
                Err(FileError::Io)
            }
        }
    }

    fn write_at(&self, offset: u64, bytes: &[u8], _: Timestamp) -> FileResult<()> {
        let question = self.tree.about("write", &self.name, &[&offset.to_le_bytes(), bytes]);
        let inode = answer(&self.reel, question, |it| it.number())?;
        self.tree.known.lock().wrote(inode, offset, bytes);
        Ok(())
    }

    fn append(&self, bytes: &[u8], _: Timestamp) -> FileResult<u64> {
        let question = self.tree.about("append", &self.name, &[bytes]);
        let (inode, len) = answer(&self.reel, question, |it| Some((it.number()?, it.number()?)))?;
        self.tree.known.lock().wrote(inode, len.saturating_sub(bytes.len() as u64), bytes);
        Ok(len)
    }

    fn set_len(&self, len: u64, _: Timestamp) -> FileResult<()> {
        let question = self.tree.about("length", &self.name, &[&len.to_le_bytes()]);
        let inode = answer(&self.reel, question, |it| it.number())?;
        self.tree.known.lock().cut(inode, len);
        Ok(())
    }

    fn stat(&self) -> FileResult<Stat> {
        answer(&self.reel, self.tree.about("facts", &self.name, &[]), |it| it.stat())
    }

    fn set_times(&self, times: FileTimes, _: Timestamp) -> FileResult<()> {
        answer(&self.reel, self.tree.about("times", &self.name, &[&moments(times)]), nothing)
    }

    fn set_mode(&self, mode: Mode, _: Timestamp) -> FileResult<()> {
        answer(&self.reel, self.tree.about("mode", &self.name, &[&mode.bits().to_le_bytes()]), nothing)
    }

    fn next_data(&self, offset: u64) -> FileResult<u64> {
        answer(&self.reel, self.tree.about("data", &self.name, &[&offset.to_le_bytes()]), |it| it.number())
    }

    fn sync(&self) -> FileResult<()> {
        answer(&self.reel, self.tree.about("sync", &self.name, &[]), nothing)
    }
}

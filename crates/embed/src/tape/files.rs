//! A tree that others have, too, while it is recorded: what it answers is written down, and what the session itself wrote
//! into it is not.

use std::sync::{
    Arc,
    atomic::{AtomicU64, Ordering},
};

use drydock_contract::{
    Timestamp,
    port::{
        DirEntry, FileKind, FileResult, FileTimes, Files, Follow, Interrupt, Mode, OpenFile, OpenHow, Stat,
        TreePath,
    },
};
use drydock_store::{Frame, Seam, asked};
use parking_lot::Mutex;

use super::{answer::Writer, known::Known, recorder::Shared};

/// The longest piece that is read at once: a frame holds it.
pub(super) const PIECE_BYTES_MAX: usize = 4 << 20;

/// What all views of one tree share.
pub(super) struct TreeTape {
    pub(super) name: String,
    pub(super) opened: AtomicU64,
    pub(super) known: Mutex<Known>,
}

impl TreeTape {
    pub(super) fn new(name: &str) -> Arc<Self> {
        Arc::new(Self { name: name.to_owned(), opened: AtomicU64::new(0), known: Mutex::default() })
    }
}

/// A question to a tree, in the form that both sides make of it.
pub(super) struct Question {
    pub(super) name: String,
    pub(super) asked: [u8; 16],
}

impl TreeTape {
    /// A question about a path.
    pub(super) fn about(&self, what: &str, path: &str, more: &[&[u8]]) -> Question {
        let all = [&[what.as_bytes(), path.as_bytes()][..], more].concat();
        Question { name: format!("{what} {}:{path}", self.name), asked: asked(&all) }
    }
}

pub(super) fn follows(follow: Follow) -> [u8; 1] {
    [u8::from(follow == Follow::Yes)]
}

pub(super) fn moments(times: FileTimes) -> Vec<u8> {
    let moment = |it: Option<Timestamp>| it.map_or_else(Vec::new, |it| it.0.to_le_bytes().to_vec());
    let (accessed, modified) = (moment(times.accessed), moment(times.modified));
    Writer::default().bytes(&accessed).bytes(&modified).0
}

pub(super) fn ways(how: OpenHow) -> Vec<u8> {
    let OpenHow { read, write, create, exclusive, truncate, nofollow, mode } = how;
    let flags = [read, write, create, exclusive, truncate, nofollow].map(u8::from);
    [&flags[..], &mode.bits().to_le_bytes()].concat()
}

/// The tree, and who listens.
pub(super) struct RecordedFiles {
    inner: Arc<dyn Files>,
    tree: Arc<TreeTape>,
    tape: Arc<Shared>,
}

impl RecordedFiles {
    pub(super) fn new(inner: Arc<dyn Files>, tree: Arc<TreeTape>, tape: Arc<Shared>) -> Self {
        Self { inner, tree, tape }
    }

    fn told<T>(
        &self,
        question: Question,
        result: FileResult<T>,
        write: impl FnOnce(Writer, &T) -> Writer,
    ) -> FileResult<T> {
        put(&self.tape, question, Writer::default().result(&result, write).0);
        result
    }
}

fn put(tape: &Shared, question: Question, answer: Vec<u8>) {
    let Question { name, asked } = question;
    tape.put(&Frame { seam: Seam::File, call: 0, name, asked, answer });
}

fn nothing(out: Writer, _: &()) -> Writer {
    out
}

impl Files for RecordedFiles {
    fn stat(&self, path: &TreePath, follow: Follow) -> FileResult<Stat> {
        let question = self.tree.about("stat", path.as_str(), &[&follows(follow)]);
        self.told(question, self.inner.stat(path, follow), |out, it| out.stat(it))
    }

    fn open(&self, path: &TreePath, how: OpenHow, now: Timestamp) -> FileResult<Arc<dyn OpenFile>> {
        let question = self.tree.about("open", path.as_str(), &[&ways(how)]);
        let opened = self.inner.open(path, how, now);
        if how.truncate
            && let Ok(file) = &opened
            && !self.tree.known.lock().is_empty()
        {
            // The answer has which file it was, so that whoever replays forgets the same.
            let inode = file.stat().map_or(0, |it| it.inode);
            self.tree.known.lock().cut(inode, 0);
            put(&self.tape, question, Writer::default().byte(0).number(inode).0);
        } else {
            put(&self.tape, question, Writer::default().result(&opened, |out, _| out.number(0)).0);
        }
        let number = self.tree.opened.fetch_add(1, Ordering::Relaxed);
        let (tree, tape) = (Arc::clone(&self.tree), Arc::clone(&self.tape));
        let name = format!("{}#{number}", path.as_str());
        Ok(Arc::new(RecordedFile { inner: opened?, name, tree, tape }))
    }

    fn read_dir(&self, path: &TreePath) -> FileResult<Vec<DirEntry>> {
        let question = self.tree.about("list", path.as_str(), &[]);
        self.told(question, self.inner.read_dir(path), |out, it| out.entries(it))
    }

    fn create_dir(&self, path: &TreePath, mode: Mode, now: Timestamp) -> FileResult<()> {
        let question = self.tree.about("mkdir", path.as_str(), &[&mode.bits().to_le_bytes()]);
        self.told(question, self.inner.create_dir(path, mode, now), nothing)
    }

    fn remove_dir(&self, path: &TreePath, now: Timestamp) -> FileResult<()> {
        let question = self.tree.about("rmdir", path.as_str(), &[]);
        self.told(question, self.inner.remove_dir(path, now), nothing)
    }

    fn unlink(&self, path: &TreePath, now: Timestamp) -> FileResult<()> {
        let question = self.tree.about("unlink", path.as_str(), &[]);
        self.told(question, self.inner.unlink(path, now), nothing)
    }

    fn rename(&self, from: &TreePath, to: &TreePath, now: Timestamp) -> FileResult<()> {
        let question = self.tree.about("rename", from.as_str(), &[to.as_str().as_bytes()]);
        self.told(question, self.inner.rename(from, to, now), nothing)
    }

    fn link(&self, from: &TreePath, follow: Follow, to: &TreePath, now: Timestamp) -> FileResult<()> {
        let question = self.tree.about("link", from.as_str(), &[&follows(follow), to.as_str().as_bytes()]);
        self.told(question, self.inner.link(from, follow, to, now), nothing)
    }

    fn symlink(&self, target: &str, path: &TreePath, now: Timestamp) -> FileResult<()> {
        let question = self.tree.about("symlink", path.as_str(), &[target.as_bytes()]);
        self.told(question, self.inner.symlink(target, path, now), nothing)
    }

    fn read_link(&self, path: &TreePath) -> FileResult<String> {
        let question = self.tree.about("readlink", path.as_str(), &[]);
        self.told(question, self.inner.read_link(path), |out, it| out.text(it))
    }

    fn set_times(&self, path: &TreePath, follow: Follow, times: FileTimes, now: Timestamp) -> FileResult<()> {
        let question = self.tree.about("times", path.as_str(), &[&follows(follow), &moments(times)]);
        self.told(question, self.inner.set_times(path, follow, times, now), nothing)
    }

    fn set_mode(&self, path: &TreePath, follow: Follow, mode: Mode, now: Timestamp) -> FileResult<()> {
        let more = [&follows(follow)[..], &mode.bits().to_le_bytes()];
        let question = self.tree.about("mode", path.as_str(), &more);
        self.told(question, self.inner.set_mode(path, follow, mode, now), nothing)
    }

    fn trail(&self, path: &TreePath) -> Vec<FileKind> {
        let kinds = self.inner.trail(path);
        let named: Vec<DirEntry> =
            kinds.iter().map(|kind| DirEntry { name: String::new(), kind: *kind, inode: 0 }).collect();
        let question = self.tree.about("trail", path.as_str(), &[]);
        put(&self.tape, question, Writer::default().byte(0).entries(&named).0);
        kinds
    }

    fn until(&self, time_is_up: &Interrupt) -> Option<Arc<dyn Files>> {
        let inner = self.inner.until(time_is_up)?;
        Some(Arc::new(Self::new(inner, Arc::clone(&self.tree), Arc::clone(&self.tape))))
    }
}

/// A file of such a tree.
struct RecordedFile {
    inner: Arc<dyn OpenFile>,
    name: String,
    tree: Arc<TreeTape>,
    tape: Arc<Shared>,
}

impl RecordedFile {
    fn told<T>(
        &self,
        question: Question,
        result: FileResult<T>,
        write: impl FnOnce(Writer, &T) -> Writer,
    ) -> FileResult<T> {
        put(&self.tape, question, Writer::default().result(&result, write).0);
        result
    }

    /// Which file it is; what cannot be said is nobody's.
    fn inode(&self) -> u64 {
        self.inner.stat().map_or(0, |it| it.inode)
    }
}

impl OpenFile for RecordedFile {
    fn read_at(&self, offset: u64, buffer: &mut [u8]) -> FileResult<usize> {
        let most = buffer.len().min(PIECE_BYTES_MAX);
        let question =
            self.tree.about("read", &self.name, &[&offset.to_le_bytes(), &(most as u64).to_le_bytes()]);
        let result = self.inner.read_at(offset, &mut buffer[..most]);
        let known = self.tree.known.lock();
        let own = match &result {
            Ok(count) if *count > 0 && !known.is_empty() => {
                let inode = self.inode();
                known.at(inode, offset, *count).filter(|it| it == &buffer[..*count]).map(|_| inode)
            }
            _ => None,
        };
        drop(known);
        self.told(question, result, |out, count| match own {
            Some(inode) => out.byte(1).number(inode).number(*count as u64),
            None => out.byte(0).bytes(&buffer[..*count]),
        })
    }

    fn write_at(&self, offset: u64, bytes: &[u8], now: Timestamp) -> FileResult<()> {
        let question = self.tree.about("write", &self.name, &[&offset.to_le_bytes(), bytes]);
        let result = self.inner.write_at(offset, bytes, now);
        let inode = self.inode();
        if result.is_ok() {
            self.tree.known.lock().wrote(inode, offset, bytes);
        }
        self.told(question, result, |out, ()| out.number(inode))
    }

    fn append(&self, bytes: &[u8], now: Timestamp) -> FileResult<u64> {
        let question = self.tree.about("append", &self.name, &[bytes]);
        let result = self.inner.append(bytes, now);
        let inode = self.inode();
        if let Ok(len) = &result {
            self.tree.known.lock().wrote(inode, len.saturating_sub(bytes.len() as u64), bytes);
        }
        self.told(question, result, |out, len| out.number(inode).number(*len))
    }

    fn set_len(&self, len: u64, now: Timestamp) -> FileResult<()> {
        let question = self.tree.about("length", &self.name, &[&len.to_le_bytes()]);
        let result = self.inner.set_len(len, now);
        let inode = self.inode();
        if result.is_ok() {
            self.tree.known.lock().cut(inode, len);
        }
        self.told(question, result, |out, ()| out.number(inode))
    }

    fn stat(&self) -> FileResult<Stat> {
        self.told(self.tree.about("facts", &self.name, &[]), self.inner.stat(), |out, it| out.stat(it))
    }

    fn set_times(&self, times: FileTimes, now: Timestamp) -> FileResult<()> {
        let question = self.tree.about("times", &self.name, &[&moments(times)]);
        self.told(question, self.inner.set_times(times, now), nothing)
    }

    fn set_mode(&self, mode: Mode, now: Timestamp) -> FileResult<()> {
        let question = self.tree.about("mode", &self.name, &[&mode.bits().to_le_bytes()]);
        self.told(question, self.inner.set_mode(mode, now), nothing)
    }

    fn next_data(&self, offset: u64) -> FileResult<u64> {
        let question = self.tree.about("data", &self.name, &[&offset.to_le_bytes()]);
        self.told(question, self.inner.next_data(offset), |out, it| out.number(*it))
    }

    fn sync(&self) -> FileResult<()> {
        self.told(self.tree.about("sync", &self.name, &[]), self.inner.sync(), nothing)
    }

    fn sync_waits(&self) -> bool {
        self.inner.sync_waits()
    }
}

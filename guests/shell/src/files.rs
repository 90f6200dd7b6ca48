//! The session's tree as the shell looks at it.

use crate::file::{HostFile, HostPipe};
use crate::wasi;
use drydock_contract::port::{DirEntry, FileError, FileKind, FileResult, Follow, OpenHow, Stat, TreePath};
use drydock_contract::text;
use drydock_shell::door::{ShellFile, Tree};
use std::borrow::Cow;
use std::sync::Arc;

pub(crate) struct HostTree;

const LIST_BYTES: usize = 32 << 10;
const ENTRY_BYTES: usize = 24;

/// A path as the host takes it: from the root, which has no name of its own.
pub(crate) fn from_root(path: &TreePath) -> Cow<'_, [u8]> {
    let text = path.as_str().trim_start_matches('/');
    if text.is_empty() { Cow::Borrowed(b".") } else { text::to_bytes(text) }
}

impl Tree for HostTree {
    fn stat(&self, path: &TreePath, follow: Follow) -> FileResult<Stat> {
        wasi::stat(&from_root(path), follow)
    }

    fn read_dir(&self, path: &TreePath) -> FileResult<Vec<DirEntry>> {
        let fd = wasi::open_directory(&from_root(path))?;
        let listed = list(fd);
        wasi::close(fd);
        let mut all = listed?;
        all.sort_unstable_by(|a, b| a.name.cmp(&b.name));
        Ok(all)
    }

    fn read_link(&self, path: &TreePath) -> FileResult<String> {
        let mut buffer = [0; TreePath::BYTES_MAX];
        let count = wasi::read_link(&from_root(path), &mut buffer)?;
        Ok(text::from_bytes(&buffer[..count]).into_owned())
    }

    fn unlink(&self, path: &TreePath) -> FileResult<()> {
        wasi::unlink(&from_root(path))
    }

    fn open(&self, path: &TreePath, how: OpenHow, is_appended: bool) -> FileResult<Arc<dyn ShellFile>> {
        let fd = wasi::open(&from_root(path), how, is_appended)?;
        // What WASI opens may be a directory, which has no bytes.
        let file = HostFile(fd);
        let stat = file.stat()?;
        match stat.kind {
            FileKind::Directory => Err(FileError::IsADirectory),
            _ if stat.mode.is_pipe() => Ok(Arc::new(HostPipe::of(&file, how, stat)?)),
            _ => Ok(Arc::new(file)),
        }
    }
}

fn list(fd: u32) -> FileResult<Vec<DirEntry>> {
    let mut all = Vec::new();
    let (mut buffer, mut cookie) = (vec![0; LIST_BYTES], 0);
    loop {
        let used = wasi::list(fd, cookie, &mut buffer)?;
        let mut rest = &buffer[..used];
        // The last one may be cut: it comes again.
        while let Some((next, entry, after)) = entry(rest) {
            (cookie, rest) = (next, after);
            if entry.name != "." && entry.name != ".." {
                all.push(entry);
            }
        }
        if used < buffer.len() {
            return Ok(all);
        }
    }
}

/// The first entry of a listing, the cookie of the next one, and what follows it.
fn entry(bytes: &[u8]) -> Option<(u64, DirEntry, &[u8])> {
    let (head, rest) = bytes.split_first_chunk::<ENTRY_BYTES>()?;
    let word = |at: usize| u64::from_le_bytes(head[at..at + 8].try_into().unwrap_or_default());
    let length = u32::from_le_bytes(head[16..20].try_into().unwrap_or_default()) as usize;
    let (name, after) = rest.split_at_checked(length)?;
    let name = text::from_bytes(name).into_owned();
    Some((word(0), DirEntry { name, kind: wasi::kind(head[20]), inode: word(8) }, after))
}

//! Random calls, and what they leave behind: for comparing one backing with another.

use std::sync::Arc;

use drydock_contract::{
    Timestamp,
    port::{
        FileError, FileKind, FileResult, FileTimes, Files, Follow, Mode, OpenFile, OpenHow, Stat, TreePath,
    },
};
use proptest::prelude::*;

#[derive(Debug, Clone)]
pub(crate) enum Act {
    Mkdir(String),
    Rmdir(String),
    Write(String, u32, Vec<u8>),
    Append(String, Vec<u8>),
    Resize(String, u32),
    Replace(String, Vec<u8>),
    Unlink(String),
    Rename(String, String),
    Link(String, String),
    Symlink(String, String),
    Times(String, u32),
    List(String),
    /// Opens into one of a few hands, which keep the file whatever happens to its name.
    Take(usize, String),
    HeldWrite(usize, u32, Vec<u8>),
    HeldAppend(usize, Vec<u8>),
    HeldResize(usize, u32),
    HeldRead(usize, u32),
    HeldFacts(usize),
    Drop(usize),
}

const HANDS: usize = 3;

pub(crate) fn acts() -> impl Strategy<Value = Vec<Act>> {
    let path = || proptest::collection::vec("[ab]", 1..4).prop_map(|names| names.join("/"));
    let bytes = || {
        (
            any::<u8>(),
            prop_oneof![0..40_usize, 4000..5000_usize, 65_000..66_000_usize, 100_000..140_000_usize],
        )
            .prop_map(|(byte, len)| vec![byte; len])
    };
    let at = || prop_oneof![0..300_u32, 65_400..65_700_u32, 131_000..131_200_u32];
    let act = prop_oneof![
        3 => path().prop_map(Act::Mkdir),
        1 => path().prop_map(Act::Rmdir),
        4 => (path(), at(), bytes()).prop_map(|(p, at, b)| Act::Write(p, at, b)),
        2 => (path(), bytes()).prop_map(|(p, b)| Act::Append(p, b)),
        2 => (path(), at()).prop_map(|(p, len)| Act::Resize(p, len)),
        2 => (path(), bytes()).prop_map(|(p, b)| Act::Replace(p, b)),
        2 => path().prop_map(Act::Unlink),
        4 => (path(), path()).prop_map(|(a, b)| Act::Rename(a, b)),
        2 => (path(), path()).prop_map(|(a, b)| Act::Link(a, b)),
        1 => (path(), path()).prop_map(|(a, b)| Act::Symlink(a, b)),
        1 => (path(), at()).prop_map(|(p, at)| Act::Times(p, at)),
        1 => path().prop_map(Act::List),
        3 => (0..HANDS, path()).prop_map(|(hand, p)| Act::Take(hand, p)),
        2 => (0..HANDS, at(), bytes()).prop_map(|(hand, at, b)| Act::HeldWrite(hand, at, b)),
        1 => (0..HANDS, bytes()).prop_map(|(hand, b)| Act::HeldAppend(hand, b)),
        1 => (0..HANDS, at()).prop_map(|(hand, len)| Act::HeldResize(hand, len)),
        2 => (0..HANDS, at()).prop_map(|(hand, at)| Act::HeldRead(hand, at)),
        2 => (0..HANDS).prop_map(Act::HeldFacts),
        1 => (0..HANDS).prop_map(Act::Drop),
    ];
    proptest::collection::vec(act, 0..40)
}

/// Plays acts on one tree, keeping what was opened.
pub(crate) struct Player<'a> {
    files: &'a dyn Files,
    hands: [Option<Arc<dyn OpenFile>>; HANDS],
}

impl<'a> Player<'a> {
    pub(crate) fn new(files: &'a dyn Files) -> Self {
        Self { files, hands: [const { None }; HANDS] }
    }

    /// What the tree answers; what is read or told of a file is part of the answer.
    pub(crate) fn play(&mut self, act: &Act, now: Timestamp) -> FileResult<String> {
        let path = |text: &str| TreePath::new(text).unwrap();
        let files = self.files;
        let open = |text: &str, create, truncate| {
            files.open(&path(text), OpenHow { write: true, create, truncate, ..OpenHow::default() }, now)
        };
        let held = |hand: usize| self.hands[hand].clone().ok_or(FileError::Invalid);
        let done = match act {
            Act::Mkdir(it) => files.create_dir(&path(it), Mode::DIRECTORY, now),
            Act::Rmdir(it) => files.remove_dir(&path(it), now),
            Act::Unlink(it) => files.unlink(&path(it), now),
            Act::Write(it, at, bytes) => open(it, true, false)?.write_at((*at).into(), bytes, now),
            Act::Append(it, bytes) => open(it, false, false)?.append(bytes, now).map(|_| ()),
            Act::Resize(it, len) => open(it, false, false)?.set_len((*len).into(), now),
            Act::Replace(it, bytes) => open(it, true, true)?.write_at(0, bytes, now),
            Act::Rename(from, to) => files.rename(&path(from), &path(to), now),
            Act::Link(from, to) => files.link(&path(from), Follow::No, &path(to), now),
            Act::Symlink(to, it) => files.symlink(to, &path(it), now),
            Act::Times(it, at) => {
                let times = FileTimes { accessed: None, modified: Some(Timestamp(u64::from(*at))) };
                files.set_times(&path(it), Follow::Yes, times, now)
            }
            Act::List(it) => {
                let entries = files.read_dir(&path(it))?;
                let names: Vec<_> = entries.iter().map(|it| format!("{} {:?}", it.name, it.kind)).collect();
                return Ok(names.join(", "));
            }
            Act::Take(hand, it) => {
                // The hand is emptied first: closing is part of what is played.
                self.hands[*hand] = None;
                let how = OpenHow { read: true, write: true, create: true, ..OpenHow::default() };
                self.hands[*hand] = Some(files.open(&path(it), how, now)?);
                Ok(())
            }
            Act::HeldWrite(hand, at, bytes) => held(*hand)?.write_at((*at).into(), bytes, now),
            Act::HeldAppend(hand, bytes) => return held(*hand)?.append(bytes, now).map(|it| it.to_string()),
            Act::HeldResize(hand, len) => held(*hand)?.set_len((*len).into(), now),
            Act::HeldRead(hand, at) => {
                let mut bytes = vec![0; 70_000];
                let count = held(*hand)?.read_at((*at).into(), &mut bytes)?;
                return Ok(format!("{count} {}", blake3::hash(&bytes)));
            }
            Act::HeldFacts(hand) => {
                let Stat { kind, links, size, modified, .. } = held(*hand)?.stat()?;
                return Ok(format!("{kind:?} {links} {size} {modified:?}"));
            }
            Act::Drop(hand) => {
                self.hands[*hand] = None;
                Ok(())
            }
        };
        done.map(|()| String::new())
    }
}

/// Everything a guest could see but inodes, one line each.
pub(crate) fn dump(files: &dyn Files, at: &str, into: &mut Vec<String>) {
    for entry in files.read_dir(&TreePath::new(at).unwrap()).unwrap() {
        let text = format!("{at}/{}", entry.name);
        let path = TreePath::new(&text).unwrap();
        let facts = files.stat(&path, Follow::No).unwrap();
        let content = match entry.kind {
            FileKind::Directory => String::new(),
            FileKind::Symlink => files.read_link(&path).unwrap(),
            FileKind::File => {
                let file =
                    files.open(&path, OpenHow { read: true, ..OpenHow::default() }, facts.modified).unwrap();
                let mut bytes = vec![0; usize::try_from(facts.size).unwrap() + 1];
                let count = file.read_at(0, &mut bytes).unwrap();
                format!("{count} {}", blake3::hash(&bytes))
            }
        };
        let Stat { kind, links, size, modified, changed, .. } = facts;
        into.push(format!("{text} {kind:?} {links} {size} {modified:?} {changed:?} {content}"));
        if entry.kind == FileKind::Directory {
            dump(files, &text, into);
        }
    }
}

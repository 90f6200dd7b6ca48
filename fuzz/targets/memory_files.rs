//! Any sequence of file operations: no panic, and the meter never goes past its limit nor keeps
//! anything once the tree is gone.
#![no_main]

use std::sync::Arc;

use arbitrary::Arbitrary;
use drydock_contract::{
    Meter, Timestamp,
    port::{FileTimes, Files, Follow, OpenFile, OpenHow, TreePath},
};
use drydock_store::MemoryFiles;

#[derive(Debug, Arbitrary)]
enum Act<'a> {
    Stat(&'a str),
    Open(&'a str, u8),
    Write(u8, u64, &'a [u8]),
    Append(u8, &'a [u8]),
    Cut(u8, u64),
    Read(u8, u64),
    List(&'a str),
    Mkdir(&'a str),
    Rmdir(&'a str),
    Unlink(&'a str),
    Rename(&'a str, &'a str),
    Link(&'a str, &'a str),
    Symlink(&'a str, &'a str),
    Readlink(&'a str),
    Times(&'a str),
    Close(u8),
}

const BYTES_MAX: u64 = 1 << 16;

libfuzzer_sys::fuzz_target!(|acts: Vec<Act<'_>>| {
    let meter = Arc::new(Meter::new(BYTES_MAX));
    {
        let tree = MemoryFiles::with(Arc::clone(&meter));
        let mut open: Vec<Arc<dyn OpenFile>> = Vec::new();
        for (time, act) in acts.iter().enumerate() {
            apply(&tree, &mut open, act, Timestamp(time as u64));
            assert!(meter.held() <= BYTES_MAX);
        }
    }
    assert_eq!(meter.held(), 0);
});

fn apply(tree: &MemoryFiles, open: &mut Vec<Arc<dyn OpenFile>>, act: &Act<'_>, now: Timestamp) {
    let path = |text: &str| TreePath::new(text).unwrap_or_default();
    let handle = |index: u8| open.get(usize::from(index) % open.len().max(1)).cloned();
    match act {
        Act::Stat(at) => drop(tree.stat(&path(at), Follow::Yes)),
        Act::Open(at, bits) => {
            let bit = |n: u8| bits & (1 << n) != 0;
            let how = OpenHow {
                read: bit(0),
                write: bit(1),
                create: bit(2),
                exclusive: bit(3),
                truncate: bit(4),
                nofollow: bit(5),
                mode: drydock_contract::port::Mode::FILE,
            };
            if let Ok(file) = tree.open(&path(at), how, now) {
                open.push(file);
            }
        }
        Act::Write(file, offset, bytes) => drop(handle(*file).map(|it| it.write_at(*offset, bytes, now))),
        Act::Append(file, bytes) => drop(handle(*file).map(|it| it.append(bytes, now))),
        Act::Cut(file, len) => drop(handle(*file).map(|it| it.set_len(*len, now))),
        Act::Read(file, offset) => drop(handle(*file).map(|it| it.read_at(*offset, &mut [0; 64]))),
        Act::List(at) => drop(tree.read_dir(&path(at))),
        Act::Mkdir(at) => drop(tree.create_dir(&path(at), drydock_contract::port::Mode::DIRECTORY, now)),
        Act::Rmdir(at) => drop(tree.remove_dir(&path(at), now)),
        Act::Unlink(at) => drop(tree.unlink(&path(at), now)),
        Act::Rename(from, to) => drop(tree.rename(&path(from), &path(to), now)),
        Act::Link(from, to) => drop(tree.link(&path(from), Follow::No, &path(to), now)),
        Act::Symlink(target, at) => drop(tree.symlink(target, &path(at), now)),
        Act::Readlink(at) => drop(tree.read_link(&path(at))),
        Act::Times(at) => drop(tree.set_times(&path(at), Follow::Yes, FileTimes::default(), now)),
        Act::Close(file) if !open.is_empty() => drop(open.remove(usize::from(*file) % open.len())),
        Act::Close(_) => {}
    }
}

//! A process that has too many files open: guests are refused before the host is, and what could not be
//! read is not taken for damaged. One test in a process of its own: the limit is the process's.
#![allow(clippy::unwrap_used, clippy::disallowed_methods)]

use std::{fs::File, io::Read as _};

use drydock_contract::{
    Digest, Timestamp,
    port::{FileError, FileLimit, Files as _, OpenHow, TreePath},
};
use drydock_store::{Access, CacheKey, CodeCache, CodeFile, Home, HostDir};
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

/// The code, without what the cache has put behind it.
fn read(found: Option<CodeFile>) -> Option<String> {
    let mut text = String::new();
    let mut file = found?.into_file();
    std::io::Seek::rewind(&mut file).unwrap();
    file.take(4).read_to_string(&mut text).unwrap();
    Some(text)
}

#[test]
fn guests_leave_descriptors_for_the_host_and_an_error_of_reading_removes_nothing() {
    let temp = tempfile::tempdir().unwrap();
    let home = Home::open(temp.path().join("home")).unwrap();
    let cache = CodeCache::open(&home).unwrap();
    let key = CacheKey { digest: Digest::of(b"module"), compat: 1 };
    cache.put(&key, b"code");
    std::fs::create_dir(temp.path().join("dir")).unwrap();
    std::fs::write(temp.path().join("dir/f"), "text").unwrap();
    let dir = HostDir::open(temp.path().join("dir"), Access::ReadWrite).unwrap();
    let path = TreePath::new("f").unwrap();
    let open = || dir.open(&path, OpenHow { read: true, ..OpenHow::default() }, Timestamp(0));

    let limits = getrlimit(Resource::Nofile);
    setrlimit(Resource::Nofile, Rlimit { current: Some(200), ..limits }).unwrap();
    let mut held = Vec::new();
    let refused = loop {
        match open() {
            Ok(file) => held.push(file),
            Err(error) => break error,
        }
        assert!(held.len() < 1000);
    };
    assert_eq!(refused, FileError::Quota(FileLimit::OpenHandles));
    assert_eq!(held.len(), 150, "three quarters of a small limit");
    // The host goes on: the cache answers, and there is room for more than one file.
    assert_eq!(read(cache.get(&key)).as_deref(), Some("code"));

    // Now the host itself has no more: nothing can be read, and nothing is thrown away for that.
    let mut ours = Vec::new();
    while let Ok(file) = File::open("/dev/null") {
        ours.push(file);
    }
    assert!(ours.len() > 20);
    assert!(cache.get(&key).is_none());
    assert!(CodeCache::open(&home).is_err(), "the key cannot be read, and is not replaced");
    held.pop();
    let full = loop {
        match open() {
            Ok(file) => held.push(file),
            Err(error) => break error,
        }
    };
    assert_eq!(full, FileError::Quota(FileLimit::OpenHandles), "and not a full disk");
    drop((ours, held));
    assert_eq!(read(cache.get(&key)).as_deref(), Some("code"));
    assert_eq!(read(CodeCache::open(&home).unwrap().get(&key)).as_deref(), Some("code"));
    assert!(open().is_ok());
    setrlimit(Resource::Nofile, limits).unwrap();
}

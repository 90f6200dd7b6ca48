//! Work on a guest's behalf that takes long: it stops when the time is up, and leaves nothing behind.

#![allow(clippy::unwrap_used)]

use std::{
    fs,
    path::Path,
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
};

use drydock_contract::{
    Tenant, Timestamp,
    port::{FileError, FileLimit, Files, Follow, Interrupt, OpenHow, TreePath},
};
use drydock_store::{Access, Home, HostDir, IfChanged, Links, Mounted, Mounts, Quota, Workspaces};

const NOW: Timestamp = Timestamp(1_700_000_000_000_000_000);
const WRITE: OpenHow = OpenHow { read: true, write: true, ..OpenHow::NONE };

fn path(text: &str) -> TreePath {
    TreePath::new(text).unwrap()
}

/// Up after that many questions.
fn after(questions: usize) -> (Interrupt, Arc<AtomicUsize>) {
    let asked = Arc::new(AtomicUsize::new(0));
    let counted = Arc::clone(&asked);
    (Arc::new(move || counted.fetch_add(1, Ordering::Relaxed) >= questions), asked)
}

fn mount(temp: &Path) -> Mounted {
    let all =
        Workspaces::of(&Home::open(temp.join("home")).unwrap().tenant(&Tenant::default()), Quota::default());
    let workspace = all.open_or_create(&"w".parse().unwrap()).unwrap();
    let host = HostDir::open(temp.join("host"), Access::ReadWrite).unwrap();
    workspace.mount(&"data".parse().unwrap(), Arc::new(host)).unwrap()
}

/// Files and bytes the workspace keeps for the mount, and the bytes of its database.
fn kept(temp: &Path) -> (u64, u64, u64) {
    let all =
        Workspaces::of(&Home::open(temp.join("home")).unwrap().tenant(&Tenant::default()), Quota::default());
    let facts = all.open(&"w".parse().unwrap()).unwrap().show().unwrap();
    let volume = facts.volumes.iter().find(|it| it.name == "cow:data").unwrap();
    (volume.files, volume.bytes, facts.database_bytes)
}

#[test]
fn a_sparse_file_is_copied_as_one_and_one_that_has_no_room_is_not_begun() {
    let temp = tempfile::tempdir().unwrap();
    fs::create_dir(temp.path().join("host")).unwrap();
    let huge = fs::File::create(temp.path().join("host/huge")).unwrap();
    huge.set_len(60 << 30).unwrap();
    let sparse = fs::File::create(temp.path().join("host/sparse")).unwrap();
    sparse.set_len(900 << 20).unwrap();
    std::os::unix::fs::FileExt::write_all_at(&sparse, b"in the middle", 500 << 20).unwrap();
    {
        let mounted = mount(temp.path());
        let (never, asked) = after(usize::MAX);
        let files = mounted.files().until(&never).unwrap();
        let refused = files.open(&path("huge"), WRITE, NOW).unwrap().write_at(0, b"x", NOW);
        assert_eq!(refused, Err(FileError::Quota(FileLimit::FileBytes)));
        assert!(asked.load(Ordering::Relaxed) < 10, "nothing of it was copied");
        let copy = files.open(&path("sparse"), WRITE, NOW).unwrap();
        copy.write_at(0, b"start", NOW).unwrap();
        let mut bytes = [1; 15];
        copy.read_at((500 << 20) - 1, &mut bytes).unwrap();
        assert_eq!(&bytes, b"\0in the middle\0");
        assert_eq!(copy.stat().unwrap().size, 900 << 20);
        assert!(asked.load(Ordering::Relaxed) > 20, "the clock was looked at between slices");
        assert_eq!(copy.next_data(65_536).unwrap(), 500 << 20);
        assert_eq!(copy.next_data(600 << 20).unwrap(), 900 << 20);
        drop(copy);
        fs::remove_file(temp.path().join("host/huge")).unwrap();
        mounted.commit(IfChanged::Refuse, Links::Inside, NOW).unwrap();
        use std::os::unix::fs::MetadataExt as _;
        let facts = fs::metadata(temp.path().join("host/sparse")).unwrap();
        assert_eq!(facts.len(), 900 << 20);
        assert!(facts.blocks() < 10_000, "{} blocks for two chunks", facts.blocks());
    }
    let (files, bytes, database) = kept(temp.path());
    assert_eq!((files, bytes), (0, 0));
    assert!(database < 8 << 20, "{database} bytes for two chunks");
}

#[test]
fn a_copy_for_which_there_is_no_time_leaves_nothing_behind() {
    let temp = tempfile::tempdir().unwrap();
    fs::create_dir(temp.path().join("host")).unwrap();
    let bytes: Vec<u8> = (0..48_u32 << 20).map(|at| (at / 3) as u8).collect();
    fs::write(temp.path().join("host/big"), &bytes).unwrap();
    {
        let mounted = mount(temp.path());
        let mut mounts = Mounts::new();
        mounts.mount("data", Arc::new(mounted.files())).unwrap();
        let (soon, _) = after(300);
        let view = mounts.until(&soon).unwrap();
        let handle = view.open(&path("data/big"), WRITE, NOW).unwrap();
        assert_eq!(handle.append(b"x", NOW), Err(FileError::Interrupted));
        assert_eq!(mounted.diff().unwrap(), []);
        // Whoever has time can go on.
        mounts.open(&path("data/big"), WRITE, NOW).unwrap();
        assert_eq!(mounts.stat(&path("data/big"), Follow::Yes).unwrap().size, bytes.len() as u64);
    }
    let (files, bytes, database) = kept(temp.path());
    assert_eq!((files, bytes), (0, 0));
    assert!(database < 20 << 20, "{database} bytes of nothing");
}

#[test]
fn renaming_a_large_directory_stops_in_time_and_takes_its_copies_back() {
    let temp = tempfile::tempdir().unwrap();
    for n in 0..600 {
        let dir = temp.path().join(format!("host/d/{}", n % 7));
        fs::create_dir_all(&dir).unwrap();
        fs::write(dir.join(n.to_string()), n.to_string()).unwrap();
    }
    {
        let mounted = mount(temp.path());
        let files = mounted.files();
        let held = files.open(&path("d/3/3"), WRITE, NOW).unwrap();
        let (soon, asked) = after(400);
        let late = files.until(&soon).unwrap();
        assert_eq!(late.rename(&path("d"), &path("e"), NOW), Err(FileError::Interrupted));
        assert!(asked.load(Ordering::Relaxed) < 410, "it stopped when it was told");
        assert_eq!(files.read_dir(&path("d/3")).unwrap().len(), 86);
        assert_eq!(mounted.diff().unwrap(), []);
        held.append(b"!", NOW).unwrap();
        assert_eq!(mounted.diff().unwrap().len(), 1);
        files.unlink(&path("d/3/3"), NOW).unwrap();
        files.rename(&path("d"), &path("e"), NOW).unwrap();
        assert_eq!(files.read_dir(&path("e/3")).unwrap().len(), 85);
        mounted.discard(NOW).unwrap();
        assert_eq!(late.rename(&path("d"), &path("e"), NOW), Err(FileError::Interrupted));
    }
    let (files, bytes, _) = kept(temp.path());
    assert_eq!((files, bytes), (0, 0));
}

#[test]
fn more_names_than_a_tree_may_have_are_not_begun() {
    let temp = tempfile::tempdir().unwrap();
    let dir = temp.path().join("host/d");
    fs::create_dir_all(&dir).unwrap();
    fs::write(dir.join("0"), "").unwrap();
    for n in 1..=drydock_store::FILES_MAX {
        fs::hard_link(dir.join("0"), dir.join(n.to_string()))
            .or_else(|_| fs::write(dir.join(n.to_string()), ""))
            .unwrap();
    }
    let mounted = mount(temp.path());
    let (never, asked) = after(usize::MAX);
    let files = mounted.files().until(&never).unwrap();
    let refused = files.rename(&path("d"), &path("e"), NOW);
    assert_eq!(refused, Err(FileError::Quota(FileLimit::Files)));
    assert!(asked.load(Ordering::Relaxed) < 10);
    assert_eq!(mounted.diff().unwrap(), []);
}

//! Permission bits through everything a workspace does, and onto the host.

#![allow(clippy::unwrap_used)]

use std::{fs, os::unix::fs::PermissionsExt as _, path::Path, sync::Arc};

use drydock_contract::{
    Tenant, Timestamp,
    port::{FileError, Files, Follow, Mode, OpenHow, TreePath},
};
use drydock_store::{
    Access, ChangeKind, CommitError, Home, HostDir, IfChanged, Links, MemoryFiles, Mounted, Overlay, Quota,
    Volume, Workspace, Workspaces,
};

const NOW: Timestamp = Timestamp(1_700_000_000_000_000_000);
const WRITE: OpenHow = OpenHow { read: true, write: true, create: true, ..OpenHow::NONE };

fn path(text: &str) -> TreePath {
    TreePath::new(text).unwrap()
}

fn mode(files: &dyn Files, at: &str) -> u32 {
    files.stat(&path(at), Follow::Yes).unwrap().mode.bits()
}

fn chmod(files: &dyn Files, at: &str, bits: u32) {
    files.set_mode(&path(at), Follow::Yes, Mode::new(bits), NOW).unwrap();
}

fn write(files: &dyn Files, at: &str, bytes: &[u8]) {
    files.open(&path(at), OpenHow { truncate: true, ..WRITE }, NOW).unwrap().write_at(0, bytes, NOW).unwrap();
}

fn on_host(at: &Path) -> u32 {
    fs::metadata(at).unwrap().permissions().mode() & 0o7777
}

fn set_on_host(at: &Path, bits: u32) {
    fs::set_permissions(at, fs::Permissions::from_mode(bits)).unwrap();
}

/// A host directory with `d/x`, `f` (644), `run` (755) and `root` (4755), under copy-on-write.
fn furnished() -> (tempfile::TempDir, Workspaces, Workspace, Mounted) {
    let temp = tempfile::tempdir().unwrap();
    let host = temp.path().join("host");
    fs::create_dir_all(host.join("d")).unwrap();
    for (name, bits) in [("d/x", 0o644), ("f", 0o644), ("run", 0o755), ("root", 0o4755)] {
        fs::write(host.join(name), name).unwrap();
        set_on_host(&host.join(name), bits);
    }
    let all = Workspaces::of(
        &Home::open(temp.path().join("home")).unwrap().tenant(&Tenant::default()),
        Quota::default(),
    );
    let workspace = all.open_or_create(&"w".parse().unwrap()).unwrap();
    let host = Arc::new(HostDir::open(&host, Access::ReadWrite).unwrap());
    let mounted = workspace.mount(&"data".parse().unwrap(), host).unwrap();
    (temp, all, workspace, mounted)
}

fn commit(mounted: &Mounted) -> Vec<String> {
    let done = mounted.commit(IfChanged::Refuse, Links::Inside, NOW).unwrap();
    done.written.into_iter().map(|it| it.path).collect()
}

#[test]
fn making_a_file_executable_is_a_change_that_is_told_and_committed() {
    let (temp, _, _, mounted) = furnished();
    let files = mounted.files();
    chmod(&files, "f", 0o755);
    chmod(&files, "d", 0o700);
    let changes = mounted.diff().unwrap();
    let told: Vec<_> = changes
        .iter()
        .map(|it| {
            (it.path.as_str(), it.kind, it.only_mode, it.was_mode.unwrap().bits(), it.is_mode.unwrap().bits())
        })
        .collect();
    let dir = on_host(&temp.path().join("host/d"));
    assert_eq!(
        told,
        [("d", ChangeKind::Modified, true, dir, 0o700), ("f", ChangeKind::Modified, true, 0o644, 0o755)]
    );
    assert_eq!(commit(&mounted), ["d", "f"]);
    assert_eq!(on_host(&temp.path().join("host/f")), 0o755);
    assert_eq!(on_host(&temp.path().join("host/d")), 0o700);
    assert_eq!(fs::read_to_string(temp.path().join("host/f")).unwrap(), "f");
    assert_eq!(mounted.diff().unwrap(), []);
}

#[test]
fn what_a_guest_wrote_never_has_setuid_setgid_or_sticky_on_the_host() {
    let (temp, _, _, mounted) = furnished();
    let files = mounted.files();
    write(&files, "root", b"evil");
    write(&files, "new", b"evil");
    chmod(&files, "new", 0o6755);
    chmod(&files, "f", 0o7777);
    files.create_dir(&path("dir"), Mode::new(0o3777), NOW).unwrap();
    assert_eq!(mode(&files, "new"), 0o6755, "inside they are kept");
    assert_eq!(commit(&mounted), ["dir", "f", "new", "root"]);
    for (name, want) in [("root", 0o755), ("new", 0o755), ("f", 0o777), ("dir", 0o777)] {
        assert_eq!(on_host(&temp.path().join("host").join(name)), want, "{name}");
    }
}

#[test]
fn a_host_files_own_bits_stay_where_only_content_changed() {
    let (temp, _, _, mounted) = furnished();
    let run = temp.path().join("host/run");
    write(&mounted.files(), "run", b"#!/bin/sh");
    // Somebody narrowed them meanwhile; that is no conflict, and stays.
    set_on_host(&run, 0o750);
    assert!(mounted.diff().unwrap().iter().all(|it| it.was_mode == it.is_mode));
    assert_eq!(commit(&mounted), ["run"]);
    assert_eq!((on_host(&run), fs::read_to_string(&run).unwrap().as_str()), (0o750, "#!/bin/sh"));
}

#[test]
fn bits_that_both_sides_changed_are_a_conflict() {
    let (temp, _, _, mounted) = furnished();
    chmod(&mounted.files(), "run", 0o700);
    set_on_host(&temp.path().join("host/run"), 0o711);
    let error = mounted.commit(IfChanged::Refuse, Links::Inside, NOW).unwrap_err();
    assert!(matches!(&error, CommitError::Conflicts(all) if all.len() == 1), "{error}");
    assert_eq!(on_host(&temp.path().join("host/run")), 0o711);
}

#[test]
fn a_copy_keeps_the_bits_of_what_it_copies() {
    let (temp, _, _, mounted) = furnished();
    let host = temp.path().join("host");
    set_on_host(&host.join("d"), 0o750);
    let memory = Arc::new(MemoryFiles::with(Arc::new(drydock_contract::Meter::new(1 << 20))));
    let lower = Arc::new(HostDir::open(&host, Access::ReadOnly).unwrap());
    let overlay = Overlay::new(lower, memory);
    for files in [&overlay as &dyn Files, &mounted.files()] {
        // Appending, cutting, renaming, and a directory that is copied because of what is below.
        files.open(&path("run"), WRITE, NOW).unwrap().append(b"x", NOW).unwrap();
        files.open(&path("f"), OpenHow { truncate: true, ..WRITE }, NOW).unwrap();
        files.rename(&path("root"), &path("moved"), NOW).unwrap();
        write(files, "d/new", b"n");
        let bits = ["run", "f", "moved", "d", "d/new"].map(|it| mode(files, it));
        assert_eq!(bits, [0o755, 0o644, 0o4755, 0o750, 0o644]);
        // Through a handle that was open before, too.
        let handle = files.open(&path("d/x"), WRITE, NOW).unwrap();
        chmod(files, "d/x", 0o600);
        assert_eq!(handle.stat().unwrap().mode.bits(), 0o600);
        files.rename(&path("d"), &path("e"), NOW).unwrap();
        assert_eq!((mode(files, "e"), mode(files, "e/x")), (0o750, 0o600));
    }
    assert_eq!(on_host(&host.join("root")), 0o4755);
}

#[test]
fn a_directory_mounted_to_write_gets_real_bits_and_one_to_read_none() {
    let (temp, ..) = furnished();
    let at = temp.path().join("host");
    let host = HostDir::open(&at, Access::ReadWrite).unwrap();
    chmod(&host, "f", 0o6751);
    assert_eq!(on_host(&at.join("f")), 0o751);
    host.open(&path("new"), OpenHow { mode: Mode::new(0o4640), ..WRITE }, NOW).unwrap();
    host.create_dir(&path("made"), Mode::new(0o1770), NOW).unwrap();
    assert_eq!((on_host(&at.join("new")), on_host(&at.join("made"))), (0o640, 0o770));
    // One that nobody may read can still be given bits.
    chmod(&host, "f", 0);
    chmod(&host, "f", 0o644);
    assert_eq!(on_host(&at.join("f")), 0o644);

    let host = HostDir::open(&at, Access::ReadOnly).unwrap();
    assert_eq!(mode(&host, "run"), 0o755);
    assert_eq!(host.set_mode(&path("run"), Follow::Yes, Mode::FILE, NOW), Err(FileError::ReadOnly));
    let handle = host.open(&path("run"), OpenHow { read: true, ..OpenHow::NONE }, NOW).unwrap();
    assert_eq!(handle.set_mode(Mode::FILE, NOW), Err(FileError::ReadOnly));
    assert_eq!(on_host(&at.join("run")), 0o755);
}

#[test]
fn bits_survive_closing_snapshots_forks_and_restores() {
    let (_temp, all, workspace, _) = furnished();
    let (w, copy, snapshot) = ("w".parse().unwrap(), "copy".parse().unwrap(), "s".parse().unwrap());
    let files = workspace.files(Volume::Workspace);
    write(files, "tool", b"#!");
    chmod(files, "tool", 0o751);
    all.snapshot(&w, &snapshot).unwrap();
    all.fork(&w, &copy).unwrap();
    chmod(files, "tool", 0o600);
    let changes = all.diff_snapshot(&workspace, &snapshot, Volume::Workspace).unwrap();
    assert_eq!(changes.len(), 1);
    assert!(changes[0].only_mode);
    all.restore(&workspace, &snapshot).unwrap();
    assert_eq!(mode(workspace.files(Volume::Workspace), "tool"), 0o751);
    drop(workspace);
    for name in [&w, &copy] {
        assert_eq!(mode(all.open(name).unwrap().files(Volume::Workspace), "tool"), 0o751);
    }
}

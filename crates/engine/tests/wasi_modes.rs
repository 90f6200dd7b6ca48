//! What preview 1 does not carry: permission bits and the mask, and names that are not UTF-8.
#![allow(clippy::unwrap_used, clippy::disallowed_methods, clippy::disallowed_types)]

mod common;

use std::{path::Path, sync::Arc, time::Duration};

use common::{
    request, run,
    script::{Arg::*, Script, text},
};
use drydock_contract::{
    CapSet, Limits, Meter, Outcome, RunRequest, Tenant,
    port::{FileRules, Files, Follow, Mode, TreePath},
};
use drydock_store::{Access, Home, HostDir, Links, MemoryFiles, Mounts, Overlay, Quota, Volume, Workspaces};

const CREATE: i64 = 1;
const FD: u32 = 0;
const OUT: u32 = 1024;

fn memory() -> Arc<dyn Files> {
    Arc::new(MemoryFiles::with(Arc::new(Meter::new(4 << 20))))
}

fn host(dir: &Path) -> Arc<dyn Files> {
    std::fs::create_dir_all(dir).unwrap();
    Arc::new(HostDir::open(dir, Access::ReadWrite).unwrap().with_links(Links::Any))
}

fn backings(temp: &Path) -> [(&'static str, Arc<dyn Files>); 5] {
    let all =
        Workspaces::of(&Home::open(temp.join("home")).unwrap().tenant(&Tenant::default()), Quota::default());
    let workspace = all.create(&"w".parse().unwrap()).unwrap();
    [
        ("memory", memory()),
        ("workspace", Arc::new(workspace.files(Volume::Workspace).clone())),
        ("host", host(&temp.join("host"))),
        ("overlay over host", Arc::new(Overlay::new(host(&temp.join("lower")), memory()))),
        ("mounts", Arc::new(Mounts::over(memory()))),
    ]
}

async fn on_every_backing(script: &Script) {
    let temp = tempfile::tempdir().unwrap();
    for (name, files) in backings(temp.path()) {
        let (report, _) = run(RunRequest { files: Some(files), ..request(&script.wat()) }).await.unwrap();
        assert_eq!(report.outcome, Outcome::Exited(0), "{name}: the status is the step that went wrong");
    }
}

#[tokio::test]
async fn bits_are_read_and_set_by_path_and_by_descriptor() {
    let script = Script::default()
        .open("f", CREATE, FD, 0)
        .call("host_mode_get", [I(3), text("f"), I(1), I(OUT.into())], 0)
        .holds32(OUT, 0o644)
        .call("host_mode_set", [I(3), text("f"), I(1), I(0o100_751)], 0)
        .call("host_mode_get", [At(FD), text(""), I(1), I(OUT.into())], 0)
        .holds32(OUT, 0o751)
        .call("host_mode_set", [At(FD), text(""), I(1), I(0o600)], 0)
        .call("host_mode_get", [I(3), text("f"), I(0), I(OUT.into())], 0)
        .holds32(OUT, 0o600)
        .call("path_create_directory", [I(3), text("d")], 0)
        .call("host_mode_get", [I(3), text("d"), I(1), I(OUT.into())], 0)
        .holds32(OUT, 0o755)
        .call("path_symlink", [text("f"), I(3), text("l")], 0)
        .call("host_mode_get", [I(3), text("l"), I(0), I(OUT.into())], 0)
        .holds32(OUT, 0o777)
        .call("host_mode_get", [I(3), text("l"), I(1), I(OUT.into())], 0)
        .holds32(OUT, 0o600)
        .call("host_mode_set", [I(3), text("l"), I(0), I(0o644)], 58)
        .call("host_mode_get", [I(3), text("none"), I(1), I(OUT.into())], 44)
        .call("host_mode_get", [I(77), text("f"), I(1), I(OUT.into())], 8)
        .call("host_mode_set", [I(77), text(""), I(1), I(0o644)], 8)
        // Streams and devices have bits that stay.
        .call("host_mode_get", [I(1), text(""), I(1), I(OUT.into())], 0)
        .call("host_mode_set", [I(1), text(""), I(1), I(0o644)], 28)
        .call("host_mode_get", [I(3), text("dev/null"), I(1), I(OUT.into())], 0)
        .holds32(OUT, 0o666)
        .call("host_mode_set", [I(3), text("dev/null"), I(1), I(0o644)], 2)
        // A place that is not in memory.
        .call("host_mode_get", [I(3), text("f"), I(1), I(-2)], 21)
        .call("host_mode_get", [I(3), I(-8), I(100), I(1), I(OUT.into())], 21);
    on_every_backing(&script).await;
}

#[tokio::test]
async fn the_mask_is_the_runs_own_and_new_files_are_under_it() {
    let script = Script::default()
        .call("host_umask", [I(-1)], 0o022)
        .call("host_umask", [I(0o7077)], 0o022)
        .call("host_umask", [I(-1)], 0o077)
        .open("f", CREATE, FD, 0)
        .call("host_mode_get", [At(FD), text(""), I(1), I(OUT.into())], 0)
        .holds32(OUT, 0o600)
        .call("path_create_directory", [I(3), text("d")], 0)
        .call("host_mode_get", [I(3), text("d"), I(1), I(OUT.into())], 0)
        .holds32(OUT, 0o700)
        .call("host_umask", [I(0)], 0o077)
        .open("g", CREATE, FD, 0)
        .call("host_mode_get", [At(FD), text(""), I(1), I(OUT.into())], 0)
        .holds32(OUT, 0o666);
    on_every_backing(&script).await;
    // The mask that came with the request is where it begins.
    let script = Script::default().call("host_umask", [I(-1)], 0o027).open("f", CREATE, FD, 0);
    let files = memory();
    let asked = RunRequest {
        files: Some(Arc::clone(&files)),
        file_rules: FileRules { umask: Mode::new(0o027), ..FileRules::USUAL },
        ..request(&script.wat())
    };
    assert_eq!(run(asked).await.unwrap().0.outcome, Outcome::Exited(0));
    let mode = files.stat(&TreePath::new("f").unwrap(), Follow::Yes).unwrap().mode;
    assert_eq!(mode, Mode::new(0o640));
}

#[tokio::test]
async fn without_files_the_bits_are_of_nothing() {
    let script = Script::default().call("host_mode_get", [I(3), text("f"), I(1), I(OUT.into())], 8).call(
        "host_mode_set",
        [I(3), text("f"), I(1), I(0o644)],
        8,
    );
    let asked = RunRequest { caps: CapSet::EMPTY, ..request(&script.wat()) };
    assert_eq!(run(asked).await.unwrap().0.outcome, Outcome::Exited(0));
}

#[tokio::test]
async fn names_that_are_not_utf_8_are_bytes_to_a_guest() {
    let script = Script::default()
        .open_bytes(b"caf\xe9", CREATE, FD, 0)
        .call("path_symlink", [text(b"caf\xe9"), I(3), text(b"l\xff")], 0)
        .call("path_readlink", [I(3), text(b"l\xff"), I(4096), I(100), I(OUT.into())], 0)
        .holds32(OUT, 4)
        .holds(4096, b"caf\xe9")
        .call("path_filestat_get", [I(3), I(1), text(b"l\xff"), I(2048)], 0)
        .call("path_filestat_get", [I(3), I(1), text(b"caf\xe8"), I(2048)], 44)
        .call("fd_readdir", [I(3), I(4096), I(500), L(2), I(OUT.into())], 0)
        .holds32(OUT, 24 + 4 + 24 + 2)
        .holds32(4096 + 16, 4)
        .holds(4096 + 24, b"caf\xe9")
        .holds(4096 + 24 + 4 + 24, b"l\xff");
    on_every_backing(&script).await;
    let temp = tempfile::tempdir().unwrap();
    let script = Script::default().open_bytes(b"caf\xe9", CREATE, FD, 0);
    let asked = RunRequest { files: Some(host(temp.path())), ..request(&script.wat()) };
    run(asked).await.unwrap();
    use std::os::unix::ffi::OsStrExt as _;
    assert!(temp.path().join(std::ffi::OsStr::from_bytes(b"caf\xe9")).exists());
}

#[tokio::test]
async fn a_copy_that_takes_longer_than_the_run_ends_with_it() {
    let temp = tempfile::tempdir().unwrap();
    let lower = host(&temp.path().join("lower"));
    let file = std::fs::File::create(temp.path().join("lower/sparse")).unwrap();
    file.set_len(900 << 20).unwrap();
    let all = Workspaces::of(
        &Home::open(temp.path().join("home")).unwrap().tenant(&Tenant::default()),
        Quota::default(),
    );
    let workspace = all.create(&"w".parse().unwrap()).unwrap();
    let upper = Arc::new(workspace.files(Volume::Workspace).clone());
    let overlay = Arc::new(Overlay::new(lower, upper as _));
    let script = Script::default().open("sparse", 0, FD, 0).pwrite(FD, 0, b"x", 0);
    let limits = Limits { wall_max: Duration::from_millis(1), ..Limits::default() };
    let asked = RunRequest { files: Some(Arc::clone(&overlay) as _), limits, ..request(&script.wat()) };
    let (report, _) = run(asked).await.unwrap();
    assert_eq!(report.outcome, Outcome::TimedOut);
    assert_eq!(overlay.changes().unwrap(), []);
    let facts = workspace.show().unwrap();
    assert_eq!(facts.volumes[0].bytes, 0, "nothing is left of it");
}

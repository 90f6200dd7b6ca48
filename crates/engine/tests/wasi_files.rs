//! What programs do to files, call by call, on every backing: random access, names that go while they
//! are used, listings with cookies, bad paths, and limits that are met.
#![allow(clippy::unwrap_used, clippy::disallowed_methods)]

mod common;

use std::{path::Path, sync::Arc};

use common::{
    request, run,
    script::{Arg::*, Script, text},
};
use drydock_contract::{
    Meter, Outcome, RunReport, RunRequest, Tenant,
    port::{FileLimit, FileRules, Files, Follow, TreePath},
};
use drydock_store::{
    Access, Home, HostDir, MemoryFiles, Mounts, Overlay, Quota, SqliteFiles, Volume, Workspaces,
};

const CREATE: i64 = 1;
const DIRECTORY: i64 = 2;
const FD: u32 = 0;
const OTHER: u32 = 4;
const STAT: u32 = 1024;

fn memory() -> Arc<dyn Files> {
    Arc::new(MemoryFiles::with(Arc::new(Meter::new(4 << 20))))
}

fn workspace(temp: &Path, quota: Quota) -> Arc<SqliteFiles> {
    let all = Workspaces::of(&Home::open(temp.join("home")).unwrap().tenant(&Tenant::default()), quota);
    Arc::new(all.create(&"w".parse().unwrap()).unwrap().files(Volume::Workspace).clone())
}

fn host(temp: &Path) -> Arc<dyn Files> {
    std::fs::create_dir_all(temp.join("host")).unwrap();
    Arc::new(HostDir::open(temp.join("host"), Access::ReadWrite).unwrap())
}

async fn report(script: &Script, files: Arc<dyn Files>) -> RunReport {
    run(RunRequest { files: Some(files), ..request(&script.wat()) }).await.unwrap().0
}

/// Runs the script on each backing and wants every step as it says.
async fn on_every_backing(script: Script) {
    let temp = tempfile::tempdir().unwrap();
    let quota = Quota::default();
    let backings: [(&str, Arc<dyn Files>); 5] = [
        ("memory", memory()),
        ("workspace", workspace(temp.path(), quota)),
        ("host", host(temp.path())),
        ("overlay over host", {
            std::fs::create_dir(temp.path().join("o")).unwrap();
            Arc::new(Overlay::new(host(&temp.path().join("o")), memory()))
        }),
        ("mounts", Arc::new(Mounts::over(memory()))),
    ];
    for (name, files) in backings {
        let report = report(&script, files).await;
        assert_eq!(report.outcome, Outcome::Exited(0), "{name}: the status is the step that went wrong");
        assert_eq!(report.quota, None, "{name}");
    }
}

#[tokio::test]
async fn a_database_writes_pages_where_it_likes_and_finds_them_again() {
    let page = |byte: u8| vec![byte; 512];
    let script = Script::default()
        .open("db", CREATE, FD, 0)
        // Far behind the end: what lies between is zeros.
        .pwrite(FD, 40_960, &page(9), 0)
        .call("fd_filestat_get", [At(FD), I(STAT.into())], 0)
        .holds64(STAT + 32, 41_472)
        .pread(FD, 40_000, 4096, 2000)
        .holds32(4092, 1472)
        .holds(4096 + 956, [0, 0, 0, 0, 9, 9, 9])
        // Over one end and into the middle, twice over the same place.
        .pwrite(FD, 40_700, &page(3), 0)
        .pwrite(FD, 0, &page(1), 0)
        .pwrite(FD, 256, &page(2), 0)
        .pread(FD, 250, 4096, 8)
        .holds(4096, [1, 1, 1, 1, 1, 1, 2, 2])
        .pread(FD, 41_208, 4096, 8)
        .holds(4096, [3, 3, 3, 3, 9, 9, 9, 9])
        // A position does not move by it.
        .call("fd_tell", [At(FD), I(STAT.into())], 0)
        .holds64(STAT, 0)
        .call("fd_filestat_set_size", [At(FD), L(600)], 0)
        .pread(FD, 0, 4096, 1000)
        .holds32(4092, 600)
        .call("fd_filestat_set_size", [At(FD), L(700)], 0)
        .pread(FD, 596, 4096, 8)
        .holds(4096, [2, 2, 2, 2, 0, 0, 0, 0])
        .call("fd_allocate", [At(FD), L(100), L(10)], 0)
        .call("fd_filestat_get", [At(FD), I(STAT.into())], 0)
        .holds64(STAT + 32, 700)
        .call("fd_allocate", [At(FD), L(1000), L(24)], 0)
        .call("fd_sync", [At(FD)], 0)
        .call("fd_seek", [At(FD), L(-4), I(2), I(STAT.into())], 0)
        .holds64(STAT, 1020)
        .write(FD, b"tailtail", 0)
        .call("fd_seek", [At(FD), L(-2000), I(1), I(STAT.into())], 28)
        // Appending goes to the end wherever the position is.
        .call("fd_fdstat_set_flags", [At(FD), I(1)], 0)
        .call("fd_seek", [At(FD), L(0), I(0), I(STAT.into())], 0)
        .write(FD, b"!", 0)
        .open("db", 0, OTHER, 0)
        .pread(OTHER, 1018, 4096, 64)
        .holds32(4092, 11)
        .holds(4096, b"\0\0tailtail!")
        .pread(OTHER, 5000, 4096, 64)
        .holds32(4092, 0);
    on_every_backing(script).await;
}

#[tokio::test]
async fn a_name_may_go_or_be_taken_over_while_its_file_is_open() {
    let script = Script::default()
        .open("f", CREATE, FD, 0)
        .write(FD, b"old", 0)
        .open("g", CREATE, OTHER, 0)
        .write(OTHER, b"new", 0)
        .call("path_rename", [I(3), text("g"), I(3), text("f")], 0)
        .call("fd_filestat_get", [At(FD), I(STAT.into())], 0)
        .holds64(STAT + 24, 0)
        .write(FD, b"er", 0)
        .write(OTHER, b"er", 0)
        .pread(FD, 0, 4096, 16)
        .holds(4096, b"older")
        .open("f", 0, 8, 0)
        .pread(8, 0, 4096, 16)
        .holds(4096, b"newer")
        .call("path_unlink_file", [I(3), text("f")], 0)
        .pread(8, 0, 4096, 16)
        .holds(4096, b"newer")
        .call("path_filestat_get", [I(3), I(0), text("f"), I(STAT.into())], 44)
        .call("fd_close", [At(8)], 0)
        .call("fd_close", [At(8)], 8);
    on_every_backing(script).await;
}

#[tokio::test]
async fn a_folder_is_listed_by_cookies_while_its_names_go() {
    let (buffer, used) = (4096, 4092);
    let mut script = Script::default().call("path_create_directory", [I(3), text("d")], 0);
    for name in ["d/a", "d/b", "d/c"] {
        script = script.open(name, CREATE, FD, 0).call("fd_close", [At(FD)], 0);
    }
    let list = |cookie, cap| [At(OTHER), I(buffer), I(cap), L(cookie), I(used)];
    let script = script
        .open("d", DIRECTORY, OTHER, 0)
        // `.` and `..` and a, cut in the middle of b: 25 + 26 + 25 bytes, and 4 more.
        .call("fd_readdir", list(0, 80), 0)
        .holds32(used as u32, 80)
        .holds(buffer as u32 + 24, b".")
        .holds(buffer as u32 + 25 + 24, b"..")
        .holds(buffer as u32 + 25 + 26 + 24, b"a")
        .holds64(buffer as u32 + 25 + 26, 3)
        .call("path_unlink_file", [I(3), text("d/a")], 0)
        .call("path_unlink_file", [I(3), text("d/b")], 0)
        .open("d/z", CREATE, FD, 0)
        // From behind a: the listing that was begun is the one that is walked to its end.
        .call("fd_readdir", list(3, 200), 0)
        .holds32(used as u32, 50)
        .holds(buffer as u32 + 24, b"b")
        .holds(buffer as u32 + 25 + 24, b"c")
        .call("fd_readdir", list(5, 200), 0)
        .holds32(used as u32, 0)
        .call("fd_readdir", list(i64::MAX, 200), 0)
        .holds32(used as u32, 0)
        // From the start again: what is there now.
        .call("fd_readdir", list(0, 200), 0)
        .holds32(used as u32, 25 + 26 + 25 + 25)
        .holds(buffer as u32 + 25 + 26 + 24, b"c")
        .holds(buffer as u32 + 25 + 26 + 25 + 24, b"z");
    on_every_backing(script).await;
}

#[tokio::test]
async fn paths_nobody_should_pass_are_refused_by_name() {
    let script = Script::default()
        .call("path_create_directory", [I(3), text("nul\0name")], 28)
        .call("path_create_directory", [I(3), text(b"not\xfftext\0")], 28)
        .call("path_create_directory", [I(3), text("n".repeat(255))], 0)
        .call("path_create_directory", [I(3), text("n".repeat(256))], 37)
        .call("path_create_directory", [I(3), text("/absolute")], 76)
        .call("path_create_directory", [I(3), text("")], 44)
        .call("path_create_directory", [I(3), text("../../../up")], 0)
        .call("path_filestat_get", [I(3), I(0), text("up"), I(STAT.into())], 0)
        .call("path_symlink", [text("loop"), I(3), text("loop")], 0)
        .open("loop/x", CREATE, FD, 32)
        .call("path_symlink", [text(b"\xff\0"), I(3), text("l")], 28)
        .call("path_rename", [I(3), text("up"), I(3), text("up/in/itself")], 44)
        .call("path_rename", [I(3), text("up"), I(3), text("up/itself")], 28)
        .call("path_filestat_get", [I(99), I(0), text("up"), I(STAT.into())], 8);
    on_every_backing(script).await;
    // Five thousand components are a limit of ours, and named as one.
    let long = Script::default().call("path_create_directory", [I(3), text("a/".repeat(5000))], 37);
    let report = report(&long, memory()).await;
    assert_eq!((report.outcome, report.quota), (Outcome::Exited(0), Some(FileLimit::PathBytes)));
}

#[tokio::test]
async fn a_run_writes_no_file_longer_than_it_may() {
    let opened = || Script::default().open("f", CREATE, FD, 0);
    let ended = Outcome::Exited(153);
    let cases = [
        (opened().write(FD, &[1; 900], 0).write(FD, &[1; 124], 0), Outcome::Exited(0), 1_024),
        (opened().write(FD, &[1; 900], 0).write(FD, &[1; 125], 0), ended.clone(), 1_024),
        (opened().pwrite(FD, 1_024, &[1], 0), ended.clone(), 0),
        (opened().call("fd_filestat_set_size", [At(FD), L(1_024)], 0), Outcome::Exited(0), 1_024),
        (opened().call("fd_filestat_set_size", [At(FD), L(1_025)], 0), ended.clone(), 0),
        (opened().call("fd_allocate", [At(FD), L(1_000), L(25)], 0), ended, 0),
    ];
    for (number, (script, outcome, size)) in cases.into_iter().enumerate() {
        let files = memory();
        let asked = RunRequest {
            files: Some(Arc::clone(&files)),
            file_rules: FileRules { bytes_max: Some(1_024), ..FileRules::USUAL },
            ..request(&script.wat())
        };
        let (report, _) = run(asked).await.unwrap();
        let stat = files.stat(&TreePath::new("f").unwrap(), Follow::Yes).unwrap();
        assert_eq!((report.outcome, report.quota, stat.size), (outcome, None, size), "case {number}");
    }
}

#[tokio::test]
async fn a_limit_of_the_files_is_an_errno_to_the_guest_and_named_in_the_report() {
    let temp = tempfile::tempdir().unwrap();
    let quota =
        Quota { bytes_max: 1000, file_bytes_max: 900, files_max: 2, depth_max: 1, path_bytes_max: 20 };
    let files = workspace(temp.path(), quota);
    let mkdir =
        |name: &str, errno| Script::default().call("path_create_directory", [I(3), text(name)], errno);
    let grown = |bytes: &[u8], errno| Script::default().open("f", CREATE, FD, 0).write(FD, bytes, errno);
    let cases = [
        (grown(&[1; 901], 22), Some(FileLimit::FileBytes)),
        (grown(&[1; 900], 0), None),
        (Script::default().open("g", CREATE, FD, 0).write(FD, &[1; 101], 51), Some(FileLimit::Bytes)),
        (mkdir("d", 51), Some(FileLimit::Files)),
        (mkdir("a-name-of-21-letters-", 37), Some(FileLimit::PathBytes)),
        // The first limit is the one that is told.
        (
            grown(&[1; 901], 22).call("path_create_directory", [I(3), text("d")], 51),
            Some(FileLimit::FileBytes),
        ),
        (Script::default().call("path_unlink_file", [I(3), text("g")], 0), None),
        (mkdir("d", 0), None),
        (Script::default().call("path_unlink_file", [I(3), text("f")], 0), None),
        (mkdir("d/d", 37), Some(FileLimit::Depth)),
        // A guest that is no further than anyone may go has met no limit.
        (Script::default().open("none", 0, FD, 44), None),
    ];
    for (number, (script, want)) in cases.into_iter().enumerate() {
        let report = report(&script, Arc::clone(&files) as _).await;
        assert_eq!((report.outcome, report.quota), (Outcome::Exited(0), want), "case {number}");
    }
    // The run's own tree is charged to its memory; more than its memory is more than a file may have.
    let own =
        Script::default().open("f", CREATE, FD, 0).call("fd_filestat_set_size", [At(FD), L(60 << 20)], 0);
    let own = own.open("g", CREATE, OTHER, 0).call("fd_filestat_set_size", [At(OTHER), L(60 << 20)], 51);
    let (report, _) = run(request(&own.wat())).await.unwrap();
    assert_eq!((report.outcome, report.quota), (Outcome::Exited(0), Some(FileLimit::Bytes)));
}

#[tokio::test]
async fn a_guest_may_have_so_many_files_open_and_no_more() {
    let wat = r#"(module
  (import "wasi_snapshot_preview1" "path_open"
    (func $open (param i32 i32 i32 i32 i32 i64 i64 i32 i32) (result i32)))
  (import "wasi_snapshot_preview1" "proc_exit" (func $exit (param i32)))
  (memory (export "memory") 1) (data (i32.const 0) "f")
  (func (export "_start") (local $n i32) (local $errno i32)
    (loop $again
      (local.set $errno (call $open (i32.const 3) (i32.const 0) (i32.const 0) (i32.const 1) (i32.const 1)
        (i64.const -1) (i64.const -1) (i32.const 0) (i32.const 8)))
      (local.set $n (i32.add (local.get $n) (i32.const 1)))
      (br_if $again (i32.and (i32.eqz (local.get $errno)) (i32.lt_u (local.get $n) (i32.const 5000)))))
    (if (i32.ne (local.get $n) (i32.const 1021)) (then (call $exit (i32.const 99))))
    (call $exit (local.get $errno))))"#;
    let (report, _) = run(request(wat)).await.unwrap();
    assert_eq!((report.outcome, report.quota), (Outcome::Exited(33), Some(FileLimit::OpenHandles)));
}

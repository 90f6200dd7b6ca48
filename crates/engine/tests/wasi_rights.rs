//! What a descriptor may do and where it leads, as the official suite of preview 1 asks for it: rights that
//! are told and kept, flags that are not dropped, directories that confine, and sockets that are none.
#![allow(clippy::unwrap_used, clippy::disallowed_methods)]

mod common;

use std::{path::Path, sync::Arc, time::Duration};

use common::{
    request, run,
    script::{Arg, Arg::*, Script, text},
    synced::Synced,
};
use drydock_contract::{
    Limits, Meter, Outcome, RunRequest,
    port::{Files, Follow, TreePath},
};
use drydock_store::{Access, HostDir, MemoryFiles, Mounts, Overlay};

const FD: u32 = 0;
const DIR: u32 = 4;
const STAT: u32 = 1024;

const CREATE: i64 = 1;
const DIRECTORY: i64 = 2;
const TRUNCATE: i64 = 8;

const FD_READ: i64 = 1 << 1;
const FD_SEEK: i64 = 1 << 2;
const FD_WRITE: i64 = 1 << 6;
const PATH_CREATE_DIRECTORY: i64 = 1 << 9;
const PATH_FILESTAT_SET_SIZE: i64 = 1 << 19;
const FD_FILESTAT_SET_SIZE: i64 = 1 << 22;

const BADF: i32 = 8;
const INVAL: i32 = 28;
const ISDIR: i32 = 31;
const LOOP: i32 = 32;
const NOENT: i32 = 44;
const NOTDIR: i32 = 54;
const NOTSOCK: i32 = 57;
const PERM: i32 = 63;
const NOTCAPABLE: i32 = 76;

/// `path_open` with everything said.
fn open(at: Arg, path: &str, oflags: i64, rights: i64, flags: i64, into: u32, errno: i32) -> Script {
    Script::default().opened(at, 0, path, oflags, rights, flags, into, errno)
}

trait Opened {
    #[expect(clippy::too_many_arguments, reason = "preview 1's own")]
    fn opened(
        self,
        at: Arg,
        lookup: i64,
        path: &str,
        oflags: i64,
        rights: i64,
        flags: i64,
        into: u32,
        errno: i32,
    ) -> Self;
}

impl Opened for Script {
    fn opened(
        self,
        at: Arg,
        lookup: i64,
        path: &str,
        oflags: i64,
        rights: i64,
        flags: i64,
        into: u32,
        errno: i32,
    ) -> Self {
        let args = [at, I(lookup), text(path), I(oflags), L(rights), L(0), I(flags), I(i64::from(into))];
        self.call("path_open", args, errno)
    }
}

fn memory() -> Arc<dyn Files> {
    Arc::new(MemoryFiles::with(Arc::new(Meter::new(4 << 20))))
}

fn host(path: &Path) -> Arc<dyn Files> {
    std::fs::create_dir_all(path).unwrap();
    Arc::new(HostDir::open(path, Access::ReadWrite).unwrap())
}

async fn outcome(script: &Script, files: Arc<dyn Files>) -> Outcome {
    run(RunRequest { files: Some(files), ..request(&script.wat()) }).await.unwrap().0.outcome
}

async fn everywhere(script: Script) {
    let temp = tempfile::tempdir().unwrap();
    let backings: [(&str, Arc<dyn Files>); 4] = [
        ("memory", memory()),
        ("host", host(&temp.path().join("host"))),
        ("overlay", Arc::new(Overlay::new(host(&temp.path().join("lower")), memory()))),
        ("mounts", Arc::new(Mounts::over(memory()))),
    ];
    for (name, files) in backings {
        assert_eq!(outcome(&script, files).await, Outcome::Exited(0), "{name}: the step that went wrong");
    }
}

#[tokio::test]
async fn a_directory_has_no_rights_that_want_bytes_of_its_own() {
    let script = Script::default()
        .call("path_create_directory", [I(3), text("d")], 0)
        .opened(I(3), 0, "d", DIRECTORY, FD_SEEK, 0, DIR, 0)
        .call("fd_seek", [At(DIR), L(0), I(1), I(STAT.into())], ISDIR)
        .call("fd_fdstat_get", [At(DIR), I(STAT.into())], 0)
        // Syncing, names, listing, facts and times; and through it whatever a file can do besides.
        .holds64(STAT + 8, 0x07bf_fe11)
        .holds64(STAT + 16, 0x0fff_ffff)
        .call("fd_fdstat_get", [I(3), I(STAT.into())], 0)
        .holds64(STAT + 8, 0x07bf_fe11);
    everywhere(script).await;
}

#[tokio::test]
async fn a_directory_cannot_be_opened_to_be_written() {
    let all = 0x07bf_fe11;
    let script = Script::default()
        .call("path_create_directory", [I(3), text("d")], 0)
        .opened(I(3), 0, "d", DIRECTORY, FD_READ | FD_WRITE, 0, FD, ISDIR)
        .opened(I(3), 0, "d", 0, FD_WRITE, 0, FD, ISDIR)
        .opened(I(3), 0, ".", DIRECTORY, FD_READ | FD_WRITE, 0, FD, ISDIR)
        .opened(I(3), 0, "d", TRUNCATE, 0, 0, FD, ISDIR)
        .opened(I(3), 0, ".", 0, all, 0, FD, 0)
        .opened(I(3), 0, ".", DIRECTORY, FD_READ, 0, FD, 0)
        .opened(I(3), 0, "d", 0, 0, 0, FD, 0);
    everywhere(script).await;
}

#[tokio::test]
async fn rights_can_be_given_up_and_never_be_had_back() {
    let script = open(I(3), "f", CREATE, FD_READ | FD_WRITE | FD_SEEK, 0, FD, 0)
        .write(FD, b"text", 0)
        .call("fd_fdstat_set_rights", [At(FD), L(FD_SEEK), L(0)], 0)
        .call("fd_fdstat_get", [At(FD), I(STAT.into())], 0)
        .holds64(STAT + 8, FD_SEEK)
        .write(FD, b"more", BADF)
        .call("fd_filestat_set_size", [At(FD), L(0)], BADF)
        .call("fd_filestat_get", [At(FD), I(STAT.into())], NOTCAPABLE)
        .call("fd_fdstat_set_rights", [At(FD), L(FD_SEEK | FD_READ), L(0)], NOTCAPABLE)
        .call("fd_fdstat_set_rights", [At(FD), L(FD_SEEK), L(FD_READ)], NOTCAPABLE)
        .call("fd_seek", [At(FD), L(1), I(0), I(STAT.into())], 0)
        .call("fd_fdstat_set_rights", [I(99), L(0), L(0)], BADF)
        // Nor does a file have what it was not opened for.
        .opened(I(3), 0, "f", 0, FD_READ, 0, FD, 0)
        .call("fd_fdstat_set_rights", [At(FD), L(FD_READ | FD_WRITE), L(0)], NOTCAPABLE)
        .write(FD, b"more", BADF);
    everywhere(script).await;
}

#[tokio::test]
async fn what_a_directory_gave_up_is_missing_in_what_is_opened_through_it() {
    let (base, inherited) = (0x07bf_fe11, 0x0fff_ffff);
    let script = Script::default()
        .call("path_create_directory", [I(3), text("d")], 0)
        .opened(I(3), 0, "d", DIRECTORY, 0, 0, DIR, 0)
        .opened(At(DIR), 0, "f", CREATE, 0, 0, FD, 0)
        // Emptying a file by opening it wants a right of its own, and no right to write.
        .opened(At(DIR), 0, "f", TRUNCATE, 0, 0, FD, 0)
        .call(
            "fd_fdstat_set_rights",
            [At(DIR), L(base & !PATH_FILESTAT_SET_SIZE), L(inherited & !FD_FILESTAT_SET_SIZE & !FD_WRITE)],
            0,
        )
        .opened(At(DIR), 0, "f", TRUNCATE, 0, 0, FD, NOTCAPABLE)
        .opened(At(DIR), 0, "f", 0, FD_WRITE, 0, FD, NOTCAPABLE)
        .opened(At(DIR), 0, "f", 0, FD_READ, 0, FD, 0)
        .call("fd_fdstat_get", [At(FD), I(STAT.into())], 0)
        .call("fd_fdstat_set_rights", [At(DIR), L(0), L(0)], 0)
        .call("path_create_directory", [At(DIR), text("e")], NOTCAPABLE)
        .call("path_filestat_get", [At(DIR), I(0), text("f"), I(STAT.into())], NOTCAPABLE)
        .call("fd_readdir", [At(DIR), I(4096), I(64), L(0), I(STAT.into())], NOTCAPABLE)
        .opened(At(DIR), 0, "f", 0, 0, 0, FD, NOTCAPABLE)
        // Another descriptor of the same directory has lost nothing.
        .call("path_create_directory", [I(3), text("d/e")], 0)
        .call("fd_fdstat_set_rights", [I(3), L(base & !PATH_CREATE_DIRECTORY), L(inherited)], 0)
        .call("path_create_directory", [I(3), text("d/g")], NOTCAPABLE);
    everywhere(script).await;
}

#[tokio::test]
async fn flags_of_a_file_are_kept_and_unknown_ones_refused() {
    let (append, sync, nonblock) = (1, 16, 4);
    let script = open(I(3), "f", CREATE, FD_READ | FD_WRITE, append | sync, FD, 0)
        .call("fd_fdstat_get", [At(FD), I(STAT.into())], 0)
        .holds32(STAT, (append | sync) as i32 * 65_536 + 4)
        .write(FD, b"synced", 0)
        .call("fd_fdstat_set_flags", [At(FD), I(nonblock)], 0)
        .call("fd_fdstat_get", [At(FD), I(STAT.into())], 0)
        .holds32(STAT, nonblock as i32 * 65_536 + 4)
        .call("fd_fdstat_set_flags", [At(FD), I(32)], INVAL)
        .opened(I(3), 0, "f", 0, 0, 64, FD, INVAL)
        .opened(I(3), 0, ".", DIRECTORY, 0, 0, DIR, 0)
        .call("fd_fdstat_set_flags", [At(DIR), I(append)], BADF);
    everywhere(script).await;
}

#[tokio::test]
async fn what_is_written_with_the_sync_flag_is_synced_before_the_call_returns() {
    let synced = Arc::new(Synced::default());
    let script =
        |flags| open(I(3), "f", CREATE, FD_WRITE, flags, FD, 0).write(FD, b"a", 0).write(FD, b"b", 0);
    for (flags, want) in [(0, 0), (16, 2), (2, 2), (1, 0)] {
        assert_eq!(outcome(&script(flags), Arc::clone(&synced) as _).await, Outcome::Exited(0));
        assert_eq!(synced.take(), want, "flags {flags}");
    }
}

#[tokio::test]
async fn a_directory_descriptor_leads_nowhere_but_beneath_it() {
    let stat = |at: Arg, lookup: i64, path: &str| [at, I(lookup), text(path), I(STAT.into())];
    let script = Script::default()
        .call("path_create_directory", [I(3), text("d")], 0)
        .call("path_create_directory", [I(3), text("d/in")], 0)
        .opened(I(3), 0, "secret", CREATE, 0, 0, FD, 0)
        .opened(I(3), 0, "d/in/f", CREATE, 0, 0, FD, 0)
        .opened(I(3), 0, "d", DIRECTORY, 0, 0, DIR, 0)
        // Up and down again, as long as it stays inside.
        .opened(At(DIR), 0, "in/.//../in/../in///./f", 0, 0, 0, FD, 0)
        .opened(At(DIR), 0, "in/", 0, 0, 0, FD, 0)
        .opened(At(DIR), 0, "in/f/", 0, 0, 0, FD, NOTDIR)
        .opened(At(DIR), 0, "in/f/../f", 0, 0, 0, FD, NOTDIR)
        .opened(At(DIR), 0, "none/../in/f", 0, 0, 0, FD, NOENT)
        .opened(At(DIR), 0, "../secret", 0, 0, 0, FD, PERM)
        .opened(At(DIR), 0, "in/../../d/in/f", 0, 0, 0, FD, PERM)
        .opened(At(DIR), 0, "/secret", 0, 0, 0, FD, NOTCAPABLE)
        .call("path_filestat_get", stat(At(DIR), 0, ".."), PERM)
        .call("path_create_directory", [At(DIR), text("../made")], PERM)
        .call("path_unlink_file", [At(DIR), text("../secret")], PERM)
        .call("path_rename", [At(DIR), text("in/f"), At(DIR), text("../f")], PERM)
        .call("path_rename", [At(DIR), text("../secret"), At(DIR), text("taken")], PERM)
        .call("path_link", [At(DIR), I(0), text("../secret"), At(DIR), text("linked")], PERM)
        // Links: absolute ones are not made, and none leads out, in the middle or at the end.
        .call("path_symlink", [text("/secret"), At(DIR), text("abs")], PERM)
        .call("path_symlink", [text("../secret"), At(DIR), text("up")], 0)
        .call("path_symlink", [text(".."), At(DIR), text("parent")], 0)
        .call("path_symlink", [text("in/./f"), At(DIR), text("inside")], 0)
        .call("path_symlink", [text("round"), At(DIR), text("round")], 0)
        .opened(At(DIR), 1, "up", 0, 0, 0, FD, PERM)
        .opened(At(DIR), 0, "parent/secret", 0, 0, 0, FD, PERM)
        .opened(At(DIR), 1, "parent", DIRECTORY, 0, 0, FD, PERM)
        .opened(At(DIR), 0, "parent/", DIRECTORY, 0, 0, FD, PERM)
        .call("path_create_directory", [At(DIR), text("parent/made")], PERM)
        .call("path_filestat_get", stat(At(DIR), 1, "up"), PERM)
        .call("path_filestat_get", stat(At(DIR), 0, "up"), 0)
        .call("path_link", [At(DIR), I(1), text("up"), At(DIR), text("linked")], PERM)
        .opened(At(DIR), 1, "inside", 0, 0, 0, FD, 0)
        .opened(At(DIR), 1, "round", 0, 0, 0, FD, LOOP)
        .opened(At(DIR), 0, "round/x", 0, 0, 0, FD, LOOP)
        // From the root the same links are as good as ever, and `..` stays there.
        .opened(I(3), 1, "d/up", 0, 0, 0, FD, 0)
        .opened(I(3), 0, "../../d/parent/secret", 0, 0, 0, FD, 0)
        // A directory that was opened through a link is where the link led.
        .opened(I(3), 1, "d/parent/d/in", DIRECTORY, 0, 0, DIR, 0)
        .call("path_filestat_get", stat(At(DIR), 0, "f"), 0)
        .opened(At(DIR), 0, "../in/f", 0, 0, 0, FD, PERM);
    everywhere(script).await;
}

#[tokio::test]
async fn an_absolute_link_leads_out_of_a_directory_and_not_out_of_the_root() {
    let script = Script::default()
        .call("path_create_directory", [I(3), text("d")], 0)
        .opened(I(3), 0, "secret", CREATE, 0, 0, FD, 0)
        .call("path_symlink", [text("/secret"), I(3), text("d/abs")], 0)
        .opened(I(3), 0, "d", DIRECTORY, 0, 0, DIR, 0)
        .opened(At(DIR), 1, "abs", 0, 0, 0, FD, PERM)
        .opened(I(3), 1, "d/abs", 0, 0, 0, FD, 0);
    // A directory of the host that is written to has no such links: see `store`.
    assert_eq!(outcome(&script, memory()).await, Outcome::Exited(0));
}

#[tokio::test]
async fn no_descriptor_is_a_socket() {
    let script = |fd: i64, errno| {
        Script::default()
            .call("sock_shutdown", [I(fd), I(0)], errno)
            .call("sock_accept", [I(fd), I(0), I(STAT.into())], errno)
            .call("sock_recv", [I(fd), I(0), I(0), I(0), I(0), I(0)], errno)
            .call("sock_send", [I(fd), I(0), I(0), I(0), I(0)], errno)
    };
    for (fd, errno) in [(0, NOTSOCK), (1, NOTSOCK), (2, NOTSOCK), (3, BADF), (4, BADF), (-1, BADF)] {
        assert_eq!(outcome(&script(fd, errno), memory()).await, Outcome::Exited(0), "{fd}");
    }
    // Once a program has asked for its directory, it is there.
    let asked = Script::default()
        .call("fd_prestat_get", [I(3), I(STAT.into())], 0)
        .call("sock_shutdown", [I(3), I(0)], NOTSOCK)
        .opened(I(3), 0, "f", CREATE, 0, 0, FD, 0)
        .call("sock_shutdown", [At(FD), I(0)], NOTSOCK);
    assert_eq!(outcome(&asked, memory()).await, Outcome::Exited(0));
}

/// A guest that names the same 48 MiB in all 1,024 vectors of one call, again and again.
fn greedy(name: &str, params: &str, arguments: &str) -> String {
    format!(
        r#"(module
  (import "wasi_snapshot_preview1" "path_open"
    (func $open (param i32 i32 i32 i32 i32 i64 i64 i32 i32) (result i32)))
  (import "wasi_snapshot_preview1" "{name}" (func $greedy (param {params}) (result i32)))
  (memory (export "memory") 800) (data (i32.const 0) "dev/zero")
  (func (export "_start") (local $n i32)
    (drop (call $open (i32.const 3) (i32.const 0) (i32.const 0) (i32.const 8) (i32.const 0)
      (i64.const 66) (i64.const 0) (i32.const 0) (i32.const 16)))
    (loop $list
      (i32.store (i32.add (i32.const 1024) (i32.mul (local.get $n) (i32.const 8))) (i32.const 65536))
      (i32.store (i32.add (i32.const 1028) (i32.mul (local.get $n) (i32.const 8))) (i32.const 50331648))
      (local.set $n (i32.add (local.get $n) (i32.const 1)))
      (br_if $list (i32.lt_u (local.get $n) (i32.const 1024))))
    (loop $again (drop (call $greedy {arguments})) (br $again))))"#
    )
}

#[tokio::test]
async fn a_call_that_names_much_memory_ends_with_the_time_of_its_run() {
    let file = "(i32.load (i32.const 16)) (i32.const 1024) (i32.const 1024)";
    let plain = format!("{file} (i32.const 24)");
    let placed = format!("{file} (i64.const 0) (i32.const 24)");
    let output = "(i32.const 1) (i32.const 1024) (i32.const 1024) (i32.const 24)".to_owned();
    let cases = [
        ("fd_read", "i32 i32 i32 i32", plain.clone()),
        ("fd_write", "i32 i32 i32 i32", plain),
        ("fd_pread", "i32 i32 i32 i64 i32", placed.clone()),
        ("fd_pwrite", "i32 i32 i32 i64 i32", placed),
        // A sink that takes everything at once.
        ("fd_write", "i32 i32 i32 i32", output),
        ("random_get", "i32 i32", "(i32.const 65536) (i32.const 50331648)".to_owned()),
    ];
    for (name, params, arguments) in cases {
        let limits =
            Limits { wall_max: Duration::from_millis(200), stdout_bytes_max: u64::MAX, ..Limits::default() };
        let mut it = RunRequest { limits, ..request(&greedy(name, params, &arguments)) };
        it.streams.stdout = drydock_contract::Sink::Discard;
        let guard = tokio::time::timeout(Duration::from_secs(30), run(it));
        let (report, _) = guard.await.expect("the call went on without looking at the clock").unwrap();
        assert_eq!(report.outcome, Outcome::TimedOut, "{name}");
        // One piece, and a slow machine: far less than the 52 s that the whole call takes.
        assert!(report.duration < Duration::from_secs(10), "{name}: {:?}", report.duration);
    }
}

#[tokio::test]
async fn a_piece_of_a_large_call_is_where_it_belongs() {
    let temp = tempfile::tempdir().unwrap();
    let files = host(temp.path());
    let bytes: Vec<u8> = (0..3_000_000u32).map(|it| (it % 251) as u8).collect();
    std::fs::write(temp.path().join("from"), &bytes).unwrap();
    // Two vectors, of 2,500,000 and 400,000 bytes: pieces end inside both.
    let wat = r#"(module
  (import "wasi_snapshot_preview1" "path_open"
    (func $open (param i32 i32 i32 i32 i32 i64 i64 i32 i32) (result i32)))
  (import "wasi_snapshot_preview1" "fd_read" (func $read (param i32 i32 i32 i32) (result i32)))
  (import "wasi_snapshot_preview1" "fd_write" (func $write (param i32 i32 i32 i32) (result i32)))
  (import "wasi_snapshot_preview1" "proc_exit" (func $exit (param i32)))
  (memory (export "memory") 64) (data (i32.const 0) "from") (data (i32.const 8) "to")
  (func (export "_start")
    (drop (call $open (i32.const 3) (i32.const 0) (i32.const 0) (i32.const 4) (i32.const 0)
      (i64.const 2) (i64.const 0) (i32.const 0) (i32.const 16)))
    (drop (call $open (i32.const 3) (i32.const 0) (i32.const 8) (i32.const 2) (i32.const 1)
      (i64.const 64) (i64.const 0) (i32.const 0) (i32.const 20)))
    (i32.store (i32.const 32) (i32.const 65536)) (i32.store (i32.const 36) (i32.const 2500000))
    (i32.store (i32.const 40) (i32.const 2700000)) (i32.store (i32.const 44) (i32.const 400000))
    (if (call $read (i32.load (i32.const 16)) (i32.const 32) (i32.const 2) (i32.const 48))
      (then (call $exit (i32.const 1))))
    (if (i32.ne (i32.load (i32.const 48)) (i32.const 2900000)) (then (call $exit (i32.const 2))))
    (if (call $write (i32.load (i32.const 20)) (i32.const 32) (i32.const 2) (i32.const 48))
      (then (call $exit (i32.const 3))))
    (if (i32.ne (i32.load (i32.const 48)) (i32.const 2900000)) (then (call $exit (i32.const 4))))
    (if (call $read (i32.load (i32.const 16)) (i32.const 32) (i32.const 2) (i32.const 48))
      (then (call $exit (i32.const 5))))
    (if (i32.ne (i32.load (i32.const 48)) (i32.const 100000)) (then (call $exit (i32.const 6))))))"#;
    let (report, _) = run(RunRequest { files: Some(Arc::clone(&files)), ..request(wat) }).await.unwrap();
    assert_eq!(report.outcome, Outcome::Exited(0));
    assert!(std::fs::read(temp.path().join("to")).unwrap() == bytes[..2_900_000]);
    assert_eq!(files.stat(&TreePath::new("to").unwrap(), Follow::No).unwrap().size, 2_900_000);
}

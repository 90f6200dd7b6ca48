//! The working directory of programs that know none: the second preopened directory, and what stays as it was.
#![allow(clippy::unwrap_used)]

mod common;

use std::sync::Arc;

use common::{
    request, run,
    script::{Arg::*, Script, text},
};
use drydock_contract::{
    Cap, CapSet, Meter, Outcome, RunRequest, WorkingDir,
    port::{EntryTree, Files as _, Follow, TreePath},
};
use drydock_store::MemoryFiles;

const BADF: i32 = 8;
const PERM: i32 = 63;
const ROFS: i32 = 69;
const NAME_AT: i64 = 512;
const FD: u32 = 0;

fn tree() -> Arc<MemoryFiles> {
    let files = MemoryFiles::with(Arc::new(Meter::new(1 << 20)));
    for path in ["work/in/x", "work/y", "usr/lib/c", "tmp/t"] {
        files.write(path, b"text").unwrap();
    }
    Arc::new(files)
}

fn asked(script: &Script, pwd: &str, working_dir: WorkingDir) -> RunRequest {
    let env = Arc::new([b"A=b".to_vec(), format!("PWD={pwd}").into_bytes()]);
    RunRequest { files: Some(tree()), env, working_dir, ..request(&script.wat()) }
}

fn open(script: Script, fd: i64, path: &str, oflags: i64, errno: i32) -> Script {
    let rights = if oflags & 2 == 0 { 0x1fff_ffff } else { 1 << 14 };
    let args = [I(fd), I(1), text(path), I(oflags), L(rights), L(rights), I(0), I(i64::from(FD))];
    script.call("path_open", args, errno)
}

fn prestat(script: Script, fd: i64, errno: i32) -> Script {
    script.call("fd_prestat_get", [I(fd), I(16)], errno)
}

#[tokio::test]
async fn a_program_that_knows_no_directory_finds_its_files_by_both_kinds_of_path() {
    let mut script = prestat(prestat(prestat(Script::default(), 3, 0), 4, 0), 5, BADF);
    script = script.holds32(20, 1).call("fd_prestat_dir_name", [I(4), I(NAME_AT), I(1)], 0);
    script = script.holds(NAME_AT as u32, b".");
    // Relative, absolute without its slash as libc asks, upwards, and a name that is about to be made.
    for path in ["x", "./x", "usr/lib/c", "work/in/x", "../y", "../../usr/lib/c", "dev/null"] {
        script = open(script, 4, path, 0, 0);
    }
    script = open(script, 4, "new", 1, 0);
    script = script.call("path_create_directory", [I(4), text("tmp")], 0);
    script = script.call("path_symlink", [text("/usr/lib/c"), I(4), text("link")], 0);
    script = open(script, 4, "link", 0, 0);
    // The root itself is there as before.
    script = open(open(script, 3, "work/y", 0, 0), 3, "x", 0, 44);
    let request = asked(&script, "/work/in", WorkingDir::Given);
    let files = request.files.clone().unwrap();
    assert_eq!(run(request).await.unwrap().0.outcome, Outcome::Exited(0));
    for made in ["work/in/new", "work/in/tmp", "work/in/link"] {
        assert!(files.stat(&TreePath::new(made).unwrap(), Follow::No).is_ok(), "{made}");
    }
}

#[tokio::test]
async fn whoever_went_there_himself_and_syncs_it_names_everything_from_the_root() {
    let script = open(Script::default(), 4, "x", 0, 0).call("fd_datasync", [I(4)], 0);
    let script = open(open(script, 4, "x", 0, 44), 4, "work/in/x", 0, 0);
    let script = open(script, 4, "new", 1, 0);
    let request = asked(&script, "/work/in", WorkingDir::Given);
    let files = request.files.clone().unwrap();
    assert_eq!(run(request).await.unwrap().0.outcome, Outcome::Exited(0));
    assert!(files.stat(&TreePath::new("new").unwrap(), Follow::No).is_ok());
}

#[tokio::test]
async fn a_directory_that_was_opened_through_it_confines_as_ever() {
    let script = open(Script::default(), 4, ".", 2, 0);
    let up = [At(FD), I(1), text("../y"), I(0), L(2), L(2), I(0), I(8)];
    let script = script.call("path_open", up.clone(), PERM);
    let script = open(script, 4, "work", 2, 0);
    let out = [At(FD), I(1), text("../usr/lib/c"), I(0), L(2), L(2), I(0), I(8)];
    let script = script.call("path_open", out, PERM).call("path_open", up, PERM);
    assert_eq!(
        run(asked(&script, "/work/in", WorkingDir::Given)).await.unwrap().0.outcome,
        Outcome::Exited(0)
    );
}

#[tokio::test]
async fn whoever_goes_there_himself_or_is_at_the_root_has_one_directory() {
    let script = prestat(prestat(Script::default(), 3, 0), 4, BADF);
    let wat = script.wat();
    let marked = wat.strip_suffix(')').unwrap().to_owned() + "(func (export \"drydock_starts_in_pwd\")))";
    let mut by_itself = asked(&script, "/work/in", WorkingDir::Given);
    by_itself.artifact = drydock_contract::Artifact::hash(wat::parse_str(&marked).unwrap());
    let nothing = RunRequest { caps: CapSet::EMPTY, ..asked(&no_files(), "/work/in", WorkingDir::Given) };
    for (what, request) in [
        ("its own affair", asked(&script, "/work/in", WorkingDir::Own)),
        ("the root", asked(&script, "/", WorkingDir::Given)),
        ("no path", asked(&script, "elsewhere", WorkingDir::Given)),
        ("it says so", by_itself),
        ("no files granted", nothing),
    ] {
        assert_eq!(run(request).await.unwrap().0.outcome, Outcome::Exited(0), "{what}");
    }
    assert!(request("(module)").caps.contains(Cap::Vfs));
}

fn no_files() -> Script {
    prestat(prestat(Script::default(), 3, BADF), 4, BADF)
}

#[tokio::test]
async fn a_directory_over_the_tree_is_seen_by_the_run_alone_and_cannot_be_written() {
    let temp = tempfile::tempdir().unwrap();
    let store = drydock_store::TreeStore::new(&drydock_store::Home::open(temp.path()).unwrap());
    let digest = drydock_contract::Digest::of(b"t");
    let mut made = store.begin(digest, drydock_store::TreeBounds::default()).unwrap();
    made.file("include/a.h", b"int a;", 0o644).unwrap();
    made.finish().unwrap();

    let mut script = open(Script::default(), 3, "opt/kit/include/a.h", 0, ROFS);
    let read = [I(3), I(1), text("opt/kit/include/a.h"), I(0), L(2), L(0), I(0), I(i64::from(FD))];
    script = script.call("path_open", read, 0).pread(FD, 0, 1024, 64).holds(1024, b"int a;");
    for path in ["opt/kit/new", "opt/new", "opt/kit/include/b.h"] {
        script = open(script, 3, path, 1, ROFS);
    }
    script = open(script, 3, "work/new", 1, 0);
    let files = tree();
    let trees = vec![EntryTree { path: "/opt/kit".into(), files: Arc::new(store.open(digest).unwrap()) }];
    let request = RunRequest { files: Some(Arc::clone(&files) as _), trees, ..request(&script.wat()) };
    assert_eq!(run(request).await.unwrap().0.outcome, Outcome::Exited(0));
    assert!(files.stat(&TreePath::new("work/new").unwrap(), Follow::No).is_ok(), "the rest is the session's");
    assert!(
        files.stat(&TreePath::new("opt").unwrap(), Follow::No).is_err(),
        "the tree itself has none of it"
    );
}

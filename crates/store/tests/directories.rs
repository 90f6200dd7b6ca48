//! The directories a workspace was mounted over, and what becomes of them.

#![allow(clippy::unwrap_used)]

use std::{fs, os::unix::fs::symlink, path::Path, sync::Arc};

use drydock_contract::{
    Tenant, Timestamp,
    port::{Files as _, OpenHow, TreePath},
};
use drydock_store::{Directory, Home, Mounting, Quota, Workspace, Workspaces};

const NOW: Timestamp = Timestamp(1_700_000_000_000_000_000);

fn furnished() -> (tempfile::TempDir, Workspaces, Workspace) {
    let temp = tempfile::tempdir().unwrap();
    for name in ["one", "two"] {
        fs::create_dir(temp.path().join(name)).unwrap();
        fs::write(temp.path().join(name).join("f"), name).unwrap();
    }
    let all = Workspaces::of(
        &Home::open(temp.path().join("home")).unwrap().tenant(&Tenant::default()),
        Quota::default(),
    );
    let workspace = all.open_or_create(&"w".parse().unwrap()).unwrap();
    (temp, all, workspace)
}

fn directory(at: &Path, mount: &str) -> Directory {
    Directory::at(at, mount.parse().unwrap(), Mounting::CopyOnWrite).unwrap()
}

fn change(workspace: &Workspace, directory: &Directory) {
    let host = Arc::new(directory.open(Quota::default()).unwrap());
    let files = workspace.mount(&directory.mount, host).unwrap().files();
    let how = OpenHow { write: true, ..OpenHow::NONE };
    files.open(&TreePath::new("f").unwrap(), how, NOW).unwrap().append(b"!", NOW).unwrap();
}

#[test]
fn a_workspace_remembers_the_directories_it_was_mounted_over() {
    let (temp, all, workspace) = furnished();
    assert_eq!(workspace.directories().unwrap(), []);
    symlink("one", temp.path().join("link")).unwrap();
    let (one, two) =
        (directory(&temp.path().join("link"), "/data"), directory(&temp.path().join("two"), "/"));
    assert_eq!(one.host, temp.path().join("one").canonicalize().unwrap(), "no link on the way");
    workspace.remember(&one).unwrap();
    workspace.remember(&two).unwrap();
    drop(workspace);
    let workspace = all.open(&"w".parse().unwrap()).unwrap();
    assert_eq!(workspace.directories().unwrap(), [two, one.clone()]);
    all.fork(&"w".parse().unwrap(), &"copy".parse().unwrap()).unwrap();
    assert_eq!(all.open(&"copy".parse().unwrap()).unwrap().directories().unwrap().len(), 2);
    // The same place may be another directory's, as long as no changes wait under it.
    let other = directory(&temp.path().join("two"), "/data");
    workspace.remember(&other).unwrap();
    change(&workspace, &other);
    let error = workspace.remember(&one).unwrap_err().to_string();
    assert!(
        error.contains("keeps changes to") && error.contains("two") && error.contains("ws discard"),
        "{error}"
    );
    workspace.remember(&other).unwrap();
}

#[test]
fn a_directory_that_was_moved_or_replaced_is_an_error_and_nothing_is_lost() {
    let (temp, _, workspace) = furnished();
    let one = directory(&temp.path().join("one"), "/data");
    workspace.remember(&one).unwrap();
    change(&workspace, &one);
    let at = temp.path().join("one");
    let open = || one.open(Quota::default()).map(drop).unwrap_err().to_string();

    fs::rename(&at, temp.path().join("moved")).unwrap();
    let said = open();
    assert!(said.contains("is not there any more") && said.contains("--dir HOST:/data"), "{said}");
    symlink("moved", &at).unwrap();
    assert!(open().contains("a symbolic link has its place"), "{}", open());
    fs::remove_file(&at).unwrap();
    fs::create_dir(&at).unwrap();
    assert!(open().contains("another directory has its place"), "{}", open());
    fs::remove_dir(&at).unwrap();
    fs::write(&at, "").unwrap();
    assert!(open().contains("it is no directory"), "{}", open());
    fs::remove_file(&at).unwrap();
    // Back where it was, all is as it was.
    fs::rename(temp.path().join("moved"), &at).unwrap();
    let host = Arc::new(one.open(Quota::default()).unwrap());
    assert_eq!(workspace.mount(&one.mount, host).unwrap().diff().unwrap().len(), 1);
}

#[test]
fn a_link_above_a_directory_is_found_too() {
    let (temp, _, _) = furnished();
    fs::create_dir_all(temp.path().join("above/in")).unwrap();
    let it = directory(&temp.path().join("above/in"), "/data");
    fs::rename(temp.path().join("above"), temp.path().join("real")).unwrap();
    symlink("real", temp.path().join("above")).unwrap();
    let said = it.open(Quota::default()).map(drop).unwrap_err().to_string();
    assert!(said.contains("a symbolic link is on the way to it"), "{said}");
}

#[test]
fn a_damaged_workspace_is_brought_back_from_a_snapshot_and_kept_aside() {
    let (temp, all, workspace) = furnished();
    let (w, s) = ("w".parse().unwrap(), "s".parse().unwrap());
    workspace.put("f", b"kept", NOW).unwrap();
    drop(workspace);
    all.snapshot(&w, &s).unwrap();
    let file = temp.path().join("home/tenants/dev/workspaces/w.sqlite");
    let whole = fs::read(&file).unwrap();
    fs::write(&file, &whole[..whole.len() / 2]).unwrap();
    let error = all.open(&w).map(drop).unwrap_err();
    assert_eq!(error.code(), "workspace_damaged");
    let aside = all.restore_named(&w, &s).unwrap().unwrap();
    assert_eq!(fs::read(aside).unwrap().len(), whole.len() / 2);
    assert_eq!(all.open(&w).unwrap().get("f").unwrap(), b"kept");
    assert_eq!(all.list().unwrap(), [w]);
}

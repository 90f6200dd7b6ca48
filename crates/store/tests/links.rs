//! Links that would lead other programs of the host out of a mounted directory.

#![allow(clippy::unwrap_used)]

use std::{fs, os::unix::fs::symlink, path::Path, sync::Arc};

use drydock_contract::{
    Tenant, Timestamp,
    port::{FileError, Files, Follow, Mode, TreePath},
};
use drydock_store::{Access, Home, HostDir, IfChanged, Links, Mounted, Quota, Workspaces};

const NOW: Timestamp = Timestamp(1_700_000_000_000_000_000);
/// Where they lie, and what they say.
const OUT: [(&str, &str); 7] = [
    ("l", "/etc/shadow"),
    ("l", "../x"),
    ("d/e/l", "../../../x"),
    ("d/e/l", "../../../../../etc/shadow"),
    ("d/l", "e/../../../x"),
    ("l", "up/.."),
    ("d/e/l", "/"),
];

fn path(text: &str) -> TreePath {
    TreePath::new(text).unwrap()
}

fn furnished() -> tempfile::TempDir {
    let temp = tempfile::tempdir().unwrap();
    fs::create_dir_all(temp.path().join("host/d/e")).unwrap();
    fs::write(temp.path().join("host/f"), "f").unwrap();
    temp
}

fn host(temp: &Path) -> HostDir {
    HostDir::open(temp.join("host"), Access::ReadWrite).unwrap()
}

fn mount(temp: &Path) -> Mounted {
    let all =
        Workspaces::of(&Home::open(temp.join("home")).unwrap().tenant(&Tenant::default()), Quota::default());
    let workspace = all.open_or_create(&"w".parse().unwrap()).unwrap();
    workspace.mount(&"data".parse().unwrap(), Arc::new(host(temp))).unwrap()
}

fn is_there(temp: &Path, name: &str) -> bool {
    fs::symlink_metadata(temp.join("host").join(name)).is_ok()
}

#[test]
fn a_link_out_of_a_writable_directory_is_not_made() {
    let temp = furnished();
    let files = host(temp.path());
    for (at, target) in OUT {
        assert_eq!(files.symlink(target, &path(at), NOW), Err(FileError::Denied), "{at} -> {target}");
        assert!(!is_there(temp.path(), at));
    }
    for (at, target) in [("in", "f"), ("d/e/in", "../../f"), ("d/in", "e/g"), ("d/e/up", "..")] {
        files.symlink(target, &path(at), NOW).unwrap();
    }
    let any = host(temp.path()).with_links(Links::Any);
    any.symlink("/etc/shadow", &path("asked"), NOW).unwrap();
    assert!(is_there(temp.path(), "asked"));
}

#[test]
fn a_link_is_not_moved_to_where_it_leads_out_with_a_directory_or_alone() {
    let temp = furnished();
    let files = host(temp.path());
    files.symlink("../../f", &path("d/e/l"), NOW).unwrap();
    let denied = Err(FileError::Denied);
    assert_eq!(files.rename(&path("d/e/l"), &path("l"), NOW), denied);
    assert_eq!(files.rename(&path("d/e"), &path("e"), NOW), denied, "the directory above it");
    files.create_dir(&path("d/e/deep"), Mode::DIRECTORY, NOW).unwrap();
    files.symlink("../../../f", &path("d/e/deep/l"), NOW).unwrap();
    files.unlink(&path("d/e/l"), NOW).unwrap();
    assert_eq!(files.rename(&path("d/e"), &path("e"), NOW), denied, "a directory two above it");
    assert_eq!(files.link(&path("d/e/deep/l"), Follow::No, &path("l"), NOW), denied, "a second name");
    assert!(is_there(temp.path(), "d/e/deep/l") && !is_there(temp.path(), "e"));
    // As deep or deeper is no way out.
    files.create_dir(&path("d/g"), Mode::DIRECTORY, NOW).unwrap();
    files.rename(&path("d/e/deep"), &path("d/g/deep"), NOW).unwrap();
    // A link of the host's own that was absolute is nothing a guest made.
    symlink("/usr", temp.path().join("host/d/e/usr")).unwrap();
    files.rename(&path("d/e"), &path("e"), NOW).unwrap();
}

#[test]
fn a_commit_leaves_links_out_that_lead_out_and_says_which() {
    for (at, target) in OUT {
        let temp = furnished();
        let mounted = mount(temp.path());
        mounted.files().symlink(target, &path(at), NOW).unwrap();
        mounted.files().symlink("f", &path("in"), NOW).unwrap();
        let done = mounted.commit(IfChanged::Refuse, Links::Inside, NOW).unwrap();
        let left: Vec<_> = done.left_out.iter().map(|it| (it.path.as_str(), it.target.as_str())).collect();
        assert_eq!(left, [(at, target)]);
        assert_eq!(done.written.len(), 1);
        assert!(!is_there(temp.path(), at) && is_there(temp.path(), "in"));
        // It is not lost: it waits, and whoever asks for it gets it.
        assert_eq!(mounted.diff().unwrap().len(), 1);
        let done = mounted.commit(IfChanged::Refuse, Links::Any, NOW).unwrap();
        assert_eq!((done.written.len(), done.left_out.len()), (1, 0));
        assert_eq!(fs::read_link(temp.path().join("host").join(at)).unwrap(), Path::new(target));
        assert_eq!(mounted.diff().unwrap(), []);
    }
}

#[test]
fn a_commit_looks_where_a_link_lies_in_the_end() {
    let temp = furnished();
    symlink("../../f", temp.path().join("host/d/e/l")).unwrap();
    let mounted = mount(temp.path());
    let files = mounted.files();
    files.symlink("../f", &path("d/own"), NOW).unwrap();
    files.rename(&path("d/e"), &path("e"), NOW).unwrap();
    files.rename(&path("d/own"), &path("own"), NOW).unwrap();
    let done = mounted.commit(IfChanged::Refuse, Links::Inside, NOW).unwrap();
    let left: Vec<_> = done.left_out.iter().map(|it| it.path.as_str()).collect();
    assert_eq!(left, ["e/l", "own"]);
    assert!(is_there(temp.path(), "e") && !is_there(temp.path(), "e/l") && !is_there(temp.path(), "own"));
}

//! Trees are there whole or not at all, and nothing in them leads out.

use drydock_contract::{
    Timestamp,
    port::{FileError, Files as _, Follow, OpenHow},
};

use super::*;

fn home() -> (tempfile::TempDir, TreeStore) {
    let temp = tempfile::tempdir().unwrap();
    let store = TreeStore::new(&Home::open(temp.path()).unwrap());
    (temp, store)
}

fn path(text: &str) -> drydock_contract::port::TreePath {
    drydock_contract::port::TreePath::new(text).unwrap()
}

fn left(store: &TreeStore) -> Vec<String> {
    let names = fs::read_dir(store.home.trees()).unwrap();
    names.map(|it| it.unwrap().file_name().into_string().unwrap()).collect()
}

#[test]
fn a_tree_is_there_whole_read_only_and_can_be_checked() {
    let (_temp, store) = home();
    let digest = Digest::of(b"archive");
    let mut tree = store.begin(digest, TreeBounds::default()).unwrap();
    tree.dir("./").unwrap();
    tree.dir("include/").unwrap();
    tree.dir("include").unwrap();
    tree.file("./include/stdio.h", b"int puts();", 0o644).unwrap();
    tree.file("bin/tool", b"#!", 0o755).unwrap();
    tree.link("include/std.h", "stdio.h").unwrap();
    assert!(!store.contains(digest), "it has no name before it is finished");
    assert_eq!(tree.finish().unwrap(), 5);
    assert!(store.contains(digest) && store.all() == [digest]);
    assert_eq!(store.verify(digest).unwrap(), 13);

    let files = store.open(digest).unwrap();
    assert_eq!(files.stat(&path("include/std.h"), Follow::Yes).unwrap().size, 11);
    assert!(files.stat(&path("bin/tool"), Follow::Yes).unwrap().mode.bits() & 0o111 != 0);
    let write = OpenHow { write: true, create: true, ..OpenHow::default() };
    for name in ["include/stdio.h", "include/new.h"] {
        assert_eq!(files.open(&path(name), write, Timestamp(0)).err(), Some(FileError::ReadOnly), "{name}");
    }

    let altered = store.path_of(digest).join("include/stdio.h");
    fs::remove_file(&altered).unwrap();
    fs::write(&altered, b"int evil();").unwrap();
    assert_eq!(store.verify(digest).unwrap_err().code(), "artifact_integrity");
    fs::remove_file(&altered).unwrap();
    std::os::unix::fs::symlink("/etc/passwd", &altered).unwrap();
    assert_eq!(store.verify(digest).unwrap_err().code(), "artifact_read");
    store.remove(digest).unwrap();
    assert!(!store.contains(digest) && left(&store).is_empty());
}

#[test]
fn what_leads_out_is_refused_by_name_and_leaves_nothing() {
    let (_temp, store) = home();
    type Act = fn(&mut NewTree) -> Result<(), PutTreeError>;
    let acts: [(&str, Act); 13] = [
        ("bad_tree", |it| it.file("../x", b"", 0)),
        ("bad_tree", |it| it.file("/etc/x", b"", 0)),
        ("bad_tree", |it| it.file("a/../../x", b"", 0)),
        ("bad_tree", |it| it.file("a//x", b"", 0)),
        ("bad_tree", |it| it.file("", b"", 0)),
        ("bad_tree", |it| it.file("a\nb", b"", 0)),
        ("bad_tree", |it| it.dir("/")),
        ("bad_tree", |it| it.link("a", "/etc/passwd")),
        ("bad_tree", |it| it.link("a", "../x")),
        ("bad_tree", |it| it.link("d/a", "x/../../../y")),
        // Through a link, over a file, twice.
        ("bad_tree", |it| it.link("l", "d").and_then(|()| it.file("l/x", b"", 0))),
        ("bad_tree", |it| it.file("f", b"", 0).and_then(|()| it.file("f/x", b"", 0))),
        ("bad_tree", |it| it.file("f", b"", 0).and_then(|()| it.file("f", b"other", 0))),
    ];
    for (index, (code, act)) in acts.into_iter().enumerate() {
        let mut tree = store.begin(Digest::of(b"a"), TreeBounds::default()).unwrap();
        assert_eq!(act(&mut tree).unwrap_err().code(), code, "case {index}");
        drop(tree);
        assert!(left(&store).is_empty(), "case {index}");
    }
}

#[test]
fn a_tree_has_bounds() {
    let (_temp, store) = home();
    let bounds = TreeBounds { files_max: 3, bytes_max: 10 };
    let mut tree = store.begin(Digest::of(b"a"), bounds).unwrap();
    tree.file("a/b", b"12345", 0).unwrap();
    assert_eq!(tree.file("c", b"123456", 0).unwrap_err().to_string(), "more than 10 bytes");
    let mut tree = store.begin(Digest::of(b"a"), bounds).unwrap();
    tree.file("a/b", b"", 0).unwrap();
    assert_eq!(tree.file("c/d", b"", 0).unwrap_err().to_string(), "more than 3 files");
}

#[test]
fn two_who_make_the_same_tree_leave_one() {
    let (_temp, store) = home();
    let digest = Digest::of(b"a");
    let mut all: Vec<_> = (0..2).map(|_| store.begin(digest, TreeBounds::default()).unwrap()).collect();
    for tree in &mut all {
        tree.file("f", b"same", 0).unwrap();
    }
    for tree in all {
        tree.finish().unwrap();
    }
    assert_eq!(store.verify(digest).unwrap(), 4);
    assert_eq!(left(&store).len(), 2, "the tree and its list");
}

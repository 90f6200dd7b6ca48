//! Several trees under one root: what is listed, what is crossed, what cannot be left.

use super::*;

const NOW: Timestamp = Timestamp(7);

fn memory() -> Arc<MemoryFiles> {
    Arc::new(MemoryFiles::with(Arc::new(Meter::new(1 << 20))))
}

fn path(text: &str) -> TreePath {
    TreePath::new(text).unwrap()
}

fn read(mounts: &Mounts, text: &str) -> FileResult<Vec<u8>> {
    let file = mounts.open(&path(text), OpenHow { read: true, ..OpenHow::default() }, NOW)?;
    let mut bytes = vec![0; 100];
    let count = file.read_at(0, &mut bytes)?;
    bytes.truncate(count);
    Ok(bytes)
}

/// `/workspace` with `a/f`, and `/memory` with `g`.
fn two() -> Mounts {
    let (one, two) = (memory(), memory());
    one.write("a/f", b"f").unwrap();
    two.write("g", b"g").unwrap();
    let mut mounts = Mounts::new();
    mounts.mount("workspace", one).unwrap();
    mounts.mount("memory", two).unwrap();
    mounts
}

#[test]
fn the_root_lists_the_mounts_and_nothing_can_be_made_beside_them() {
    let mounts = two();
    let names: Vec<_> = mounts.read_dir(&path("/")).unwrap().into_iter().map(|it| it.name).collect();
    assert_eq!(names, ["memory", "workspace"]);
    for entry in mounts.read_dir(&path("")).unwrap() {
        assert_eq!(mounts.stat(&path(&entry.name), Follow::Yes).unwrap().inode, entry.inode);
    }
    assert_eq!(mounts.create_dir(&path("/x"), NOW), Err(FileError::ReadOnly));
    assert_eq!(mounts.create_dir(&path("/memory"), NOW), Err(FileError::Exists));
    assert_eq!(mounts.remove_dir(&path("/memory"), NOW), Err(FileError::Denied));
    assert_eq!(mounts.rename(&path("/memory"), &path("/workspace/m"), NOW), Err(FileError::Denied));
    assert_eq!(mounts.symlink("x", &path("/y"), NOW), Err(FileError::ReadOnly));
}

#[test]
fn dots_and_links_lead_from_tree_to_tree_and_never_out() {
    let mounts = two();
    mounts.symlink("/memory/g", &path("workspace/absolute"), NOW).unwrap();
    mounts.symlink("../../memory/g", &path("workspace/a/relative"), NOW).unwrap();
    mounts.symlink("../../../../../../etc/passwd", &path("workspace/out"), NOW).unwrap();
    let cases = [
        ("/workspace/absolute", Ok(b"g".to_vec())),
        ("workspace/a/relative", Ok(b"g".to_vec())),
        ("workspace/../memory/g", Ok(b"g".to_vec())),
        ("memory/../../../workspace/a/f", Ok(b"f".to_vec())),
        ("workspace/a/../../memory/../workspace/a/f", Ok(b"f".to_vec())),
        ("workspace/out", Err(FileError::NotFound)),
        ("memory/a/f", Err(FileError::NotFound)),
    ];
    for (text, want) in cases {
        assert_eq!(read(&mounts, text), want, "{text}");
    }
}

#[test]
fn moving_and_linking_between_trees_is_refused_as_crossing() {
    let mounts = two();
    let (from, to) = (path("workspace/a/f"), path("memory/f"));
    assert_eq!(mounts.rename(&from, &to, NOW), Err(FileError::CrossDevice));
    assert_eq!(mounts.link(&from, Follow::No, &to, NOW), Err(FileError::CrossDevice));
    mounts.rename(&from, &path("workspace/f"), NOW).unwrap();
    assert_eq!(read(&mounts, "workspace/f"), Ok(b"f".to_vec()));
}

#[test]
fn a_mount_has_one_plain_name() {
    let mut mounts = two();
    for bad in ["", ".", "..", "a/b", "/a", "a/"] {
        assert_eq!(mounts.mount(bad, memory()), Err(FileError::Invalid), "{bad:?}");
    }
    assert_eq!(mounts.mount("memory", memory()), Err(FileError::Exists));
}

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
    assert_eq!(mounts.create_dir(&path("/x"), Mode::DIRECTORY, NOW), Err(FileError::ReadOnly));
    assert_eq!(mounts.create_dir(&path("/memory"), Mode::DIRECTORY, NOW), Err(FileError::Exists));
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
fn a_place_is_taken_once() {
    let mut mounts = two();
    for bad in ["", ".", "..", "a/..", "a/../b"] {
        assert_eq!(mounts.mount(bad, memory()), Err(MountError::Path(bad.to_owned())), "{bad:?}");
    }
    for taken in ["memory", "/memory", "memory/", "//memory//"] {
        let error = mounts.mount(taken, memory()).unwrap_err();
        assert_eq!(error.to_string(), "something is mounted at `/memory` already; choose another place");
        assert_eq!(FileError::from(error), FileError::Exists);
    }
}

fn names(mounts: &Mounts, text: &str) -> Vec<String> {
    mounts.read_dir(&path(text)).unwrap().into_iter().map(|it| it.name).collect()
}

#[test]
fn a_mount_may_lie_deep_and_the_way_to_it_is_listed() {
    let deep = memory();
    deep.write("f", b"deep").unwrap();
    let mut mounts = two();
    mounts.mount("/data/in/here", deep).unwrap();
    assert_eq!(names(&mounts, "/"), ["data", "memory", "workspace"]);
    assert_eq!(names(&mounts, "/data"), ["in"]);
    assert_eq!(names(&mounts, "/data/in"), ["here"]);
    assert_eq!(read(&mounts, "/data/in/here/f"), Ok(b"deep".to_vec()));
    for up in
        ["data/in/here/../../../memory/g", "data/./in/../../memory/g", "data/in/here/../../../../memory/g"]
    {
        assert_eq!(read(&mounts, up), Ok(b"g".to_vec()), "{up}");
    }
    let inodes: std::collections::BTreeSet<u64> =
        ["/", "data", "data/in", "data/in/here", "memory", "workspace"]
            .into_iter()
            .map(|it| mounts.stat(&path(it), Follow::Yes).unwrap().inode)
            .collect();
    assert_eq!(inodes.len(), 6);
    for dir in ["", "data", "data/in"] {
        for entry in mounts.read_dir(&path(dir)).unwrap() {
            let text = format!("{dir}/{}", entry.name);
            assert_eq!(mounts.stat(&path(&text), Follow::Yes).unwrap().inode, entry.inode, "{text}");
        }
    }
    // The way itself holds nothing, and stays.
    assert_eq!(mounts.create_dir(&path("data/x"), Mode::DIRECTORY, NOW), Err(FileError::ReadOnly));
    assert_eq!(mounts.create_dir(&path("data/in"), Mode::DIRECTORY, NOW), Err(FileError::Exists));
    assert_eq!(mounts.stat(&path("data/none"), Follow::Yes).err(), Some(FileError::NotFound));
    for way in ["data", "data/in", "data/in/here"] {
        assert_eq!(mounts.remove_dir(&path(way), NOW), Err(FileError::Denied), "{way}");
        assert_eq!(mounts.rename(&path(way), &path("memory/x"), NOW), Err(FileError::Denied), "{way}");
        assert!(mounts.unlink(&path(way), NOW).is_err(), "{way}");
    }
    let times = FileTimes { accessed: None, modified: Some(NOW) };
    assert_eq!(mounts.set_times(&path("data"), Follow::Yes, times, NOW), Err(FileError::ReadOnly));
}

#[test]
fn mounts_inside_mounts_are_seen_in_whatever_order_they_were_made() {
    for order in [["data", "data/in"], ["data/in", "data"]] {
        let mut mounts = two();
        for point in order {
            let files = memory();
            files.write("name", point.as_bytes()).unwrap();
            files.write("sub/f", point.as_bytes()).unwrap();
            mounts.mount(point, files).unwrap();
        }
        assert_eq!(names(&mounts, "data"), ["in", "name", "sub"]);
        assert_eq!(read(&mounts, "data/name"), Ok(b"data".to_vec()));
        assert_eq!(read(&mounts, "data/in/sub/../name"), Ok(b"data/in".to_vec()));
        assert_eq!(read(&mounts, "data/in/../sub/f"), Ok(b"data".to_vec()));
        let (inner, outer) = (path("data/in/name"), path("data/moved"));
        assert_eq!(mounts.rename(&inner, &outer, NOW), Err(FileError::CrossDevice));
        mounts.rename(&path("data/sub"), &path("data/other"), NOW).unwrap();
        assert_eq!(mounts.rename(&path("data/other"), &path("data/in"), NOW), Err(FileError::Denied));
    }
}

#[test]
fn what_lies_where_a_mount_is_reached_gives_way() {
    let outer = memory();
    outer.write("in", b"a file").unwrap();
    outer.write("real/kept", b"kept").unwrap();
    outer.symlink("real", &path("link"), NOW).unwrap();
    let mut mounts = Mounts::over(outer);
    for point in ["in/deep", "link/deep", "real/deep"] {
        let files = memory();
        files.write("f", point.as_bytes()).unwrap();
        mounts.mount(point, files).unwrap();
    }
    // A file and a link are hidden; a directory keeps what it has.
    assert_eq!(names(&mounts, "in"), ["deep"]);
    assert_eq!(names(&mounts, "link"), ["deep"]);
    assert_eq!(names(&mounts, "real"), ["deep", "kept"]);
    for point in ["in/deep", "link/deep", "real/deep"] {
        assert_eq!(read(&mounts, &format!("{point}/f")), Ok(point.as_bytes().to_vec()));
    }
    assert_eq!(read(&mounts, "link/kept"), Err(FileError::NotFound));
    mounts.create_dir(&path("real/new"), Mode::DIRECTORY, NOW).unwrap();
    assert_eq!(mounts.create_dir(&path("link/new"), Mode::DIRECTORY, NOW), Err(FileError::ReadOnly));
    assert_eq!(mounts.remove_dir(&path("real"), NOW), Err(FileError::Denied));
}

#[test]
fn a_tree_at_the_root_shows_the_other_mounts_inside_itself() {
    let root = memory();
    root.write("f", b"root").unwrap();
    root.write("memory/hidden", b"").unwrap();
    for order in [true, false] {
        let mut mounts = if order { two() } else { Mounts::over(memory()) };
        mounts.mount("/", Arc::clone(&root) as _).unwrap();
        if !order {
            let below = memory();
            below.write("g", b"g").unwrap();
            mounts.mount("memory", below).unwrap();
        }
        assert_eq!(read(&mounts, "/f"), Ok(b"root".to_vec()));
        assert_eq!(
            (read(&mounts, "memory/g"), names(&mounts, "memory")),
            (Ok(b"g".to_vec()), vec!["g".into()])
        );
        mounts.create_dir(&path("/made"), Mode::DIRECTORY, NOW).unwrap();
        mounts.remove_dir(&path("/made"), NOW).unwrap();
        let again = mounts.mount("/", memory()).unwrap_err();
        assert_eq!(again.to_string(), "something is mounted at `/` already; choose another place");
        // Neither the root nor a mount in it moves, whoever asks.
        for (from, to) in [("/", "/x"), ("/memory", "/x"), ("/memory/", "/x"), ("/memory", "/memory/x")] {
            let moved = mounts.rename(&path(from), &path(to), NOW);
            assert_eq!(moved, Err(FileError::Denied), "{from} to {to}");
        }
    }
}

#[test]
fn modes_are_those_of_the_tree_and_a_way_has_none_to_set() {
    let mut mounts = two();
    mounts.mount("data/in", memory()).unwrap();
    mounts.set_mode(&path("workspace/a/f"), Follow::Yes, Mode::new(0o4751), NOW).unwrap();
    assert_eq!(mounts.stat(&path("workspace/a/f"), Follow::Yes).unwrap().mode, Mode::new(0o4751));
    assert_eq!(mounts.set_mode(&path("data"), Follow::Yes, Mode::FILE, NOW), Err(FileError::ReadOnly));
    mounts.set_mode(&path("data/in"), Follow::Yes, Mode::new(0o700), NOW).unwrap();
    assert_eq!(mounts.stat(&path("data/in"), Follow::Yes).unwrap().mode, Mode::new(0o700));
}

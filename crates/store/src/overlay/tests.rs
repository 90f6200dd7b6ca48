//! Two layers that look like one tree, and what is told of their difference.

use drydock_contract::Meter;

use super::*;
use crate::MemoryFiles;

const NOW: Timestamp = Timestamp(9);

fn path(text: &str) -> TreePath {
    TreePath::new(text).unwrap()
}

fn memory() -> Arc<MemoryFiles> {
    Arc::new(MemoryFiles::with(Arc::new(Meter::new(1 << 20))))
}

/// A lower tree with `d/x`, `d/sub/y` and `f`; the overlay; the lower tree again.
fn furnished() -> (Overlay, Arc<MemoryFiles>) {
    let lower = memory();
    for (name, bytes) in [("d/x", "x"), ("d/sub/y", "y"), ("f", "f")] {
        lower.write(name, bytes.as_bytes()).unwrap();
    }
    (Overlay::new(Arc::clone(&lower) as _, memory()), lower)
}

fn read(files: &dyn Files, text: &str) -> FileResult<String> {
    let file = files.open(&path(text), OpenHow { read: true, ..OpenHow::default() }, NOW)?;
    let mut bytes = vec![0; 100];
    let count = file.read_at(0, &mut bytes)?;
    Ok(String::from_utf8_lossy(&bytes[..count]).into_owned())
}

fn write(files: &dyn Files, text: &str, bytes: &str) {
    let how = OpenHow { write: true, create: true, truncate: true, ..OpenHow::default() };
    files.open(&path(text), how, NOW).unwrap().write_at(0, bytes.as_bytes(), NOW).unwrap();
}

fn names(files: &dyn Files, text: &str) -> Vec<String> {
    files.read_dir(&path(text)).unwrap().into_iter().map(|it| it.name).collect()
}

/// `A d/new` and the like, one a line.
fn told(overlay: &Overlay) -> String {
    let letter = |kind| match kind {
        ChangeKind::Added => 'A',
        ChangeKind::Modified => 'M',
        ChangeKind::Removed => 'D',
    };
    let lines = overlay.changes().unwrap().into_iter().map(|it| format!("{} {}", letter(it.kind), it.path));
    lines.collect::<Vec<_>>().join(", ")
}

fn untouched(lower: &MemoryFiles) {
    assert_eq!(names(lower, ""), ["d", "f"]);
    assert_eq!(names(lower, "d"), ["sub", "x"]);
    for (name, want) in [("d/x", "x"), ("d/sub/y", "y"), ("f", "f")] {
        assert_eq!(lower.read(name).unwrap(), want.as_bytes());
    }
}

#[test]
fn what_is_written_is_seen_above_and_not_below() {
    let (overlay, lower) = furnished();
    assert_eq!(told(&overlay), "");
    write(&overlay, "f", "new");
    write(&overlay, "d/sub/z", "z");
    overlay
        .open(&path("d/x"), OpenHow { write: true, ..OpenHow::default() }, NOW)
        .unwrap()
        .append(b"!", NOW)
        .unwrap();
    assert_eq!(read(&overlay, "d/x").unwrap(), "x!");
    assert_eq!(names(&overlay, "d/sub"), ["y", "z"]);
    assert_eq!(told(&overlay), "M d/x, A d/sub/z, M f".replace("M d/x, A d/sub/z", "A d/sub/z, M d/x"));
    write(&overlay, "f", "f");
    assert_eq!(told(&overlay), "A d/sub/z, M d/x");
    untouched(&lower);
}

#[test]
fn what_is_removed_stays_removed_and_comes_back_empty() {
    let (overlay, lower) = furnished();
    overlay.unlink(&path("f"), NOW).unwrap();
    assert_eq!(overlay.unlink(&path("f"), NOW), Err(FileError::NotFound));
    assert_eq!(overlay.remove_dir(&path("d"), NOW), Err(FileError::NotEmpty));
    for name in ["d/sub/y", "d/x"] {
        overlay.unlink(&path(name), NOW).unwrap();
    }
    overlay.remove_dir(&path("d/sub"), NOW).unwrap();
    overlay.remove_dir(&path("d"), NOW).unwrap();
    assert_eq!(names(&overlay, ""), [""; 0]);
    assert_eq!(told(&overlay), "D d, D d/sub, D d/sub/y, D d/x, D f");
    overlay.create_dir(&path("d"), Mode::DIRECTORY, NOW).unwrap();
    assert_eq!(names(&overlay, "d"), [""; 0]);
    write(&overlay, "d/x", "again");
    assert_eq!(told(&overlay), "D d/sub, D d/sub/y, M d/x, D f");
    untouched(&lower);
}

#[test]
fn a_directory_of_both_trees_is_renamed_whole() {
    let (overlay, lower) = furnished();
    overlay.unlink(&path("d/x"), NOW).unwrap();
    write(&overlay, "d/new", "new");
    overlay.rename(&path("d"), &path("e"), NOW).unwrap();
    assert_eq!(names(&overlay, ""), ["e", "f"]);
    assert_eq!(names(&overlay, "e"), ["new", "sub"]);
    assert_eq!(read(&overlay, "e/sub/y").unwrap(), "y");
    assert_eq!(overlay.rename(&path("e"), &path("e/sub/in"), NOW), Err(FileError::Invalid));
    overlay.create_dir(&path("d"), Mode::DIRECTORY, NOW).unwrap();
    overlay.rename(&path("e"), &path("d"), NOW).unwrap();
    assert_eq!(names(&overlay, "d"), ["new", "sub"]);
    assert_eq!(told(&overlay), "A d/new, D d/x");
    untouched(&lower);
}

#[test]
fn a_file_is_renamed_over_one_of_the_other_tree() {
    let (overlay, lower) = furnished();
    let replaced = overlay.open(&path("d/x"), OpenHow { read: true, ..OpenHow::default() }, NOW).unwrap();
    overlay.rename(&path("f"), &path("d/x"), NOW).unwrap();
    assert_eq!(read(&overlay, "d/x").unwrap(), "f");
    assert_eq!(replaced.stat().unwrap().links, 0);
    overlay.unlink(&path("d/x"), NOW).unwrap();
    assert_eq!(names(&overlay, "d"), ["sub"]);
    assert_eq!(told(&overlay), "D d/x, D f");
    untouched(&lower);
}

#[test]
fn handles_see_what_is_written_after_they_were_opened() {
    let (overlay, lower) = furnished();
    let how = OpenHow { read: true, write: true, ..OpenHow::default() };
    let (one, two) =
        (overlay.open(&path("f"), how, NOW).unwrap(), overlay.open(&path("f"), how, NOW).unwrap());
    let before = one.stat().unwrap().inode;
    two.append(b"!", NOW).unwrap();
    let mut bytes = [0; 2];
    assert_eq!((one.read_at(0, &mut bytes), bytes), (Ok(2), *b"f!"));
    let after = overlay.stat(&path("f"), Follow::No).unwrap().inode;
    assert_eq!((one.stat().unwrap().inode, after), (before, before));
    // Unlinked while still below: a write has a copy without a name.
    let gone = overlay.open(&path("d/x"), how, NOW).unwrap();
    overlay.unlink(&path("d/x"), NOW).unwrap();
    gone.append(b"?", NOW).unwrap();
    assert_eq!((gone.read_at(0, &mut bytes), bytes), (Ok(2), *b"x?"));
    assert_eq!(names(&overlay, "d"), ["sub"]);
    untouched(&lower);
}

#[test]
fn a_guest_can_neither_see_nor_make_a_whiteout() {
    let (overlay, _lower) = furnished();
    overlay.unlink(&path("f"), NOW).unwrap();
    assert_eq!(names(&overlay, ""), ["d"]);
    assert_eq!(overlay.unlink(&path(".wh.f"), NOW), Err(FileError::Denied));
    assert_eq!(overlay.create_dir(&path(".wh.d"), Mode::DIRECTORY, NOW), Err(FileError::Denied));
    assert_eq!(overlay.rename(&path("d"), &path(".wh.f"), NOW), Err(FileError::Denied));
}

#[test]
fn times_and_links_of_the_lower_tree_survive_the_copy() {
    let (overlay, lower) = furnished();
    let then = Timestamp(5);
    lower
        .set_times(&path("f"), Follow::No, FileTimes { accessed: None, modified: Some(then) }, then)
        .unwrap();
    overlay.link(&path("f"), Follow::No, &path("g"), NOW).unwrap();
    let (f, g) =
        (overlay.stat(&path("f"), Follow::No).unwrap(), overlay.stat(&path("g"), Follow::No).unwrap());
    assert_eq!((f.modified, f.links, f.inode), (then, 2, g.inode));
    assert_eq!(told(&overlay), "A g");
}

//! What is true of this backing beyond what every backing promises: its charges and its limits.

use std::thread;

use drydock_contract::port::FileLimit;

use super::*;

const NOW: Timestamp = Timestamp(5);

fn tree(bytes_max: u64) -> (Arc<Meter>, MemoryFiles) {
    let meter = Arc::new(Meter::new(bytes_max));
    (Arc::clone(&meter), MemoryFiles::with(meter))
}

fn path(text: &str) -> TreePath {
    TreePath::new(text).unwrap()
}

fn open(files: &MemoryFiles, name: &str) -> Arc<dyn OpenFile> {
    let how = OpenHow { read: true, write: true, create: true, ..OpenHow::default() };
    files.open(&path(name), how, NOW).unwrap()
}

#[test]
fn an_empty_tree_holds_nothing() {
    let (meter, files) = tree(0);
    assert_eq!(files.read_dir(&TreePath::root()).unwrap(), []);
    assert_eq!(files.create_dir(&path("a"), Mode::DIRECTORY, NOW), Err(FileError::Quota(FileLimit::Bytes)));
    assert_eq!((meter.held(), meter.peak()), (0, 0));
}

#[test]
fn everything_held_is_given_back_by_removing_it_and_by_dropping_the_tree() {
    let (meter, files) = tree(1 << 20);
    files.write("a/b/c", &[1; 1000]).unwrap();
    files.symlink("c", &path("a/b/d"), NOW).unwrap();
    files.link(&path("a/b/c"), Follow::No, &path("e"), NOW).unwrap();
    assert!(meter.held() >= 1000 + 5 * 128);
    for name in ["a/b/c", "a/b/d", "e"] {
        files.unlink(&path(name), NOW).unwrap();
    }
    files.remove_dir(&path("a/b"), NOW).unwrap();
    files.remove_dir(&path("a"), NOW).unwrap();
    assert_eq!(meter.held(), 0);
    files.write("x/y", b"z").unwrap();
    drop(files);
    assert_eq!(meter.held(), 0);
}

#[test]
fn an_unlinked_file_is_paid_for_until_its_last_handle_is_gone() {
    let (meter, files) = tree(1 << 20);
    let handle = open(&files, "f");
    handle.append(&[7; 4096], NOW).unwrap();
    files.unlink(&path("f"), NOW).unwrap();
    assert!(meter.held() >= 4096);
    drop(files);
    assert_eq!(handle.stat().unwrap().links, 0);
    let mut byte = [0];
    assert_eq!(handle.read_at(4095, &mut byte), Ok(1));
    drop(handle);
    assert_eq!(meter.held(), 0);
}

#[test]
fn a_full_meter_is_a_full_disk_and_changes_nothing() {
    let (meter, files) = tree(4096);
    let file = open(&files, "f");
    file.append(&[1; 3000], NOW).unwrap();
    let before = meter.held();
    assert_eq!(file.append(&[2; 1000], NOW), Err(FileError::Quota(FileLimit::Bytes)));
    assert_eq!(file.append(&[2; 3000], NOW), Err(FileError::Quota(FileLimit::FileBytes)));
    assert_eq!(file.set_len(4000, NOW), Err(FileError::Quota(FileLimit::Bytes)));
    assert_eq!(file.write_at(4000, b"x", NOW), Err(FileError::Quota(FileLimit::Bytes)));
    assert_eq!((meter.held(), file.stat().unwrap().size), (before, 3000));
    assert_eq!(files.rename(&path("f"), &path(&"n".repeat(255)), NOW), Ok(()));
    // What is left can be used to the byte.
    let room = 4096 - meter.held();
    file.append(&vec![3; usize::try_from(room).unwrap()], NOW).unwrap();
    file.set_len(0, NOW).unwrap();
    assert!(meter.held() < 600);
}

#[test]
fn a_rename_to_a_longer_name_than_fits_leaves_the_old_one() {
    let (meter, files) = tree(128 + 64 + 64 + 1 + 128 + 64 + 1);
    files.write("a", b"x").unwrap();
    files.create_dir(&path("d"), Mode::DIRECTORY, NOW).unwrap();
    assert_eq!(meter.held(), meter.max());
    assert_eq!(files.rename(&path("a"), &path("long"), NOW), Err(FileError::Quota(FileLimit::Bytes)));
    assert_eq!(files.read("a").unwrap(), b"x");
    files.rename(&path("a"), &path("d/b"), NOW).unwrap();
    assert_eq!(files.read("d/b").unwrap(), b"x");
    assert_eq!(meter.held(), meter.max());
}

#[test]
fn a_hole_is_charged_before_it_is_allocated() {
    let (meter, files) = tree(1 << 20);
    let file = open(&files, "f");
    let cases = [
        // offset       want
        (1 << 10, None),
        (1 << 19, None),
        (1 << 20, Some(FileError::Quota(FileLimit::FileBytes))),
        (1 << 40, Some(FileError::Quota(FileLimit::FileBytes))),
        (u64::MAX - 1, Some(FileError::Quota(FileLimit::FileBytes))),
        (u64::MAX, Some(FileError::TooBig)),
    ];
    for (offset, want) in cases {
        assert_eq!(file.write_at(offset, b"x", NOW).err(), want, "{offset}");
    }
    assert_eq!(file.set_len(u64::MAX, NOW), Err(FileError::Quota(FileLimit::FileBytes)));
    assert!(meter.peak() <= 1 << 20);
    let mut buffer = [9; 4];
    assert_eq!(file.read_at(u64::MAX, &mut buffer), Ok(0));
    assert_eq!(file.read_at(1 << 18, &mut buffer), Ok(4));
    assert_eq!(buffer, [0; 4]);
}

#[test]
fn names_are_counted_and_hard_links_are_not_free() {
    let (meter, files) = tree(1 << 30);
    files.write("f", b"").unwrap();
    for n in 1..FILES_MAX {
        files.link(&path("f"), Follow::No, &path(&n.to_string()), NOW).unwrap();
    }
    assert_eq!(files.link(&path("f"), Follow::No, &path("x"), NOW), Err(FileError::Quota(FileLimit::Files)));
    assert_eq!(files.create_dir(&path("x"), Mode::DIRECTORY, NOW), Err(FileError::Quota(FileLimit::Files)));
    assert!(meter.held() > 64 * FILES_MAX as u64);
    files.unlink(&path("7"), NOW).unwrap();
    files.create_dir(&path("x"), Mode::DIRECTORY, NOW).unwrap();
    assert_eq!(files.stat(&path("f"), Follow::No).unwrap().links, FILES_MAX as u64 - 1);
}

#[test]
fn directories_go_only_so_deep_also_by_renaming() {
    let (_meter, files) = tree(1 << 20);
    let deep = |n| vec!["d"; n].join("/");
    files.create_dir_all(&deep(DEPTH_MAX)).unwrap();
    assert_eq!(
        files.create_dir(&path(&deep(DEPTH_MAX + 1)), Mode::DIRECTORY, NOW),
        Err(FileError::Quota(FileLimit::Depth))
    );
    files.create_dir_all("e/e").unwrap();
    let to = |n| path(&format!("{}/e", deep(n)));
    assert_eq!(files.rename(&path("e"), &to(DEPTH_MAX - 1), NOW), Err(FileError::Quota(FileLimit::Depth)));
    files.rename(&path("e"), &to(DEPTH_MAX - 2), NOW).unwrap();
    drop(files);
}

#[test]
fn a_link_cannot_make_a_name_that_no_path_may_have() {
    let (_meter, files) = tree(1 << 20);
    files.symlink(&"n".repeat(256), &path("l"), NOW).unwrap();
    let how = OpenHow { write: true, create: true, ..OpenHow::default() };
    assert_eq!(files.open(&path("l"), how, NOW).err(), Some(FileError::NameTooLong));
}

#[test]
fn appends_from_many_threads_do_not_mix() {
    let (_meter, files) = tree(1 << 24);
    thread::scope(|scope| {
        for who in b'a'..=b'd' {
            let file = open(&files, "log");
            scope.spawn(move || {
                for _ in 0..500 {
                    file.append(&[who; 7], NOW).unwrap();
                }
            });
        }
    });
    let all = files.read("log").unwrap();
    assert_eq!(all.len(), 4 * 500 * 7);
    assert!(all.chunks(7).all(|it| it.iter().all(|b| *b == it[0])));
}

#[test]
fn an_embedder_writes_and_reads_by_plain_paths() {
    let (_meter, files) = tree(1 << 20);
    files.write("/work/in/data.json", b"{}").unwrap();
    files.write("work/in/data.json", b"[]").unwrap();
    assert_eq!(files.read("work/in/../in/data.json").unwrap(), b"[]");
    assert_eq!(files.create_dir_all("work/in/data.json"), Err(FileError::Exists));
    assert_eq!(files.write("work/in/data.json/x", b""), Err(FileError::Exists));
    assert_eq!(files.write("work/", b""), Err(FileError::IsADirectory));
    assert!(files.exists("work") && !files.exists("none"));
}

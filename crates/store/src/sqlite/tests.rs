//! What is true of a volume beyond what every backing promises: sharing, quotas, and bad days.

use drydock_contract::port::{FileError::NoSpace, FileLimit};

use super::*;

const NOW: Timestamp = Timestamp(5_000_000_000);

fn path(text: &str) -> TreePath {
    TreePath::new(text).unwrap()
}

fn full(limit: FileLimit) -> FileResult<()> {
    Err(FileError::Quota(limit))
}

fn fresh(quota: Quota) -> (tempfile::TempDir, Arc<Db>, SqliteFiles) {
    let temp = tempfile::tempdir().unwrap();
    let db = Arc::new(Db::open(&temp.path().join("w.sqlite")).unwrap());
    let files = SqliteFiles::new(&db, "workspace", quota).unwrap();
    (temp, db, files)
}

fn number(db: &Db, text: &str) -> i64 {
    db.with_connection(|conn| conn.query_row(text, [], |row| row.get(0)).unwrap())
}

/// Every count agrees with what it counts, and nothing is left that nobody has.
pub(super) fn sound(db: &Db) {
    db.with_connection(|conn| {
        let check: String = conn.query_row("PRAGMA integrity_check", [], |row| row.get(0)).unwrap();
        assert_eq!(check, "ok");
    });
    let references = "SELECT content, hash FROM node WHERE content IS NOT NULL
        UNION ALL SELECT content, hash FROM chunk";
    let wrong = [
        format!("SELECT count(*) FROM content WHERE id NOT IN (SELECT content FROM ({references}))"),
        format!("SELECT count(*) FROM ({references}) WHERE content NOT IN (SELECT id FROM content)"),
        format!("SELECT count(*) FROM sealed s WHERE refs <> (SELECT count(*) FROM ({references}) r WHERE r.hash = s.hash AND r.content = s.content)"),
        format!("SELECT count(*) FROM ({references}) WHERE hash IS NOT NULL AND hash NOT IN (SELECT hash FROM sealed)"),
        "SELECT count(*) FROM chunk WHERE node NOT IN (SELECT id FROM node)".to_owned(),
        "SELECT count(*) FROM name WHERE node NOT IN (SELECT id FROM node)".to_owned(),
        "SELECT count(*) FROM node d WHERE kind <> 1 AND links <> (SELECT count(*) FROM name n WHERE n.node = d.id)".to_owned(),
    ];
    for text in wrong {
        assert_eq!(number(db, &text), 0, "{text}");
    }
}

#[test]
fn equal_files_are_stored_once_however_they_were_written() {
    let (_temp, db, files) = fresh(Quota::default());
    let bytes = vec![7; 100_000];
    files.put(&path("a"), &bytes, NOW).unwrap();
    files.put(&path("deep/er/b"), &bytes, NOW).unwrap();
    let how = OpenHow { read: true, write: true, create: true, ..OpenHow::default() };
    let file = files.open(&path("c"), how, NOW).unwrap();
    for part in bytes.chunks(999) {
        file.append(part, NOW).unwrap();
    }
    drop(file);
    assert_eq!(number(&db, "SELECT sum(length(bytes)) FROM content"), 100_000);
    // Writing to one leaves the others alone.
    files.open(&path("a"), how, NOW).unwrap().write_at(70_000, b"!", NOW).unwrap();
    assert_eq!(files.get(&path("c"), 1 << 20).unwrap(), bytes);
    sound(&db);
    for name in ["a", "deep", "c"] {
        files.remove_all(&path(name), NOW).unwrap();
    }
    assert_eq!(number(&db, "SELECT count(*) FROM content"), 0);
    sound(&db);
}

#[test]
fn a_write_into_a_large_file_costs_the_pages_it_touches() {
    let (temp, db, files) = fresh(Quota::default());
    let how = OpenHow { read: true, write: true, create: true, ..OpenHow::default() };
    let file = files.open(&path("data"), how, NOW).unwrap();
    file.set_len(8 << 20, NOW).unwrap();
    for page in 0..2048_u64 {
        file.write_at(page * 4096, &[1; 4096], NOW).unwrap();
    }
    db.with_connection(|conn| conn.execute_batch("PRAGMA wal_checkpoint(TRUNCATE)").unwrap());
    for page in 0..20_u64 {
        file.write_at(page * 400_000, &[2; 4096], NOW).unwrap();
    }
    let log = std::fs::metadata(temp.path().join("w.sqlite-wal")).unwrap().len();
    assert!(log < 20 * 6 * 4200, "{log} bytes were logged for 20 writes of a page");
    sound(&db);
}

#[test]
fn sql_sees_the_files_as_they_are() {
    let (_temp, db, files) = fresh(Quota::default());
    let mut large: Vec<u8> = (0..200_000_u32).map(|it| (it % 251) as u8).collect();
    files.put(&path("d/large"), &large, NOW).unwrap();
    files.put(&path("empty"), b"", NOW).unwrap();
    let how = OpenHow { read: true, write: true, create: true, ..OpenHow::default() };
    let hole = files.open(&path("hole"), how, NOW).unwrap();
    hole.write_at(140_000, b"end", NOW).unwrap();
    let get = |name: &str| -> (Vec<u8>, i64) {
        let text = "SELECT content, mtime FROM vfs WHERE volume = 'workspace' AND path = ?1";
        db.with_connection(|conn| conn.query_row(text, [name], |row| Ok((row.get(0)?, row.get(1)?))).unwrap())
    };
    assert_eq!(get("d/large"), (large.clone(), 5));
    assert_eq!(get("empty"), (vec![], 5));
    large.fill(0);
    large.truncate(140_000);
    large.extend(b"end");
    assert_eq!(get("hole"), (large, 5));
    assert_eq!(number(&db, "SELECT count(*) FROM vfs"), 3);
    assert_eq!(number(&db, "SELECT count(*) FROM tree"), 4);
}

#[test]
fn a_full_quota_is_a_full_disk_and_changes_nothing() {
    let quota =
        Quota { bytes_max: 1000, file_bytes_max: 900, files_max: 4, depth_max: 2, path_bytes_max: 20 };
    let (_temp, db, files) = fresh(quota);
    files.put(&path("a"), &[1; 600], NOW).unwrap();
    assert_eq!(files.put(&path("b"), &[1; 600], NOW), full(FileLimit::Bytes));
    assert_eq!(files.put(&path("a"), &[1; 901], NOW), full(FileLimit::FileBytes));
    files.put(&path("a"), &[1; 900], NOW).unwrap();
    let how = OpenHow { write: true, create: true, ..OpenHow::default() };
    let file = files.open(&path("b"), how, NOW).unwrap();
    assert_eq!(file.write_at(0, &[1; 101], NOW), full(FileLimit::Bytes));
    file.append(&[1; 100], NOW).unwrap();
    assert_eq!(file.append(&[1], NOW), Err(FileError::Quota(FileLimit::Bytes)));
    assert_eq!(files.symlink("a", &path("l"), NOW), full(FileLimit::Bytes));
    files.open(&path("a"), how, NOW).unwrap().set_len(10, NOW).unwrap();
    files.symlink("a", &path("l"), NOW).unwrap();
    files.create_dir(&path("d"), Mode::DIRECTORY, NOW).unwrap();
    assert_eq!(files.create_dir(&path("e"), Mode::DIRECTORY, NOW), full(FileLimit::Files));
    assert_eq!(files.put(&path("d/d/d/x"), b"", NOW), full(FileLimit::Files));
    files.unlink(&path("l"), NOW).unwrap();
    files.create_dir(&path("d/d"), Mode::DIRECTORY, NOW).unwrap();
    files.unlink(&path("b"), NOW).unwrap();
    assert_eq!(files.create_dir(&path("d/d/d"), Mode::DIRECTORY, NOW), full(FileLimit::Depth));
    assert_eq!(files.put(&path(&"n".repeat(21)), b"", NOW), full(FileLimit::PathBytes));
    drop(file);
    sound(&db);
    assert_eq!(number(&db, "SELECT sum(size) FROM node"), 10);
}

#[test]
fn a_full_disk_is_no_space_and_the_database_stays_good() {
    let (_temp, db, files) = fresh(Quota::default());
    files.put(&path("kept"), b"kept", NOW).unwrap();
    let pages = number(&db, "PRAGMA page_count") + 40;
    db.with_connection(|conn| {
        conn.query_row(&format!("PRAGMA max_page_count = {pages}"), [], |_| Ok(())).unwrap()
    });
    let mut written = 0;
    let error = loop {
        match files.put(&path(&format!("f{written}")), &[written; 4000], NOW) {
            Ok(()) => written += 1,
            Err(error) => break error,
        }
    };
    assert_eq!(error, NoSpace);
    let how = OpenHow { read: true, write: true, create: true, truncate: true, ..OpenHow::default() };
    // A handle meets the same, and nothing is half written.
    let file = files.open(&path("kept"), OpenHow { truncate: false, ..how }, NOW).unwrap();
    assert_eq!(file.write_at(0, &[9; 500_000], NOW), Err(NoSpace));
    drop(file);
    assert_eq!(files.get(&path("kept"), 100).unwrap(), b"kept");
    sound(&db);
    assert!(written > 3);
    files.unlink(&path("f0"), NOW).unwrap();
    files.unlink(&path("f1"), NOW).unwrap();
    files.put(&path("again"), &[77; 4000], NOW).unwrap();
    sound(&db);
}

#[test]
fn a_file_that_is_open_elsewhere_outlives_its_name() {
    let (temp, db, files) = fresh(Quota::default());
    files.put(&path("f"), b"old", NOW).unwrap();
    let other = Arc::new(Db::open(&temp.path().join("w.sqlite")).unwrap());
    let others = SqliteFiles::new(&other, "workspace", Quota::default()).unwrap();
    let reader = others.open(&path("f"), OpenHow { read: true, ..OpenHow::default() }, NOW).unwrap();
    files.put(&path("new"), b"new", NOW).unwrap();
    files.rename(&path("new"), &path("f"), NOW).unwrap();
    assert_eq!(others.get(&path("f"), 10).unwrap(), b"new");
    let mut bytes = [0; 3];
    assert_eq!((reader.read_at(0, &mut bytes), bytes), (Ok(3), *b"old"));
    drop((reader, others, other));
    drop((files, db));
    let db = Arc::new(Db::open(&temp.path().join("w.sqlite")).unwrap());
    assert_eq!(number(&db, "SELECT count(*) FROM content"), 1);
    sound(&db);
}

#[test]
fn usage_is_counted_anew_when_another_process_wrote() {
    let quota = Quota { bytes_max: 1000, ..Quota::default() };
    let (temp, _db, files) = fresh(quota);
    files.put(&path("a"), &[1; 400], NOW).unwrap();
    let other = Arc::new(Db::open(&temp.path().join("w.sqlite")).unwrap());
    let others = SqliteFiles::new(&other, "workspace", quota).unwrap();
    others.put(&path("b"), &[1; 500], NOW).unwrap();
    assert_eq!(files.put(&path("c"), &[1; 200], NOW), full(FileLimit::Bytes));
    others.unlink(&path("b"), NOW).unwrap();
    // The other has it open no more, but we are here: it is swept when one of us leaves.
    drop((others, other));
    files.put(&path("c"), &[1; 200], NOW).unwrap();
}

/// A source of `left` bytes that counts what is asked of it at once, and may fail at the end.
struct Source {
    left: usize,
    asked_max: usize,
    fails: bool,
}

impl std::io::Read for Source {
    fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
        self.asked_max = self.asked_max.max(buffer.len());
        if self.left == 0 && self.fails {
            return Err(std::io::Error::other("cut off"));
        }
        // Never as much as asked, as a pipe does.
        let count = buffer.len().min(self.left).min(70_001);
        for (at, byte) in buffer[..count].iter_mut().enumerate() {
            *byte = ((self.left - at) % 251) as u8;
        }
        self.left -= count;
        Ok(count)
    }
}

#[test]
fn a_file_streams_in_and_out_a_piece_at_a_time() {
    let (_temp, db, files) = fresh(Quota::default());
    for len in [0_usize, 1, 65_536, (1 << 20) - 1, 1 << 20, (1 << 20) + 1, 5_000_000] {
        let mut source = Source { left: len, asked_max: 0, fails: false };
        let want: Vec<u8> = (0..len).map(|at| ((len - at) % 251) as u8).collect();
        // Twice: a new file, and one that replaces another and keeps its second name.
        for round in 0..2 {
            source.left = len;
            assert_eq!(files.put_from(&path("d/f"), &mut source, NOW).unwrap(), len as u64, "{len}");
            if round == 0 {
                files.link(&path("d/f"), Follow::No, &path("d/second"), NOW).unwrap();
            }
        }
        assert!(source.asked_max <= 1 << 20);
        let mut got = Vec::new();
        assert_eq!(files.get_into(&path("d/second"), &mut got).unwrap(), len as u64);
        assert!(got == want, "{len} bytes came out as {}", got.len());
        sound(&db);
        files.remove_all(&path("d"), NOW).unwrap();
    }
    assert_eq!(number(&db, "SELECT count(*) FROM content"), 0);
}

#[test]
fn a_stream_that_fails_or_is_too_long_leaves_the_old_file_and_nothing_else() {
    let quota = Quota { bytes_max: 6 << 20, file_bytes_max: 4 << 20, ..Quota::default() };
    let (_temp, db, files) = fresh(quota);
    files.put(&path("f"), b"old", NOW).unwrap();
    let source = |left, fails| Source { left, asked_max: 0, fails };
    let error = files.put_from(&path("f"), &mut source(3 << 20, true), NOW).unwrap_err();
    assert!(matches!(error, StreamError::Host(_)), "{error}");
    let error = files.put_from(&path("f"), &mut source(5 << 20, false), NOW).unwrap_err();
    assert!(matches!(error, StreamError::Files(FileError::Quota(FileLimit::FileBytes))), "{error}");
    files.put_from(&path("g"), &mut source(4 << 20, false), NOW).unwrap();
    let error = files.put_from(&path("f"), &mut source(3 << 20, false), NOW).unwrap_err();
    assert!(matches!(error, StreamError::Files(FileError::Quota(FileLimit::Bytes))), "{error}");
    let error = files.put_from(&path("f/below"), &mut source(3 << 20, false), NOW).unwrap_err();
    assert!(matches!(error, StreamError::Files(_)), "{error}");
    assert_eq!(files.get(&path("f"), 10).unwrap(), b"old");
    assert_eq!(number(&db, "SELECT count(*) FROM node WHERE links = 0"), 0);
    sound(&db);

    struct Full;
    impl std::io::Write for Full {
        fn write(&mut self, _: &[u8]) -> std::io::Result<usize> {
            Err(std::io::ErrorKind::StorageFull.into())
        }
        fn flush(&mut self) -> std::io::Result<()> {
            Ok(())
        }
    }
    assert!(matches!(files.get_into(&path("f"), &mut Full), Err(StreamError::Host(_))));
}

#[test]
fn a_workspace_of_another_layout_is_refused_by_name_and_left_alone() {
    let temp = tempfile::tempdir().unwrap();
    let at = temp.path().join("w.sqlite");
    for layout in [1, 2, 99] {
        let db = Arc::new(Db::open(&at).unwrap());
        SqliteFiles::new(&db, "workspace", Quota::default()).unwrap().put(&path("f"), b"f", NOW).unwrap();
        let set = |db: &Db, to: i64| {
            db.with_connection(|conn| conn.pragma_update(None, "user_version", to).unwrap());
        };
        set(&db, layout);
        let (before, error) = (std::fs::read(&at).unwrap().len(), Db::open(&at).map(drop).unwrap_err());
        assert_eq!(error.code(), "workspace_version");
        let said = error.to_string();
        assert!(said.contains("w.sqlite") && said.contains(&format!("layout {layout}")), "{said}");
        assert!(said.contains("drydock ws rm"), "{said}");
        assert_eq!(std::fs::read(&at).unwrap().len(), before);
        set(&db, 3);
        drop(db);
    }
    Db::open(&at).unwrap();
}

#[test]
fn a_workspace_cut_in_half_is_called_damaged_and_not_touched() {
    let temp = tempfile::tempdir().unwrap();
    let at = temp.path().join("w.sqlite");
    {
        let db = Arc::new(Db::open(&at).unwrap());
        let files = SqliteFiles::new(&db, "workspace", Quota::default()).unwrap();
        for n in 0..20_u8 {
            files.put(&path(&n.to_string()), &[n; 30_000], NOW).unwrap();
        }
    }
    let whole = std::fs::read(&at).unwrap();
    for half in [whole.len() / 2, whole.len() / 2 + 100, 4096 * 3, 700] {
        std::fs::write(&at, &whole[..half]).unwrap();
        let error = Db::open(&at).map(drop).unwrap_err();
        assert_eq!(error.code(), "workspace_damaged", "{half}: {error}");
        assert_eq!(std::fs::read(&at).unwrap(), &whole[..half], "{half}");
    }
    std::fs::write(&at, b"this is a letter and no database, however long it may be read").unwrap();
    assert_eq!(Db::open(&at).map(drop).unwrap_err().code(), "workspace_damaged");
    std::fs::write(&at, &whole).unwrap();
    Db::open(&at).unwrap();
}

#[test]
fn room_that_was_given_up_goes_back_to_the_disk() {
    let temp = tempfile::tempdir().unwrap();
    let at = temp.path().join("w.sqlite");
    let open = || Arc::new(Db::open(&at).unwrap());
    let fill = |db: &Arc<Db>| {
        let files = SqliteFiles::new(db, "workspace", Quota::default()).unwrap();
        let mut bytes = vec![0; 40 << 20];
        for (at, byte) in bytes.iter_mut().enumerate() {
            *byte = (at / 65_536 + at) as u8;
        }
        files.put(&path("big"), &bytes, NOW).unwrap();
        files.unlink(&path("big"), NOW).unwrap();
    };
    let db = open();
    fill(&db);
    drop(db);
    let size = std::fs::metadata(&at).unwrap().len();
    assert!(size < 20 << 20, "{size} bytes are left of nothing");
    assert!(!at.with_extension("sqlite-wal").exists());
    sound(&open());
}

//! Workspaces as a library: what the command line does with them.

#![allow(clippy::unwrap_used)]

use std::{fs, path::Path, sync::Arc, time::Duration};

use drydock_contract::{
    Tenant, Timestamp,
    port::{FileError, Files as _, Mode, OpenHow, TreePath},
};
use drydock_store::{
    Access, Change, ChangeKind, Home, HostDir, IfChanged, Links, Mounted, QueryLimits, Quota, SqlValue,
    Volume, Workspace, WorkspaceName, Workspaces,
};

const NOW: Timestamp = Timestamp(1_700_000_000_000_000_000);

fn name(text: &str) -> WorkspaceName {
    text.parse().unwrap()
}

fn path(text: &str) -> TreePath {
    TreePath::new(text).unwrap()
}

fn fresh() -> (tempfile::TempDir, Workspaces, Workspace) {
    let temp = tempfile::tempdir().unwrap();
    let all = Workspaces::of(
        &Home::open(temp.path().join("home")).unwrap().tenant(&Tenant::default()),
        Quota::default(),
    );
    let workspace = all.create(&name("w")).unwrap();
    (temp, all, workspace)
}

fn told(changes: &[Change]) -> String {
    let letter = |kind| match kind {
        ChangeKind::Added => 'A',
        ChangeKind::Modified => 'M',
        ChangeKind::Removed => 'D',
    };
    changes.iter().map(|it| format!("{} {}", letter(it.kind), it.path)).collect::<Vec<_>>().join(", ")
}

#[test]
fn files_are_put_listed_shown_and_removed_by_the_paths_a_guest_uses() {
    let (_temp, all, workspace) = fresh();
    workspace.put("a/b.txt", b"hello", NOW).unwrap();
    workspace.put("/workspace/c", b"hello", NOW).unwrap();
    workspace.put("/memory/m", b"remember", NOW).unwrap();
    assert_eq!(workspace.get("/workspace/a/b.txt").unwrap(), b"hello");
    assert_eq!(workspace.get("m"), Err(FileError::NotFound));
    assert_eq!(workspace.get("/etc/passwd"), Err(FileError::NotFound));
    assert_eq!(workspace.get("../../etc/passwd"), Err(FileError::NotFound));
    let names: Vec<_> =
        workspace.ls("/workspace").unwrap().into_iter().map(|it| (it.name, it.size)).collect();
    assert_eq!(names, [("a".to_owned(), 0), ("c".to_owned(), 5)]);
    let facts = workspace.show().unwrap();
    assert_eq!((facts.volumes[0].files, facts.volumes[0].directories, facts.volumes[0].bytes), (2, 1, 10));
    assert_eq!((facts.volumes[1].name.as_str(), facts.volumes[1].bytes), ("memory", 8));
    assert_eq!(facts.stored_bytes, 13);
    workspace.rm("a", NOW).unwrap();
    assert_eq!(workspace.get("a/b.txt"), Err(FileError::NotFound));
    assert_eq!(all.list().unwrap(), [name("w")]);
    assert_eq!(all.open(&name("x")).unwrap_err().code(), "workspace_missing");
    assert_eq!(all.create(&name("w")).unwrap_err().code(), "workspace_exists");
}

#[test]
fn tmp_is_cleared_when_a_workspace_is_opened_by_nobody_else() {
    let (_temp, all, workspace) = fresh();
    for file in ["/tmp/d/t", "/memory/m", "w"] {
        workspace.put(file, b"x", NOW).unwrap();
    }
    let second = all.open(&name("w")).unwrap();
    assert_eq!(second.get("/tmp/d/t").unwrap(), b"x");
    drop((workspace, second));
    let again = all.open(&name("w")).unwrap();
    assert_eq!(again.ls("/tmp").unwrap(), []);
    assert_eq!((again.get("/memory/m").unwrap(), again.get("w").unwrap()), (b"x".to_vec(), b"x".to_vec()));
}

#[test]
fn a_snapshot_is_compared_restored_and_forked() {
    let (_temp, all, workspace) = fresh();
    workspace.put("kept", b"kept", NOW).unwrap();
    workspace.put("f", b"old", NOW).unwrap();
    all.snapshot(&name("w"), &name("one")).unwrap();
    assert_eq!(all.snapshot(&name("w"), &name("one")).unwrap_err().code(), "workspace_exists");
    workspace.put("f", b"new", NOW).unwrap();
    workspace.put("d/g", b"g", NOW).unwrap();
    workspace.rm("kept", NOW).unwrap();
    let changes = all.diff_snapshot(&workspace, &name("one"), Volume::Workspace).unwrap();
    assert_eq!(told(&changes), "A d, A d/g, M f, D kept");
    all.fork(&name("w"), &name("v")).unwrap();

    // A run is in flight: its handle is out of date, not astray.
    let how = OpenHow { read: true, write: true, ..OpenHow::default() };
    let handle = workspace.files(Volume::Workspace).open(&path("d/g"), how, NOW).unwrap();
    all.restore(&workspace, &name("one")).unwrap();
    assert_eq!(handle.append(b"!", NOW), Err(FileError::Io));
    assert_eq!(
        (workspace.get("f").unwrap(), workspace.get("kept").unwrap()),
        (b"old".to_vec(), b"kept".to_vec())
    );
    assert_eq!(workspace.get("d/g"), Err(FileError::NotFound));
    workspace.put("after", b"after", NOW).unwrap();
    drop(handle);

    let fork = all.open(&name("v")).unwrap();
    assert_eq!((fork.get("f").unwrap(), fork.get("d/g").unwrap()), (b"new".to_vec(), b"g".to_vec()));
    assert_eq!(fork.get("after"), Err(FileError::NotFound));
    assert_eq!(all.list().unwrap(), [name("v"), name("w")]);
    assert_eq!(all.snapshots(&name("w")).unwrap(), [name("one")]);
    all.remove(&name("w")).unwrap();
    assert_eq!(all.list().unwrap(), [name("v")]);
}

#[test]
fn snapshots_taken_while_files_are_written_are_each_of_one_moment() {
    let (_temp, all, workspace) = fresh();
    std::thread::scope(|scope| {
        let writer = scope.spawn(|| {
            for n in 0..300_u32 {
                // Two files that are always written in this order.
                workspace.put("a", &n.to_le_bytes().repeat(2000), NOW).unwrap();
                workspace.put("b", &n.to_le_bytes().repeat(2000), NOW).unwrap();
            }
        });
        for n in 0..8 {
            all.snapshot(&name("w"), &name(&format!("s{n}"))).unwrap();
        }
        writer.join().unwrap();
    });
    for n in 0..8 {
        all.restore(&workspace, &name(&format!("s{n}"))).unwrap();
        let number =
            |file: &str| workspace.get(file).map(|it| u32::from_le_bytes(it[..4].try_into().unwrap()));
        match (number("a"), number("b")) {
            (Ok(a), Ok(b)) => assert!(a == b || a == b + 1, "{a} {b}"),
            (a, b) => assert!(b.is_err() && a.is_ok_and(|a| a == 0) || a.is_err(), "{n}"),
        }
    }
}

#[test]
fn a_query_looks_and_does_nothing_else() {
    let (temp, _all, workspace) = fresh();
    workspace.put("a.txt", b"alpha", NOW).unwrap();
    workspace.put("/memory/b.txt", b"beta", NOW).unwrap();
    let limits = QueryLimits { rows_max: 5, bytes_max: 10_000, wall_max: Duration::from_millis(200) };
    let answer = workspace
        .query("SELECT volume, path, CAST(content AS TEXT) AS t, mtime FROM vfs ORDER BY path", limits)
        .unwrap();
    assert_eq!(answer.columns, ["volume", "path", "t", "mtime"]);
    let text = |it: &str| SqlValue::Text(it.to_owned());
    let want = vec![text("workspace"), text("a.txt"), text("alpha"), SqlValue::Integer(1_700_000_000)];
    assert_eq!((answer.rows.len(), &answer.rows[0], answer.cut), (2, &want, false));

    let attached = temp.path().join("other.sqlite");
    let attach = format!("ATTACH '{}' AS o", attached.display());
    let cases = [
        // statement                                              code
        ("DELETE FROM name", "query_denied"),
        ("UPDATE node SET size = 1", "query_denied"),
        ("INSERT INTO epoch VALUES (1)", "query_denied"),
        ("DROP TABLE node", "query_denied"),
        ("CREATE TABLE x(y)", "query_denied"),
        ("CREATE TEMP TABLE x(y)", "query_denied"),
        (attach.as_str(), "query_denied"),
        ("PRAGMA user_version = 7", "query_denied"),
        ("PRAGMA user_version", "query_denied"),
        ("SELECT load_extension('x')", "query_denied"),
        ("SELECT randomblob(1000)", "query_denied"),
        ("SELECT fts3_tokenizer('x')", "query_denied"),
        ("SELECT * FROM pragma_database_list", "query_denied"),
        ("BEGIN IMMEDIATE", "query_denied"),
        ("VACUUM INTO '/tmp/x.sqlite'", "query_denied"),
        ("SELECT 1; SELECT 2", "query_not_one"),
        ("SELECT 1; DELETE FROM name", "query_not_one"),
        ("", "query_not_one"),
        ("SELEC 1", "query_failed"),
        ("SELECT length(zeroblob(1000000000))", "query_failed"),
        (
            "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT max(i) FROM n",
            "query_too_long",
        ),
    ];
    for (sql, code) in cases {
        assert_eq!(workspace.query(sql, limits).unwrap_err().code(), code, "{sql}");
    }
    assert!(!attached.exists());
    let many = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n LIMIT 100) SELECT i FROM n";
    let answer = workspace.query(many, limits).unwrap();
    assert_eq!((answer.rows.len(), answer.cut), (5, true));
    let answer = workspace.query("SELECT printf('%20000d', 1)", limits).unwrap();
    assert_eq!((answer.rows.len(), answer.cut), (0, true));
}

#[test]
fn no_query_gets_out_of_its_cage() {
    let (temp, all, workspace) = fresh();
    workspace.put("a.txt", b"alpha", NOW).unwrap();
    all.snapshot(&name("w"), &name("before")).unwrap();
    let limits = QueryLimits { rows_max: 5, bytes_max: 10_000, wall_max: Duration::from_millis(400) };
    let numbers = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n)";
    let cases = [
        // what it tries                                                              how it ends
        ("INSERT INTO epoch VALUES (1) RETURNING epoch".to_owned(), "query_denied"),
        ("REPLACE INTO epoch VALUES (1)".into(), "query_denied"),
        ("WITH x AS (SELECT 1) DELETE FROM name".into(), "query_denied"),
        ("WITH x AS (SELECT 1) INSERT INTO epoch SELECT * FROM x".into(), "query_denied"),
        ("WITH x AS (DELETE FROM name RETURNING 1) SELECT * FROM x".into(), "query_failed"),
        ("EXPLAIN DELETE FROM name".into(), "query_denied"),
        ("CREATE TRIGGER t AFTER INSERT ON name BEGIN SELECT 1; END".into(), "query_denied"),
        ("CREATE VIEW v AS SELECT 1".into(), "query_denied"),
        ("CREATE VIRTUAL TABLE v USING fts5(x)".into(), "query_denied"),
        ("ALTER TABLE name RENAME TO eman".into(), "query_denied"),
        ("SAVEPOINT s".into(), "query_denied"),
        ("ROLLBACK".into(), "query_denied"),
        ("ANALYZE".into(), "query_denied"),
        ("REINDEX".into(), "query_denied"),
        ("VACUUM".into(), "query_denied"),
        ("DETACH main".into(), "query_denied"),
        (format!("ATTACH '{}/x' AS x", temp.path().display()), "query_denied"),
        ("ATTACH ':memory:' AS x".into(), "query_denied"),
        ("PRAGMA writable_schema = ON".into(), "query_denied"),
        ("PRAGMA journal_mode = DELETE".into(), "query_denied"),
        ("PRAGMA temp_store_directory = '/tmp'".into(), "query_denied"),
        ("SELECT * FROM pragma_table_info('node')".into(), "query_denied"),
        ("SELECT * FROM sqlite_dbpage".into(), "query_failed"),
        ("SELECT readfile('/etc/passwd')".into(), "query_failed"),
        ("SELECT writefile('/tmp/x', 'x')".into(), "query_failed"),
        ("SELECT load_extension('/tmp/x.so', 'init')".into(), "query_denied"),
        ("SELECT sqlite_compileoption_get(1)".into(), "query_denied"),
        ("SELECT random()".into(), "query_denied"),
        // Bombs of time, of rows that are never shown, of long values, of nesting.
        (format!("{numbers} SELECT count(*) FROM n"), "query_too_long"),
        (format!("{numbers} SELECT count(*) FROM n a, n b WHERE a.i = -b.i"), "query_too_long"),
        (format!("{numbers} SELECT i FROM n WHERE i < 0"), "query_too_long"),
        (format!("{numbers} SELECT i, zeroblob(15000000) AS b FROM n ORDER BY b, i"), "query_too_much"),
        ("SELECT zeroblob(17000000)".into(), "query_failed"),
        ("SELECT replace(printf('%.*c', 9000000, 'x'), 'x', 'yyyyyyyyyyyyyyyy')".into(), "query_failed"),
        (format!("SELECT {}1", "1+".repeat(900)), "query_failed"),
        (format!("SELECT '{}'", "x".repeat(70_000)), "query_failed"),
        (format!("SELECT {}", ["1"; 3000].join(",")), "query_failed"),
        (format!("SELECT 1 {}", "UNION ALL SELECT 1 ".repeat(600)), "query_failed"),
        ("SELECT 'a' LIKE '".to_owned() + &"%a".repeat(2000) + "'", "query_failed"),
        ("SELECT 1\0; DELETE FROM name".into(), "query_not_one"),
    ];
    let mut otherwise = Vec::new();
    for (sql, code) in cases {
        let begun = std::time::Instant::now();
        // What is stopped for its greed is given the time to show it.
        let wall_max = if code == "query_too_much" { Duration::from_secs(15) } else { limits.wall_max };
        let ended = workspace.query(&sql, QueryLimits { wall_max, ..limits }).map_err(|it| it.code());
        let told = &sql[..sql.len().min(80)];
        if ended != Err(code) {
            otherwise.push(format!("{told}: {ended:?}, not {code}"));
        }
        assert!(begun.elapsed() < Duration::from_secs(20), "{told} took {:?}", begun.elapsed());
    }
    assert_eq!(otherwise, [""; 0]);
    // Nothing happened, and the workspace goes on.
    assert_eq!(all.diff_snapshot(&workspace, &name("before"), Volume::Workspace).unwrap(), []);
    assert_eq!(fs::read_dir(temp.path()).unwrap().count(), 1);
    workspace.put("b.txt", b"beta", NOW).unwrap();
    let answer = workspace.query("SELECT count(*) FROM vfs", limits).unwrap();
    assert_eq!(answer.rows, [[SqlValue::Integer(2)]]);
}

#[test]
fn a_full_disk_under_a_workspace_is_no_space_and_loses_nothing() {
    // In a disk of its own of two megabytes: a mount namespace that only this process's child sees.
    const INSIDE: &str = "DRYDOCK_SMALL_DISK";
    let test = "a_full_disk_under_a_workspace_is_no_space_and_loses_nothing";
    if let Ok(disk) = std::env::var(INSIDE) {
        let all = Workspaces::of(
            &Home::open(Path::new(&disk).join("home")).unwrap().tenant(&Tenant::default()),
            Quota::default(),
        );
        let workspace = all.create(&name("w")).unwrap();
        workspace.put("kept", b"kept", NOW).unwrap();
        all.snapshot(&name("w"), &name("early")).unwrap();
        let filler = Path::new(&disk).join("filler");
        fs::write(&filler, vec![1; 1_000_000]).unwrap();
        let mut written = 0_u32;
        let error = loop {
            match workspace.put(&format!("f{written}"), &written.to_le_bytes().repeat(5000), NOW) {
                Ok(()) => written += 1,
                Err(error) => break error,
            }
        };
        assert_eq!(error, FileError::NoSpace);
        assert!(written > 5, "{written}");
        let how = OpenHow { read: true, write: true, ..OpenHow::default() };
        let handle = workspace.files(Volume::Workspace).open(&path("kept"), how, NOW).unwrap();
        assert_eq!(handle.write_at(0, &[1; 500_000], NOW), Err(FileError::NoSpace));
        drop(handle);
        assert!(all.snapshot(&name("w"), &name("late")).is_err());
        assert!(all.fork(&name("w"), &name("late")).is_err());
        assert_eq!((all.snapshots(&name("w")).unwrap().len(), all.list().unwrap().len()), (1, 1));
        drop(workspace);
        // Opening takes a little room: if there is none, that is what it says, and nothing is damaged.
        if let Err(error) = all.open(&name("w")) {
            assert_eq!(error.code(), "workspace_no_space");
        }
        fs::remove_file(&filler).unwrap();
        let workspace = all.open(&name("w")).unwrap();
        assert_eq!(workspace.get("kept").unwrap(), b"kept");
        for n in 0..written {
            assert_eq!(workspace.get(&format!("f{n}")).unwrap(), n.to_le_bytes().repeat(5000), "{n}");
        }
        for n in 0..written {
            // The log may be what fills the disk; a call that fails for it makes it small again.
            let file = format!("f{n}");
            workspace.rm(&file, NOW).or_else(|_| workspace.rm(&file, NOW)).unwrap();
        }
        workspace.put("again", &[7; 20_000], NOW).unwrap();
        return;
    }
    let temp = tempfile::tempdir().unwrap();
    let script = r#"mount -t tmpfs -o size=2m tmpfs "$1" 2>/dev/null || exit 77
        exec "$2" --exact "$3" --nocapture"#;
    let child = std::process::Command::new("unshare")
        .args(["-rm", "sh", "-c", script, "sh"])
        .arg(temp.path())
        .arg(std::env::current_exe().unwrap())
        .arg(test)
        .env(INSIDE, temp.path())
        .output();
    // Not every machine lets us mount; `a_full_disk_is_no_space_and_the_database_stays_good` stands in.
    let Ok(ended) = child else { return };
    let told = String::from_utf8_lossy(&ended.stderr).into_owned();
    let not_here = ended.status.code() == Some(77) || told.contains("unshare");
    assert!(ended.status.success() || not_here, "{told}{}", String::from_utf8_lossy(&ended.stdout));
}

/// A host directory with `d/x`, `d/y`, `f` and `run`, mounted under copy-on-write.
fn mounted(workspace: &Workspace, dir: &Path) -> Mounted {
    if !dir.exists() {
        fs::create_dir_all(dir.join("d")).unwrap();
        for (name, bytes) in [("d/x", "x"), ("d/y", "y"), ("f", "f"), ("run", "#!")] {
            fs::write(dir.join(name), bytes).unwrap();
        }
        use std::os::unix::fs::PermissionsExt as _;
        fs::set_permissions(dir.join("run"), fs::Permissions::from_mode(0o755)).unwrap();
    }
    let host = HostDir::open(dir, Access::ReadWrite).unwrap();
    workspace.mount(&"data".parse().unwrap(), Arc::new(host)).unwrap()
}

fn write(mounted: &Mounted, file: &str, bytes: &[u8]) {
    let how = OpenHow { write: true, create: true, truncate: true, ..OpenHow::default() };
    mounted.files().open(&path(file), how, NOW).unwrap().write_at(0, bytes, NOW).unwrap();
}

#[test]
fn changes_to_a_host_directory_are_told_and_committed_or_discarded() {
    let (temp, all, workspace) = fresh();
    let dir = temp.path().join("data");
    let data = mounted(&workspace, &dir);
    let change = |data: &Mounted| {
        write(data, "run", b"#!/bin/sh");
        data.files().create_dir(&path("new"), Mode::DIRECTORY, NOW).unwrap();
        write(data, "new/n", b"n");
        data.files().symlink("n", &path("new/l"), NOW).unwrap();
        data.files().unlink(&path("d/x"), NOW).unwrap();
        data.files().unlink(&path("d/y"), NOW).unwrap();
        data.files().remove_dir(&path("d"), NOW).unwrap();
        write(data, "d", b"a file now");
        data.files().unlink(&path("f"), NOW).unwrap();
        data.files().create_dir(&path("f"), Mode::DIRECTORY, NOW).unwrap();
        write(data, "f/in", b"in");
    };
    change(&data);
    let want = "M d, D d/x, D d/y, M f, A f/in, A new, A new/l, A new/n, M run";
    assert_eq!(told(&data.diff().unwrap()), want);
    assert_eq!(fs::read(dir.join("d/x")).unwrap(), b"x");
    data.discard(NOW).unwrap();
    assert_eq!(told(&data.diff().unwrap()), "");
    change(&data);
    drop((data, workspace));

    // Another day.
    let workspace = all.open(&name("w")).unwrap();
    let data = mounted(&workspace, &dir);
    assert_eq!(told(&data.commit(IfChanged::Refuse, Links::Inside, NOW).unwrap().written), want);
    assert_eq!(told(&data.diff().unwrap()), "");
    for (file, bytes) in
        [("run", "#!/bin/sh"), ("new/n", "n"), ("new/l", "n"), ("d", "a file now"), ("f/in", "in")]
    {
        assert_eq!(fs::read(dir.join(file)).unwrap(), bytes.as_bytes(), "{file}");
    }
    use std::os::unix::fs::PermissionsExt as _;
    assert_eq!(fs::metadata(dir.join("run")).unwrap().permissions().mode() & 0o777, 0o755);
    let names = fs::read_dir(&dir).unwrap().count();
    assert_eq!(names, 4);
    assert_eq!(workspace.show().unwrap().pending, [""; 0]);
}

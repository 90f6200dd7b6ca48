//! Committing into a directory that somebody else changes too: nothing of theirs is lost unless the
//! caller insists.

#![allow(clippy::unwrap_used, clippy::panic)]

use std::{fs, path::Path, sync::Arc};

use drydock_contract::{
    Tenant, Timestamp,
    port::{Files as _, OpenHow, TreePath},
};
use drydock_store::{
    Access, CommitError, ConflictKind, Home, HostDir, IfChanged, Links, Mounted, Quota, Workspaces,
};

const NOW: Timestamp = Timestamp(1_700_000_000_000_000_000);

fn path(text: &str) -> TreePath {
    TreePath::new(text).unwrap()
}

/// A host directory with `d/x`, `d/y`, `f` and `g`, under copy-on-write.
fn furnished() -> (tempfile::TempDir, Mounted) {
    let temp = tempfile::tempdir().unwrap();
    let host = temp.path().join("host");
    fs::create_dir_all(host.join("d")).unwrap();
    for name in ["d/x", "d/y", "f", "g"] {
        fs::write(host.join(name), format!("{name} before")).unwrap();
    }
    let mounted = mount(temp.path());
    (temp, mounted)
}

fn mount(temp: &Path) -> Mounted {
    let all =
        Workspaces::of(&Home::open(temp.join("home")).unwrap().tenant(&Tenant::default()), Quota::default());
    let host = HostDir::open(temp.join("host"), Access::ReadWrite).unwrap();
    let workspace = all.open_or_create(&"w".parse().unwrap()).unwrap();
    workspace.mount(&"data/in".parse().unwrap(), Arc::new(host)).unwrap()
}

fn write(mounted: &Mounted, file: &str, text: &str) {
    let how = OpenHow { write: true, create: true, truncate: true, ..OpenHow::default() };
    mounted.files().open(&path(file), how, NOW).unwrap().write_at(0, text.as_bytes(), NOW).unwrap();
}

fn append(mounted: &Mounted, file: &str, text: &str) {
    let how = OpenHow { write: true, ..OpenHow::default() };
    mounted.files().open(&path(file), how, NOW).unwrap().append(text.as_bytes(), NOW).unwrap();
}

/// The paths a commit refuses for, and how they changed.
fn refused(mounted: &Mounted) -> Vec<(String, ConflictKind)> {
    let told = mounted.conflicts().unwrap();
    match mounted.commit(IfChanged::Refuse, Links::Inside, NOW) {
        Err(CommitError::Conflicts(all)) => {
            assert_eq!(all, told, "diff and commit tell the same");
            all.into_iter().map(|it| (it.path, it.kind)).collect()
        }
        done => panic!("{done:?}"),
    }
}

fn text(temp: &tempfile::TempDir, file: &str) -> String {
    fs::read_to_string(temp.path().join("host").join(file)).unwrap()
}

#[test]
fn a_file_that_changed_on_the_host_is_not_overwritten_and_nothing_else_is_written() {
    let (temp, mounted) = furnished();
    append(&mounted, "f", ", ours");
    write(&mounted, "g", "ours");
    write(&mounted, "new", "ours");
    fs::write(temp.path().join("host/f"), "theirs").unwrap();
    drop(mounted);

    // Another process, another day.
    let mounted = mount(temp.path());
    assert_eq!(refused(&mounted), [("f".to_owned(), ConflictKind::Changed)]);
    let message = mounted.commit(IfChanged::Refuse, Links::Inside, NOW).unwrap_err().to_string();
    assert!(message.contains("`f` changed in the directory") && message.contains("--force"), "{message}");
    assert_eq!((text(&temp, "f").as_str(), text(&temp, "g").as_str()), ("theirs", "g before"));
    assert!(!temp.path().join("host/new").exists(), "all or nothing");
    assert_eq!(mounted.diff().unwrap().len(), 3, "the changes are kept");

    assert_eq!(mounted.commit(IfChanged::Overwrite, Links::Inside, NOW).unwrap().written.len(), 3);
    assert_eq!((text(&temp, "f").as_str(), text(&temp, "g").as_str()), ("f before, ours", "ours"));
    assert_eq!(mounted.diff().unwrap(), []);
}

#[test]
fn what_the_host_made_removed_or_replaced_meanwhile_is_noticed() {
    let (temp, mounted) = furnished();
    let host = temp.path().join("host");
    write(&mounted, "new", "ours");
    write(&mounted, "f", "ours");
    append(&mounted, "g", "ours");
    mounted.files().unlink(&path("d/x"), NOW).unwrap();
    fs::write(host.join("new"), "theirs").unwrap();
    fs::remove_file(host.join("f")).unwrap();
    fs::remove_file(host.join("g")).unwrap();
    std::os::unix::fs::symlink("f", host.join("g")).unwrap();
    fs::write(host.join("d/x"), "x after").unwrap();
    let want = [
        ("d/x", ConflictKind::Changed),
        ("f", ConflictKind::Vanished),
        ("g", ConflictKind::Changed),
        ("new", ConflictKind::Appeared),
    ];
    assert_eq!(refused(&mounted), want.map(|(path, kind)| (path.to_owned(), kind)));
    mounted.discard(NOW).unwrap();
    assert_eq!(mounted.diff().unwrap(), []);
    assert_eq!(text(&temp, "new"), "theirs");
    assert_eq!(mounted.commit(IfChanged::Refuse, Links::Inside, NOW).unwrap().written, []);
}

#[test]
fn a_file_made_on_the_host_in_a_directory_that_was_removed_here_is_not_deleted_unseen() {
    let (temp, mounted) = furnished();
    for name in ["d/x", "d/y"] {
        mounted.files().unlink(&path(name), NOW).unwrap();
    }
    mounted.files().remove_dir(&path("d"), NOW).unwrap();
    fs::write(temp.path().join("host/d/precious"), "theirs").unwrap();
    assert_eq!(refused(&mounted), [("d/precious".to_owned(), ConflictKind::Appeared)]);
    assert_eq!(text(&temp, "d/precious"), "theirs");
    assert_eq!(text(&temp, "d/x"), "d/x before");

    // A directory that was moved is the same: what was not seen is not lost.
    mounted.discard(NOW).unwrap();
    fs::remove_file(temp.path().join("host/d/precious")).unwrap();
    mounted.files().rename(&path("d"), &path("e"), NOW).unwrap();
    fs::write(temp.path().join("host/d/precious"), "theirs").unwrap();
    assert_eq!(refused(&mounted), [("d/precious".to_owned(), ConflictKind::Appeared)]);
    fs::remove_file(temp.path().join("host/d/precious")).unwrap();
    mounted.commit(IfChanged::Refuse, Links::Inside, NOW).unwrap();
    assert_eq!(text(&temp, "e/x"), "d/x before");
    assert!(!temp.path().join("host/d").exists());
}

#[test]
fn the_same_content_is_no_conflict_whatever_its_times() {
    let (temp, mounted) = furnished();
    let host = temp.path().join("host");
    append(&mounted, "f", "!");
    // Touched, and replaced by a copy of itself.
    fs::write(host.join("f.tmp"), "f before").unwrap();
    fs::rename(host.join("f.tmp"), host.join("f")).unwrap();
    // Both sides made the same change.
    write(&mounted, "g", "agreed");
    fs::write(host.join("g"), "agreed").unwrap();
    write(&mounted, "new", "agreed");
    fs::write(host.join("new"), "agreed").unwrap();
    assert_eq!(mounted.conflicts().unwrap(), []);
    assert_eq!(mounted.commit(IfChanged::Refuse, Links::Inside, NOW).unwrap().written.len(), 1);
    assert_eq!(text(&temp, "f"), "f before!");
}

#[test]
fn what_was_committed_can_be_changed_and_committed_again() {
    let (temp, mounted) = furnished();
    for round in 0..3 {
        append(&mounted, "f", &round.to_string());
        write(&mounted, "new", &round.to_string());
        mounted.files().rename(&path("g"), &path("h"), NOW).unwrap();
        mounted.files().rename(&path("h"), &path("g"), NOW).unwrap();
        assert_eq!(
            mounted.commit(IfChanged::Refuse, Links::Inside, NOW).unwrap().written.len(),
            2,
            "round {round}"
        );
        // Between commits the host may do what it likes.
        let grown = format!("{};", text(&temp, "f"));
        fs::write(temp.path().join("host/f"), grown).unwrap();
    }
    assert_eq!(text(&temp, "f"), "f before0;1;2;");
    // Seen after the host changed it: that is the file the change was made to.
    fs::write(temp.path().join("host/f"), "seen").unwrap();
    append(&mounted, "f", " and grown");
    mounted.commit(IfChanged::Refuse, Links::Inside, NOW).unwrap();
    assert_eq!(text(&temp, "f"), "seen and grown");
}

#[test]
fn two_commits_at_once_do_not_take_each_other_for_strangers() {
    let (temp, mounted) = furnished();
    write(&mounted, "f", "ours");
    let workspaces = Home::open(temp.path().join("home")).unwrap().tenant(&Tenant::default()).workspaces();
    let other = fs::File::create(workspaces.join("w.commit")).unwrap();
    other.lock().unwrap();
    let error = mounted.commit(IfChanged::Refuse, Links::Inside, NOW).unwrap_err();
    assert!(matches!(error, CommitError::InProgress), "{error:?}");
    let message = error.to_string();
    assert!(message.contains("another commit of this workspace is in progress"), "{message}");
    assert_eq!(text(&temp, "f"), "f before");
    drop(other);

    for round in 0..20 {
        write(&mounted, "f", &format!("ours {round}"));
        write(&mounted, "new", &format!("ours {round}"));
        let told: Vec<_> = std::thread::scope(|scope| {
            let commit = || mount(temp.path()).commit(IfChanged::Refuse, Links::Inside, NOW);
            let all = [scope.spawn(commit), scope.spawn(commit)];
            all.into_iter().map(|it| it.join().unwrap()).collect()
        });
        let fine = |it: &Result<_, CommitError>| matches!(it, Ok(_) | Err(CommitError::InProgress));
        assert!(told.iter().all(fine) && told.iter().any(Result::is_ok), "{told:?}");
        assert_eq!(text(&temp, "new"), format!("ours {round}"));
    }
}

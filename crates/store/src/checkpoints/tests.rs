//! A session comes back as it was kept, to whom it belongs and to one process at a time; or not at all, and for a reason.

use std::os::unix::fs::PermissionsExt as _;

use super::*;
use crate::Home;

const NOW: Timestamp = Timestamp(1_700_000_000_000_000_000);

fn later(seconds: u64) -> Timestamp {
    Timestamp(NOW.0 + seconds * 1_000_000_000)
}

fn name(text: &str) -> SessionName {
    text.parse().unwrap()
}

fn of(folder: &tempfile::TempDir, tenant: &str, principal: &str) -> Checkpoints {
    let home = Home::open(folder.path()).unwrap();
    Checkpoints::of(&home.tenant(&tenant.parse().unwrap()), principal.parse().unwrap()).unwrap()
}

fn sessions() -> (Checkpoints, tempfile::TempDir) {
    let folder = tempfile::tempdir().unwrap();
    (of(&folder, "dev", "me"), folder)
}

fn keep(all: &Checkpoints, session: &str, state: &[u8]) {
    all.open(&name(session)).unwrap().put(&[state], "/w", 1, NOW).unwrap();
}

fn refusal(all: &Checkpoints, session: &str) -> String {
    let error = all.open(&name(session)).unwrap().get().unwrap_err();
    // What a listing says of it is the same, unless only the state is wrong.
    let listed = all.list().unwrap().into_iter().find(|it| it.name == name(session)).unwrap();
    if let Err(other) = listed.facts {
        assert_eq!(other.code(), error.code());
    }
    format!("{}: {error}", error.code())
}

#[test]
fn a_session_comes_back_as_it_was_kept_with_what_is_known_of_it() {
    let (all, folder) = sessions();
    let mut session = all.open(&name("work")).unwrap();
    assert_eq!(session.get().unwrap(), None);
    let pieces: [&[u8]; 3] = [b"state ", b"", b"in pieces"];
    session.put(&pieces, "/w", 3, NOW).unwrap();
    let facts = session.put(&[b"the next state"], "/w/deeper", 4, later(60)).unwrap();
    drop(session);
    let want =
        SessionFacts { created: NOW, used: later(60), cwd: "/w/deeper".into(), lines: 4, state_bytes: 14 };
    assert_eq!(facts, want);
    // In another process, as far as anybody can tell.
    let again = of(&folder, "dev", "me");
    let got = again.open(&name("work")).unwrap().get().unwrap().unwrap();
    assert_eq!(got, Checkpoint { state: b"the next state".to_vec(), facts: want.clone() });
    // Whoever does not read what was there still knows when it began.
    let facts = again.open(&name("work")).unwrap().put(&[b"x"], "/", 5, later(90)).unwrap();
    assert_eq!(facts.created, NOW);
    let long = "ü".repeat(4096);
    let facts = again.open(&name("work")).unwrap().put(&[b"x"], &long, 5, later(90)).unwrap();
    assert_eq!(facts.cwd.len(), 4096);
}

#[test]
fn sessions_are_listed_forked_and_forgotten_by_name() {
    let (all, _folder) = sessions();
    assert!(all.list().unwrap().is_empty());
    for session in ["b", "a.checkpoint", "A", "c.lock"] {
        keep(&all, session, session.as_bytes());
    }
    let in_use = all.open(&name("b")).unwrap();
    let forked = all.fork(&name("b"), &name("z"), later(5)).unwrap();
    drop(in_use);
    assert_eq!((forked.created, forked.used, forked.lines, &*forked.cwd), (later(5), later(5), 1, "/w"));
    assert_eq!(all.open(&name("z")).unwrap().get().unwrap().unwrap().state, b"b");
    let names = || all.list().unwrap().iter().map(|it| it.name.to_string()).collect::<Vec<_>>().join(" ");
    assert_eq!(names(), "A a.checkpoint b c.lock z");
    let error = |from: &str, to: &str| all.fork(&name(from), &name(to), NOW).unwrap_err().to_string();
    assert_eq!(error("b", "z"), "there is a session z already; forget it first, or choose another name");
    assert_eq!(error("nobody", "new"), "there is no session nobody");
    assert!(all.forget(&name("z")).unwrap() && !all.forget(&name("z")).unwrap());
    assert!(all.forget(&name("a.checkpoint")).unwrap());
    assert_eq!(names(), "A b c.lock");
    // Nothing is left of what was forgotten, nor of what was never kept.
    drop(all.open(&name("only-looked-at")).unwrap());
    let mut left: Vec<_> = fs::read_dir(&all.dir).unwrap().map(|it| it.unwrap().file_name()).collect();
    left.sort();
    let want = ["A.checkpoint", "A.lock", "b.checkpoint", "b.lock", "c.lock.checkpoint", "c.lock.lock"];
    assert_eq!(left, want);
}

#[test]
fn a_session_of_another_principal_or_tenant_is_refused_and_so_is_a_renamed_one() {
    let folder = tempfile::tempdir().unwrap();
    let mine = of(&folder, "dev", "me");
    keep(&mine, "work", b"my state");
    for (tenant, principal) in [("dev", "you"), ("prod", "me")] {
        let theirs = of(&folder, tenant, principal);
        assert_eq!(theirs.open(&name("work")).unwrap().get().unwrap(), None, "it is not even seen");
        theirs.tenant.make(&theirs.dir).unwrap();
        fs::copy(mine.file(&name("work")), theirs.file(&name("work"))).unwrap();
        assert_eq!(
            refusal(&theirs, "work"),
            "session_not_yours: the file of session work is of another tenant or principal"
        );
    }
    fs::copy(mine.file(&name("work")), mine.file(&name("other"))).unwrap();
    assert_eq!(
        refusal(&mine, "other"),
        "session_renamed: the file of session other was renamed: it is session work"
    );
    // The same file of another installation.
    let elsewhere = tempfile::tempdir().unwrap();
    let theirs = of(&elsewhere, "dev", "me");
    theirs.tenant.make(&theirs.dir).unwrap();
    fs::copy(mine.file(&name("work")), theirs.file(&name("work"))).unwrap();
    assert!(refusal(&theirs, "work").starts_with("session_changed: "));
}

#[test]
fn a_file_that_was_cut_flipped_or_lengthened_is_refused() {
    let (all, _folder) = sessions();
    keep(&all, "work", b"some state of the shell");
    let path = all.file(&name("work"));
    let whole = fs::read(&path).unwrap();
    for length in [0, 7, 15, 20, 47, 60, whole.len() / 2, whole.len() - 1] {
        fs::write(&path, &whole[..length]).unwrap();
        assert_eq!(
            refusal(&all, "work"),
            "session_cut: the file of session work is cut off; forget the session to start anew",
            "{length}"
        );
    }
    for at in 0..whole.len() {
        let mut flipped = whole.clone();
        flipped[at] ^= 1;
        fs::write(&path, &flipped).unwrap();
        let code = match at {
            0..8 => "session_foreign: ",
            8..12 => "session_version: ",
            // The length of the head: another one, or more than there is.
            12..16 => "session_c",
            _ => "session_changed: ",
        };
        let error = refusal(&all, "work");
        assert!(error.starts_with(code), "{at}: {error}");
    }
    fs::write(&path, [whole.as_slice(), b"more"].concat()).unwrap();
    assert!(refusal(&all, "work").starts_with("session_changed: "));
    // Whoever decides to start anew can.
    keep(&all, "work", b"new");
    assert_eq!(all.open(&name("work")).unwrap().get().unwrap().unwrap().state, b"new");
}

#[test]
fn a_session_of_another_version_says_so() {
    let (all, _folder) = sessions();
    keep(&all, "work", b"state");
    let path = all.file(&name("work"));
    let mut bytes = fs::read(&path).unwrap();
    bytes[8..12].copy_from_slice(&(head::KIND.version + 1).to_le_bytes());
    fs::write(&path, &bytes).unwrap();
    assert_eq!(
        refusal(&all, "work"),
        "session_version: session work was kept by another version of drydock (format 2); use that one, or forget \
         the session"
    );
}

#[test]
fn files_and_folders_are_their_owners_alone_and_nothing_lies_beside_them() {
    let (all, folder) = sessions();
    keep(&all, "work", b"state");
    let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o7777;
    assert_eq!(mode(&all.file(&name("work"))), 0o600);
    assert_eq!(mode(&all.dir.join("work.lock")), 0o600);
    assert_eq!((mode(&all.dir), mode(&all.tenant.sessions())), (0o700, 0o700));
    assert_eq!(fs::read_dir(&all.dir).unwrap().count(), 2);
    // Wherever a principal's name points, its folder is here.
    for who in ["../..", "/etc", "a/b", "."] {
        let theirs = of(&folder, "dev", who);
        assert_eq!(theirs.dir.parent(), Some(&*all.tenant.sessions()));
        keep(&theirs, "work", b"theirs");
    }
    assert_eq!(fs::read_dir(all.tenant.sessions()).unwrap().count(), 5);
}

#[test]
fn a_session_that_somebody_has_is_not_given_to_a_second_one() {
    let (all, folder) = sessions();
    let mut first = all.open(&name("work")).unwrap();
    let second = of(&folder, "dev", "me");
    let told = |error: CheckpointError| error.to_string();
    let in_use = "session work is in use by another process";
    assert_eq!(told(second.open(&name("work")).unwrap_err()), in_use);
    assert_eq!(told(second.forget(&name("work")).unwrap_err()), in_use);
    keep(&second, "other", b"x");
    assert_eq!(told(second.fork(&name("other"), &name("work"), NOW).unwrap_err()), in_use);
    first.put(&[b"kept"], "/", 1, NOW).unwrap();
    drop(first);
    assert_eq!(second.open(&name("work")).unwrap().get().unwrap().unwrap().state, b"kept");
    // Another principal's session of that name is another session.
    let mine = all.open(&name("work")).unwrap();
    of(&folder, "dev", "you").open(&name("work")).unwrap();
    drop(mine);
}

#[test]
fn a_state_too_large_and_a_session_too_many_are_refused_and_change_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let home = Home::open(folder.path()).unwrap();
    let bounds = CheckpointBounds { file_bytes_max: 1_000, sessions_max: 2 };
    let tenant = home.tenant(&"dev".parse().unwrap());
    let all = Checkpoints::with_bounds(&tenant, "me".parse().unwrap(), bounds).unwrap();
    keep(&all, "one", b"small");
    let error = all.open(&name("one")).unwrap().put(&[&[7; 1_000]], "/", 1, NOW).unwrap_err();
    assert!(matches!(error, CheckpointError::TooLarge { bytes_max: 1_000, .. }), "{error}");
    assert_eq!(all.open(&name("one")).unwrap().get().unwrap().unwrap().state, b"small");
    keep(&all, "two", b"small");
    let error = all.open(&name("three")).unwrap().put(&[b"x"], "/", 1, NOW).unwrap_err();
    assert_eq!(error.to_string(), "there are 2 sessions already, and no more are kept; forget one");
    assert_eq!(all.fork(&name("one"), &name("three"), NOW).unwrap_err().code(), "session_too_many");
    keep(&all, "two", b"again");
    all.forget(&name("one")).unwrap();
    keep(&all, "three", b"now there is room");
    // Another principal has room of its own.
    let other = Checkpoints::with_bounds(&tenant, "you".parse().unwrap(), bounds).unwrap();
    keep(&other, "one", b"x");
    // A file that grew behind our back is not read.
    fs::write(all.file(&name("two")), [0; 2_000]).unwrap();
    assert!(refusal(&all, "two").starts_with("session_too_large: "));
    // Nobody asks for more than there is.
    let vast = CheckpointBounds { file_bytes_max: u64::MAX, sessions_max: usize::MAX };
    let all = Checkpoints::with_bounds(&tenant, "me".parse().unwrap(), vast).unwrap();
    assert_eq!(all.bounds, CheckpointBounds::default());
}

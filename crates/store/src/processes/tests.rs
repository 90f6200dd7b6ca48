//! Proofs for kept processes: their ends, their owners' deaths, their cursors and their bounds.

use std::os::unix::fs::PermissionsExt as _;

use super::*;
use crate::Home;

fn spools(dir: &tempfile::TempDir, tenant: &str) -> ProcessSpools {
    ProcessSpools::of(&Home::open(dir.path()).unwrap().tenant(&tenant.parse().unwrap()))
}

const NOW: Timestamp = Timestamp(1_000_000_000_000_000);

fn ended(all: &ProcessSpools, now: Timestamp, bounds: &SpoolBounds, text: &[u8]) -> ProcessId {
    let mut spool = all.create("cat", "me", now, bounds).unwrap();
    spool.append(ProcessOutput::Stdout, text).unwrap();
    spool.note(|it| (it.stage, it.ended_ms) = (ProcessStage::Exited, Some(now.as_millis()))).unwrap();
    spool.record().id.clone()
}

#[test]
fn output_is_read_again_from_every_cursor_and_ends_when_the_process_has() {
    let dir = tempfile::tempdir().unwrap();
    let all = spools(&dir, "acme");
    let mut spool = all.create("cat", "me", NOW, &SpoolBounds::default()).unwrap();
    let id = spool.record().id.clone();
    spool.append(ProcessOutput::Stdout, b"hello ").unwrap();
    spool.append(ProcessOutput::Stderr, b"oh").unwrap();
    spool.append(ProcessOutput::Stdout, b"world").unwrap();
    let read = |from, max| all.read(&id, ProcessOutput::Stdout, from, max).unwrap().unwrap();
    assert_eq!(read(0, 99), SpoolChunk { bytes: b"hello world".to_vec(), next: 11, is_end: false });
    spool.note(|it| it.stage = ProcessStage::Exited).unwrap();
    drop(spool);
    for from in 0..=11_u64 {
        for max in [1, 3, 99] {
            let (mut at, mut text) = (from, Vec::new());
            loop {
                let chunk = read(at, max);
                text.extend(chunk.bytes);
                at = chunk.next;
                if chunk.is_end {
                    break;
                }
            }
            assert_eq!(text, b"hello world"[usize::try_from(from).unwrap()..], "{from} {max}");
        }
    }
    let beyond = all.read(&id, ProcessOutput::Stdout, 12, 1).unwrap_err();
    assert_eq!(
        (beyond.code(), beyond.to_string().as_str()),
        ("bad_cursor", "the cursor is 12, and there are 11 bytes")
    );
    assert_eq!(all.read(&id, ProcessOutput::Stderr, 0, 9).unwrap().unwrap().bytes, b"oh");
    let found = all.find(&id).unwrap().unwrap();
    assert_eq!((found.stdout_bytes, found.stderr_bytes), (11, 2));
}

#[test]
fn a_process_whose_server_died_has_failed_and_its_output_stays() {
    let dir = tempfile::tempdir().unwrap();
    let all = spools(&dir, "acme");
    let mut spool = all.create("cat", "me", NOW, &SpoolBounds::default()).unwrap();
    let id = spool.record().id.clone();
    spool.append(ProcessOutput::Stdout, b"half").unwrap();
    spool.note(|it| it.stage = ProcessStage::Running).unwrap();
    assert_eq!(all.find(&id).unwrap().unwrap().stage, ProcessStage::Running);
    assert!(matches!(all.remove(&id), Err(ProcessSpoolError::Running(_))));
    // As the kernel does for a process that is killed.
    drop(spool);
    let found = all.list().unwrap().pop().unwrap();
    assert_eq!((found.stage, found.code.as_deref()), (ProcessStage::Failed, Some("server_ended")));
    assert_eq!(found, all.find(&id).unwrap().unwrap());
    let chunk = all.read(&id, ProcessOutput::Stdout, 2, 9).unwrap().unwrap();
    assert_eq!(chunk, SpoolChunk { bytes: b"lf".to_vec(), next: 4, is_end: true });
    assert!(all.remove(&id).unwrap() && !all.remove(&id).unwrap());
    assert_eq!((all.find(&id).unwrap(), all.list().unwrap().len()), (None, 0));
}

#[test]
fn another_tenants_process_and_one_that_never_was_are_the_same_to_whoever_asks() {
    let dir = tempfile::tempdir().unwrap();
    let (mine, theirs) = (spools(&dir, "acme"), spools(&dir, "other"));
    let id = ended(&mine, NOW, &SpoolBounds::default(), b"secret");
    let never: ProcessId = "0123456789abcdef0123456789abcdef".parse().unwrap();
    for id in [&id, &never] {
        assert_eq!(theirs.find(id).unwrap(), None);
        assert_eq!(theirs.read(id, ProcessOutput::Stdout, 0, 9).unwrap(), None);
        assert!(!theirs.remove(id).unwrap());
    }
    assert!(theirs.list().unwrap().is_empty());
    assert_eq!(mine.list().unwrap().len(), 1);
    for bad in
        ["", "..", "0123456789ABCDEF0123456789abcdef", "0123456789abcdef0123456789abcde/", &"a".repeat(33)]
    {
        assert!(bad.parse::<ProcessId>().is_err(), "{bad}");
    }
}

#[test]
fn what_is_kept_is_bounded_by_count_age_and_bytes_and_only_its_owner_may_read_it() {
    let dir = tempfile::tempdir().unwrap();
    let all = spools(&dir, "acme");
    let bounds = SpoolBounds { ended_max: 3, age_max: Duration::from_secs(60), bytes_max: 100 };
    let second = |n: u64| NOW.plus(Duration::from_secs(n));
    let ids: Vec<ProcessId> = (0..5).map(|n| ended(&all, second(n), &bounds, b"x")).collect();
    let kept: Vec<ProcessId> = all.list().unwrap().into_iter().map(|it| it.id).collect();
    assert_eq!(kept, [ids[4].clone(), ids[3].clone(), ids[2].clone()], "the oldest went first");
    let late = ended(&all, second(63), &bounds, b"y");
    let kept: Vec<ProcessId> = all.list().unwrap().into_iter().map(|it| it.id).collect();
    assert_eq!(kept, [late, ids[4].clone(), ids[3].clone()], "two seconds is not too old, three is");
    ended(&all, second(64), &bounds, &[b'z'; 100]);
    let mut running = all.create("cat", "me", second(65), &bounds).unwrap();
    assert_eq!(all.list().unwrap().iter().map(ProcessRecord::output_bytes).sum::<u64>(), 0, "room was made");
    running.append(ProcessOutput::Stderr, &[b'e'; 100]).unwrap();
    let full = all.create("cat", "me", second(66), &bounds).unwrap_err();
    assert_eq!(full.code(), "no_space");
    assert!(full.to_string().contains("--process-spool"), "{full}");
    let folder = all.folder(&running.record().id);
    for entry in fs::read_dir(&folder).unwrap() {
        let mode = entry.unwrap().metadata().unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o600);
    }
    assert_eq!(fs::metadata(&folder).unwrap().permissions().mode() & 0o777, 0o700);
}

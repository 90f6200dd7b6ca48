//! What the journal promises, tried on real files.

use std::{fs, io::Write as _, sync::Arc, thread};

use drydock_contract::{
    Timestamp,
    port::{AuditRecord, Decision, Journal as _},
};

use super::*;
use crate::Home;

fn home() -> (tempfile::TempDir, Home) {
    let temp = tempfile::tempdir().unwrap();
    let home = Home::open(temp.path()).unwrap();
    (temp, home)
}

fn record(at: u64, subject: &str, decision: Decision) -> AuditRecord {
    AuditRecord {
        at: Timestamp(at * 1000),
        principal: "tenant:7".parse().unwrap(),
        operation: "exec.start",
        subject: subject.into(),
        decision,
    }
}

fn subjects(home: &Home, filter: Filter) -> Vec<String> {
    read_audit(home, filter).unwrap().map(|it| it.unwrap().subject).collect()
}

#[test]
fn a_record_is_one_line_of_plain_json() {
    let (_temp, home) = home();
    let journal = FileJournal::open(&home).unwrap();
    let records = [record(1, "jq", Decision::Allowed), record(2, "r\"m\n", Decision::Denied("max_depth"))];
    journal.append(&records).unwrap();
    journal.sync().unwrap();
    let text = fs::read_to_string(home.audit().join("audit-000001.jsonl")).unwrap();
    insta::assert_snapshot!(text, @r#"
    {"at":"1970-01-01T00:00:00.000001Z","principal":"tenant:7","operation":"exec.start","subject":"jq","decision":"allowed"}
    {"at":"1970-01-01T00:00:00.000002Z","principal":"tenant:7","operation":"exec.start","subject":"r\"m\u000a","decision":"denied","reason":"max_depth"}
    "#);
}

#[test]
fn a_filter_keeps_the_newest_that_match_oldest_first() {
    let (_temp, home) = home();
    let journal = FileJournal::with_segment_bytes_max(&home, 300).unwrap();
    for n in 0..10 {
        let decision = if n % 2 == 0 { Decision::Allowed } else { Decision::Denied("denied") };
        journal.append(&[record(n, &n.to_string(), decision)]).unwrap();
    }
    let cases = [
        // denied only, limit   want
        ((false, None), "0123456789"),
        ((false, Some(3)), "789"),
        ((true, None), "13579"),
        ((true, Some(2)), "79"),
        ((true, Some(0)), ""),
        ((true, Some(100)), "13579"),
    ];
    for ((denied_only, limit), want) in cases {
        assert_eq!(subjects(&home, Filter { denied_only, limit }).concat(), want);
    }
    let counts = count_audit(&home).unwrap();
    let key = |decision| ("exec.start".to_owned(), decision);
    assert_eq!(counts.decisions[&key(ReadDecision::Allowed)], 5);
    assert_eq!(counts.decisions[&key(ReadDecision::Denied("denied".into()))], 5);
    assert_eq!(counts.torn, 0);
}

#[test]
fn a_torn_last_line_costs_itself_and_nothing_else() {
    let (_temp, home) = home();
    let path = home.audit().join("audit-000001.jsonl");
    FileJournal::open(&home).unwrap().append(&[record(1, "before", Decision::Allowed)]).unwrap();
    let whole = fs::read(&path).unwrap();
    let mut file = fs::OpenOptions::new().append(true).open(&path).unwrap();
    file.write_all(&whole[..whole.len() / 2]).unwrap();
    // Still torn, and nobody wrote after it.
    assert_eq!(subjects(&home, Filter::default()), ["before"]);
    FileJournal::open(&home).unwrap().append(&[record(2, "after", Decision::Allowed)]).unwrap();
    let mut reader = read_audit(&home, Filter::default()).unwrap();
    let read: Vec<_> = reader.by_ref().map(|it| it.unwrap().subject).collect();
    assert_eq!((read, reader.torn()), (vec!["before".to_owned(), "after".to_owned()], 1));
}

#[test]
fn a_record_that_ran_into_a_torn_line_of_another_process_is_found() {
    let (_temp, home) = home();
    let path = home.audit().join("audit-000001.jsonl");
    let journal = FileJournal::open(&home).unwrap();
    journal.append(&[record(1, "one", Decision::Allowed)]).unwrap();
    let whole = fs::read(&path).unwrap();
    let mut other = fs::OpenOptions::new().append(true).open(&path).unwrap();
    other.write_all(&whole[..whole.len() - 10]).unwrap();
    journal.append(&[record(2, "two", Decision::Allowed)]).unwrap();
    assert_eq!(subjects(&home, Filter::default()), ["one", "two"]);
    assert_eq!(count_audit(&home).unwrap().torn, 1);
}

#[test]
fn segments_rotate_and_only_the_newest_are_kept() {
    let (_temp, home) = home();
    let journal = FileJournal::with_segment_bytes_max(&home, 1).unwrap();
    for n in 0..40 {
        journal.append(&[record(n, &n.to_string(), Decision::Allowed)]).unwrap();
    }
    let kept = subjects(&home, Filter::default());
    assert_eq!(kept.len(), SEGMENTS_MAX);
    assert_eq!(kept.last().unwrap(), "39");
}

#[test]
fn a_writer_whose_segment_was_pruned_moves_on_to_the_newest() {
    let (_temp, home) = home();
    let idle = FileJournal::with_segment_bytes_max(&home, 1).unwrap();
    let busy = FileJournal::with_segment_bytes_max(&home, 1).unwrap();
    for n in 0..40 {
        busy.append(&[record(n, "busy", Decision::Allowed)]).unwrap();
    }
    idle.append(&[record(41, "idle", Decision::Allowed)]).unwrap();
    assert_eq!(subjects(&home, Filter { limit: Some(1), ..Filter::default() }), ["idle"]);
}

#[test]
fn two_writers_share_a_journal_and_every_line_is_whole() {
    let (_temp, home) = home();
    let home = Arc::new(home);
    thread::scope(|scope| {
        for who in ["a", "b", "c"] {
            let home = Arc::clone(&home);
            scope.spawn(move || {
                let journal = FileJournal::with_segment_bytes_max(&home, 64 << 10).unwrap();
                for n in 0..200 {
                    let batch: Vec<_> = (0..5).map(|k| record(n * 5 + k, who, Decision::Allowed)).collect();
                    journal.append(&batch).unwrap();
                }
            });
        }
    });
    let counts = count_audit(&home).unwrap();
    assert_eq!(counts.torn, 0);
    assert_eq!(counts.decisions.values().sum::<u64>(), 3000);
}

#[test]
fn a_line_without_end_is_skipped_in_bounded_memory() {
    let (_temp, home) = home();
    let path = home.audit().join("audit-000001.jsonl");
    fs::write(&path, [vec![b'x'; 300_000], b"\n\n".to_vec()].concat()).unwrap();
    FileJournal::open(&home).unwrap().append(&[record(1, "after", Decision::Allowed)]).unwrap();
    assert_eq!(subjects(&home, Filter::default()), ["after"]);
    assert_eq!(count_audit(&home).unwrap().torn, 1);
}

#[test]
fn a_full_disk_is_an_error_and_the_next_record_starts_on_its_own_line() {
    let (_temp, home) = home();
    let journal = FileJournal::open(&home).unwrap();
    journal.append(&[record(1, "one", Decision::Allowed)]).unwrap();
    let file = journal.swap_file(fs::File::options().write(true).open("/dev/full").unwrap());
    let error = journal.append(&[record(2, "lost", Decision::Allowed)]).unwrap_err();
    assert_eq!(error.cause.kind(), std::io::ErrorKind::StorageFull);
    journal.swap_file(file);
    journal.append(&[record(3, "three", Decision::Allowed)]).unwrap();
    assert_eq!(subjects(&home, Filter::default()), ["one", "three"]);
}

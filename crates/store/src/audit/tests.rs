//! What the journal promises, tried on real files.

use std::{fs, io::Write as _, sync::Arc, thread, time::Duration};

use drydock_contract::{
    CallId, Tenant, Timestamp, TraceId, Who,
    port::{AuditEvent, AuditRecord, CallFacts, Journal as _, Subjects},
};

use super::{held::OPEN_MAX, segment::Row, writer::Bounds, *};
use crate::{Home, TenantHome};

fn home() -> (tempfile::TempDir, TenantHome) {
    let temp = tempfile::tempdir().unwrap();
    let home = Home::open(temp.path()).unwrap().tenant(&Tenant::default());
    (temp, home)
}

fn open(home: &TenantHome) -> FileJournal {
    FileJournal::open(home.home())
}

/// With segments of so many bytes.
fn small(home: &TenantHome, segment_bytes_max: u64) -> FileJournal {
    FileJournal::within(home.home(), Bounds { segment_bytes_max, ..Bounds::default() })
}

fn record(at: u64, subject: &str, event: AuditEvent) -> AuditRecord {
    record_of("dev", "tenant:7", subject, at, event)
}

/// A record of somebody's call.
pub(super) fn record_of(tenant: &str, who: &str, subject: &str, at: u64, event: AuditEvent) -> AuditRecord {
    let who = Who { tenant: tenant.parse().unwrap(), principal: who.parse().unwrap() };
    let call = CallFacts {
        who: Arc::new(who),
        trace: TraceId(at.into()),
        call: CallId(at),
        parent: CallId(0),
        operation: "exec.start",
        subjects: Subjects::One(subject.into()),
        grant: None,
        request: None,
    };
    AuditRecord { at: Timestamp(at * 1000), call, event }
}

fn subjects(home: &TenantHome, filter: Filter) -> Vec<String> {
    read_audit(home, filter).unwrap().map(|it| it.unwrap().subject).collect()
}

#[test]
fn a_record_is_one_line_of_plain_json() {
    let (_temp, home) = home();
    let journal = open(&home);
    let records = [record(1, "jq", AuditEvent::Begun), record(2, "r\"m\n", AuditEvent::Denied("max_depth"))];
    journal.append(&records).unwrap();
    journal.sync().unwrap();
    let text = fs::read_to_string(home.audit().join("audit-000001.jsonl")).unwrap();
    insta::assert_snapshot!(text, @r#"
    {"at":"1970-01-01T00:00:00.000001Z","tenant":"dev","principal":"tenant:7","trace":"00000000000000000000000000000001","call":"0000000000000001","parent":"0000000000000000","operation":"exec.start","subject":"jq","decision":"allowed"}
    {"at":"1970-01-01T00:00:00.000002Z","tenant":"dev","principal":"tenant:7","trace":"00000000000000000000000000000002","call":"0000000000000002","parent":"0000000000000000","operation":"exec.start","subject":"r\"m\u000a","decision":"denied","reason":"max_depth"}
    "#);
}

#[test]
fn a_filter_keeps_the_newest_that_match_oldest_first() {
    let (_temp, home) = home();
    let journal = small(&home, 300);
    for n in 0..10 {
        let event = if n % 2 == 0 { AuditEvent::Begun } else { AuditEvent::Denied("denied") };
        journal.append(&[record(n, &n.to_string(), event)]).unwrap();
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
    open(&home).append(&[record(1, "before", AuditEvent::Begun)]).unwrap();
    let whole = fs::read(&path).unwrap();
    let mut file = fs::OpenOptions::new().append(true).open(&path).unwrap();
    file.write_all(&whole[..whole.len() / 2]).unwrap();
    // Still torn, and nobody wrote after it.
    assert_eq!(subjects(&home, Filter::default()), ["before"]);
    open(&home).append(&[record(2, "after", AuditEvent::Begun)]).unwrap();
    let mut reader = read_audit(&home, Filter::default()).unwrap();
    let read: Vec<_> = reader.by_ref().map(|it| it.unwrap().subject).collect();
    assert_eq!((read, reader.torn()), (vec!["before".to_owned(), "after".to_owned()], 1));
}

#[test]
fn a_record_that_ran_into_a_torn_line_of_another_process_is_found() {
    let (_temp, home) = home();
    let path = home.audit().join("audit-000001.jsonl");
    let journal = open(&home);
    journal.append(&[record(1, "one", AuditEvent::Begun)]).unwrap();
    let whole = fs::read(&path).unwrap();
    let mut other = fs::OpenOptions::new().append(true).open(&path).unwrap();
    other.write_all(&whole[..whole.len() - 10]).unwrap();
    journal.append(&[record(2, "two", AuditEvent::Begun)]).unwrap();
    assert_eq!(subjects(&home, Filter::default()), ["one", "two"]);
    assert_eq!(count_audit(&home).unwrap().torn, 1);
}

#[test]
fn segments_rotate_and_only_the_newest_are_kept() {
    let (_temp, home) = home();
    let journal = small(&home, 1);
    for n in 0..40 {
        journal.append(&[record(n, &n.to_string(), AuditEvent::Begun)]).unwrap();
    }
    let kept = subjects(&home, Filter::default());
    assert_eq!(kept.len(), SEGMENTS_MAX);
    assert_eq!(kept.last().unwrap(), "39");
}

#[test]
fn a_writer_whose_segment_was_pruned_moves_on_to_the_newest() {
    let (_temp, home) = home();
    let idle = small(&home, 1);
    let busy = small(&home, 1);
    for n in 0..40 {
        busy.append(&[record(n, "busy", AuditEvent::Begun)]).unwrap();
    }
    idle.append(&[record(41, "idle", AuditEvent::Begun)]).unwrap();
    assert_eq!(subjects(&home, Filter { limit: Some(1), ..Filter::default() }), ["idle"]);
}

#[test]
fn two_writers_share_a_journal_and_every_line_is_whole() {
    let (_temp, home) = home();
    thread::scope(|scope| {
        for who in ["a", "b", "c"] {
            let home = &home;
            scope.spawn(move || {
                let journal = small(home, 128 << 10);
                for n in 0..200 {
                    let batch: Vec<_> = (0..5).map(|k| record(n * 5 + k, who, AuditEvent::Begun)).collect();
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
    fs::create_dir_all(home.audit()).unwrap();
    fs::write(&path, [vec![b'x'; 300_000], b"\n\n".to_vec()].concat()).unwrap();
    open(&home).append(&[record(1, "after", AuditEvent::Begun)]).unwrap();
    assert_eq!(subjects(&home, Filter::default()), ["after"]);
    assert_eq!(count_audit(&home).unwrap().torn, 1);
}

#[test]
fn a_full_disk_is_an_error_and_the_next_record_starts_on_its_own_line() {
    let (_temp, home) = home();
    let journal = open(&home);
    journal.append(&[record(1, "one", AuditEvent::Begun)]).unwrap();
    let swap = |file| {
        journal.look(|it| {
            let segment = it.held.newest(&Tenant::default(), Row::Shared).unwrap();
            std::mem::replace(&mut segment.file, file)
        })
    };
    let file = swap(fs::File::options().write(true).open("/dev/full").unwrap());
    let error = journal.append(&[record(2, "lost", AuditEvent::Begun)]).unwrap_err();
    assert_eq!(error.cause.kind(), std::io::ErrorKind::StorageFull);
    swap(file);
    journal.append(&[record(3, "three", AuditEvent::Begun)]).unwrap();
    assert_eq!(subjects(&home, Filter::default()), ["one", "three"]);
}

fn denied(tenant: &str, who: &str, subject: &str, at: u64) -> AuditRecord {
    record_of(tenant, who, subject, at, AuditEvent::Denied("denied"))
}

fn read(home: &TenantHome) -> Vec<ReadRecord> {
    read_audit(home, Filter::default()).unwrap().map(Result::unwrap).collect()
}

#[test]
fn each_tenant_has_a_journal_of_its_own_whatever_it_is_called() {
    let (_temp, home) = home();
    let journal = open(&home);
    let dots = ".".repeat(128);
    let names = ["dev", "..", "../../x", "/etc", &dots];
    let records: Vec<_> = names.iter().zip(1..).map(|(name, at)| denied(name, "../p", name, at)).collect();
    journal.append(&records).unwrap();
    journal.sync().unwrap();
    for name in names {
        let tenant = home.home().tenant(&name.parse().unwrap());
        let found: Vec<_> = read(&tenant).into_iter().map(|it| (it.tenant, it.subject)).collect();
        assert_eq!(found, [(name.to_owned(), name.to_owned())]);
    }
    assert_eq!(home.home().tenants().read_dir().unwrap().count(), names.len());
    assert_eq!(read(&home.home().tenant(&"nobody".parse().unwrap())), []);
}

#[test]
fn the_same_denial_again_and_again_is_the_first_record_and_a_count() {
    let (_temp, home) = home();
    let journal = FileJournal::within(
        home.home(),
        Bounds { fold_window: Duration::from_secs(3600), ..Bounds::default() },
    );
    // In one batch and over several; what differs in anything is another denial.
    let batch: Vec<_> = (1..=5).map(|at| denied("dev", "noisy", "rm", at)).collect();
    journal.append(&batch).unwrap();
    for at in 6..=100 {
        journal.append(&[denied("dev", "noisy", "rm", at)]).unwrap();
    }
    let others = [
        denied("dev", "quiet", "rm", 101),
        denied("dev", "noisy", "ls", 102),
        record_of("dev", "noisy", "rm", 103, AuditEvent::Denied("max_depth")),
        record(104, "rm", AuditEvent::Begun),
        record(105, "rm", AuditEvent::Begun),
    ];
    journal.append(&others).unwrap();
    journal.append(&[denied("acme", "noisy", "rm", 1), denied("acme", "noisy", "rm", 2)]).unwrap();
    // The first is there at once, the count when it is written.
    let firsts = read(&home);
    assert_eq!(firsts.len(), 1 + others.len(), "{firsts:?}");
    assert_eq!((firsts[0].at, firsts[0].count), (Timestamp(1000), 1));
    journal.settle().unwrap();
    let folded = read(&home).into_iter().find(|it| it.count > 1).unwrap();
    assert_eq!((folded.count, folded.first, folded.at), (99, Timestamp(2000), Timestamp(100_000)));
    assert_eq!((folded.principal.as_str(), folded.subject.as_str()), ("noisy", "rm"));
    let counts = count_audit(&home).unwrap().decisions;
    let of = |decision| counts[&("exec.start".to_owned(), decision)];
    assert_eq!(of(ReadDecision::Denied("denied".into())), 102, "nothing is lost by folding");
    assert_eq!(of(ReadDecision::Allowed), 2);
    // Once more, and what was counted is written when the journal is closed.
    journal.append(&[denied("dev", "noisy", "rm", 200), denied("dev", "noisy", "rm", 201)]).unwrap();
    drop(journal);
    assert_eq!(count_audit(&home).unwrap().decisions.values().sum::<u64>(), 107);
    let text = fs::read_to_string(home.audit().join("audit-000001.jsonl")).unwrap();
    insta::assert_snapshot!(text.lines().last().unwrap(), @r#"{"at":"1970-01-01T00:00:00.000201Z","tenant":"dev","principal":"noisy","trace":"000000000000000000000000000000c9","call":"00000000000000c9","parent":"0000000000000000","operation":"exec.start","subject":"rm","decision":"denied","reason":"denied","count":2,"first":"1970-01-01T00:00:00.000200Z"}"#);
}

#[test]
fn a_count_is_written_by_itself_soon_after() {
    let (_temp, home) = home();
    let journal = FileJournal::within(
        home.home(),
        Bounds { fold_window: Duration::from_millis(20), ..Bounds::default() },
    );
    journal.append(&[denied("dev", "p", "rm", 1), denied("dev", "p", "rm", 2)]).unwrap();
    // A hang guard; it is there after some twenty milliseconds.
    for _ in 0..1000 {
        if count_audit(&home).unwrap().decisions.values().sum::<u64>() == 2 {
            return;
        }
        thread::sleep(Duration::from_millis(10));
    }
    panic!("the count was never written");
}

#[test]
fn a_count_that_could_not_be_written_is_kept_and_a_batch_that_failed_is_not_counted() {
    let (_temp, home) = home();
    let journal = FileJournal::within(
        home.home(),
        Bounds { fold_window: Duration::from_secs(3600), ..Bounds::default() },
    );
    let swap = |file| {
        journal.look(|it| {
            let segment = it.held.newest(&Tenant::default(), Row::Shared).unwrap();
            std::mem::replace(&mut segment.file, file)
        })
    };
    journal.append(&[denied("dev", "p", "rm", 1), denied("dev", "p", "rm", 2)]).unwrap();
    let file = swap(fs::File::options().write(true).open("/dev/full").unwrap());
    assert!(journal.settle().is_err());
    // A neighbour's records before it were kept, and need not be given again.
    let batch = [denied("acme", "p", "rm", 1), denied("dev", "p", "rm", 3), denied("dev", "p", "ls", 4)];
    assert_eq!(journal.append(&batch).unwrap_err().kept, 1);
    swap(file);
    journal.append(&batch[1..]).unwrap();
    journal.settle().unwrap();
    assert_eq!(count_audit(&home).unwrap().decisions.values().sum::<u64>(), 4);
    let acme = home.home().tenant(&"acme".parse().unwrap());
    assert_eq!(count_audit(&acme).unwrap().decisions.values().sum::<u64>(), 1);
}

#[test]
fn a_tenant_whose_folder_cannot_be_written_keeps_no_ones_count_and_no_ones_sync_from_the_disk() {
    let (_temp, home) = home();
    let bounds = Bounds { fold_window: Duration::from_secs(3600), ..Bounds::default() };
    let journal = FileJournal::within(home.home(), bounds);
    let names = ["a", "b", "c"];
    for name in names {
        journal.append(&[denied(name, "p", "rm", 1), denied(name, "p", "rm", 2)]).unwrap();
    }
    let swap = |file| {
        journal.look(|it| {
            let segment = it.held.newest(&"a".parse().unwrap(), Row::Shared).unwrap();
            std::mem::replace(&mut segment.file, file)
        })
    };
    let file = swap(fs::File::options().write(true).open("/dev/full").unwrap());
    let error = journal.sync().unwrap_err();
    assert_eq!(error.tenants, ["a".parse::<Tenant>().unwrap()], "the others are on disk");
    assert!(journal.settle().is_err());
    let counted = |name: &str| {
        let counts = count_audit(&home.home().tenant(&name.parse().unwrap())).unwrap();
        counts.decisions.values().sum::<u64>()
    };
    assert_eq!(names.map(counted), [1, 2, 2]);
    swap(file);
    journal.settle().unwrap();
    assert_eq!(names.map(counted), [2, 2, 2]);
}

#[test]
fn a_denial_that_is_given_again_after_a_failed_sync_is_written_again_and_not_taken_for_a_repeat() {
    let (_temp, home) = home();
    let bounds = Bounds { fold_window: Duration::from_secs(3600), ..Bounds::default() };
    let journal = FileJournal::within(home.home(), bounds);
    let swap = |file| {
        journal.look(|it| {
            let segment = it.held.newest(&Tenant::default(), Row::Shared).unwrap();
            std::mem::replace(&mut segment.file, file)
        })
    };
    journal.append(&[denied("dev", "p", "rm", 1), denied("dev", "p", "rm", 2)]).unwrap();
    // A device cannot be synced.
    let file = swap(fs::File::options().write(true).open("/dev/full").unwrap());
    assert!(journal.sync().is_err());
    swap(file);
    journal.append(&[denied("dev", "p", "rm", 1)]).unwrap();
    journal.sync().unwrap();
    assert_eq!(read(&home).iter().map(|it| (it.at.0, it.count)).collect::<Vec<_>>(), [(1000, 1), (1000, 1)]);
    // From then on repeats are counted as before, and what was counted before is not forgotten.
    journal.append(&[denied("dev", "p", "rm", 3)]).unwrap();
    journal.settle().unwrap();
    assert_eq!(read(&home).last().map(|it| (it.at.0, it.count)), Some((3000, 2)));
}

#[test]
fn one_noisy_principal_does_not_push_the_records_of_others_out() {
    let (_temp, home) = home();
    let bounds = Bounds { segment_bytes_max: 64 << 10, principal_records_max: 40, ..Bounds::default() };
    let journal = FileJournal::within(home.home(), bounds);
    let allowed = |who: &str, at: u64| record_of("dev", who, &at.to_string(), at, AuditEvent::Begun);
    journal.append(&[allowed("quiet", 0)]).unwrap();
    for batch in 0..400 {
        let records: Vec<_> = (0..100).map(|n| allowed("noisy", 1 + batch * 100 + n)).collect();
        journal.append(&records).unwrap();
    }
    journal.append(&[allowed("quiet", 50_000)]).unwrap();
    let all = read(&home);
    let quiet: Vec<_> = all.iter().filter(|it| it.principal == "quiet").map(|it| it.at.0 / 1000).collect();
    assert_eq!(quiet, [0, 50_000]);
    // In the order of time, though they lie in two rows of segments; and the noisy one's newest are there.
    assert!(all.is_sorted_by_key(|it| it.at));
    assert!(all.len() > 1000 && all[all.len() - 2].subject == "40000", "{}", all.len());
    let newest = subjects(&home, Filter { limit: Some(3), ..Filter::default() });
    assert_eq!(newest, ["39999", "40000", "50000"]);
    let files = home.audit().read_dir().unwrap().count();
    assert!(files <= 1 + SEGMENTS_MAX, "{files}");
}

#[test]
fn what_is_remembered_of_denials_is_bounded_and_none_is_lost_for_it() {
    let (_temp, home) = home();
    let journal = FileJournal::within(
        home.home(),
        Bounds { fold_window: Duration::from_secs(3600), ..Bounds::default() },
    );
    for round in 0..2 {
        for batch in 0..12 {
            let name = |n: usize| format!("s{}", batch * 500 + n);
            let records: Vec<_> =
                (0..500).map(|n| denied("dev", "p", &name(n), round * 10_000 + n as u64)).collect();
            journal.append(&records).unwrap();
        }
    }
    journal.settle().unwrap();
    assert_eq!(count_audit(&home).unwrap().decisions.values().sum::<u64>(), 12_000);
    let folded = read(&home).len();
    assert!(folded > 12_000 - fold::FOLDS_MAX && folded <= 12_000, "{folded}");
}

#[test]
fn segments_of_many_tenants_are_closed_for_each_other_and_none_loses_a_line() {
    let (_temp, home) = home();
    let journal = open(&home);
    for round in 0..3 {
        let records: Vec<_> =
            (0..200).map(|n| record_of(&format!("t{n}"), "me", "x", round, AuditEvent::Begun)).collect();
        journal.append(&records).unwrap();
        assert_eq!(journal.look(|it| it.held.open()), OPEN_MAX);
        journal.sync().unwrap();
    }
    for n in 0..200 {
        assert_eq!(read(&home.home().tenant(&format!("t{n}").parse().unwrap())).len(), 3);
    }
}

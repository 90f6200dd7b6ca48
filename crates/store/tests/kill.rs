//! Writers are killed at any moment, and what they leave behind is whole. Real processes: this
//! test binary starts itself again.

#![allow(clippy::unwrap_used)]

use std::{
    env, fs,
    io::{BufRead as _, BufReader, Write as _},
    path::Path,
    process::{Child, Command, Stdio},
    sync::Arc,
};

use drydock_contract::{
    ArgMode, CallId, Tenant, Timestamp, TraceId, Who,
    port::{AuditEvent, AuditRecord, CallFacts, Journal as _, Subjects},
};
use drydock_store::{
    Checkpoints, CommandRegistry, FileJournal, Filter, Home, TenantHome, count_audit, read_audit,
};

/// Set in a child: the home it works in, a space, and its number.
const CHILD: &str = "DRYDOCK_STORE_TEST_CHILD";

/// Starts this binary again, to run the one test named. Libtest keeps its own lines apart.
fn start(test: &str, home: &Path, number: u32) -> Child {
    Command::new(env::current_exe().unwrap())
        .args(["--exact", test, "--nocapture"])
        .env(CHILD, format!("{} {number}", home.display()))
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap()
}

fn open(home: &Path) -> TenantHome {
    Home::open(home).unwrap().tenant(&Tenant::default())
}

/// In a child: its home and number.
fn child() -> Option<(TenantHome, u32)> {
    let told = env::var(CHILD).ok()?;
    let (home, number) = told.rsplit_once(' ').unwrap();
    Some((open(Path::new(home)), number.parse().unwrap()))
}

/// Kills the child some way into the step that follows its `steps`-th.
fn kill_after(mut child: Child, steps: usize, spin: u32) {
    let lines = BufReader::new(child.stdout.take().unwrap()).lines();
    let done = lines.map_while(Result::ok).filter(|line| line.contains("step")).take(steps).count();
    assert_eq!(done, steps, "the child ended by itself");
    for _ in 0..spin {
        std::hint::spin_loop();
    }
    child.kill().unwrap();
    child.wait().unwrap();
}

fn step() {
    // Past the capture of libtest, and at once.
    let mut out = std::io::stdout().lock();
    let _ = writeln!(out, "step").and_then(|()| out.flush());
}

fn module(name: &str) -> Vec<u8> {
    [b"\0asm\x01\0\0\0", name.as_bytes(), &[0; 20_000]].concat()
}

#[test]
fn a_registry_whose_writer_is_killed_at_any_moment_loads_and_verifies() {
    if let Some((home, number)) = child() {
        let registry = CommandRegistry::open(&home, vec![]).unwrap();
        for n in 0.. {
            let name = format!("c{number}-{n}");
            registry.add(&name, module(&name), ArgMode::Argv, None).unwrap();
            step();
        }
    }
    let temp = tempfile::tempdir().unwrap();
    let home = open(temp.path());
    let mut promised = 0;
    for number in 0..24 {
        let steps = 1 + number as usize % 4;
        let test = "a_registry_whose_writer_is_killed_at_any_moment_loads_and_verifies";
        kill_after(start(test, temp.path(), number), steps, number * 40_000);
        promised += steps;

        let registry = CommandRegistry::open(&home, vec![]).unwrap();
        registry.check().unwrap();
        let verdicts = registry.verify();
        assert!(verdicts.len() >= promised, "{} of {promised} names", verdicts.len());
        for verdict in verdicts {
            verdict.outcome.unwrap();
        }
    }
    let registry = CommandRegistry::open(&home, vec![]).unwrap();
    registry.add("after", module("after"), ArgMode::Argv, None).unwrap();
}

#[test]
fn processes_that_add_names_at_once_lose_none() {
    if let Some((home, number)) = child() {
        let registry = CommandRegistry::open(&home, vec![]).unwrap();
        for n in 0..10 {
            let name = format!("c{number}-{n}");
            registry.add(&name, module(&name), ArgMode::Argv, None).unwrap();
        }
        return;
    }
    let temp = tempfile::tempdir().unwrap();
    let home = open(temp.path());
    let test = "processes_that_add_names_at_once_lose_none";
    let children: Vec<_> = (0..3).map(|number| start(test, temp.path(), number)).collect();
    for mut child in children {
        let mut out = BufReader::new(child.stdout.take().unwrap());
        std::io::copy(&mut out, &mut std::io::sink()).unwrap();
        assert!(child.wait().unwrap().success());
    }
    assert_eq!(CommandRegistry::open(&home, vec![]).unwrap().list().len(), 30);
}

#[test]
fn a_journal_whose_writers_are_killed_keeps_every_record_that_was_acknowledged() {
    if let Some((home, number)) = child() {
        let journal = FileJournal::open(home.home());
        let call = CallFacts {
            who: Arc::new(Who {
                tenant: Tenant::default(),
                principal: format!("child-{number}").parse().unwrap(),
            }),
            trace: TraceId(1),
            call: CallId(1),
            parent: CallId(0),
            operation: "exec.start",
            subjects: Subjects::One("x".repeat(60).into()),
            grant: None,
            request: None,
        };
        let record = |n: u64| AuditRecord { at: Timestamp(n), call: call.clone(), event: AuditEvent::Begun };
        for n in 0.. {
            let batch: Vec<_> = (0..50).map(|k| record(n * 50 + k)).collect();
            journal.append(&batch).unwrap();
            step();
        }
    }
    let temp = tempfile::tempdir().unwrap();
    let home = open(temp.path());
    let mut promised = 0;
    for number in 0..10 {
        let test = "a_journal_whose_writers_are_killed_keeps_every_record_that_was_acknowledged";
        kill_after(start(test, temp.path(), number), 20, number * 10_000);
        promised += 20 * 50;
        let records = read_audit(&home, Filter::default()).unwrap().map(Result::unwrap);
        assert!(records.filter(|it| it.subject.len() == 60).count() >= promised);
    }
    assert!(count_audit(&home).unwrap().torn <= 10, "at most one torn line for each kill");
    assert!(fs::read_dir(home.audit()).unwrap().count() >= 1);
}

#[test]
fn a_session_is_one_process_at_a_time_and_whole_when_that_is_killed() {
    let state = |n: u64| vec![u8::try_from(n % 251).unwrap(); 50_000];
    let sessions = |home: &TenantHome| Checkpoints::of(home, "me".parse().unwrap()).unwrap();
    let name = "work".parse().unwrap();
    if let Some((home, _)) = child() {
        let mut session = sessions(&home).open(&name).unwrap();
        let from = session.get().unwrap().map_or(0, |it| it.facts.lines);
        for n in from + 1.. {
            session.put(&[&state(n)], "/w", n, Timestamp(n)).unwrap();
            step();
        }
    }
    let temp = tempfile::tempdir().unwrap();
    let all = sessions(&open(temp.path()));
    let mut promised = 0;
    for number in 0..12 {
        let test = "a_session_is_one_process_at_a_time_and_whole_when_that_is_killed";
        let mut child = start(test, temp.path(), number);
        let mut lines = BufReader::new(child.stdout.take().unwrap()).lines().map_while(Result::ok);
        assert!(lines.any(|line| line.contains("step")));
        let error = all.open(&name).unwrap_err();
        assert_eq!(error.to_string(), "session work is in use by another process");
        for _ in 0..number * 40_000 {
            std::hint::spin_loop();
        }
        child.kill().unwrap();
        child.wait().unwrap();
        let kept = all.open(&name).unwrap().get().unwrap().unwrap();
        assert!(kept.facts.lines > promised && kept.state == state(kept.facts.lines));
        promised = kept.facts.lines;
    }
}

//! The ledger between processes, and on a disk that is full. Real processes: this test binary starts itself again.

#![allow(clippy::unwrap_used)]

use std::{
    env,
    io::{BufRead as _, BufReader, Write as _},
    path::Path,
    process::{Command, Stdio},
    time::{Duration, Instant},
};

use drydock_contract::{
    Node, Tenant, Timestamp,
    port::{Ledger as _, LedgerError},
};
use drydock_store::{Home, SqliteLedger};

/// Set in a child: the home it works in.
const CHILD: &str = "DRYDOCK_LEDGER_TEST_CHILD";
const NOW: Timestamp = Timestamp(1_767_225_599_123_456_789);

fn node(name: &str) -> Node {
    Node::Principal(Tenant::default(), name.parse().unwrap())
}

/// Starts this binary again, to run the one test named.
fn start(test: &str, home: &Path) -> Command {
    let mut command = Command::new(env::current_exe().unwrap());
    command.args(["--exact", test, "--nocapture"]).env(CHILD, home);
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
    command
}

fn child() -> Option<SqliteLedger> {
    let home = env::var_os(CHILD)?;
    Some(SqliteLedger::of(&Home::open(home).unwrap()))
}

#[test]
fn a_revocation_is_heard_by_another_process_within_a_second() {
    if let Some(ledger) = child() {
        // As a process that runs does: four times a second.
        let mut seen = None;
        loop {
            if let Some((mark, nodes)) = ledger.revocations(seen).unwrap() {
                seen = Some(mark);
                let mut out = std::io::stdout().lock();
                writeln!(out, "heard {}", nodes.len()).and_then(|()| out.flush()).unwrap();
                if nodes.len() == 3 {
                    return;
                }
            }
            std::thread::sleep(Duration::from_millis(250));
        }
    }
    let temp = tempfile::tempdir().unwrap();
    let ledger = SqliteLedger::of(&Home::open(temp.path()).unwrap());
    let mut child =
        start("a_revocation_is_heard_by_another_process_within_a_second", temp.path()).spawn().unwrap();
    let mut heard = BufReader::new(child.stdout.take().unwrap())
        .lines()
        .map_while(Result::ok)
        .filter_map(|line| line.split_once("heard ").map(|it| it.1.to_owned()));
    assert_eq!(heard.next().unwrap(), "0");
    for n in 1..=3 {
        assert!(ledger.revoke(&node(&format!("p{n}")), NOW).unwrap());
        let since = Instant::now();
        assert_eq!(heard.next().unwrap(), n.to_string());
        assert!(since.elapsed() < Duration::from_secs(1), "{:?}", since.elapsed());
    }
    assert!(child.wait().unwrap().success());
}

#[test]
fn processes_that_lease_and_swap_at_once_never_get_the_same_twice() {
    let (dev, test) = (Tenant::default(), "processes_that_lease_and_swap_at_once_never_get_the_same_twice");
    if let Some(ledger) = child() {
        let mut given = 0;
        for _ in 0..40 {
            given += ledger.lease(&dev, "calls", 7, 500).unwrap();
            loop {
                let before = ledger.cell(&dev, "n").unwrap();
                let n: u64 = before.as_deref().map_or(0, |it| String::from_utf8_lossy(it).parse().unwrap());
                if ledger.swap(&dev, "n", before.as_deref(), Some((n + 1).to_string().as_bytes())).unwrap() {
                    break;
                }
            }
        }
        println!("given {given}");
        return;
    }
    let temp = tempfile::tempdir().unwrap();
    let home = Home::open(temp.path()).unwrap();
    let children: Vec<_> = (0..3).map(|_| start(test, temp.path()).spawn().unwrap()).collect();
    let mut given = 0;
    for child in children {
        let output = child.wait_with_output().unwrap();
        assert!(output.status.success());
        let text = String::from_utf8(output.stdout).unwrap();
        let told = text.split_once("given ").unwrap().1.split_whitespace().next().unwrap().to_owned();
        given += told.parse::<u64>().unwrap();
    }
    let ledger = SqliteLedger::of(&home);
    assert_eq!((given, ledger.leased(&dev, "calls").unwrap()), (500, 500));
    assert_eq!(ledger.cell(&dev, "n").unwrap().unwrap(), b"120");
}

#[test]
fn a_process_that_is_killed_while_it_revokes_leaves_what_was_acknowledged() {
    let test = "a_process_that_is_killed_while_it_revokes_leaves_what_was_acknowledged";
    if let Some(ledger) = child() {
        for n in 0.. {
            ledger.revoke(&node(&format!("{}-{n}", std::process::id())), NOW).unwrap();
            let mut out = std::io::stdout().lock();
            writeln!(out, "step").and_then(|()| out.flush()).unwrap();
        }
    }
    let temp = tempfile::tempdir().unwrap();
    let home = Home::open(temp.path()).unwrap();
    let mut promised = 0;
    for round in 0..6 {
        let mut child = start(test, temp.path()).spawn().unwrap();
        let lines = BufReader::new(child.stdout.take().unwrap()).lines();
        promised += lines.map_while(Result::ok).filter(|it| it.contains("step")).take(5).count();
        for _ in 0..round * 40_000 {
            std::hint::spin_loop();
        }
        child.kill().unwrap();
        child.wait().unwrap();
        let found = SqliteLedger::of(&home).revocations(None).unwrap().unwrap().1.len();
        assert!(found >= promised, "{found} of {promised}");
    }
    assert_eq!(promised, 30);
}

/// What a full disk has to be called: a real one, and a limit on the size of files that stands in for it.
const CODES: &str = "DRYDOCK_LEDGER_TEST_CODES";

#[test]
fn on_a_full_disk_nothing_is_revoked_by_half_and_everything_is_said_by_name() {
    let test = "on_a_full_disk_nothing_is_revoked_by_half_and_everything_is_said_by_name";
    if let Ok(disk) = env::var(CHILD) {
        return fill(Path::new(&disk), &env::var(CODES).unwrap());
    }
    // In a disk of its own of one megabyte: a mount namespace that only this process's child sees.
    let mounted = r#"mount -t tmpfs -o size=1m tmpfs "$1" 2>/dev/null || exit 77
        exec "$2" --exact "$3" --nocapture"#;
    // Not every machine lets us mount. A file that may not grow is no full disk to SQLite, but a write that fails.
    let limited = r#"trap "" XFSZ; ulimit -S -f 96; exec "$2" --exact "$3" --nocapture"#;
    let run = |program: &[&str], script: &str, codes: &str| {
        let temp = tempfile::tempdir().unwrap();
        let mut command = Command::new(program[0]);
        command.args(&program[1..]).args(["-c", script, "sh"]).arg(temp.path());
        command.arg(env::current_exe().unwrap()).arg(test).env(CHILD, temp.path()).env(CODES, codes).output()
    };
    let told = |it: &std::process::Output| {
        format!("{}{}", String::from_utf8_lossy(&it.stderr), String::from_utf8_lossy(&it.stdout))
    };
    let real = run(&["unshare", "-rm", "sh"], mounted, "ledger_no_space");
    let is_here = |it: &std::process::Output| it.status.code() != Some(77) && !told(it).contains("unshare");
    if let Some(real) = real.ok().filter(is_here) {
        assert!(real.status.success(), "{}", told(&real));
    }
    let ended = run(&["sh"], limited, "ledger_no_space ledger_unavailable").unwrap();
    assert!(ended.status.success(), "{}", told(&ended));
    assert!(told(&ended).contains("1 passed"), "{}", told(&ended));
}

/// Writes until nothing can be written, with room made afterwards.
fn fill(disk: &Path, codes: &str) {
    let dev = Tenant::default();
    let home = Home::open(disk.join("home")).unwrap();
    let ledger = SqliteLedger::of(&home);
    ledger.revoke(&node("first"), NOW).unwrap();
    ledger.lease(&dev, "calls", 3, 1000).unwrap();
    ledger.swap(&dev, "kept", None, Some(b"kept")).unwrap();
    let filler = disk.join("filler");
    let _ = std::fs::write(&filler, vec![1; 1 << 20]);
    let named = |error: LedgerError| assert!(codes.split(' ').any(|it| it == error.code), "{error}");
    let mut revoked = 1;
    named(loop {
        match ledger.revoke(&node(&format!("{revoked}-{}", "x".repeat(100))), NOW) {
            Ok(_) => revoked += 1,
            Err(error) => break error,
        }
    });
    let error = (0..1000).find_map(|n| ledger.swap(&dev, &n.to_string(), None, Some(&[1; 4000])).err());
    named(error.unwrap());
    // What is there can be read, by whoever comes as well.
    for ledger in [&ledger, &SqliteLedger::of(&home)] {
        assert_eq!(ledger.revocations(None).unwrap().unwrap().1.len(), revoked);
    }
    let other: Tenant = "other".parse().unwrap();
    if codes == "ledger_no_space" {
        // A tenant that is new finds no room either, and leaves nothing by half.
        named(ledger.lease(&other, "calls", 1, 9).unwrap_err());
    }
    std::fs::remove_file(&filler).unwrap();
    let limit = rustix::process::getrlimit(rustix::process::Resource::Fsize);
    let limit = rustix::process::Rlimit { current: limit.maximum, ..limit };
    rustix::process::setrlimit(rustix::process::Resource::Fsize, limit).unwrap();
    let ledger = SqliteLedger::of(&home);
    assert_eq!(ledger.cell(&dev, "kept").unwrap().unwrap(), b"kept");
    assert_eq!(ledger.leased(&dev, "calls").unwrap(), 3);
    assert!(ledger.revoke(&node("last"), NOW).unwrap());
    assert_eq!(ledger.lease(&other, "calls", 1, 9).unwrap(), 1);
}

//! One tenant that is noisy, broken or locked out, and the others beside it: through the whole machine.
#![allow(clippy::unwrap_used)]

use std::{
    env, fs,
    io::{BufRead as _, BufReader, Write as _},
    path::Path,
    process::{Child, Command, Stdio},
    sync::{
        Arc,
        atomic::{AtomicBool, AtomicU64, Ordering},
    },
    time::{Duration, Instant},
};

use drydock_embed::{
    Dock, DockSession, DockSettings, Setup,
    contract::{Call, Node, Streams, Tenant, port::Ledger as _},
    gate::GateSettings,
    store::{Filter, Home, SqliteLedger, read_audit},
};

fn tenant(dock: &Dock, name: &str) -> Dock {
    dock.for_tenant(name.parse::<Tenant>().unwrap())
}

fn minimal(dock: &Dock) -> DockSession {
    dock.session("me", Setup::profile("minimal")).unwrap()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_thousand_tenants_with_denials_all_the_time_leave_a_neighbour_its_commands() {
    const TENANTS: usize = 1_000;
    let home = tempfile::tempdir().unwrap();
    let dock = Dock::open(home.path()).unwrap();
    let neighbour = minimal(&dock);
    neighbour.run("upper", &[], "x").await.unwrap();
    let (over, denials) = (Arc::new(AtomicBool::new(false)), Arc::new(AtomicU64::new(0)));
    let mut noisy = tokio::task::JoinSet::new();
    for n in 0..TENANTS {
        let session = tenant(&dock, &format!("t{n}")).session("me", Setup::default()).unwrap();
        let (over, denials) = (Arc::clone(&over), Arc::clone(&denials));
        noisy.spawn(async move {
            for round in 0.. {
                // Each has one at least, and goes on for as long as the neighbour is at work.
                if round > 0 && over.load(Ordering::Relaxed) {
                    return;
                }
                assert_eq!(session.run("upper", &[], "x").await.unwrap_err().code(), "denied");
                denials.fetch_add(1, Ordering::Relaxed);
                tokio::time::sleep(Duration::from_millis(1)).await;
            }
        });
    }
    let mut took = Vec::new();
    // Until everybody had several, repeats among them.
    while took.len() < 200 || denials.load(Ordering::Relaxed) < 5 * TENANTS as u64 {
        let began = Instant::now();
        let done = tokio::time::timeout(Duration::from_secs(60), neighbour.run("upper", &[], "x")).await;
        assert!(done.expect("it is not held up for ever").unwrap().success());
        took.push(began.elapsed());
        // The rate of a principal is not what is tried here.
        tokio::time::sleep(Duration::from_millis(1)).await;
    }
    over.store(true, Ordering::Relaxed);
    while let Some(ended) = noisy.join_next().await {
        ended.unwrap();
    }
    took.sort();
    let made = denials.load(Ordering::Relaxed);
    println!(
        "beside {made} denials of {TENANTS} tenants: median {:?}, p99 {:?}",
        took[took.len() / 2],
        took[took.len() * 99 / 100]
    );
    dock.gate().flush().unwrap();
    let records = |dock: &Dock| -> u64 {
        let records = read_audit(&dock.home().tenant(dock.tenant()), Filter::default()).unwrap();
        records.map(|it| it.unwrap().count).sum()
    };
    let kept: Vec<u64> = (0..TENANTS).map(|n| records(&tenant(&dock, &format!("t{n}")))).collect();
    assert!(kept.iter().all(|it| *it > 0), "everybody's denial is on record");
    assert_eq!(kept.iter().sum::<u64>(), made, "and each of them is counted");
    assert_eq!(records(&dock), 2 * (took.len() as u64 + 1), "and so is what the neighbour did");
}

#[tokio::test]
async fn a_tenant_whose_audit_folder_cannot_be_written_is_refused_alone() {
    let home = tempfile::tempdir().unwrap();
    let dock = Dock::open(home.path()).unwrap();
    let folder = home.path().join("tenants/bad");
    fs::create_dir_all(&folder).unwrap();
    fs::write(folder.join("audit"), "a file where a folder should be").unwrap();
    let (bad, good) = (minimal(&tenant(&dock, "bad")), minimal(&dock));
    // The first is let through while nobody knows yet.
    let _ = bad.run("upper", &[], "x").await;
    assert!(dock.gate().flush().unwrap_err().contains("tenants/bad/audit"));
    for _ in 0..5 {
        assert_eq!(bad.run("upper", &[], "x").await.unwrap_err().code(), "audit_unavailable");
        good.run("upper", &[], "x").await.unwrap();
    }
    fs::remove_file(folder.join("audit")).unwrap();
    bad.run("upper", &[], "x").await.unwrap();
    dock.gate().flush().unwrap();
}

/// Set in a child: the file it locks.
const CHILD: &str = "DRYDOCK_NEIGHBOURS_TEST_CHILD";

/// In a child: locks the file as another process's transaction would, until its stdin is closed.
fn hold_if_child() -> bool {
    let Some(path) = env::var_os(CHILD) else { return false };
    let file = fs::File::options().read(true).write(true).open(path).unwrap();
    rustix::fs::fcntl_lock(&file, rustix::fs::FlockOperation::LockExclusive).unwrap();
    let mut out = std::io::stdout().lock();
    writeln!(out, "locked").and_then(|()| out.flush()).unwrap();
    drop(out);
    std::io::stdin().lines().for_each(drop);
    true
}

fn hold(test: &str, path: &Path) -> Child {
    let mut command = Command::new(env::current_exe().unwrap());
    command.args(["--exact", test, "--nocapture"]).env(CHILD, path);
    let mut child =
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
    let told = BufReader::new(child.stdout.take().unwrap()).lines().map_while(Result::ok);
    assert!(told.into_iter().any(|it| it.contains("locked")), "the file could not be locked");
    child
}

fn let_go(mut child: Child) {
    drop(child.stdin.take());
    child.wait().unwrap();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_ledger_that_another_process_holds_is_an_error_by_name_and_its_neighbours_go_on() {
    if hold_if_child() {
        return;
    }
    let home = tempfile::tempdir().unwrap();
    SqliteLedger::of(&Home::open(home.path()).unwrap()).lease(&Tenant::default(), "x", 1, 9).unwrap();
    let held = hold(
        "a_ledger_that_another_process_holds_is_an_error_by_name_and_its_neighbours_go_on",
        &home.path().join("tenants/dev/ledger.sqlite"),
    );
    let gate = GateSettings { calls_max: 1_500, ..GateSettings::default() };
    let dock = Dock::open_with(home.path(), DockSettings { gate, ..DockSettings::default() }).unwrap();
    let (locked, free) = (minimal(&dock), minimal(&tenant(&dock, "free")));
    let ask = async |session: &DockSession| {
        let call = Call::new("commands.list", b"", Streams::default());
        dock.gate().dispatch(session.inner(), call).await.map(drop).map_err(|it| it.code())
    };
    for _ in 0..1_000 {
        ask(&locked).await.unwrap();
    }
    assert_eq!(ask(&locked).await, Err("ledger_locked"));
    for _ in 0..1_200 {
        ask(&free).await.unwrap();
    }
    let_go(held);
    assert_eq!(ask(&locked).await, Ok(()), "in the same window: nothing was used up");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn revocations_that_another_process_holds_revoke_everybody_soon_and_until_it_lets_go() {
    if hold_if_child() {
        return;
    }
    let home = tempfile::tempdir().unwrap();
    let dock = Dock::open(home.path()).unwrap();
    dock.gate().revoke(&Node::Tenant("somebody".parse().unwrap())).unwrap();
    let session = minimal(&dock);
    // Long enough for the listener to have read what there is.
    let until = async |is_live: bool, within: Duration| {
        let began = Instant::now();
        while session.inner().is_live() != is_live {
            assert!(began.elapsed() < within, "after {:?}", began.elapsed());
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
    };
    let held = hold(
        "revocations_that_another_process_holds_revoke_everybody_soon_and_until_it_lets_go",
        &home.path().join("revocations.sqlite"),
    );
    // About a second where the machine has nothing else to do.
    until(false, Duration::from_secs(60)).await;
    assert_eq!(session.run("upper", &[], "x").await.unwrap_err().code(), "revoked");
    let_go(held);
    until(true, Duration::from_secs(60)).await;
    session.run("upper", &[], "x").await.unwrap();
}

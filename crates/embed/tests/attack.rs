//! Attacks, named by the sentence of the seed that they try to break. All of them go through the
//! whole path: gate, registry, store, engine.
#![allow(clippy::unwrap_used)]

use std::{sync::Arc, time::Duration};

use drydock_embed::{
    Dock, DockSession, DockSettings, Setup, WorkerProgram,
    contract::{ArgMode, Cap, Limits, Outcome, Tenant},
    gate::Grant,
};
use drydock_testkit::guests;
use tempfile::TempDir;

struct Yard {
    dock: Dock,
    folder: TempDir,
}

fn yard() -> Yard {
    let folder = tempfile::tempdir().unwrap();
    Yard { dock: Dock::open_with(folder.path(), with_worker()).unwrap(), folder }
}

fn with_worker() -> DockSettings {
    let worker = WorkerProgram::new(env!("CARGO_BIN_EXE_drydock-compile-worker"), [""; 0]);
    DockSettings { worker: Some(worker), ..DockSettings::default() }
}

impl Yard {
    fn add(&self, name: &str, wat: &str) {
        self.dock.registry().add(name, wat::parse_str(wat).unwrap(), ArgMode::Argv, None).unwrap();
    }

    fn session(&self) -> DockSession {
        self.dock.session("attacker", Setup::profile("minimal")).unwrap()
    }

    fn limited(&self, limits: Limits) -> DockSession {
        self.dock.session("attacker", Setup { limits: Some(limits), ..Setup::profile("minimal") }).unwrap()
    }
}

fn wire(name: &str, args: &[&str], stdin: &[u8]) -> Vec<u8> {
    drydock_abi::exec::encode_request(name, args, stdin).unwrap()
}

#[tokio::test]
async fn a_hostile_jq_cannot_be_registered() {
    let yard = yard();
    let hostile = wat::parse_str(guests::exit(66)).unwrap();
    for name in ["jq", "grep", "upper", "wbox", "sort", "cat"] {
        let refused = yard.dock.registry().add(name, hostile.clone(), ArgMode::Argv, None).unwrap_err();
        assert_eq!(refused.code(), "reserved_name", "{name}");
    }
    let run = yard.session().run("jq", &["-c", "."], "{\"a\": 1}").await.unwrap();
    assert_eq!((run.outcome, run.stdout.as_slice()), (Outcome::Exited(0), &b"{\"a\":1}\n"[..]));
}

#[tokio::test]
async fn metacharacters_are_bytes() {
    let yard = yard();
    let session = yard.session();
    let needle = "ada; rm -rf / && $(id) `id` | tee x > y\n'\"*?";
    let echoed = session.run("echo", &["-n", needle], "").await.unwrap();
    assert_eq!(String::from_utf8(echoed.stdout).unwrap(), needle);
    let found = session.run("grep", &["-F", "ada; rm -rf /"], "nothing here\nada; rm -rf /\n").await.unwrap();
    assert_eq!((found.outcome, found.stdout.as_slice()), (Outcome::Exited(0), &b"ada; rm -rf /\n"[..]));
    let missed = session.run("grep", &["ada; rm -rf /"], "users\n").await.unwrap();
    assert_eq!(missed.outcome, Outcome::Exited(1), "the worst it can do is not to match");
}

#[tokio::test]
async fn a_loop_that_never_yields_dies_twice_over() {
    let yard = yard();
    yard.add("spin", &guests::infinite_loop());
    let fuel = Limits { fuel_max: 20_000_000, ..Limits::default() };
    assert_eq!(yard.limited(fuel).run("spin", &[], "").await.unwrap().outcome, Outcome::OutOfFuel);
    let wall = Limits { fuel_max: u64::MAX, wall_max: Duration::from_millis(80), ..Limits::default() };
    assert_eq!(yard.limited(wall).run("spin", &[], "").await.unwrap().outcome, Outcome::TimedOut);
}

#[tokio::test]
async fn swapped_bytes_are_refused_at_run_time() {
    let yard = yard();
    yard.add("mine", &guests::exit(0));
    let path =
        yard.dock.registry().artifacts().path_of(yard.dock.registry().show("mine").unwrap().entry.digest);
    std::fs::write(&path, wat::parse_str(guests::exit(66)).unwrap()).unwrap();
    // A process that starts after the swap has nothing verified in memory.
    let later = Dock::open(yard.folder.path()).unwrap();
    let refused =
        later.session("me", Setup::profile("minimal")).unwrap().run("mine", &[], "").await.unwrap_err();
    assert_eq!(refused.code(), "artifact_integrity");
    let fine = later
        .session("me", Setup::profile("minimal"))
        .unwrap()
        .run("upper", &[], "still here")
        .await
        .unwrap();
    assert_eq!(fine.stdout, b"STILL HERE");
}

#[tokio::test]
async fn only_registered_wasm_commands_run() {
    let yard = yard();
    for name in ["rm", "bash", "sh", "/bin/sh", "/bin/ls", "../jq", "", "jq;id"] {
        let known_applet = name == "rm";
        let answer = yard.session().run(name, &["--version"], "").await;
        match known_applet {
            true => drop(answer.unwrap()),
            false => assert_eq!(answer.unwrap_err().code(), "unknown_command", "{name:?}"),
        }
    }
    assert!(std::path::Path::new("/bin/sh").exists(), "there is one, and nobody reached it");
}

#[tokio::test]
async fn exec_is_denied_unless_something_grants_it() {
    let yard = yard();
    let refused = yard.dock.session("me", Setup::default()).unwrap().run("upper", &[], "").await.unwrap_err();
    assert_eq!(refused.code(), "denied");
    let only = yard.dock.session("me", Setup::allowing(["jq"]).unwrap()).unwrap();
    assert_eq!(only.run("upper", &[], "").await.unwrap_err().code(), "command_not_granted");
    assert_eq!(only.run("no-such", &[], "").await.unwrap_err().code(), "command_not_granted");
}

#[tokio::test]
async fn a_nested_command_passes_the_same_gate() {
    let yard = yard();
    yard.add("nest", &guests::nested_exec());
    let all = yard.session();
    let run = all.run("nest", &[], wire("upper", &[], b"inner")).await.unwrap();
    assert_eq!((run.outcome, run.stdout.as_slice()), (Outcome::Exited(0), &b"INNER"[..]));
    for (request, code) in [
        (wire("missing", &[], b""), "unknown_command"),
        (b"garbage".to_vec(), "malformed"),
        (wire("upper", &["a\0b"], b""), "malformed"),
    ] {
        let run = all.run("nest", &[], request).await.unwrap();
        assert_eq!((run.outcome, run.stdout.as_slice()), (Outcome::Exited(3), code.as_bytes()));
    }
    let setup = Setup::allowing(["nest"]).unwrap();
    let narrow = yard.dock.session("narrow", setup).unwrap();
    let run = narrow.run("nest", &[], wire("upper", &[], b"")).await.unwrap();
    assert_eq!(run.stdout, b"command_not_granted");
}

#[tokio::test]
async fn nesting_stops_at_depth_eight() {
    let yard = yard();
    yard.add("nest", &guests::nested_exec());
    // `nest` runs the request on its stdin; the innermost asks for `upper`. The outermost call is
    // at depth 0, so `upper` behind n nests is asked for at depth n.
    for (nests, want) in [(8, "DEEP"), (9, "max_depth")] {
        let mut request = wire("upper", &[], b"deep");
        for _ in 1..nests {
            request = wire("nest", &[], &request);
        }
        let run = yard.session().run("nest", &[], request).await.unwrap();
        assert_eq!(String::from_utf8_lossy(&run.stdout), want, "{nests} nests");
    }
}

#[tokio::test]
async fn the_sixty_fifth_run_of_a_principal_is_refused_and_every_slot_comes_back() {
    let yard = Arc::new(yard());
    yard.add("sleep1", &guests::sleep_ms(600_000));
    let session = yard.session();
    let sleepers: Vec<_> = (0..64)
        .map(|_| {
            let session = session.clone();
            tokio::spawn(async move { session.run("sleep1", &[], "").await.unwrap().outcome })
        })
        .collect();
    while session.inner().in_flight() < 64 {
        tokio::task::yield_now().await;
    }
    let refused = session.run("upper", &[], "").await.unwrap_err();
    assert_eq!(refused.code(), "too_many_processes");
    let other = yard.dock.session("somebody-else", Setup::profile("minimal")).unwrap();
    assert_eq!(other.run("upper", &[], "me").await.unwrap().stdout, b"ME", "the cap is one principal's");

    // Revocation takes effect for calls in flight.
    yard.dock.revoke("attacker").unwrap();
    for it in sleepers {
        assert_eq!(it.await.unwrap(), Outcome::Cancelled);
    }
    assert_eq!(session.inner().in_flight(), 0);
    assert_eq!(session.run("upper", &[], "").await.unwrap_err().code(), "revoked");
}

#[tokio::test]
async fn hot_swap_lets_runs_in_flight_finish_on_the_old_bytes() {
    let yard = Arc::new(yard());
    yard.add("tool", &guests::sleep_ms(300));
    let session = yard.session();
    let old = tokio::spawn({
        let session = session.clone();
        async move { session.run("tool", &[], "").await.unwrap().outcome }
    });
    while session.inner().in_flight() == 0 {
        tokio::task::yield_now().await;
    }
    yard.add("tool", &guests::exit(7));
    assert_eq!(session.run("tool", &[], "").await.unwrap().outcome, Outcome::Exited(7));
    assert_eq!(old.await.unwrap(), Outcome::Exited(0));
}

#[tokio::test]
async fn a_restart_needs_no_fetch_and_no_rebuild() {
    let yard = yard();
    yard.add("tool", &guests::exit(7));
    yard.session().run("tool", &[], "").await.unwrap();
    let compiled = Arc::new(std::sync::atomic::AtomicU32::new(0));
    let counter = Arc::clone(&compiled);
    let settings = drydock_embed::DockSettings {
        on_compile: Some(Arc::new(move |_| {
            counter.fetch_add(1, std::sync::atomic::Ordering::SeqCst);
        })),
        ..Default::default()
    };
    let again = Dock::open_with(yard.folder.path(), settings).unwrap();
    let run = again.session("me", Setup::profile("minimal")).unwrap().run("tool", &[], "").await.unwrap();
    assert_eq!(run.outcome, Outcome::Exited(7));
    assert_eq!(compiled.load(std::sync::atomic::Ordering::SeqCst), 0);
}

#[tokio::test]
async fn the_journal_knows_who_ran_what_and_never_with_what() {
    let yard = yard();
    let session = yard.session();
    session.run("upper", &[], "top-secret-input").await.unwrap();
    session.run("echo", &["top-secret-argument"], "").await.unwrap();
    session.run("nope", &["top-secret-argument"], "").await.unwrap_err();
    yard.dock.gate().flush().unwrap();
    let mut journal = String::new();
    for file in std::fs::read_dir(yard.dock.home().tenant(&Tenant::default()).audit()).unwrap() {
        journal.push_str(&std::fs::read_to_string(file.unwrap().path()).unwrap());
    }
    // A call that is over before its beginning is written has both on one line.
    assert!((3..=5).contains(&journal.lines().count()), "two begin and end, one is refused: {journal}");
    assert!(!journal.contains("secret"), "{journal}");
    for word in ["\"upper\"", "\"echo\"", "\"nope\"", "unknown_command", "attacker", "exec.start"] {
        assert!(journal.contains(word), "{word} {journal}");
    }
}

#[tokio::test]
async fn a_grant_given_once_is_good_for_one_run() {
    let yard = yard();
    let once = Grant::of(Cap::Exec).only(["upper".parse().unwrap()]).times(1);
    let setup = Setup { grants: vec![Arc::new(once)], ..Setup::default() };
    let session = yard.dock.session("me", setup).unwrap();
    assert_eq!(session.run("upper", &[], "x").await.unwrap().stdout, b"X");
    assert_eq!(session.run("upper", &[], "x").await.unwrap_err().code(), "denied");
}

#[tokio::test]
async fn the_same_seed_and_time_give_the_same_bytes() {
    let yard = yard();
    let setup = || Setup {
        time: drydock_embed::contract::GuestTime::Fixed(drydock_embed::contract::Timestamp(
            1_700_000_000_000_000_000,
        )),
        entropy: drydock_embed::contract::Entropy::Seeded(42),
        ..Setup::profile("minimal")
    };
    let shuffled = || async {
        let session = yard.dock.session("me", setup()).unwrap();
        let numbers = session.run("shuf", &["-i", "1-100"], "").await.unwrap();
        let date = session.run("date", &["-u", "+%F %T"], "").await.unwrap();
        (numbers.stdout, numbers.report.fuel, date.stdout)
    };
    let first = shuffled().await;
    assert_eq!(first, shuffled().await);
    assert_eq!(String::from_utf8_lossy(&first.2), "2023-11-14 22:13:20\n");
}

#[tokio::test]
async fn every_run_is_a_fresh_instance_with_an_empty_tree() {
    let yard = yard();
    yard.add("mark", &guests::leaves_a_mark());
    let session = yard.session();
    for _ in 0..200 {
        assert_eq!(
            session.run("mark", &[], "").await.unwrap().outcome,
            Outcome::Exited(0),
            "nothing is left behind"
        );
    }
    assert!(session.run("touch", &["left-behind"], "").await.unwrap().success());
    assert_eq!(session.run("ls", &[], "").await.unwrap().stdout, b"");
}

#[tokio::test]
async fn memory_comes_from_the_profile() {
    let yard = yard();
    yard.add("bomb", &guests::memory_bomb());
    for (profile, mebibytes) in [("minimal", 64), ("network", 128), ("posix", 256)] {
        let session = yard.dock.session("me", Setup::profile(profile)).unwrap();
        let run = session.run("bomb", &[], "").await.unwrap();
        let (most, limit) = (run.report.memory_bytes, mebibytes << 20);
        assert_eq!(run.outcome, Outcome::OutOfMemory);
        assert!(most <= limit && most > limit - (2 << 20), "{profile}: {most}");
    }
}

#[tokio::test]
async fn a_nested_command_is_recorded_under_its_sessions_principal() {
    let yard = yard();
    yard.add("nest", &guests::nested_exec());
    yard.session().run("nest", &[], wire("upper", &[], b"x")).await.unwrap();
    yard.dock.gate().flush().unwrap();
    let filter = drydock_embed::store::Filter::default();
    let records =
        drydock_embed::store::read_audit(&yard.dock.home().tenant(&Tenant::default()), filter).unwrap();
    let records: Vec<_> = records.map(|it| it.unwrap()).collect();
    let rows: Vec<_> = records.iter().map(|it| (it.principal.as_str(), it.subject.as_str())).collect();
    let row = |subject| ("attacker", subject);
    assert_eq!(rows, [row("nest"), row("upper"), row("upper"), row("nest")], "each begins and ends");
    assert_eq!((&records[1].parent, &records[1].trace), (&records[0].call, &records[0].trace));
}

#[tokio::test]
async fn a_nested_command_that_meets_a_limit_is_told_by_its_outcome() {
    let yard = yard();
    yard.add("nest", &guests::nested_exec());
    yard.add("spin", &guests::infinite_loop());
    let session = yard.limited(Limits { fuel_max: 20_000_000, ..Limits::default() });
    let run = session.run("nest", &[], wire("spin", &[], b"")).await.unwrap();
    assert_eq!((run.outcome, run.stdout.as_slice()), (Outcome::Exited(3), &b"out_of_fuel"[..]));
}

#[tokio::test]
async fn listings_are_on_the_guests_bill() {
    let yard = yard();
    let tree =
        drydock_embed::store::MemoryFiles::with(Arc::new(drydock_embed::contract::Meter::new(64 << 20)));
    for number in 0..20_000 {
        tree.write(&format!("file-{number:0>100}"), b"").unwrap();
    }
    let limits = Limits { memory_bytes_max: 4 << 20, ..Limits::default() };
    let setup = Setup { files: Some(Arc::new(tree)), limits: Some(limits), ..Setup::profile("minimal") };
    let run = yard.dock.session("me", setup).unwrap().run("ls", &[], "").await.unwrap();
    assert!(!run.success(), "a listing of 20,000 names does not fit into 4 MiB: {}", run.outcome);
}

#[tokio::test]
async fn millions_of_empty_arguments_are_refused_before_they_are_held() {
    let yard = yard();
    let empty: Vec<&str> = vec![""; 300_000];
    let refused = yard.session().run("echo", &empty, "").await.unwrap_err();
    assert_eq!(refused.to_string(), "argv of 300000 bytes exceeds the limit of 262144");
}

#[tokio::test]
async fn a_large_stdin_reaches_a_nested_command_whole() {
    let yard = yard();
    yard.add("nest", &guests::nested_exec());
    let text = "abc ".repeat(100_000);
    let run = yard.session().run("nest", &[], wire("upper", &[], text.as_bytes())).await.unwrap();
    assert_eq!(run.stdout, text.to_uppercase().into_bytes());
}

#[tokio::test]
async fn without_a_pool_everything_still_runs() {
    let folder = tempfile::tempdir().unwrap();
    let engine = drydock_embed::engine::EngineSettings { slots: Some(0), ..Default::default() };
    let settings = drydock_embed::DockSettings { engine, ..Default::default() };
    let dock = Dock::open_with(folder.path(), settings).unwrap();
    assert_eq!(dock.facts().unwrap().allocation, drydock_embed::engine::Allocation::OnDemand);
    let session = dock.session("me", Setup::profile("minimal")).unwrap();
    assert_eq!(session.run("upper", &[], "x").await.unwrap().stdout, b"X");
    assert_eq!(session.run("sort", &[], "b\na\n").await.unwrap().stdout, b"a\nb\n");
}

//! A recorded run is gone through again on a machine whose world has changed, and is the same to the byte; what is not the
//! same is found at the first call that differs.
#![allow(clippy::unwrap_used)]

#[path = "tape/mod.rs"]
mod room;
mod web_room;

use std::{
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
    time::Duration,
};

use drydock_embed::{
    HostOutput, Network, Setup,
    contract::{Limits, Source, Streams, Tenant},
    egress::{InjectedHeader, Rules, Secret, Secrets},
    gate::GateSettings,
    store::{Filter, Frame, Seam, TapeBody, TapeLabel, read_audit},
    tape::{Deck, Player, RecordSettings, Recorder, diff},
};
use room::{Kind, Yard, all_frames, cases, tape_of, yard, yard_compiling, yard_with};

fn corpus() -> Vec<(Kind, String, &'static str)> {
    let plain = [
        include_str!("determinism/beside.txt"),
        include_str!("determinism/time.txt"),
        include_str!("determinism/random.txt"),
        include_str!("determinism/plain.txt"),
        include_str!("tape/http.txt"),
        include_str!("tape/racing.txt"),
        include_str!("tape/brokers.txt"),
    ];
    let of = |kind: Kind, text| {
        cases(text).into_iter().map(move |(name, text)| (kind, format!("{kind:?}-{name}"), text))
    };
    let lines = plain.into_iter().flat_map(|text| of(Kind::Line, text));
    let kept = of(Kind::Kept, include_str!("tape/kept.txt"));
    let programs = [
        include_str!("determinism/programs.txt"),
        include_str!("tape/programs.txt"),
        include_str!("tape/processes.txt"),
    ];
    let programs = programs.into_iter().flat_map(|text| of(Kind::Program, text));
    let powers = of(Kind::Powers, include_str!("tape/powers.txt"));
    lines.chain(kept).chain(programs).chain(powers).collect()
}

/// Nothing of the world is as it was.
fn change_the_world(yard: &Yard) {
    for name in ["words.txt", "numbers.txt", "below"] {
        let path = yard.shared.path().join(name);
        let _ = std::fs::remove_file(&path).or_else(|_| std::fs::remove_dir(&path));
    }
    std::fs::write(yard.shared.path().join("words.txt"), "changed\n").unwrap();
    for file in ["kv.sqlite", "queue.sqlite"] {
        let path = yard.kept(file);
        std::fs::rename(&path, path.with_extension("away")).unwrap();
    }
    // Whoever signs now has another key.
    yard.dock.vault().generate(&Tenant::default(), &room::SECRET.parse().unwrap()).unwrap();
}

#[tokio::test]
async fn the_corpus_replays_identically_on_another_machine_state() {
    let yard = yard();
    let mut taped = Vec::new();
    let (mut of_the_world, mut of_brokers) = (0, 0);
    for (kind, name, text) in corpus() {
        of_the_world += usize::from(text.contains("URL") || kind == Kind::Kept || text.contains("world."));
        let brokers = ["kv ", "queue ", "TCP"].iter().any(|it| text.contains(it));
        of_brokers += usize::from(kind == Kind::Powers || brokers);
        let text = yard.text(text);
        let (seen, body) = yard.record(kind, &name, &text).await;
        taped.push((kind, name, text, seen, body));
    }
    assert!(taped.len() >= 300, "{}", taped.len());
    assert!(of_the_world >= 75, "loopback HTTP, kept shells, processes: {of_the_world}");
    assert!(of_brokers >= 40, "values, messages, bytes over TCP and UDP, signatures: {of_brokers}");
    for (name, wanted) in [
        ("Line-kv_adds", "1\n5\n4\n"),
        ("Line-queue_in_order", "one\ntwo"),
        ("Line-tcp_one", " said hi\n"),
        ("Line-tcp_into_kv", " said k\n"),
        ("Powers-kv_value", "one"),
        ("Powers-queue_waits", "1"),
        ("Powers-udp", " said hello"),
        ("Powers-tcp", " said hello"),
        ("Program-process", "LOUD"),
        ("Powers-process_is_on_no_tape", "a process is on no tape"),
    ] {
        let told = &taped.iter().find(|it| it.1 == name).unwrap().3.told;
        assert!(told.contains(wanted), "{name}: {told}");
    }
    change_the_world(&yard);
    let (asked, heads) = (yard.asked.load(Ordering::Relaxed), yard.server.heads().len());
    assert!(asked > 0 && heads > 60, "{asked} {heads}");
    let (answered, processes) = (yard.answered.load(Ordering::Relaxed), yard.processes().await);
    assert!(answered >= 15 && processes >= 8, "{answered} {processes}");
    let mut differ = String::new();
    for (kind, name, text, seen, body) in &taped {
        match yard.replay(*kind, name, text, body).await {
            Ok(again) if again == *seen => {}
            Ok(again) => {
                differ += &format!("=== {name}\n{text}\n--- recorded\n{seen:#?}\n--- replayed\n{again:#?}\n")
            }
            Err(diverged) => {
                differ += &format!("=== {name}\n{text}\n{diverged}\n--- recorded\n{}\n", seen.told)
            }
        }
    }
    assert!(differ.is_empty(), "{differ}");
    assert_eq!(yard.asked.load(Ordering::Relaxed), asked, "no tool of the embedder was called");
    assert_eq!(yard.server.heads().len(), heads, "nobody reached the server");
    assert_eq!(yard.answered.load(Ordering::Relaxed), answered, "nor the others");
    assert_eq!(yard.processes().await, processes, "no process was started");
    assert!(!yard.kept("kv.sqlite").exists() && !yard.kept("queue.sqlite").exists(), "nothing was kept");
    let left: Vec<_> =
        std::fs::read_dir(yard.shared.path()).unwrap().map(|it| it.unwrap().file_name()).collect();
    assert_eq!(left, ["words.txt"], "and nobody wrote into the directory");
}

/// `keep put|get|send|take NAME [BYTES]`: what it was answered, or the code and status 1.
const KEEP: &str = r#"(module
  (import "env" "host_kv_put" (func $put (param i32 i32 i32 i32) (result i32)))
  (import "env" "host_kv_get" (func $get (param i32 i32 i32 i32) (result i32)))
  (import "env" "host_publish" (func $send (param i32 i32 i32 i32) (result i32)))
  (import "env" "host_poll" (func $take (param i32 i32 i32 i32) (result i32)))
  (import "env" "host_error" (func $error (param i32 i32) (result i32)))
  (import "wasi_snapshot_preview1" "args_get" (func $args (param i32 i32) (result i32)))
  (import "wasi_snapshot_preview1" "fd_write" (func $write (param i32 i32 i32 i32) (result i32)))
  (import "wasi_snapshot_preview1" "proc_exit" (func $exit (param i32)))
  (memory (export "memory") 3)
  (func $length (param $at i32) (result i32) (local $n i32)
    (block $end (loop $next
      (br_if $end (i32.eqz (i32.load8_u (i32.add (local.get $at) (local.get $n)))))
      (local.set $n (i32.add (local.get $n) (i32.const 1)))
      (br $next)))
    (local.get $n))
  (func $say (param $at i32) (param $len i32)
    (i32.store8 (i32.add (local.get $at) (local.get $len)) (i32.const 10))
    (i32.store (i32.const 0) (local.get $at))
    (i32.store (i32.const 4) (i32.add (local.get $len) (i32.const 1)))
    (drop (call $write (i32.const 1) (i32.const 0) (i32.const 1) (i32.const 8))))
  (func (export "_start") (local $op i32) (local $name i32) (local $bytes i32) (local $n i32)
    (drop (call $args (i32.const 2048) (i32.const 4096)))
    (local.set $op (i32.load8_u (i32.load (i32.const 2052))))
    (local.set $name (i32.load (i32.const 2056)))
    (local.set $bytes (i32.load (i32.const 2060)))
    (if (i32.eq (local.get $op) (i32.const 112)) (then (local.set $n (call $put
      (local.get $name) (call $length (local.get $name)) (local.get $bytes) (call $length (local.get $bytes))))))
    (if (i32.eq (local.get $op) (i32.const 115)) (then (local.set $n (call $send
      (local.get $name) (call $length (local.get $name)) (local.get $bytes) (call $length (local.get $bytes))))))
    (if (i32.eq (local.get $op) (i32.const 103)) (then (local.set $n (call $get
      (local.get $name) (call $length (local.get $name)) (i32.const 65536) (i32.const 65536)))
      (if (i32.ge_s (local.get $n) (i32.const 0)) (then (call $say (i32.const 65536) (local.get $n))))))
    (if (i32.eq (local.get $op) (i32.const 116)) (then (local.set $n (call $take
      (local.get $name) (call $length (local.get $name)) (i32.const 65536) (i32.const 65536)))
      (if (i32.ge_s (local.get $n) (i32.const 0)) (then (call $say (i32.const 65536) (local.get $n))))))
    (if (i32.lt_s (local.get $n) (i32.const 0)) (then
      (call $say (i32.const 512) (call $error (i32.const 512) (i32.const 64)))
      (call $exit (i32.const 1))))))"#;

#[tokio::test]
async fn what_guests_keep_is_told_by_the_tape_and_a_replay_keeps_nothing() {
    let yard = yard_compiling();
    let mode = drydock_embed::contract::ArgMode::Argv;
    yard.dock.registry().add("keep", wat::parse_str(KEEP).unwrap(), mode, None).unwrap();
    let mut taped = Vec::new();
    for (name, text) in cases(include_str!("tape/values.txt")) {
        let (seen, body) = yard.record(Kind::Line, name, text).await;
        taped.push((name, text, seen, body));
    }
    let told = |wanted: &str| &taped.iter().find(|it| it.0 == wanted).unwrap().2.told;
    assert!(told("put_get").contains("--- stdout\none\n"), "{}", told("put_get"));
    assert!(told("found_again").contains("here\n") && told("found_before").contains("not_found\n"));
    assert!(told("not_granted").contains("denied\n1\n"), "{}", told("not_granted"));
    assert!(told("fan").contains("1\n2\n3\n4\n5\nempty\n"), "{}", told("fan"));
    // Nothing that was kept is there any more.
    for file in ["kv.sqlite", "queue.sqlite"] {
        let path = yard.dock.home().tenant(yard.dock.tenant()).root().join(file);
        std::fs::rename(&path, path.with_extension("away")).unwrap();
    }
    for (name, text, seen, body) in &taped {
        let again = yard.replay(Kind::Line, name, text, body).await.unwrap();
        assert_eq!(again, *seen, "{name}: {text}");
    }
    let root = yard.dock.home().tenant(yard.dock.tenant()).root().to_owned();
    assert!(!root.join("kv.sqlite").exists() && !root.join("queue.sqlite").exists());
}

#[tokio::test]
async fn each_frame_that_is_missing_doubled_or_changed_is_caught() {
    let yard = yard();
    let line = "read -r a < /shared/words.txt; curl -s URL/$a | jq -r .path; echo x > /shared/x; cat /shared/x; rm /shared/x";
    let program = r#"const one = await world.ask({q: 1}); const it = await commands.sh({line: "cat /shared/words.txt | rev"}); [one.n, it.stdout]"#;
    let powers = r#"await kv.put({key: "p/a", value: "one"}); [(await kv.get({key: "p/a"})).value, (await queue.publish({topic: "t", messages: ["a"]})) !== null]"#;
    let cases = [
        (Kind::Line, line, 15),
        (Kind::Kept, "a=$(curl -s URL/one | jq -r .path)\necho $a | rev\ncat < /shared/numbers.txt", 10),
        (Kind::Program, program, 5),
        (Kind::Powers, powers, 4),
    ];
    for (kind, text, least) in cases {
        let text = yard.text(text);
        let (_, body) = yard.record(kind, "me", &text).await;
        let frames = all_frames(&body);
        assert!(frames.len() >= least, "{kind:?}: {}", frames.len());
        yard.replay(kind, "me", &text, &body).await.unwrap();
        for (how, at, tape) in damaged(&frames) {
            let caught = yard.replay(kind, "me", &text, &tape).await;
            assert!(caught.is_err(), "{kind:?} {how} {:?}", frames[at]);
        }
    }
}

/// Tapes of which one frame is missing, there twice or changed: what was done to which.
fn damaged(frames: &[Frame]) -> Vec<(&'static str, usize, TapeBody)> {
    let mut all = Vec::new();
    for at in 0..frames.len() {
        let mut without = frames.to_vec();
        without.remove(at);
        all.push(("without", at, tape_of(&without)));
        let mut twice = frames.to_vec();
        twice.insert(at, frames[at].clone());
        all.push(("twice", at, tape_of(&twice)));
        // Nobody asks for the beginning.
        if frames[at].seam != Seam::Begin {
            let mut changed = frames.to_vec();
            changed[at].asked[3] ^= 1;
            all.push(("changed", at, tape_of(&changed)));
        }
    }
    all
}

#[tokio::test]
async fn one_changed_byte_of_a_script_diverges_at_the_first_call_that_differs() {
    let yard = yard();
    let script = "echo one | tr o 0; echo two | tr t 7 | rev; seq 3 | tail -1";
    let (_, body) = yard.record(Kind::Line, "me", script).await;
    let diverged = yard.replay(Kind::Line, "me", &script.replace("t 7", "t 8"), &body).await.unwrap_err();
    let (recorded, replayed) = (diverged.recorded.unwrap(), diverged.replayed.unwrap());
    assert_eq!((recorded.name.as_str(), replayed.name.as_str()), ("exec.command tr", "exec.command tr"));
    assert_ne!(recorded.digest, replayed.digest);
    assert!(diverged.before.iter().any(|it| it.name.ends_with("tr")), "{:?}", diverged.before);
    // What calls nobody differs in what comes of it.
    let (_, body) = yard.record(Kind::Line, "me", "echo one").await;
    let diverged = yard.replay(Kind::Line, "me", "echo two", &body).await.unwrap_err();
    assert_eq!(diverged.recorded.unwrap().seam, "end");
    let (_, other) = yard.record(Kind::Line, "me", "seq 4 | tail -1").await;
    let found = diff(body.frames(), other.frames()).unwrap().unwrap();
    assert_eq!(found.frame, 2, "that each began with a seed of its own is no difference");
    assert_eq!(diff(body.frames(), body.frames()).unwrap(), None);
}

#[tokio::test]
async fn one_changed_byte_of_a_module_diverges_where_it_is_called() {
    let yard = yard();
    let module = |status: u8| {
        wat::parse_str(format!(
            r#"(module (import "wasi_snapshot_preview1" "proc_exit" (func $exit (param i32)))
              (memory (export "memory") 1) (func (export "_start") (call $exit (i32.const {status}))))"#
        ))
        .unwrap()
    };
    let add = |status| {
        let mode = drydock_embed::contract::ArgMode::Argv;
        yard.dock.registry().add("mine", module(status), mode, None).unwrap();
    };
    // Nobody compiles it here: that it was asked for is enough.
    add(3);
    let (_, body) = yard.record(Kind::Line, "me", "echo a | rev; mine; echo $?").await;
    yard.replay(Kind::Line, "me", "echo a | rev; mine; echo $?", &body).await.unwrap();
    yard.dock.registry().remove("mine").unwrap();
    add(4);
    let diverged = yard.replay(Kind::Line, "me", "echo a | rev; mine; echo $?", &body).await.unwrap_err();
    let recorded = diverged.recorded.unwrap();
    assert_eq!((recorded.seam, recorded.name.as_str()), ("code", "mine"));
}

#[tokio::test]
async fn what_a_session_wrote_itself_is_not_on_its_tape_and_what_others_wrote_is() {
    let yard = yard();
    let text =
        "seq 1000 2000 | sha256sum > /shared/own; cat /shared/own; cat /shared/words.txt; rm /shared/own";
    let (seen, body) = yard.record(Kind::Line, "me", text).await;
    let frames = all_frames(&body);
    let holds =
        |needle: &[u8]| frames.iter().any(|it| it.answer.windows(needle.len()).any(|at| at == needle));
    let computed = seen.told.lines().nth(2).unwrap().get(..64).unwrap().as_bytes();
    assert!(holds(b"alpha\nbeta\ngamma\n"));
    assert!(!holds(computed), "{}", seen.told);
    yard.replay(Kind::Line, "me", text, &body).await.unwrap();
}

#[tokio::test]
async fn verdicts_of_time_and_load_are_on_the_tape() {
    let yard = yard_with(GateSettings { calls_max: 6, ..GateSettings::default() });
    let text = "for i in 1 2 3 4 5 6 7 8; do seq $i | tail -1; done; echo $?";
    let (seen, body) = yard.record(Kind::Line, "me", text).await;
    assert!(seen.told.contains("rate limit"), "{}", seen.told);
    assert_eq!(yard.replay(Kind::Line, "me", text, &body).await.unwrap().told, seen.told);
}

#[tokio::test]
async fn a_run_that_time_ended_ends_there_again_after_as_much_fuel() {
    let yard = yard();
    let run = async |deck: &dyn Deck, dock: &drydock_embed::Dock, player: Option<&Player>| {
        let mut setup = Setup::profile("minimal");
        setup.limits = Some(Limits {
            wall_max: Duration::from_millis(300),
            fuel_max: u64::MAX,
            stdout_bytes_max: u64::MAX,
            ..setup.profile.limits()
        });
        deck.prepare(&mut setup);
        let session = dock.session("me", setup).unwrap();
        if let Some(player) = player {
            let session = session.clone();
            player.on_end(move || session.cancel());
        }
        let streams = Streams::default();
        let ran = session.run_with("yes", &[""; 0], streams).await;
        ran.map_or_else(
            |error| error.to_string(),
            |(report, _)| format!("{} {}", report.outcome, report.fuel),
        )
    };
    let recorder = Recorder::begin(RecordSettings::default());
    let ended = run(&recorder, &yard.dock, None).await;
    assert!(ended.starts_with("timed_out"), "{ended}");
    let body = recorder.finish("ended", &[ended.as_bytes()]).unwrap();
    let replay = async |body: &TapeBody| {
        let player = Player::new(body.frames(), body.frames())?;
        let (dock, _) = yard.dock.replaying(&player);
        let again = tokio::time::timeout(room::HANGS, run(&player, &dock, Some(&player))).await.unwrap();
        player.finish("ended", &[again.as_bytes()]).map(|_| again)
    };
    assert_eq!(replay(&body).await.unwrap(), ended);
    // Where it ended is a verdict, for which nobody asks: it is missed all the same, and so is each other frame.
    let frames = all_frames(&body);
    assert!(frames.iter().any(|it| it.seam == Seam::Verdict), "{frames:?}");
    for (how, at, tape) in damaged(&frames) {
        assert!(replay(&tape).await.is_err(), "{how} {:?}", frames[at]);
    }
}

#[tokio::test]
async fn whoever_waited_for_input_when_its_time_was_up_is_ended_there_again() {
    let yard = yard();
    struct Never;
    impl drydock_embed::contract::ByteSource for Never {
        fn poll_read(
            &mut self,
            _: &mut std::task::Context<'_>,
            _: &mut [u8],
        ) -> std::task::Poll<std::io::Result<usize>> {
            std::task::Poll::Pending
        }
    }
    let run = async |deck: &dyn Deck, dock: &drydock_embed::Dock, player: Option<&Player>| {
        let mut setup = Setup::profile("minimal");
        setup.limits = Some(Limits { wall_max: Duration::from_millis(200), ..setup.profile.limits() });
        deck.prepare(&mut setup);
        let session = dock.session("me", setup).unwrap();
        if let Some(player) = player {
            let session = session.clone();
            player.on_end(move || session.cancel());
        }
        let stdin = deck.stream("stdin", &mut || Ok(Source::Stream(Box::new(Never)))).unwrap();
        let (report, _) =
            session.run_with("cat", &[""; 0], Streams { stdin, ..Streams::default() }).await.unwrap();
        report.outcome.to_string()
    };
    let recorder = Recorder::begin(RecordSettings::default());
    let ended = run(&recorder, &yard.dock, None).await;
    assert_eq!(ended, "timed_out");
    let body = recorder.finish("ended", &[ended.as_bytes()]).unwrap();
    let player = Player::new(body.frames(), body.frames()).unwrap();
    let (dock, _) = yard.dock.replaying(&player);
    let again = tokio::time::timeout(room::HANGS, run(&player, &dock, Some(&player))).await.unwrap();
    player.finish("ended", &[again.as_bytes()]).unwrap();
}

#[tokio::test]
async fn an_embedders_command_is_not_called_again() {
    let yard = yard();
    let called = Arc::new(AtomicU64::new(0));
    let run = async |deck: &dyn Deck, dock: &drydock_embed::Dock| {
        let counter = Arc::clone(&called);
        let mut setup = Setup::profile("minimal")
            .with_command("weather", move |input| {
                let n = counter.fetch_add(1, Ordering::Relaxed);
                assert!(n < 2, "an embedder's command was called in a replay");
                async move {
                    HostOutput {
                        status: 3,
                        stdout: format!("{n} {:?}\n", input.args).into(),
                        ..HostOutput::default()
                    }
                }
            })
            .unwrap();
        deck.prepare(&mut setup);
        let ran = dock.exec("weather here; echo $?; weather there | rev").with("me", setup).await;
        ran.map_or_else(|error| error.to_string(), |ran| ran.text().into_owned())
    };
    let recorder = Recorder::begin(RecordSettings::default());
    let told = run(&recorder, &yard.dock).await;
    assert_eq!(told, "0 [\"here\"]\n3\n]\"ereht\"[ 1\n");
    let body = recorder.finish("ended", &[told.as_bytes()]).unwrap();
    let replay = async |body: &TapeBody| {
        let player = Player::new(body.frames(), body.frames())?;
        let (dock, _) = yard.dock.replaying(&player);
        let again = run(&player, &dock).await;
        player.finish("ended", &[again.as_bytes()]).map(|_| again)
    };
    assert_eq!(replay(&body).await.unwrap(), told);
    let frames = all_frames(&body);
    for (how, at, tape) in damaged(&frames) {
        assert!(replay(&tape).await.is_err(), "{how} {:?}", frames[at]);
    }
    assert_eq!(called.load(Ordering::Relaxed), 2);
}

#[tokio::test]
async fn no_secret_that_went_along_is_on_the_tape_and_a_replay_needs_none() {
    let yard = yard();
    let place = yard.server.address.to_string();
    let run = async |deck: &dyn Deck, dock: &drydock_embed::Dock| {
        let mut secrets = Secrets::default();
        secrets.put("key", Secret::new(b"hunter2-hunter2-hunter2".to_vec()).unwrap());
        let injected = vec![InjectedHeader::parse(&place, "x-key: {{secret:key}}", &secrets).unwrap()];
        let rules = Rules::parse(&[], &[], std::slice::from_ref(&place)).unwrap();
        let mut setup = Setup { network: Network { rules, injected }, ..Setup::profile("minimal") };
        deck.prepare(&mut setup);
        let line = format!("curl -s http://{place}/a | jq -r .path");
        dock.exec(line).with("me", setup).await.unwrap().text().into_owned()
    };
    let recorder = Recorder::begin(RecordSettings::default());
    let told = run(&recorder, &yard.dock).await;
    assert_eq!(told, "/a\n");
    assert!(yard.server.heads()[0].contains("hunter2"), "it did go along");
    let body = recorder.finish("ended", &[told.as_bytes()]).unwrap();
    for frame in all_frames(&body) {
        assert!(!String::from_utf8_lossy(&frame.answer).contains("hunter2"), "{frame:?}");
    }
    let player = Player::new(body.frames(), body.frames()).unwrap();
    let (dock, _) = yard.dock.replaying(&player);
    assert_eq!(run(&player, &dock).await, told);
    assert_eq!(yard.server.heads().len(), 1);
}

#[tokio::test]
async fn a_replay_is_on_record_as_a_replay_and_its_calls_are_not() {
    let yard = yard();
    let recorder = Recorder::begin(RecordSettings::default());
    let label = TapeLabel { principal: "me".into(), kind: "test".into(), ..TapeLabel::default() };
    let facts = recorder.keep(&yard.dock.tapes().unwrap(), label, "ended", &[]).unwrap();
    let work = yard.dock.begin_replay("auditor", &facts.id).await.unwrap();
    work.end(drydock_embed::contract::Outcome::Exited(0));
    yard.dock.gate().flush().unwrap();
    let all = read_audit(&yard.dock.home().tenant(yard.dock.tenant()), Filter::default()).unwrap();
    let own: Vec<_> = all.map(Result::unwrap).filter(|it| it.principal == "auditor").collect();
    let told: Vec<_> = own.iter().map(|it| (it.operation.as_str(), it.subject.as_str())).collect();
    assert!(!told.is_empty(), "its beginning and its end");
    assert!(told.iter().all(|it| *it == ("tape.replay", facts.id.as_str())), "{told:?}");
}

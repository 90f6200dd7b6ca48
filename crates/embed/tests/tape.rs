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
    contract::{Limits, Source, Streams},
    egress::{InjectedHeader, Rules, Secret, Secrets},
    gate::GateSettings,
    store::{Filter, Seam, TapeLabel, read_audit},
    tape::{Deck, Player, RecordSettings, Recorder, diff},
};
use room::{Kind, Yard, all_frames, cases, tape_of, yard, yard_with};

fn corpus() -> Vec<(Kind, String, &'static str)> {
    let plain = [
        include_str!("determinism/beside.txt"),
        include_str!("determinism/time.txt"),
        include_str!("determinism/random.txt"),
        include_str!("determinism/plain.txt"),
        include_str!("tape/http.txt"),
        include_str!("tape/racing.txt"),
    ];
    let of = |kind: Kind, text| {
        cases(text).into_iter().map(move |(name, text)| (kind, format!("{kind:?}-{name}"), text))
    };
    let lines = plain.into_iter().flat_map(|text| of(Kind::Line, text));
    let kept = of(Kind::Kept, include_str!("tape/kept.txt"));
    let programs = [include_str!("determinism/programs.txt"), include_str!("tape/programs.txt")];
    lines.chain(kept).chain(programs.into_iter().flat_map(|text| of(Kind::Program, text))).collect()
}

/// Nothing of the world is as it was.
fn change_the_world(yard: &Yard) {
    for name in ["words.txt", "numbers.txt", "below"] {
        let path = yard.shared.path().join(name);
        let _ = std::fs::remove_file(&path).or_else(|_| std::fs::remove_dir(&path));
    }
    std::fs::write(yard.shared.path().join("words.txt"), "changed\n").unwrap();
}

#[tokio::test]
async fn the_corpus_replays_identically_on_another_machine_state() {
    let yard = yard();
    let mut taped = Vec::new();
    let mut of_the_world = 0;
    for (kind, name, text) in corpus() {
        of_the_world += usize::from(text.contains("URL") || kind == Kind::Kept || text.contains("world."));
        let text = yard.text(text);
        let (seen, body) = yard.record(kind, &name, &text).await;
        taped.push((kind, name, text, seen, body));
    }
    assert!(taped.len() >= 260, "{}", taped.len());
    assert!(of_the_world >= 60, "{of_the_world}");
    change_the_world(&yard);
    let (asked, heads) = (yard.asked.load(Ordering::Relaxed), yard.server.heads().len());
    assert!(asked > 0 && heads > 60, "{asked} {heads}");
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
    let left: Vec<_> =
        std::fs::read_dir(yard.shared.path()).unwrap().map(|it| it.unwrap().file_name()).collect();
    assert_eq!(left, ["words.txt"], "and nobody wrote into the directory");
}

#[tokio::test]
async fn each_frame_that_is_missing_doubled_or_changed_is_caught() {
    let yard = yard();
    let text = yard.text(
        "read -r a < /shared/words.txt; curl -s URL/$a | jq -r .path; echo x > /shared/x; cat /shared/x; rm /shared/x",
    );
    let (_, body) = yard.record(Kind::Line, "me", &text).await;
    let frames = all_frames(&body);
    assert!(frames.len() > 15, "{}", frames.len());
    yard.replay(Kind::Line, "me", &text, &body).await.unwrap();
    for at in 0..frames.len() {
        let mut without = frames.clone();
        without.remove(at);
        assert!(
            yard.replay(Kind::Line, "me", &text, &tape_of(&without)).await.is_err(),
            "without {:?}",
            frames[at]
        );
        let mut twice = frames.clone();
        twice.insert(at, frames[at].clone());
        assert!(
            yard.replay(Kind::Line, "me", &text, &tape_of(&twice)).await.is_err(),
            "twice {:?}",
            frames[at]
        );
        let mut changed = frames.clone();
        changed[at].asked[3] ^= 1;
        let caught = yard.replay(Kind::Line, "me", &text, &tape_of(&changed)).await;
        assert!(caught.is_err() || frames[at].seam == Seam::Begin, "changed {:?}", frames[at]);
    }
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
        let (report, _) = session.run_with("yes", &[""; 0], streams).await.unwrap();
        format!("{} {}", report.outcome, report.fuel)
    };
    let recorder = Recorder::begin(RecordSettings::default());
    let ended = run(&recorder, &yard.dock, None).await;
    assert!(ended.starts_with("timed_out"), "{ended}");
    let body = recorder.finish("ended", &[ended.as_bytes()]).unwrap();
    let player = Player::new(body.frames(), body.frames()).unwrap();
    let (dock, _) = yard.dock.replaying(&player);
    let again = run(&player, &dock, Some(&player)).await;
    assert_eq!(again, ended);
    player.finish("ended", &[again.as_bytes()]).unwrap();
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
        let ran = dock.exec("weather here; echo $?; weather there | rev").with("me", setup).await.unwrap();
        ran.text().into_owned()
    };
    let recorder = Recorder::begin(RecordSettings::default());
    let told = run(&recorder, &yard.dock).await;
    assert_eq!(told, "0 [\"here\"]\n3\n]\"ereht\"[ 1\n");
    let body = recorder.finish("ended", &[told.as_bytes()]).unwrap();
    let player = Player::new(body.frames(), body.frames()).unwrap();
    let (dock, _) = yard.dock.replaying(&player);
    assert_eq!(run(&player, &dock).await, told);
    player.finish("ended", &[told.as_bytes()]).unwrap();
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

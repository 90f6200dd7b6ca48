//! Proofs for `exec`, with a registry and a runner that remember what they were asked.

use std::sync::Arc;

use drydock_abi::exec::{encode_command, encode_request};
use drydock_contract::{ArgMode, Budget, Call, Cap, Source, Streams, Unit};
use drydock_gate::{Gate, GateSettings, Grant, Session, SessionSpec};
use drydock_testkit::{EchoRunner, FixedClock, MemoryJournal, TinyRegistry, block_on, principal};

use super::{COMMAND, Exec, START};

struct Room {
    gate: Arc<Gate>,
    runner: Arc<EchoRunner>,
}

fn room(registry: TinyRegistry) -> Room {
    let runner = Arc::new(EchoRunner::default());
    let gate = Gate::new(
        GateSettings::default(),
        Arc::new(FixedClock::default()),
        Arc::new(MemoryJournal::default()),
    );
    let gate = gate.with(Exec::new(Arc::new(registry), Arc::clone(&runner) as _));
    Room { gate: Arc::new(gate), runner }
}

fn session(room: &Room) -> Session {
    let spec = SessionSpec {
        grants: [Grant::of(Cap::Exec)].into_iter().collect(),
        ..SessionSpec::new(principal("me"))
    };
    room.gate.open(spec).unwrap()
}

fn start(room: &Room, session: &Session, name: &str, args: &[&[u8]], stdin: &[u8]) -> Result<(), String> {
    let payload = encode_request(name, args, b"").unwrap();
    let streams = Streams { stdin: Source::from(stdin.to_vec()), ..Streams::default() };
    let call = Call::new(START, &payload, streams);
    let answer = block_on(room.gate.dispatch(session, call));
    answer.map(drop).map_err(|error| format!("{}: {error}", error.code()))
}

#[test]
fn metacharacters_are_bytes_of_one_argument() {
    let room = room(TinyRegistry::of(&["grep"]));
    let nasty: &[&[u8]] =
        &[b"ada; rm -rf /", b"$(id)", b"`id`", b"a\nb", b"'\"", b"", b"\xff\xfe", b"--", b"*"];
    start(&room, &session(&room), "grep", nasty, b"").unwrap();
    let seen = room.runner.last();
    assert_eq!(seen.argv[0], b"grep");
    assert_eq!(seen.argv[1..], nasty.iter().map(|it| it.to_vec()).collect::<Vec<_>>());
}

#[test]
fn a_nul_in_an_argument_is_refused_with_the_reason() {
    let room = room(TinyRegistry::of(&["grep"]));
    let error = start(&room, &session(&room), "grep", &[b"ok", b"a\0b"], b"").unwrap_err();
    assert_eq!(
        error,
        "malformed: malformed request: argument 2 contains a NUL byte, which WASI cannot carry; pass it on stdin"
    );
}

#[test]
fn a_name_is_told_as_far_as_a_grant_could_name_it() {
    let room = room(TinyRegistry::of(&["grep"]));
    for (bytes, told) in [(65, 65), (1024, 1024), (1025, 1024)] {
        let error = start(&room, &session(&room), &"n".repeat(bytes), &[], b"").unwrap_err();
        assert_eq!(error, format!("unknown_command: unknown command `{}`", "n".repeat(told)));
    }
}

#[test]
fn argv_is_capped_and_each_argument_counts_one_more() {
    let room = room(TinyRegistry::of(&["grep"]));
    let session = session(&room);
    let fits = vec![b'x'; (256 << 10) - 1];
    start(&room, &session, "grep", &[&fits], b"").unwrap();
    let error = start(&room, &session, "grep", &[&fits, b""], b"").unwrap_err();
    assert_eq!(error, "too_large: argv of 262145 bytes exceeds the limit of 262144");
}

#[test]
fn stdin1_puts_the_arguments_on_the_first_line_and_only_there() {
    let registry = || TinyRegistry::of(&["legacy"]).mode("legacy", ArgMode::Stdin1);
    for (args, stdin, want) in [
        (&[&b".a"[..], b".b"][..], &b"{}"[..], &b".a .b\n{}"[..]),
        (&[], b"{}", b"{}"),
        (&[b"", b""], b"", b" \n"),
    ] {
        let room = room(registry());
        start(&room, &session(&room), "legacy", args, stdin).unwrap();
        let seen = room.runner.last();
        assert_eq!((seen.argv.len(), seen.stdin.as_slice()), (1, want), "{args:?}");
    }
}

#[test]
fn names_that_nobody_registered_are_unknown() {
    let room = room(TinyRegistry::of(&["grep"]));
    let session = session(&room);
    for name in ["rm", "bash", "/bin/sh", "", "grep ", "../grep"] {
        let error = start(&room, &session, name, &[], b"").unwrap_err();
        assert!(error.starts_with("unknown_command: "), "{name:?} {error}");
    }
}

#[test]
fn runs_of_one_budget_share_its_fuel() {
    let room = room(TinyRegistry::of(&["grep"]));
    let budget = Arc::new(Budget::of([(Unit::Fuel, EchoRunner::FUEL * 2)]));
    let spec = SessionSpec { budget: Some(Arc::clone(&budget)), ..session(&room).spec().clone() };
    let session = room.gate.open(spec).unwrap();
    start(&room, &session, "grep", &[], b"").unwrap();
    assert_eq!(budget.left(Unit::Fuel), Some(EchoRunner::FUEL));
    start(&room, &session, "missing", &[], b"").unwrap_err();
    assert_eq!(budget.left(Unit::Fuel), Some(EchoRunner::FUEL), "what did not run burnt nothing");
    start(&room, &session, "grep", &[], b"").unwrap();
    let error = start(&room, &session, "grep", &[], b"").unwrap_err();
    assert_eq!(error, "budget_exceeded: budget exceeded: fuel");
}

#[test]
fn stdin_in_the_request_is_capped_too() {
    let room = room(TinyRegistry::of(&["grep"]));
    let spec = session(&room).spec().clone();
    let limits = drydock_contract::Limits { stdin_bytes_max: 10, ..spec.limits };
    let session = room.gate.open(SessionSpec { limits, ..spec }).unwrap();
    let ask = |stdin: &[u8]| {
        let payload = encode_request("grep", &[b""; 0], stdin).unwrap();
        let call = Call::new(START, &payload, Streams::default());
        block_on(room.gate.dispatch(&session, call)).map(drop).map_err(|error| error.to_string())
    };
    assert_eq!(ask(&[7; 10]), Ok(()));
    assert_eq!(ask(&[7; 11]), Err("stdin of 11 bytes exceeds the limit of 10".into()));
}

fn command(room: &Room, session: &Session, env: &[&[u8]], args: &[&[u8]]) -> Result<(), String> {
    let payload = encode_command(env, "grep", args, b"").unwrap();
    let call = Call::new(COMMAND, &payload, Streams::default());
    let answer = block_on(room.gate.dispatch(session, call));
    answer.map(drop).map_err(|error| format!("{}: {error}", error.code()))
}

#[test]
fn a_command_may_bring_its_own_environment() {
    let room = room(TinyRegistry::of(&["grep"]));
    let session = session(&room);
    command(&room, &session, &[b"A=1", b"PWD=/w", b"E="], &[b"x"]).unwrap();
    let seen = room.runner.last();
    assert_eq!(seen.env, [b"A=1".to_vec(), b"PWD=/w".to_vec(), b"E=".to_vec()]);
    assert_eq!(seen.argv, [b"grep".to_vec(), b"x".to_vec()]);
}

#[test]
fn environment_entries_are_checked_and_share_the_limit_of_argv() {
    let room = room(TinyRegistry::of(&["grep"]));
    let session = session(&room);
    for (entry, want) in [(&b"A=1\0B=2"[..], "NUL"), (b"novalue", "NAME=value"), (b"=x", "NAME=value")] {
        let error = command(&room, &session, &[entry], &[]).unwrap_err();
        assert!(error.starts_with("malformed: ") && error.contains(want), "{error}");
    }
    let half = [b"A=".to_vec(), vec![b'x'; 128 << 10]].concat();
    command(&room, &session, &[&half], &[&half[..100]]).unwrap();
    let error = command(&room, &session, &[&half], &[&half]).unwrap_err();
    assert!(error.starts_with("too_large: argv of "), "{error}");
}

fn granted(room: &Room, text: &str) -> Session {
    let grant = drydock_contract::GrantSpec::parse(text.as_bytes()).unwrap();
    crate::judge_terms(grant.cap, &grant.terms()).unwrap();
    let grants = [Grant::from_spec(&grant, None)].into_iter().collect();
    room.gate.open(SessionSpec { grants, ..SessionSpec::new(principal("me")) }).unwrap()
}

#[test]
fn a_grant_of_a_command_may_say_what_its_arguments_are() {
    let room = room(TinyRegistry::of(&["git", "git-log", "jq"]));
    let cases: &[(&str, &str, &[&[u8]], bool)] = &[
        (r#"{"cap":"exec","subjects":["git*"]}"#, "git-log", &[], true),
        (r#"{"cap":"exec","subjects":["git*"]}"#, "jq", &[], false),
        (r#"{"cap":"exec","rules":[{"argument":"/1","one_of":["log","show"]}]}"#, "git", &[b"log"], true),
        (r#"{"cap":"exec","rules":[{"argument":"/1","one_of":["log","show"]}]}"#, "git", &[b"push"], false),
        (r#"{"cap":"exec","rules":[{"argument":"/1","one_of":["log","show"]}]}"#, "git", &[], false),
        (
            r#"{"cap":"exec","rules":[{"argument":"/2","equal":"x","if_absent":"allow"}]}"#,
            "git",
            &[b"log"],
            true,
        ),
        (
            r#"{"cap":"exec","rules":[{"argument":"/*","starts_with":"/data/"}]}"#,
            "jq",
            &[b"/data/a", b"/data/b"],
            true,
        ),
        (
            r#"{"cap":"exec","rules":[{"argument":"/*","starts_with":"/data/"}]}"#,
            "jq",
            &[b"/data/a", b"/etc/b"],
            false,
        ),
        (r#"{"cap":"exec","rules":[{"argument":"/*","length_at_most":3}]}"#, "jq", &[b"\xff"], false),
        (r#"{"cap":"exec","rules":[{"argument":"/0","equal":"jq"}]}"#, "jq", &[], true),
    ];
    for (grant, name, args, want) in cases {
        let told = start(&room, &granted(&room, grant), name, args, b"");
        assert_eq!(told.is_ok(), *want, "{grant} {name} {args:?} {told:?}");
        if !want {
            assert!(told.unwrap_err().starts_with("command_not_granted: "));
        }
    }
}

#[test]
fn the_grant_that_a_denial_proposes_admits_those_arguments_and_no_others() {
    let room = room(TinyRegistry::of(&["rm"]));
    let session = granted(&room, r#"{"cap":"exec","rules":[{"argument":"/1","equal":"--dry"}]}"#);
    let propose = |args: &[&[u8]]| {
        let payload = encode_request("rm", args, b"").unwrap();
        let refused = block_on(room.gate.dispatch(&session, Call::new(START, &payload, Streams::default())));
        match refused.map(drop) {
            Err(drydock_contract::CallError::Denied(denial)) => denial.remedy().map(|it| it.to_json()),
            other => panic!("{other:?}"),
        }
    };
    let json = propose(&[b"--", b"a"]).unwrap();
    assert_eq!(
        json,
        r#"{"cap":"exec","subjects":["rm"],"rules":[{"argument":"/1","equal":"--"},{"argument":"/2","equal":"a"},{"argument":"/3","one_of":[],"if_absent":"allow"}]}"#
    );
    let approved = granted(&room, &json);
    start(&room, &approved, "rm", &[b"--", b"a"], b"").unwrap();
    for other in [&[b"--".as_slice(), b"b"][..], &[b"--", b"a", b"b"], &[b"--", b"a", b"a"], &[b"--"], &[]] {
        assert!(start(&room, &approved, "rm", other, b"").is_err(), "{other:?}");
    }
    let none = granted(&room, &propose(&[]).unwrap());
    start(&room, &none, "rm", &[], b"").unwrap();
    assert!(start(&room, &none, "rm", &[b"a"], b"").is_err());
    // What no rule can say is not left out of a proposal: there is none, or one long word would be the way around rules.
    let (long, word) = ([b'7'; 5000], b"x".as_slice());
    for unsaid in [&[&long[..]][..], &[b"\xff"], &[word; 48]] {
        assert_eq!(propose(unsaid), None);
    }
    assert!(propose(&[word; 47]).is_some());
}

#[test]
fn a_grant_of_commands_that_means_nothing_is_refused_with_what_to_write() {
    for (grant, why) in [
        (r#"{"cap":"exec","subjects":["jq -r"]}"#, "`jq -r` names no command"),
        (r#"{"cap":"exec","rules":[{"argument":"1","equal":"x"}]}"#, "`1` is no argument of a command"),
        (r#"{"cap":"exec","rules":[{"argument":"/01","equal":"x"}]}"#, "`/01` is no argument of a command"),
        (r#"{"cap":"exec","rules":[{"argument":"/1","equal":1}]}"#, "arguments of a command are texts"),
        (r#"{"cap":"exec","rules":[{"argument":"/1","at_most":1}]}"#, "arguments of a command are texts"),
    ] {
        let spec = drydock_contract::GrantSpec::parse(grant.as_bytes()).unwrap();
        let told = crate::judge_terms(spec.cap, &spec.terms()).unwrap_err();
        assert!(told.contains(why), "{grant}: {told}");
    }
    let path =
        drydock_contract::GrantSpec::parse(br#"{"cap":"exec","subjects":["./my prog","/bin/*"]}"#).unwrap();
    assert_eq!(crate::judge_terms(path.cap, &path.terms()), Ok(()));
}

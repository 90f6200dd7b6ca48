//! Proofs for `tool`, with tools that answer with what they were asked.

use std::sync::Arc;

use bytes::Bytes;
use drydock_abi::tool::{decode_reply, encode_request};
use drydock_contract::{
    ArgumentRule, BoxFuture, Call, CallError, CallId, Cap, FailureCode, IfAbsent, Must, Scalar, Streams,
    Terms, Timestamp, ToolAnswer, ToolFailure, ToolRequest, Tools,
};
use drydock_gate::{Gate, GateSettings, Grant, Session, SessionSpec};
use drydock_testkit::{FixedClock, MemoryJournal, block_on, principal};

use super::{CALL, Tool, pattern};

struct Echo;

impl Tools for Echo {
    fn call(&self, request: ToolRequest) -> BoxFuture<'_, ToolAnswer> {
        Box::pin(async move {
            if &*request.tool == "depth" {
                return Ok(Bytes::from(request.depth.to_string()));
            }
            if &*request.tool == "fail" {
                return Err(ToolFailure::new(FailureCode::ValidationError, "not like that"));
            }
            Ok(request.input.unwrap_or(Bytes::from_static(b"null")))
        })
    }
}

struct Room {
    gate: Arc<Gate>,
    journal: Arc<MemoryJournal>,
    session: Session,
}

fn room(grants: impl IntoIterator<Item = Grant>) -> Room {
    let journal = Arc::new(MemoryJournal::default());
    let clock = Arc::new(FixedClock::at_second(100));
    let gate = Arc::new(Gate::new(GateSettings::default(), clock, Arc::clone(&journal) as _).with(Tool));
    let spec = SessionSpec {
        grants: grants.into_iter().collect(),
        tools: Some(Arc::new(Echo)),
        ..SessionSpec::new(principal("me"))
    };
    let session = gate.open(spec).unwrap();
    Room { gate, journal, session }
}

impl Room {
    fn ask(&self, tool: &str, input: &str) -> Result<String, String> {
        let (provider, tool) = tool.split_once('.').unwrap();
        let input = Some(Bytes::copy_from_slice(input.as_bytes()));
        let wire = encode_request(&ToolRequest {
            provider: provider.into(),
            tool: tool.into(),
            input,
            span: 0,
            depth: 0,
        });
        let call = Call::new(CALL, &wire, Streams::default());
        let reply = block_on(self.gate.dispatch(&self.session, call)).map_err(|error| error.to_string())?;
        match decode_reply(reply.payload.into()).unwrap() {
            Ok(result) => Ok(String::from_utf8(result.to_vec()).unwrap()),
            Err(failure) => Err(format!("{}: {failure}", failure.code)),
        }
    }
}

fn only(patterns: &[&str]) -> Terms {
    Terms::of(patterns.iter().map(|it| pattern(it).unwrap()))
}

fn ruled(rules: Vec<ArgumentRule>) -> Grant {
    Grant::of(Cap::Tool).within(Terms { rules, ..only(&["*"]) })
}

#[test]
fn a_tool_is_told_how_deep_the_program_is_that_calls_it() {
    let mut room = room([Grant::of(Cap::Tool)]);
    assert_eq!(room.ask("web.depth", "1"), Ok("0".into()));
    room.session = room.session.at(CallId(1), 3);
    assert_eq!(room.ask("web.depth", "1"), Ok("3".into()));
}

#[test]
fn a_granted_tool_answers_and_is_recorded_by_name() {
    let room = room([Grant::of(Cap::Tool)]);
    assert_eq!(room.ask("web.fetch", r#"{"a":1}"#), Ok(r#"{"a":1}"#.into()));
    assert_eq!(room.ask("web.fail", "1"), Err("validation_error: not like that".into()));
    room.gate.flush().unwrap();
    let records = room.journal.records();
    let seen: Vec<_> = records
        .iter()
        .map(|it| (it.call.operation, it.call.subjects.first(), it.event.to_string()))
        .collect();
    let row = |tool, event: &str| ("tool.call", tool, event.to_owned());
    assert_eq!(
        seen,
        [
            row("web.fetch", "begun"),
            row("web.fetch", "ended done"),
            row("web.fail", "begun"),
            row("web.fail", "ended done")
        ]
    );
}

#[test]
fn a_long_name_of_a_tool_is_whole_on_record() {
    let room = room([Grant::of(Cap::Tool)]);
    let name = format!("web.{}", "f".repeat(200));
    room.ask(&name, "1").unwrap();
    room.gate.flush().unwrap();
    assert!(room.journal.records().iter().all(|it| it.call.subjects.first() == name));
}

#[test]
fn a_grant_names_tools_and_a_denial_is_recorded_with_the_name() {
    let room = room([Grant::of(Cap::Tool).within(only(&["web.fetch", "files.*"]))]);
    room.ask("web.fetch", "1").unwrap();
    room.ask("files.read", "1").unwrap();
    assert_eq!(room.ask("web.post", "1"), Err("tool `web.post` is not granted".into()));
    let denied = room.journal.records().pop().unwrap();
    assert_eq!(
        (denied.call.subjects.first(), denied.event.to_string().as_str()),
        ("web.post", "denied tool_not_granted")
    );
}

#[test]
fn no_grant_is_no_tool() {
    let room = room([Grant::of(Cap::Exec)]);
    assert_eq!(room.ask("web.fetch", "1"), Err("capability `tool` is not granted".into()));
}

#[test]
fn arguments_are_constrained_by_every_kind_of_rule() {
    let text = |it: &str| Scalar::Text(it.into());
    let between = |least, most| Must::LieBetween { least, most };
    let cases: &[(&str, Must, &str, bool)] = &[
        ("/op", Must::Equal(text("get")), r#"{"op":"get"}"#, true),
        ("/op", Must::Equal(text("get")), r#"{"op":"GET"}"#, false),
        ("/op", Must::Equal(text("get")), r#"{"op":["get"]}"#, false),
        ("/op", Must::Equal(text("get")), r#"{}"#, false),
        ("/op", Must::Equal(text("get")), r#"{"op":"put","op":"get"}"#, true),
        ("/dry", Must::Equal(Scalar::Bool(true)), r#"{"dry":true}"#, true),
        ("/dry", Must::Equal(Scalar::Bool(true)), r#"{"dry":1}"#, false),
        ("/x", Must::Equal(Scalar::Null), r#"{"x":null}"#, true),
        ("/n", Must::Equal(Scalar::Number(2.0)), r#"{"n":2}"#, true),
        ("/n", Must::OneOf(vec![Scalar::Number(2.0), text("two")]), r#"{"n":"two"}"#, true),
        ("/n", Must::OneOf(vec![]), r#"{"n":"two"}"#, false),
        ("/p", Must::StartWith("/tmp/".into()), r#"{"p":"/tmp/a"}"#, true),
        ("/p", Must::StartWith("/tmp/".into()), r#"{"p":"/etc/a"}"#, false),
        ("/p", Must::StartWith("/tmp/".into()), r#"{"p":5}"#, false),
        ("/a/0/n", between(Some(1.0), Some(9.0)), r#"{"a":[{"n":9}]}"#, true),
        ("/a/0/n", between(Some(1.0), Some(9.0)), r#"{"a":[{"n":9.5}]}"#, false),
        ("/a/0/n", between(Some(1.0), None), r#"{"a":[{"n":"5"}]}"#, false),
        ("", Must::HaveLengthAtMost(2), r#"[1,2]"#, true),
        ("", Must::HaveLengthAtMost(2), r#"[1,2,3]"#, false),
        ("", Must::HaveLengthAtMost(2), r#""😀😀""#, true),
        ("", Must::HaveLengthAtMost(2), r#"7"#, false),
        ("", Must::HaveLengthAtMost(1), r#"{"a":1}"#, true),
        ("", Must::HaveLengthAtMost(1), r#"{"a":1,"b":2}"#, false),
        // Whole numbers that would only be equal when they are rounded.
        ("/n", Must::Equal(Scalar::Number(9007199254740992.0)), r#"{"n":9007199254740992}"#, true),
        ("/n", Must::Equal(Scalar::Number(9007199254740992.0)), r#"{"n":9007199254740993}"#, false),
        ("/n", between(None, Some(9007199254740992.0)), r#"{"n":9007199254740993}"#, false),
        ("/n", between(Some(-9007199254740992.0), None), r#"{"n":-9007199254740993}"#, false),
    ];
    for (pointer, must, input, want) in cases {
        let room = room([ruled(vec![ArgumentRule::new(*pointer, must.clone())])]);
        let answer = room.ask("any.tool", input);
        assert_eq!(answer.is_ok(), *want, "{pointer} {must:?} {input} {answer:?}");
        if !want {
            assert_eq!(answer, Err("tool `any.tool` is not granted with these arguments".into()));
        }
    }
}

#[test]
fn an_absent_argument_is_fine_only_where_the_rule_says_so() {
    let rule = ArgumentRule::new("/n", Must::HaveLengthAtMost(1));
    let room = room([ruled(vec![ArgumentRule { if_absent: IfAbsent::Allow, ..rule }])]);
    assert!(room.ask("a.b", "{}").is_ok());
    assert!(room.ask("a.b", r#"{"n":"long"}"#).is_err());
}

#[test]
fn what_is_too_deep_to_be_judged_breaks_every_rule_and_hurts_nobody() {
    let deep = format!("{}{}", "[".repeat(100_000), "]".repeat(100_000));
    let allow = ArgumentRule { if_absent: IfAbsent::Allow, ..ArgumentRule::new("/x", Must::OneOf(vec![])) };
    assert!(room([ruled(vec![allow])]).ask("a.b", &deep).is_err());
    assert_eq!(room([Grant::of(Cap::Tool)]).ask("a.b", &deep), Ok(deep), "nobody has to judge it");
}

#[test]
fn a_second_grant_helps_where_the_first_does_not_and_only_the_used_one_is_used_up() {
    let first = ruled(vec![ArgumentRule::new("/op", Must::Equal(Scalar::Text("get".into())))]).times(1);
    let second = Grant::of(Cap::Tool).within(only(&["db.put"])).times(1);
    let room = room([first, second]);
    room.ask("db.put", r#"{"op":"put"}"#).unwrap();
    assert!(room.ask("db.put", r#"{"op":"put"}"#).is_err(), "the second grant is used up");
    room.ask("db.put", r#"{"op":"get"}"#).unwrap();
    let spent = room.ask("db.put", r#"{"op":"get"}"#).unwrap_err();
    assert_eq!(spent, "capability `tool` is not granted: the grant is used up");
}

#[test]
fn a_grant_ends_at_its_moment() {
    let room = room([Grant::of(Cap::Tool).until(Timestamp(50_000_000_000))]);
    assert_eq!(room.ask("a.b", "1"), Err("capability `tool` is not granted: the grant has expired".into()));
}

#[test]
fn a_session_without_tools_knows_none() {
    let room = room([Grant::of(Cap::Tool)]);
    let spec = SessionSpec { tools: None, ..room.session.spec().clone() };
    let room = Room { session: room.gate.open(spec).unwrap(), ..room };
    assert_eq!(room.ask("a.b", "1"), Err("internal_error: Unknown tool a.b".into()));
}

#[test]
fn junk_is_malformed_and_too_much_is_too_large() {
    let room = room([Grant::of(Cap::Tool)]);
    let ask = |bytes: &[u8]| {
        let call = Call::new(CALL, bytes, Streams::default());
        block_on(room.gate.dispatch(&room.session, call)).map(drop).map_err(|error| error.code())
    };
    assert_eq!(ask(b"{}"), Err("malformed"));
    assert_eq!(ask(b"\xff"), Err("malformed"));
    assert_eq!(ask(&vec![b' '; (8 << 20) + 1]), Err("too_large"));
}

#[test]
fn a_pattern_is_a_tool_a_provider_or_everything() {
    for (text, tool, want) in [
        ("files.read", "files.read", Some(true)),
        ("files.read", "files.readAll", Some(false)),
        ("files.*", "files.readAll", Some(true)),
        ("files.*", "filesystem.read", Some(false)),
        ("*", "any.thing", Some(true)),
        ("$a._1", "$a._1", Some(true)),
        ("", "", None),
        ("files", "files.read", None),
        ("files.", "files.", None),
        (".*", "a.b", None),
        ("fi*.read", "files.read", None),
        ("a.b.c", "a.b.c", None),
        ("a b.*", "a b.c", None),
    ] {
        let pattern = pattern(text).ok();
        assert_eq!(pattern.map(|it| it.admits(tool)), want, "{text:?} {tool:?}");
    }
}

#[test]
fn the_grant_that_a_denial_proposes_admits_that_call_and_no_other() {
    let strict = ruled(vec![ArgumentRule::new("/never", Must::OneOf(vec![]))]);
    let room = room([strict]);
    let input = r#"{"path":"/a/b","n":2,"deep":{"x/y":[true,null]}}"#;
    let wire = encode_request(&ToolRequest {
        provider: "files".into(),
        tool: "write".into(),
        input: Some(Bytes::copy_from_slice(input.as_bytes())),
        span: 0,
        depth: 0,
    });
    let denied = block_on(room.gate.dispatch(&room.session, Call::new(CALL, &wire, Streams::default())));
    let Err(CallError::Denied(denial)) = denied.map(drop) else { panic!("it was let through") };
    let grant = denial.remedy().unwrap();
    crate::judge_terms(grant.cap, &grant.terms()).unwrap();
    room.session.give(Grant::from_spec(&grant, None)).unwrap();
    assert_eq!(room.ask("files.write", input), Ok(input.into()));
    for other in [
        r#"{"path":"/a/c","n":2,"deep":{"x/y":[true,null]}}"#,
        r#"{"path":"/a/b","n":2,"deep":{"x/y":[true,null,1]}}"#,
        r#"{"path":"/a/b","n":2}"#,
        r#"{"path":"/a/b","n":2,"deep":{"x/y":[true,null]},"force":true}"#,
        r#"{"path":"/a/b","n":2,"deep":{"x/y":[true,null],"z":{}}}"#,
    ] {
        assert!(room.ask("files.write", other).is_err(), "{other}");
    }
    assert!(room.ask("files.read", input).is_err());
}

#[test]
fn no_grant_is_proposed_for_arguments_that_no_rules_can_say() {
    let room = room([ruled(vec![ArgumentRule::new("/never", Must::OneOf(vec![]))])]);
    let propose = |input: String| {
        let (provider, tool) = ("files".into(), "write".into());
        let wire =
            encode_request(&ToolRequest { provider, tool, input: Some(input.into()), span: 0, depth: 0 });
        let denied = block_on(room.gate.dispatch(&room.session, Call::new(CALL, &wire, Streams::default())));
        let Err(CallError::Denied(denial)) = denied.map(drop) else { panic!("it was let through") };
        denial.remedy().map(|it| it.to_json())
    };
    let long = format!(r#"{{"x":"{}"}}"#, "y".repeat(5000));
    let many = format!("[{}1]", "1,".repeat(48));
    for unsaid in [long, many, r#"{"n":9007199254740993}"#.into(), "[".repeat(200) + &"]".repeat(200)] {
        assert_eq!(propose(unsaid), None);
    }
    let closed = r#"{"cap":"tool","subjects":["files.write"],"rules":[{"argument":"","length_at_most":0}]}"#;
    assert_eq!(propose("{}".into()).as_deref(), Some(closed), "an object without members is closed");
}

#[test]
fn a_grant_of_tools_that_means_nothing_is_refused_with_what_to_write() {
    let rule =
        |at: &str| Terms { rules: vec![ArgumentRule::new(at, Must::OneOf(vec![]))], ..Terms::default() };
    let judged = |terms: Terms| crate::judge_terms(Cap::Tool, &terms);
    assert!(judged(rule("/a/0")).is_ok() && judged(rule("")).is_ok() && judged(only(&["files.*"])).is_ok());
    for bad in ["/*", "/path/*", "/path~2", "/path~"] {
        assert!(judged(rule(bad)).unwrap_err().contains("is no JSON pointer"), "{bad}");
    }
    assert!(judged(rule("a")).unwrap_err().contains("`a` is no JSON pointer"));
    assert!(judged(Terms::of(["files".parse().unwrap()])).unwrap_err().contains("`files` names no tools"));
    assert!(crate::judge_terms(Cap::Udp, &rule("/port")).unwrap_err().contains("`udp` has no arguments"));
}

//! Proofs for `llm`: who may ask which model, what is on record of it, and what a server that answers, refuses, stalls,
//! breaks off or talks nonsense makes of a turn. The server is a socket of this process that speaks the real formats.
#![expect(clippy::disallowed_types, reason = "the server of these tests is a socket of this process")]

use std::{
    collections::VecDeque,
    io::{Read as _, Write as _},
    net::{SocketAddr, TcpListener},
    sync::Arc,
    time::Duration,
};

use drydock_abi::{
    broker::Answer,
    llm::{Asked, COMPLETE, Complete, Completion, Deltas, Message, Script, wire::Dialect},
};
use drydock_contract::{Budget, Call, CallError, Denial, GrantSpec, Streams, Unit};
use drydock_egress::{Egress, Parts, QuotaLimits, Secret, SystemResolver, TcpDialler, Trust, WorldRoots};
use drydock_gate::{Gate, GateSettings, Grant, HeldGrants, Session, SessionSpec};
use drydock_testkit::{FixedClock, MemoryJournal, principal};
use parking_lot::Mutex;
use serde_json::json;

use super::{Endpoint, Llm, Model, Patience, Prices, Served};
use crate::broker::Brokered;

const KEY: &str = "sk-not-for-anybody";

/// What the server does with one connection.
#[derive(Clone)]
enum Does {
    /// Writes this, in pieces of so many bytes, and closes.
    Says(String, usize),
    /// Says nothing for as long as anybody listens.
    Stalls(String),
}

/// Answers connections one after the other, and keeps what it read.
fn server(script: Vec<Does>) -> (SocketAddr, Arc<Mutex<Vec<String>>>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    let heard: Arc<Mutex<Vec<String>>> = Arc::default();
    let (kept, mut script) = (Arc::clone(&heard), VecDeque::from(script));
    std::thread::spawn(move || {
        let mut stalled = Vec::new();
        for mut stream in listener.incoming().map_while(Result::ok) {
            let Some(does) = script.pop_front() else { break };
            let mut bytes = Vec::new();
            let mut piece = [0; 4096];
            while !is_whole(&bytes) {
                match stream.read(&mut piece) {
                    Ok(0) | Err(_) => break,
                    Ok(count) => bytes.extend_from_slice(&piece[..count]),
                }
            }
            kept.lock().push(String::from_utf8_lossy(&bytes).into_owned());
            match does {
                Does::Says(text, pieces) => {
                    for piece in text.as_bytes().chunks(pieces) {
                        if stream.write_all(piece).and_then(|()| stream.flush()).is_err() {
                            break;
                        }
                    }
                }
                Does::Stalls(text) => {
                    stream.write_all(text.as_bytes()).unwrap();
                    stalled.push(stream);
                }
            }
        }
    });
    (address, heard)
}

fn is_whole(bytes: &[u8]) -> bool {
    let text = String::from_utf8_lossy(bytes);
    let Some((head, body)) = text.split_once("\r\n\r\n") else { return false };
    let length =
        head.lines().find_map(|it| it.to_ascii_lowercase().strip_prefix("content-length: ")?.parse().ok());
    body.len() >= length.unwrap_or(0_usize)
}

fn status(status: &str, more: &str, body: &str) -> Does {
    let length = body.len();
    Does::Says(format!("HTTP/1.1 {status}\r\ncontent-length: {length}\r\n{more}\r\n{body}"), 1 << 20)
}

const HEAD: &str = "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\nconnection: close\r\n\r\n";

fn openai(words: &[&str]) -> String {
    let mut text = HEAD.to_owned();
    for word in words {
        let piece = json!({"model":"up","choices":[{"delta":{"content":word}}]});
        text += &format!("data: {piece}\n\n");
    }
    let end = json!({"choices":[{"delta":{},"finish_reason":"stop"}],"usage":{"prompt_tokens":1000,"completion_tokens":100}});
    text + &format!("data: {end}\n\ndata: [DONE]\n\n")
}

fn at(address: SocketAddr, dialect: Dialect) -> Endpoint {
    Endpoint {
        dialect,
        target: format!("http://{address}/v1{}", dialect.path()).parse().unwrap(),
        model: "up/stream".into(),
        key: Some(Arc::new(|| Secret::new(KEY.into()).map_err(|error| error.to_string()))),
        extra: serde_json::Map::new(),
        patience: Patience {
            idle_max: Duration::from_millis(300),
            pause: Duration::from_millis(1),
            ..Patience::default()
        },
    }
}

struct Room {
    gate: Arc<Gate>,
    journal: Arc<MemoryJournal>,
}

/// A gate at which the model `m` is so.
fn room(served: Result<Served, String>) -> Room {
    let (journal, clock) = (Arc::new(MemoryJournal::default()), Arc::new(FixedClock::default()));
    let egress = Egress::new(Parts {
        resolver: Arc::new(SystemResolver::default()),
        dialler: Arc::new(TcpDialler),
        trust: Trust::new(WorldRoots::Nobody, Vec::new()),
        quota: QuotaLimits::default(),
    });
    let prices = Some(Prices { input_micros: 3_000_000, cached_input_micros: 0, output_micros: 15_000_000 });
    let model = served.map(|served| Arc::new(Model { served, prices }));
    let models = move |name: &str| match &model {
        Ok(model) => Ok((name == "m").then(|| Arc::clone(model))),
        Err(why) => Err(why.clone()),
    };
    let llm = Llm::new(Arc::new(egress), Arc::new(models));
    let gate = Gate::new(GateSettings::default(), Arc::clone(&clock) as _, Arc::clone(&journal) as _)
        .with(Brokered::new(llm, clock));
    Room { gate: Arc::new(gate), journal }
}

fn room_at(script: Vec<Does>, dialect: Dialect) -> (Room, Arc<Mutex<Vec<String>>>) {
    let (address, heard) = server(script);
    (room(Ok(Served::At(Box::new(at(address, dialect))))), heard)
}

fn held(text: &str) -> HeldGrants {
    [Grant::from_spec(&GrantSpec::parse(text.as_bytes()).unwrap(), None)].into_iter().collect()
}

const GRANT: &str = r#"{"cap":"llm","subjects":["m"]}"#;

fn question(model: &str) -> Complete {
    let messages = vec![Message::User { content: "how are you?".into() }];
    Complete { model: model.into(), messages, ..Complete::default() }
}

impl Room {
    fn session(&self, grants: HeldGrants) -> Session {
        self.gate.open(SessionSpec { grants, ..SessionSpec::new(principal("me")) }).unwrap()
    }

    /// One that has so much left to spend.
    fn spending(&self, budget: &Arc<Budget>) -> Session {
        let budget = Some(Arc::clone(budget));
        let spec = SessionSpec { grants: held(GRANT), budget, ..SessionSpec::new(principal("me")) };
        self.gate.open(spec).unwrap()
    }

    fn ask_in(&self, session: &Session, request: Complete) -> Result<Answer<Completion>, CallError> {
        let asked = Asked::of(request).unwrap();
        let bytes = asked.json().len() as u64;
        let call = Call::typed(COMPLETE, asked, bytes, Streams::default());
        Ok(self.dispatch(session, call)?.value().unwrap())
    }

    fn ask(&self, grants: HeldGrants, request: Complete) -> Result<Answer<Completion>, CallError> {
        let asked = Asked::of(request).unwrap();
        let bytes = asked.json().len() as u64;
        let call = Call::typed(COMPLETE, asked, bytes, Streams::default());
        Ok(self.dispatch(&self.session(grants), call)?.value().unwrap())
    }

    fn dispatch(&self, session: &Session, call: Call<'_>) -> Result<drydock_contract::Reply, CallError> {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        let answer = runtime.block_on(self.gate.dispatch(session, call));
        self.gate.flush().unwrap();
        answer
    }

    fn turn(&self) -> Answer<Completion> {
        self.ask(held(GRANT), question("m")).unwrap()
    }

    fn denied(&self, grants: HeldGrants, payload: &[u8]) -> Denial {
        let answer = self.dispatch(&self.session(grants), Call::new(COMPLETE, payload, Streams::default()));
        let Err(CallError::Denied(denial)) = answer else { panic!("it was let through") };
        denial
    }

    fn records(&self) -> String {
        format!("{:?}", self.journal.records())
    }
}

#[test]
fn only_a_model_that_a_grant_names_is_asked_and_the_refusal_says_which_grant_it_takes() {
    let room = room(Ok(Served::Scripted(Script::parse(r#"{"content":"fine"}"#).unwrap())));
    let asks = |model: &str| serde_json::to_vec(&question(model)).unwrap();
    let denial = room.denied(HeldGrants::default(), &asks("m"));
    assert_eq!((denial.code(), denial.remedy().unwrap().to_json()), ("denied", GRANT.to_owned()));
    let denial = room.denied(held(GRANT), &asks("other"));
    assert_eq!(denial.remedy().unwrap().to_json(), r#"{"cap":"llm","subjects":["other"]}"#);
    assert_eq!(room.denied(held(GRANT), b"{}").code(), "malformed");
    assert_eq!(room.denied(held(GRANT), &vec![b' '; 9 << 20]).code(), "too_large");
    assert_eq!(room.turn().unwrap().content, "fine");
    let unknown = room.ask(held(r#"{"cap":"llm","subjects":["*"]}"#), question("n")).unwrap();
    assert_eq!(unknown.unwrap_err().code, "unknown_model");
    let session = room.session(held(GRANT));
    room.gate.revoke(&drydock_contract::Node::Principal(Default::default(), principal("me"))).unwrap();
    let answer = room.dispatch(&session, Call::new(COMPLETE, &asks("m"), Streams::default()));
    assert_eq!(answer.err().unwrap().code(), "revoked");
    assert!(
        crate::judge_terms(drydock_contract::Cap::Llm, &GrantSpec::parse(GRANT.as_bytes()).unwrap().terms())
            .is_ok()
    );
}

#[test]
fn bytes_and_values_are_answered_alike_and_the_record_has_the_model_and_none_of_its_words() {
    let room = room(Ok(Served::Scripted(Script::parse(r#"{"content":"a secret answer"}"#).unwrap())));
    let payload = serde_json::to_vec(&question("m")).unwrap();
    let reply =
        room.dispatch(&room.session(held(GRANT)), Call::new(COMPLETE, &payload, Streams::default())).unwrap();
    let read: Completion = serde_json::from_slice(&reply.payload).unwrap();
    assert_eq!(read, room.turn().unwrap());
    let records = room.records();
    assert!(
        records.contains("\"m\"") && !records.contains("secret") && !records.contains("how are you"),
        "{records}"
    );
    let broken = self::room(Err("its script cannot be read".into()));
    assert_eq!(broken.turn().unwrap_err().code, "model_config");
}

#[test]
fn a_server_is_asked_with_its_key_which_is_nowhere_else() {
    let echo = openai(&["I ", "am ", "fine, ", KEY, "."]);
    for pieces in [1, 5, 1 << 20] {
        let (room, heard) = room_at(vec![Does::Says(echo.clone(), pieces)], Dialect::OpenAi);
        let said: Arc<Mutex<String>> = Arc::default();
        let ear = Arc::clone(&said);
        let deltas = Some(Deltas(Arc::new(move |words: &str| ear.lock().push_str(words))));
        let turn = room.ask(held(GRANT), Complete { deltas, ..question("m") }).unwrap().unwrap();
        assert_eq!(turn.content, "I am fine, [redacted].");
        assert_eq!(*said.lock(), turn.content);
        assert_eq!((turn.usage.cost_micros, turn.usage.attempts), (Some(4500), 1));
        let heard = heard.lock().join("");
        assert!(heard.starts_with("POST /v1/chat/completions HTTP/1.1\r\n"), "{heard}");
        assert!(heard.contains(&format!("authorization: Bearer {KEY}")), "{heard}");
        assert!(heard.contains(r#""model":"up/stream""#) && heard.contains("how are you?"));
        let records = room.records();
        assert!(!records.contains(KEY) && records.contains("127.0.0.1"), "{records}");
    }
}

#[test]
fn anthropics_format_is_spoken_too() {
    let events = [
        json!({"type":"message_start","message":{"model":"up","usage":{"input_tokens":3,"output_tokens":1}}}),
        json!({"type":"content_block_start","index":0,"content_block":{"type":"tool_use","id":"t1","name":"look","input":{}}}),
        json!({"type":"content_block_delta","index":0,"delta":{"type":"input_json_delta","partial_json":"{\"x\":1}"}}),
        json!({"type":"message_delta","delta":{"stop_reason":"tool_use"},"usage":{"output_tokens":9}}),
        json!({"type":"message_stop"}),
    ];
    let events: String = events.iter().map(|it| format!("event: x\ndata: {it}\n\n")).collect();
    let (room, heard) = room_at(vec![Does::Says(format!("{HEAD}{events}"), 3)], Dialect::Anthropic);
    let turn = room.turn().unwrap();
    assert_eq!((turn.tool_calls[0].name.as_str(), turn.usage.output_tokens), ("look", 9));
    let heard = heard.lock().join("");
    assert!(heard.starts_with("POST /v1/messages HTTP/1.1\r\n"), "{heard}");
    assert!(heard.contains(&format!("x-api-key: {KEY}")) && heard.contains("anthropic-version: 2023-06-01"));
}

#[test]
fn what_may_go_better_another_time_is_asked_again_and_nothing_else_is() {
    let fine = || Does::Says(openai(&["fine"]), 1 << 20);
    let half = |words: &str| {
        Does::Says(
            openai(&[words]).split("data: {\"choices\":[{\"delta\":{},").next().unwrap().to_owned(),
            1 << 20,
        )
    };
    let busy =
        || status("429 Too Many Requests", "retry-after: 0\r\n", r#"{"error":{"message":"slow down"}}"#);
    let down = || status("503 Service Unavailable", "", "down");
    let slow = || status("408 Request Timeout", "", "slow");
    let broken = || status("500 Internal Server Error", "", "broken");
    let cases: Vec<(&str, Vec<Does>, Result<u32, &str>)> = vec![
        ("busy, then fine", vec![busy(), fine()], Ok(2)),
        ("down twice, then fine", vec![down(), down(), fine()], Ok(3)),
        ("too slow, then broken, then fine", vec![slow(), broken(), fine()], Ok(3)),
        ("down for good", vec![down(), down(), down(), fine()], Err("model_failed")),
        ("busy for good", vec![busy(), busy(), busy()], Err("model_rate_limited")),
        ("silence, then fine", vec![Does::Says(String::new(), 1), fine()], Ok(2)),
        ("half an answer, then fine", vec![half("I am"), fine()], Ok(2)),
        ("a stall, then fine", vec![Does::Stalls(HEAD.into()), fine()], Ok(2)),
        (
            "stalls",
            vec![Does::Stalls(String::new()), Does::Stalls(HEAD.into()), Does::Stalls(String::new())],
            Err("timed_out"),
        ),
        ("a wrong key", vec![status("401 Unauthorized", "", KEY), fine()], Err("model_unauthorized")),
        ("a bad request", vec![status("400 Bad Request", "", "{}"), fine()], Err("model_bad_request")),
        (
            "elsewhere",
            vec![status("302 Found", "location: http://127.0.0.1:1/\r\n", ""), fine()],
            Err("model_failed"),
        ),
        ("garbage", vec![Does::Says(format!("{HEAD}data: {{\n\n"), 9), fine()], Err("bad_answer")),
        (
            "a web page",
            vec![status("200 OK", "content-type: application/json\r\n", "<html>"), fine()],
            Err("bad_answer"),
        ),
        (
            "ten megabytes",
            vec![Does::Says(format!("{HEAD}{}", "x".repeat(10 << 20)), 1 << 16), fine()],
            Err("answer_too_large"),
        ),
        ("no HTTP", vec![Does::Says("hello".into(), 5), Does::Says("hello".into(), 5), fine()], Ok(3)),
    ];
    for (what, script, want) in cases {
        let (room, _) = room_at(script, Dialect::OpenAi);
        let turn = room.turn();
        let told = format!("{turn:?}");
        assert!(!told.contains(KEY), "{what}: {told}");
        assert_eq!(
            turn.map(|it| it.usage.attempts).map_err(|it| it.code),
            want.map_err(Into::into),
            "{what}: {told}"
        );
    }
}

#[test]
fn whoever_heard_the_beginning_of_a_turn_hears_no_other_one() {
    let half = openai(&["I am"]).split("data: {\"choices\":[{\"delta\":{},").next().unwrap().to_owned();
    let script = vec![Does::Says(half, 1 << 20), Does::Says(openai(&["fine"]), 1 << 20)];
    let (room, _) = room_at(script, Dialect::OpenAi);
    let deltas = Some(Deltas(Arc::new(|_: &str| ())));
    let turn = room.ask(held(GRANT), Complete { deltas, ..question("m") }).unwrap();
    assert_eq!(turn.unwrap_err().code, "answer_cut_off");
}

#[test]
fn time_is_up_for_all_tries_together() {
    let (room, heard) = room_at(vec![Does::Stalls(String::new()); 3], Dialect::OpenAi);
    let turn = room.ask(held(GRANT), Complete { timeout_ms: Some(50), ..question("m") }).unwrap();
    assert_eq!(turn.unwrap_err().code, "timed_out");
    assert_eq!(heard.lock().len(), 1, "there was no time for another one");
}

#[test]
fn a_key_that_is_not_to_be_had_and_a_server_that_is_not_public_are_named() {
    let (address, _) = server(Vec::new());
    let keyless = Endpoint {
        key: Some(Arc::new(|| Err("there is no variable K".into()))),
        ..at(address, Dialect::OpenAi)
    };
    let failure = room(Ok(Served::At(Box::new(keyless)))).turn().unwrap_err();
    assert!(failure.code == "model_key" && failure.message.contains("variable K"), "{failure:?}");
    // A name that leads to loopback was not opened by whoever wrote it.
    let target = format!("http://localhost:{}/v1/chat/completions", address.port()).parse().unwrap();
    let named = Endpoint { target, key: None, ..at(address, Dialect::OpenAi) };
    let failure = room(Ok(Served::At(Box::new(named)))).turn().unwrap_err();
    assert!(failure.code == "address_forbidden" && failure.message.contains("base URL"), "{failure:?}");
}

#[test]
fn a_turn_ends_with_its_session() {
    let (room, _) = room_at(vec![Does::Stalls(HEAD.into())], Dialect::OpenAi);
    let session = room.session(held(GRANT));
    let payload = serde_json::to_vec(&question("m")).unwrap();
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let answer = runtime.block_on(async {
        let asking = room.gate.dispatch(&session, Call::new(COMPLETE, &payload, Streams::default()));
        let cancelling = async {
            tokio::task::yield_now().await;
            session.cancel();
        };
        tokio::join!(asking, cancelling).0
    });
    assert_eq!(answer.err().unwrap().code(), "cancelled");
    room.gate.flush().unwrap();
    assert!(room.records().contains("cancelled"), "{}", room.records());
}

/// A budget of so many tokens and so much money.
fn purse(tokens: u64, cost_micros: u64) -> Arc<Budget> {
    Arc::new(Budget::of([(Unit::Tokens, tokens), (Unit::CostMicros, cost_micros)]))
}

fn left(budget: &Budget) -> (u64, u64) {
    (budget.left(Unit::Tokens).unwrap(), budget.left(Unit::CostMicros).unwrap())
}

fn scripted(text: &str) -> Room {
    room(Ok(Served::Scripted(Script::parse(text).unwrap())))
}

/// A question that may be answered with so many tokens.
fn short_question(max_tokens: u32) -> Complete {
    Complete { max_tokens: Some(max_tokens), ..question("m") }
}

#[test]
fn a_turn_takes_from_the_budget_what_it_took_and_gives_back_the_rest_of_what_it_reserved() {
    let room = scripted(r#"{"content":"a","usage":{"input_tokens":30,"output_tokens":10}}"#);
    let budget = purse(10_000, 1_000_000);
    let turn = room.ask_in(&room.spending(&budget), short_question(500)).unwrap().unwrap();
    assert_eq!((turn.usage.cost_micros, left(&budget)), (Some(240), (9_960, 999_760)));
    // And one that failed takes nothing, for no server was asked.
    let failing = scripted(r#"{"error":{"code":"model_failed"}}"#);
    assert!(failing.ask_in(&failing.spending(&budget), short_question(500)).unwrap().is_err());
    assert_eq!(left(&budget), (9_960, 999_760));
}

#[test]
fn what_a_turn_took_beyond_its_reservation_is_charged_down_to_nothing_and_then_no_turn_begins() {
    let room = scripted(
        r#"[{"content":"a","usage":{"input_tokens":700,"output_tokens":900}},{"when":"x","content":"never"}]"#,
    );
    let budget = purse(1_000, 1_000_000);
    let session = room.spending(&budget);
    assert!(room.ask_in(&session, short_question(10)).unwrap().is_ok(), "it was asked within what there was");
    assert_eq!(left(&budget), (0, 984_400), "never below nothing");
    let Err(CallError::Denied(denial)) = room.ask_in(&session, short_question(1)) else {
        panic!("let through")
    };
    let Denial::BudgetExceeded { what: "tokens", needed, left: 0 } = denial else { panic!("{denial}") };
    assert!(needed > 1, "its request is read too");
    assert_eq!(denial.to_string(), format!("budget exceeded: tokens: {needed} needed, 0 left"));
    assert!(room.records().contains("budget_exceeded"), "{}", room.records());
    session.add_budget(Unit::Tokens, 10_000);
    assert!(room.ask_in(&session, short_question(1)).unwrap().is_ok(), "somebody gave it more");
}

#[test]
fn money_ends_a_turn_as_tokens_do_and_the_tokens_are_given_back() {
    let room = scripted(r#"{"content":"a"}"#);
    let budget = purse(10_000, 14);
    let refused = room.ask_in(&room.spending(&budget), short_question(1)).err().unwrap().to_string();
    assert!(
        refused.starts_with("budget exceeded: cost_micros: ") && refused.ends_with(", 14 left"),
        "{refused}"
    );
    assert_eq!(left(&budget), (10_000, 14));
}

#[test]
fn two_turns_that_begin_together_do_not_pass_on_the_same_rest() {
    let (room, _) = room_at(vec![Does::Stalls(HEAD.into()), Does::Stalls(HEAD.into())], Dialect::OpenAi);
    let budget = purse(1_500, u64::MAX);
    let (one, two) = (room.spending(&budget), room.spending(&budget));
    let payload = serde_json::to_vec(&short_question(1_000)).unwrap();
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let (first, second) = runtime.block_on(async {
        let ask = |session| room.gate.dispatch(session, Call::new(COMPLETE, &payload, Streams::default()));
        let asking = async {
            let first = ask(&one);
            let second = async {
                let second = ask(&two).await;
                one.cancel();
                second
            };
            tokio::join!(first, second)
        };
        asking.await
    });
    assert_eq!(second.err().unwrap().code(), "budget_exceeded", "while the first one has reserved");
    assert_eq!(first.err().unwrap().code(), "cancelled");
    let (tokens, _) = left(&budget);
    assert!((1_400..=1_500).contains(&tokens), "what was not known to be spent is given back: {tokens}");
}

#[test]
fn a_budget_that_ends_between_the_reservation_and_the_answer_ends_at_nothing() {
    let said = json!({"choices":[{"delta":{"content":"fine"},"finish_reason":"stop"}],
                      "usage":{"prompt_tokens":400,"completion_tokens":400}});
    let whole = format!("{HEAD}data: {said}\n\ndata: [DONE]\n\n");
    let (room, _) = room_at(vec![Does::Says(whole, 7)], Dialect::OpenAi);
    let budget = purse(600, u64::MAX);
    let session = room.spending(&budget);
    let ear = Arc::clone(&budget);
    // While the model speaks, somebody else takes all that is left.
    let deltas = Some(Deltas(Arc::new(move |_: &str| ear.charge(Unit::Tokens, u64::MAX))));
    let turn = room.ask_in(&session, Complete { deltas, ..short_question(100) }).unwrap().unwrap();
    assert_eq!((turn.content.as_str(), left(&budget).0), ("fine", 0), "the turn is had, and nothing is owed");
    assert_eq!(room.ask_in(&session, short_question(1)).err().unwrap().code(), "budget_exceeded");
}

#[test]
fn a_turn_that_broke_off_costs_what_is_known_of_it_and_a_server_that_does_not_count_is_counted_for() {
    let half = openai(&["I am "]).split("data: {\"choices\":[{\"delta\":{},").next().unwrap().to_owned();
    let (room, _) = room_at(vec![Does::Says(half.clone(), 1 << 20); 3], Dialect::OpenAi);
    let request = short_question(100);
    let read = (Asked::of(request.clone()).unwrap().json().len() as u64).div_ceil(4);
    let budget = purse(10_000, u64::MAX);
    assert_eq!(
        room.ask_in(&room.spending(&budget), request.clone()).unwrap().unwrap_err().code,
        "answer_cut_off"
    );
    assert_eq!(left(&budget).0, 10_000 - (3 * read + 4), "three tries, of five bytes each");
    // The one before it broke off: the turn's usage is what the last one says, and what is known of that.
    let (room, _) =
        room_at(vec![Does::Says(half, 1 << 20), Does::Says(openai(&["fine"]), 9)], Dialect::OpenAi);
    let budget = purse(10_000, u64::MAX);
    let turn = room.ask_in(&room.spending(&budget), request.clone()).unwrap().unwrap();
    assert_eq!(left(&budget).0, 10_000 - (1_100 + read + 2));
    assert_eq!((turn.usage.input_tokens, turn.usage.output_tokens), (1_000 + read, 100 + 2));
    let silent = json!({"choices":[{"delta":{"content":"12345678"},"finish_reason":"stop"}]});
    let silent = format!("{HEAD}data: {silent}\n\ndata: [DONE]\n\n");
    let (room, _) = room_at(vec![Does::Says(silent, 9); 2], Dialect::OpenAi);
    let budget = purse(10_000, 1_000_000);
    let turn = room.ask_in(&room.spending(&budget), request.clone()).unwrap().unwrap();
    // Whoever keeps what turns took keeps what was settled, also where the session has no budget that day.
    let (tokens, cost) = left(&budget);
    assert_eq!((turn.usage.input_tokens, turn.usage.output_tokens, tokens), (read, 2, 10_000 - (read + 2)));
    assert_eq!(turn.usage.cost_micros, Some(1_000_000 - cost));
    assert_eq!(room.ask(held(GRANT), request).unwrap().unwrap().usage, turn.usage);
    // Nobody was reached: nothing was read.
    let (address, _) = server(Vec::new());
    let unreached = self::room(Ok(Served::At(Box::new(at(address, Dialect::OpenAi)))));
    let budget = purse(10_000, u64::MAX);
    assert!(unreached.ask_in(&unreached.spending(&budget), short_question(100)).unwrap().is_err());
    assert_eq!(left(&budget).0, 10_000);
}

#[test]
fn a_replay_is_paid_for_as_the_recorded_run_was() {
    let event = r#"{"event":"turn","content":"again","stop_reason":"end_turn","usage":{"input_tokens":5,"output_tokens":2}}"#;
    let run = drydock_abi::llm::Recorded::parse(event).unwrap();
    let room = room(Ok(Served::Replay(Arc::new(run))));
    let budget = purse(10_000, 1_000_000);
    let session = room.spending(&budget);
    let turn = room.ask_in(&session, question("m")).unwrap().unwrap();
    assert_eq!((turn.content.as_str(), left(&budget)), ("again", (9_993, 999_955)));
    let messages = vec![
        Message::User { content: "?".into() },
        turn.into_message(),
        Message::User { content: "?".into() },
    ];
    let over = room.ask_in(&session, Complete { messages, ..question("m") }).unwrap().unwrap_err();
    assert_eq!((&*over.code, left(&budget).0), ("replay_diverged", 9_993));
}

//! Grants that want a person's word first: what they refuse, which grant they propose, and what becomes of it.
#![allow(clippy::unwrap_used, clippy::panic)]

use std::sync::Arc;

use drydock_contract::{
    ArgumentRule, Budget, Call, CallError, Cap, Denial, GrantFile, GrantSpec, Must, Node, Reply, Scalar,
    Streams, Terms, Unit,
};
use drydock_gate::{
    Audited, CapSpec, Capability, Class, DenialLog, Gate, GateSettings, Grant, HeldGrants, NotAdmitted,
    Operation, Permit, Refused, Session, SessionSpec,
};
use drydock_testkit::{FixedClock, MemoryJournal, block_on, principal};

/// A power whose requests are a tool and a path: `files.write /etc/a`.
struct Toy;

fn said(path: &str) -> ArgumentRule {
    ArgumentRule::new("/path", Must::Equal(Scalar::Text(path.into())))
}

impl Capability for Toy {
    const SPEC: CapSpec = CapSpec {
        cap: Cap::Tool,
        operations: &[Operation {
            name: "toy.act",
            class: Class::Tool,
            request_bytes_max: 256,
            in_flight_max: None,
            audited: Audited::Everything,
            summary: "",
        }],
        imports: &[],
    };
    type Request = (String, String);
    type Ready = Arc<str>;
    type Policy = ();

    fn policy(&self) -> &() {
        &()
    }

    fn decode(_: &str, payload: &[u8]) -> Result<(String, String), Denial> {
        let text = String::from_utf8_lossy(payload);
        let (tool, path) = text.split_once(' ').ok_or_else(|| Denial::Malformed("it has no blank".into()))?;
        Ok((tool.into(), path.into()))
    }

    fn subject(request: &(String, String)) -> &str {
        &request.0
    }

    fn within(request: &(String, String), terms: &Terms) -> bool {
        terms.rules.iter().all(|rule| match &rule.must {
            Must::Equal(Scalar::Text(path)) => *path == request.1,
            Must::StartWith(head) => request.1.starts_with(head),
            _ => false,
        })
    }

    fn not_admitted(request: &(String, String), why: NotAdmitted) -> Denial {
        let rules = match why {
            NotAdmitted::ByName => Vec::new(),
            NotAdmitted::ByTerms => vec![said(&request.1)],
        };
        Denial::ToolNotGranted { tool: request.0.as_str().into(), why: "", rules: Some(rules.into()) }
    }

    fn check(_: &(), _: &Session, request: (String, String)) -> Result<Arc<str>, Refused> {
        Ok(request.0.into())
    }

    fn label(ready: &Arc<str>) -> Arc<str> {
        Arc::clone(ready)
    }

    async fn perform(&self, _: Permit<'_, Self>, _: Arc<str>, streams: Streams) -> Result<Reply, CallError> {
        Ok(Reply::of_bytes(Vec::new(), streams))
    }
}

struct Room {
    gate: Arc<Gate>,
    journal: Arc<MemoryJournal>,
    log: Arc<DenialLog>,
}

fn room() -> Room {
    let journal = Arc::new(MemoryJournal::default());
    let gate = Gate::new(GateSettings::default(), Arc::new(FixedClock::default()), Arc::clone(&journal) as _);
    Room { gate: Arc::new(gate.with(Toy)), journal, log: Arc::default() }
}

impl Room {
    fn open(&self, grants: &str) -> Session {
        let file = GrantFile::parse(format!(r#"{{"grants":[{grants}]}}"#).as_bytes()).unwrap();
        let grants: HeldGrants = Grant::all_of(&file, |it| it).into_iter().collect();
        let denials = Some(Arc::clone(&self.log));
        self.gate.open(SessionSpec { grants, denials, ..SessionSpec::new(principal("me")) }).unwrap()
    }

    fn act(&self, session: &Session, request: &str) -> Result<(), CallError> {
        let call = Call::new("toy.act", request.as_bytes(), Streams::default());
        block_on(self.gate.dispatch(session, call)).map(drop)
    }

    fn code(&self, session: &Session, request: &str) -> &'static str {
        self.act(session, request).err().map_or("done", |error| error.code())
    }

    /// The grant that a refusal for want of a review proposes.
    fn proposed(&self, session: &Session, request: &str) -> Option<GrantSpec> {
        let Err(CallError::Denied(denial)) = self.act(session, request) else { panic!("it was let through") };
        assert_eq!(denial.code(), "review_needed");
        assert_eq!(denial.details().power, Some(Cap::Tool));
        denial.remedy()
    }
}

#[test]
fn a_grant_that_wants_a_review_refuses_and_proposes_itself_for_this_call_alone() {
    let room = room();
    let session = room.open(
        r#"{"id":"w","cap":"tool","subjects":["files.*"],"rules":[{"argument":"/path","starts_with":"/data/"}],"until":"2026-12-01T00:00:00Z","uses":3,"review":true}"#,
    );
    assert!(session.caps().contains(Cap::Tool), "a guest may ask");
    let smallest = room.proposed(&session, "files.write /data/a").unwrap();
    assert_eq!(
        smallest.to_json(),
        r#"{"cap":"tool","subjects":["files.write"],"rules":[{"argument":"/path","equal":"/data/a"}],"until":"2026-12-01T00:00:00Z"}"#
    );
    assert_eq!(room.code(&session, "files.write /etc/a"), "tool_not_granted", "no review makes it wider");
    assert_eq!(room.code(&session, "net.get /data/a"), "tool_not_granted");
    session.give(session.grant_of(&GrantSpec { uses: Some(1), ..smallest }).unwrap()).unwrap();
    let codes = ["/data/b", "/data/a", "/data/a"].map(|it| room.code(&session, &format!("files.write {it}")));
    assert_eq!(codes, ["review_needed", "done", "review_needed"]);
}

#[test]
fn a_refusal_for_want_of_a_review_uses_nothing_up_and_is_on_record_like_any_other() {
    let room = room();
    let session = room.open(r#"{"id":"w","cap":"tool","uses":2,"review":true}"#);
    for _ in 0..5 {
        assert_eq!(room.code(&session, "files.write /a"), "review_needed");
    }
    assert_eq!(session.grants().iter().next().unwrap().spec().uses, Some(2));
    room.gate.flush().unwrap();
    let records = room.journal.records();
    assert_eq!(records.len(), 5, "{records:?}");
    assert!(records.iter().all(|it| it.event.to_string() == "denied review_needed"), "{records:?}");
    assert_eq!(records[0].call.subjects.first(), "files.write");
    let told = room.log.take();
    assert_eq!((told.len(), told[0].code), (1, "review_needed"));
    assert_eq!(
        told[0].why,
        "`files.write` needs a review: only a grant that wants a person's word admits it"
    );
}

#[test]
fn a_plain_grant_beside_it_admits_without_a_review() {
    let room = room();
    let asks = r#"{"cap":"tool","review":true}"#;
    let plain = r#"{"cap":"tool","subjects":["files.read"]}"#;
    for grants in [format!("{asks},{plain}"), format!("{plain},{asks}")] {
        let session = room.open(&grants);
        assert_eq!(room.code(&session, "files.read /a"), "done");
        assert_eq!(room.code(&session, "files.write /a"), "review_needed");
        let now = room.gate.now();
        let held = session.grants();
        assert!(
            held.would_admit(Cap::Tool, "files.read", now) && held.could_admit(Cap::Tool, "files.read", now)
        );
        assert!(!held.would_admit(Cap::Tool, "files.write", now));
        assert!(held.could_admit(Cap::Tool, "files.write", now) && !held.could_admit(Cap::Kv, "a", now));
        assert!(!held.admits_freely(Cap::Tool, "files.write", now));
        assert_eq!(held.named_exactly(Cap::Tool, now), ["files.read"]);
    }
}

#[test]
fn what_hangs_from_a_grant_that_wants_a_review_wants_one_too_and_what_is_proposed_hangs_from_what_does_not() {
    let room = room();
    let session = room.open(
        r#"{"id":"all","cap":"tool","subjects":["files.*"]},
        {"id":"asks","cap":"tool","parent":"all","review":true,"until":"2026-12-01T00:00:00Z"},
        {"id":"child","cap":"tool","parent":"asks","subjects":["files.write"],"until":"2027-12-01T00:00:00Z"}"#,
    );
    session.lose(&"asks".parse().unwrap());
    assert_eq!(room.code(&session, "files.write /a"), "done", "`all` wants none");
    let session = room.open(
        r#"{"id":"all","cap":"tool","subjects":["files.*"],"uses":7},
        {"id":"asks","cap":"tool","parent":"all","review":true}"#,
    );
    let smallest = {
        // As somebody holds it who was given the narrow ones alone.
        let held = session.grants();
        let child = Arc::new(held.iter().find(|it| it.label() == "asks").unwrap().narrowed());
        let spec = SessionSpec { grants: [child].into_iter().collect(), ..SessionSpec::new(principal("me")) };
        let narrow = room.gate.open(spec).unwrap();
        let smallest = room.proposed(&narrow, "files.write /a").unwrap();
        narrow.give(narrow.grant_of(&smallest).unwrap()).unwrap();
        assert_eq!(room.code(&narrow, "files.write /a"), "done");
        assert_eq!(held.iter().find(|it| it.label() == "all").unwrap().spec().uses, Some(6), "a use of both");
        let of = Node::Grant("dev".parse().unwrap(), "all".into());
        room.gate.revoke(&of).unwrap();
        assert_ne!(room.code(&narrow, "files.write /a"), "done", "it went with what it hangs from");
        smallest
    };
    assert_eq!(smallest.parent.as_ref().map(ToString::to_string).as_deref(), Some("all"));
    let stranger = room.open(r#"{"cap":"tool","review":true}"#);
    assert!(stranger.grant_of(&smallest).is_none(), "without its parent it would be wider");
}

#[test]
fn a_revoked_or_expired_one_asks_nobody() {
    let room = room();
    let session = room.open(r#"{"id":"w","cap":"tool","review":true},{"cap":"tool","subjects":["x.y"]}"#);
    assert_eq!(room.code(&session, "files.write /a"), "review_needed");
    room.gate.revoke(&Node::Grant("dev".parse().unwrap(), "w".into())).unwrap();
    assert_eq!(room.code(&session, "files.write /a"), "tool_not_granted");
    let late = room.open(r#"{"cap":"tool","review":true,"until":"1970-01-01T00:00:00Z"}"#);
    assert_eq!(room.code(&late, "files.write /a"), "denied");
}

#[test]
fn a_host_adds_to_the_budget_of_a_session_that_lives_and_that_is_on_record() {
    let room = room();
    let budget = Arc::new(Budget::of([(Unit::Calls, 1)]));
    let spec = SessionSpec {
        grants: [Grant::of(Cap::Tool)].into_iter().collect(),
        budget: Some(Arc::clone(&budget)),
        ..SessionSpec::new(principal("me"))
    };
    let session = room.gate.open(spec).unwrap();
    let codes = |_| room.code(&session, "files.read /a");
    assert_eq!([(); 2].map(codes), ["done", "budget_exceeded"]);
    assert!(session.add_budget(Unit::Calls, 2) && !session.add_budget(Unit::Tokens, 2), "tokens have no end");
    assert_eq!([(); 3].map(codes), ["done", "done", "budget_exceeded"]);
    room.gate.flush().unwrap();
    let records = room.journal.records();
    let added = records.iter().find(|it| it.call.operation == "budget.add").unwrap();
    assert_eq!(added.call.subjects.first(), "calls +2");
    assert!(!room.open("").add_budget(Unit::Calls, 1), "it has no budget");
}

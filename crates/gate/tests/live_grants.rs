//! Grants of a session that lives: given, lost, revoked, used up; and a power that reaches out under a profile.
#![allow(clippy::unwrap_used)]

use std::sync::Arc;

use drydock_contract::{
    Call, CallError, Cap, Denial, DenialDetails, GrantFile, GrantId, Node, Reply, Streams,
};
use drydock_gate::{
    Audited, CapSpec, Capability, Class, DenialLog, Gate, GateSettings, Grant, NotAdmitted, Operation,
    Permit, Profile, Refused, Session, SessionSpec,
};
use drydock_testkit::{FixedClock, MemoryJournal, block_on, principal};

/// A power that reaches out: its request is the host and port it would dial.
struct Dial;

impl Capability for Dial {
    const SPEC: CapSpec = CapSpec {
        cap: Cap::Tcp,
        operations: &[Operation {
            name: "tcp.dial",
            class: Class::Look,
            request_bytes_max: 256,
            in_flight_max: None,
            audited: Audited::Everything,
            summary: "",
        }],
        imports: &[],
    };
    type Request = String;
    type Ready = Arc<str>;
    type Policy = ();

    fn policy(&self) -> &() {
        &()
    }

    fn decode(_: &str, payload: &[u8]) -> Result<String, Denial> {
        String::from_utf8(payload.to_vec()).map_err(|_| Denial::Malformed("not text".into()))
    }

    fn subject(request: &String) -> &str {
        request
    }

    fn not_admitted(request: &String, _: NotAdmitted) -> Denial {
        Denial::NotGranted {
            cap: Cap::Tcp,
            subjects: Denial::subject(request).into(),
            why: ": the grant names others",
        }
    }

    fn check(_: &(), _: &Session, request: String) -> Result<Arc<str>, Refused> {
        Ok(request.into())
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
    Room { gate: Arc::new(gate.with(Dial)), journal, log: Arc::default() }
}

fn id(text: &str) -> GrantId {
    text.parse().unwrap()
}

impl Room {
    fn under(&self, profile: &str) -> Session {
        let profile = Profile::named(profile);
        let spec = SessionSpec {
            grants: profile.grants().collect(),
            importable: profile.importable,
            denials: Some(Arc::clone(&self.log)),
            ..SessionSpec::new(principal("me"))
        };
        self.gate.open(spec).unwrap()
    }

    fn dial(&self, session: &Session, host: &str) -> Result<(), String> {
        let call = Call::new("tcp.dial", host.as_bytes(), Streams::default());
        block_on(self.gate.dispatch(session, call)).map(drop).map_err(|error| error.to_string())
    }
}

fn example() -> Grant {
    Grant::of(Cap::Tcp)
        .named(id("net"))
        .within(drydock_contract::Terms::of(["*.example.com:443".parse().unwrap()]))
}

#[test]
fn a_profile_makes_a_reaching_power_importable_and_grants_none_of_it() {
    let room = room();
    let session = room.under("minimal");
    assert!(session.caps().contains(Cap::Tcp), "the import links");
    assert!(!room.under("compute").caps().contains(Cap::Tcp));
    let refused = room.dial(&session, "api.example.com:443");
    assert_eq!(refused, Err("capability `tcp` is not granted".into()));
    let told: Vec<DenialDetails> = room.log.take();
    assert_eq!((told.len(), told[0].code, told[0].power), (1, "denied", Some(Cap::Tcp)));
    let smallest = told[0].grant.clone().unwrap();
    assert_eq!(smallest.to_json(), r#"{"cap":"tcp","subjects":["api.example.com:443"]}"#);
    session.give(Grant::from_spec(&smallest, None)).unwrap();
    assert_eq!(room.dial(&session, "api.example.com:443"), Ok(()));
    assert!(room.dial(&session, "example.com:443").is_err());
    let record = &room.journal.records()[0];
    assert_eq!(record.call.subjects.first(), "api.example.com:443");
    assert_eq!(record.event.to_string(), "denied denied");
}

#[test]
fn no_grant_is_proposed_for_a_request_that_is_too_large_or_unreadable() {
    let room = room();
    let session = room.under("minimal");
    for host in ["x".repeat(257), String::new()] {
        room.dial(&session, &host).unwrap_err();
        let denied = &room.log.take()[0];
        assert_eq!(
            (denied.power, denied.subject.as_ref(), denied.grant.as_ref()),
            (Some(Cap::Tcp), None, None)
        );
    }
}

#[test]
fn a_live_session_is_given_a_grant_and_loses_it_while_others_keep_theirs() {
    let room = room();
    let (one, other) = (room.under("minimal"), room.under("minimal"));
    let grant = Arc::new(example());
    let child = Arc::new(grant.narrowed().named(id("child")));
    for session in [&one, &other] {
        session.give(Arc::clone(&grant)).unwrap();
        session.give(Arc::clone(&child)).unwrap();
    }
    assert!(one.holds(&grant) && one.grants().would_admit(Cap::Tcp, "a.example.com:443", room.gate.now()));
    assert!(one.lose(&id("net")), "its child goes with it");
    assert!(!one.lose(&id("net")) && !one.holds(&child));
    assert_eq!(room.dial(&one, "a.example.com:443"), Err("capability `tcp` is not granted".into()));
    assert_eq!(room.dial(&other, "a.example.com:443"), Ok(()));
    assert!(!other.lose(&id("exec")), "what a profile grants has no id to lose it by");
}

#[test]
fn a_session_that_loses_a_grant_loses_what_it_might_import() {
    let room = room();
    let session = room.under("compute");
    session.give(example()).unwrap();
    assert!(session.caps().contains(Cap::Tcp));
    session.lose(&id("net"));
    assert!(!session.caps().contains(Cap::Tcp));
}

#[test]
fn a_revoked_grant_lapses_at_once_wherever_it_is_held() {
    let room = room();
    let text = br#"{"grants":[{"id":"net","cap":"tcp"},{"id":"some","cap":"tcp","subjects":["a:1"],"parent":"net"}]}"#;
    let grants = Grant::all_of(&GrantFile::parse(text).unwrap(), |it| it);
    let parent = room
        .gate
        .open(SessionSpec { grants: grants.iter().cloned().collect(), ..SessionSpec::new(principal("me")) });
    let (parent, child) = (parent.unwrap(), room.under("minimal"));
    child.give(Arc::clone(&grants[1])).unwrap();
    assert_eq!((room.dial(&parent, "a:1"), room.dial(&child, "a:1")), (Ok(()), Ok(())));
    let net = |tenant: &str| Node::Grant(tenant.parse().unwrap(), id("net").shared());
    room.gate.revoke(&net("other")).unwrap();
    assert_eq!(room.dial(&parent, "a:1"), Ok(()), "it was another tenant's");
    room.gate.revoke(&net("dev")).unwrap();
    for session in [&parent, &child] {
        let refused = room.dial(session, "a:1");
        assert_eq!(refused, Err("capability `tcp` is not granted: the grant was revoked".into()));
        assert!(!session.holds(&grants[1]));
    }
    let late = room.under("minimal");
    late.give(example()).unwrap();
    assert!(
        room.dial(&late, "a.example.com:443").is_err(),
        "what was revoked stays so for whoever comes later"
    );
}

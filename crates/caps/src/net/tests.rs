//! Proofs for `net`: what is let through, what is refused, and what the record and the proposal say of it. Nothing here
//! connects: whoever is let through meets a dialler that only writes down.

use std::{
    io,
    net::{IpAddr, SocketAddr},
    sync::Arc,
};

use drydock_abi::fetch::{FETCH, FetchAnswer};
use drydock_contract::{Call, CallError, Cap, Denial, GrantSpec, Streams, Terms};
use drydock_egress::{
    Connection, Dial, Egress, HostName, Parts, Pending, Pinned, QuotaLimits, Resolve, Rules, Trust,
    WorldRoots,
};
use drydock_gate::{Gate, GateSettings, Grant, HeldGrants, SessionSpec};
use drydock_testkit::{FixedClock, MemoryJournal, principal};
use parking_lot::Mutex;

use super::{Net, grants_of, request};

/// Every name has this address.
#[derive(Debug)]
struct Everywhere(IpAddr);

impl Resolve for Everywhere {
    fn resolve<'a>(&'a self, _: &'a HostName, _: usize) -> Pending<'a, io::Result<Vec<IpAddr>>> {
        Box::pin(async { Ok(vec![self.0]) })
    }
}

/// Writes down where it was sent.
#[derive(Debug, Default)]
struct Recording(Mutex<Vec<SocketAddr>>);

impl Dial for Recording {
    fn dial<'a>(&'a self, to: &'a Pinned) -> Pending<'a, io::Result<Box<dyn Connection>>> {
        self.0.lock().push(to.address());
        Box::pin(async { Err(io::ErrorKind::ConnectionRefused.into()) })
    }
}

struct Room {
    gate: Arc<Gate>,
    journal: Arc<MemoryJournal>,
    dialled: Arc<Recording>,
}

/// A gate with the power behind it, for which every name is at that address.
fn room(address: &str) -> Room {
    let resolver = Arc::new(Everywhere(address.parse().unwrap()));
    let journal = Arc::new(MemoryJournal::default());
    room_with(resolver, journal, GateSettings::default())
}

fn room_with(resolver: Arc<dyn Resolve>, journal: Arc<MemoryJournal>, settings: GateSettings) -> Room {
    let clock = Arc::new(FixedClock::default());
    let dialled = Arc::new(Recording::default());
    let egress = Egress::new(Parts {
        resolver,
        dialler: Arc::clone(&dialled) as _,
        trust: Trust::new(WorldRoots::Nobody, Vec::new()),
        quota: QuotaLimits::default(),
    });
    let net = Net::new(Arc::new(egress), Arc::clone(&clock) as _);
    let gate = Gate::new(settings, clock, Arc::clone(&journal) as _).with(net);
    Room { gate: Arc::new(gate), journal, dialled }
}

impl Room {
    /// What a fetch is answered, and the subject on its last record.
    fn fetch(&self, grants: HeldGrants, payload: &[u8]) -> (Result<FetchAnswer, CallError>, String) {
        let session = self.gate.open(SessionSpec { grants, ..SessionSpec::new(principal("me")) }).unwrap();
        let call = Call::new(FETCH, payload, Streams::default()).answered_typed();
        let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap();
        let answer = runtime.block_on(self.gate.dispatch(&session, call));
        let answer = answer.map(|mut reply| reply.value::<FetchAnswer>().unwrap());
        self.gate.flush().unwrap();
        let record = self.journal.records().pop().unwrap();
        assert_eq!(record.call.operation, "http.fetch");
        (answer, record.call.subjects.first().to_owned())
    }

    fn denied(&self, grants: HeldGrants, payload: &[u8]) -> (Denial, String) {
        let (answer, subject) = self.fetch(grants, payload);
        let Err(CallError::Denied(denial)) = answer else { panic!("it was let through: {answer:?}") };
        assert!(self.dialled.0.lock().is_empty(), "nothing is dialled for what is refused");
        (denial, subject)
    }
}

fn held(text: &str) -> HeldGrants {
    [Grant::from_spec(&GrantSpec::parse(text.as_bytes()).unwrap(), None)].into_iter().collect()
}

fn by_rules(hosts: &[&str], urls: &[&str], privates: &[&str]) -> HeldGrants {
    grants_of(&Rules::parse(hosts, urls, privates).unwrap()).into_iter().collect()
}

fn url(url: &str) -> Vec<u8> {
    serde_json::json!({ "url": url }).to_string().into_bytes()
}

#[test]
fn a_fetch_is_denied_and_recorded_with_its_host_and_the_grant_that_it_lacks() {
    let room = room("203.0.113.1");
    let request = br#"{"url":"https://API.example.com/v1?x","method":"POST","headers":{}}"#;
    let (denial, subject) = room.denied(HeldGrants::default(), request);
    assert_eq!((denial.code(), subject.as_str()), ("denied", "api.example.com:443"));
    let grant = r#"{"cap":"net","subjects":["api.example.com:443"]}"#;
    assert_eq!(denial.remedy().unwrap().to_json(), grant);
    assert_eq!(denial.flag().unwrap(), "--allow-host api.example.com");
    let (denial, _) = room.denied(held(r#"{"cap":"net","subjects":["example.com:443"]}"#), request);
    assert_eq!((denial.code(), denial.remedy().unwrap().to_json().as_str()), ("host_not_granted", grant));
    let (denial, subject) = room.denied([Grant::of(Cap::Net)].into_iter().collect(), b"no json");
    assert_eq!((denial.code(), subject.as_str()), ("malformed", ""));
    let (denial, subject) = room.denied(HeldGrants::default(), &vec![b' '; 17 << 20]);
    assert_eq!((denial.code(), denial.remedy(), subject.as_str()), ("denied", None, ""));
}

/// Breaks the journal at the moment in which the address is known.
#[derive(Debug)]
struct Breaking(Arc<MemoryJournal>);

impl Resolve for Breaking {
    fn resolve<'a>(&'a self, _: &'a HostName, _: usize) -> Pending<'a, io::Result<Vec<IpAddr>>> {
        self.0.break_now();
        Box::pin(async { Ok(vec![IpAddr::from([93, 184, 216, 34])]) })
    }
}

#[test]
fn an_attempt_is_on_record_with_its_address_before_it_is_dialled_or_nothing_is_dialled() {
    let room = room("93.184.216.34");
    let (answer, _) = room.fetch(by_rules(&["a.test"], &[], &[]), &url("https://a.test/secret"));
    assert!(matches!(answer, Ok(Err(ref failure)) if failure.code == "connect_failed"), "{answer:?}");
    let records = room.journal.records();
    let told: Vec<_> = records
        .iter()
        .map(|it| {
            let subjects: Vec<_> = it.call.subjects.iter().collect();
            (it.call.operation, subjects.join(" "), it.event.to_string())
        })
        .collect();
    let of = |operation, subjects: &str, event: &str| (operation, subjects.to_owned(), event.to_owned());
    assert_eq!(
        told,
        [
            of("http.fetch", "a.test:443", "begun"),
            of("egress.dial", "a.test:443 93.184.216.34:443", "begun"),
            of("http.fetch", "a.test:443", "ended done"),
        ]
    );
    assert!(
        records
            .iter()
            .all(|it| (it.call.call, it.call.trace) == (records[0].call.call, records[0].call.trace))
    );

    let journal = Arc::new(MemoryJournal::default());
    let ahead = GateSettings { recording: drydock_gate::Recording::Ahead, ..GateSettings::default() };
    let room = room_with(Arc::new(Breaking(Arc::clone(&journal))), Arc::clone(&journal), ahead);
    let spec = SessionSpec { grants: by_rules(&["a.test"], &[], &[]), ..SessionSpec::new(principal("me")) };
    let session = room.gate.open(spec).unwrap();
    let asked = url("https://a.test/");
    let call = Call::new(FETCH, &asked, Streams::default()).answered_typed();
    let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap();
    let failed = runtime.block_on(room.gate.dispatch(&session, call)).err().unwrap();
    assert_eq!(failed.code(), "audit_unavailable", "{failed}");
    assert!(room.dialled.0.lock().is_empty(), "what cannot be recorded is not done");
    journal.mend();
}

#[test]
fn the_smallest_grant_for_a_method_and_a_path_says_exactly_these() {
    let room = room("203.0.113.1");
    let rules = || by_rules(&[], &["GET https://a.test/v1"], &[]);
    let request = br#"{"url":"https://a.test/v1/x?q=1","method":"POST"}"#;
    let (denial, _) = room.denied(rules(), request);
    assert_eq!(
        denial.remedy().unwrap().to_json(),
        r#"{"cap":"net","subjects":["a.test:443"],"rules":[{"argument":"/method","equal":"POST"},{"argument":"/scheme","equal":"https"},{"argument":"/path","equal":"/v1/x"}]}"#
    );
    assert_eq!(denial.flag().unwrap(), "--allow-url 'POST https://a.test:443/v1/x'");
    for refused in
        ["https://a.test/v10", "https://a.test/v1/%2e%2e/x", "http://a.test:443/v1", "https://b.a.test/v1"]
    {
        room.denied(rules(), &url(refused));
    }
}

#[test]
fn rules_of_a_command_line_and_the_grants_made_of_them_admit_the_same() {
    let public = "93.184.216.34";
    for (hosts, urls, privates, target, admitted) in [
        (&["x.com"][..], &[][..], &[][..], "https://api.x.com/", true),
        (&["x.com"], &[], &[], "http://x.com/", true),
        (&["x.com"], &[], &[], "https://notx.com/", false),
        (&["x.com"], &[], &[], "https://x.com.evil.net/", false),
        (&["x.com"], &[], &[], "https://x.com:8443/", false),
        (&["x.com:8443"], &[], &[], "https://x.com:8443/", true),
        (&["x.com:8443"], &[], &[], "https://x.com/", false),
        (&["https://x.com"], &[], &[], "http://x.com/", false),
        (&["https://x.com"], &[], &[], "https://x.com/", true),
        (&["93.184.216.34"], &[], &[], "http://93.184.216.34/", true),
        (&[], &["https://x.com/v1/"], &[], "https://x.com/v1/y", true),
        (&[], &["https://x.com/v1/"], &[], "https://x.com/v2", false),
        (&[], &["POST https://x.com/"], &[], "https://x.com/v2", false),
        (&[], &[], &["93.184.216.34:80"], "http://93.184.216.34/", true),
        (&[], &[], &["127.0.0.1:80"], "http://127.0.0.1/", true),
        (&[], &[], &["127.0.0.1:80"], "http://0x7f.1/", true),
        (&[], &[], &["127.0.0.1:80"], "http://127.0.0.1:81/", false),
        (&["127.0.0.1:80"], &[], &[], "http://127.0.0.1/", false),
        (&["127.0.0.1:80"], &[], &["127.0.0.1:81"], "http://127.0.0.1/", false),
    ] {
        let room = room(public);
        let (answer, _) = room.fetch(by_rules(hosts, urls, privates), &url(target));
        let dialled = !room.dialled.0.lock().is_empty();
        assert_eq!(
            (answer.is_ok(), dialled),
            (admitted, admitted),
            "{hosts:?} {urls:?} {privates:?} {target}"
        );
        let rules = Rules::parse(hosts, urls, privates).unwrap();
        let egress = Egress::new(Parts {
            resolver: Arc::new(Everywhere(public.parse().unwrap())),
            dialler: Arc::new(Recording::default()),
            trust: Trust::new(WorldRoots::Nobody, Vec::new()),
            quota: QuotaLimits::default(),
        });
        let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap();
        let (limits, method) = (drydock_egress::Limits::default(), drydock_egress::Method::GET);
        let told = runtime.block_on(egress.explain(&rules, &method, target, &limits));
        assert_eq!(told.allowed, admitted, "explain says the same of {target}: {told}");
    }
}

#[test]
fn a_name_whose_address_is_not_public_is_denied_with_the_grant_that_opens_it() {
    let room = room("10.0.0.7");
    let (denial, subject) = room.denied(by_rules(&["a.test"], &[], &[]), &url("http://a.test/"));
    assert_eq!((denial.code(), subject.as_str()), ("host_not_granted", "a.test:80"));
    assert_eq!(denial.flag().unwrap(), "--allow-private 10.0.0.7:80");
    let events: Vec<String> = room.journal.records().iter().map(|it| it.event.to_string()).collect();
    assert_eq!(events, ["begun", "ended host_not_granted"], "found out while it acted, and on record");
    let (answer, _) = room.fetch(by_rules(&["a.test"], &[], &["10.0.0.7:80"]), &url("http://a.test/"));
    assert_eq!(answer.unwrap().unwrap_err().code, "connect_failed");
    assert_eq!(room.dialled.0.lock().as_slice(), ["10.0.0.7:80".parse().unwrap()]);
}

#[test]
fn a_star_opens_no_address_that_is_not_public() {
    let room = room("169.254.169.254");
    for grants in [
        || [Grant::of(Cap::Net)].into_iter().collect::<HeldGrants>(),
        || held(r#"{"cap":"net","subjects":["*"]}"#),
        || held(r#"{"cap":"net","subjects":["169.254.169.254:80","*:80","private:*"]}"#),
    ] {
        for target in ["http://169.254.169.254/", "http://metadata.test/", "http://[::ffff:169.254.169.254]/"]
        {
            let (denial, _) = room.denied(grants(), &url(target));
            assert_eq!(denial.code(), "host_not_granted", "{target}");
        }
    }
}

#[test]
fn the_end_of_a_fetch_is_recorded_with_its_addresses_and_nothing_that_was_asked() {
    let room = room("93.184.216.34");
    let request = br#"{"url":"http://a.test/path-secret?query-secret","headers":{"x":"header-secret"},"body_b64":"Ym9keQ=="}"#;
    let (answer, _) = room.fetch(by_rules(&["a.test"], &[], &[]), request);
    assert_eq!(answer.unwrap().unwrap_err().code, "connect_failed");
    let records = format!("{:?}", room.journal.records());
    assert!(records.contains("93.184.216.34:80") && records.contains("connect_failed"), "{records}");
    assert!(!records.contains("secret") && !records.contains("body\""), "{records}");
}

#[test]
fn the_host_of_a_url_is_the_one_that_would_be_dialled_or_there_is_none() {
    let host = |text: &str| request::decode(&url(text)).map(|it| it.subject).map_err(|it| it.code());
    for (url, want) in [
        ("http://allowed.test/ok", "allowed.test:80"),
        ("HTTPS://Allowed.Test.", "allowed.test:443"),
        ("http://allowed.test:8080?q", "allowed.test:8080"),
        ("http://allowed.test:#f", "allowed.test:80"),
        ("http://[2606:2800:220:1::1]", "[2606:2800:220:1::1]:80"),
        ("http://[::1]:9/", "private:[::1]:9"),
        ("http://2130706433/", "private:127.0.0.1:80"),
        ("http://b\u{fc}cher.test/", "xn--bcher-kva.test:80"),
    ] {
        assert_eq!(host(url).as_deref(), Ok(want), "{url}");
    }
    for (url, want) in [
        ("", "malformed"),
        ("allowed.test", "malformed"),
        ("ftp://allowed.test/", "host_not_granted"),
        ("http://", "malformed"),
        ("http:///x", "malformed"),
        ("http://user@allowed.test/", "host_not_granted"),
        ("http://allowed.test:80@evil.test/", "host_not_granted"),
        ("http://evil.test\\@allowed.test/", "malformed"),
        ("http://allowed.test:99999/", "malformed"),
        ("http://al lowed.test/", "malformed"),
        ("http://allowed.test\n.evil.test/", "malformed"),
        ("http://*/", "malformed"),
    ] {
        assert_eq!(host(url), Err(want), "{url}");
    }
    for bad in [
        r#"{"url":"http://a.test/","method":"G T"}"#,
        r#"{"url":"http://a.test/","headers":{"a b":"1"}}"#,
        r#"{"url":"http://a.test/","headers":{"a":"1\r\nb: 2"}}"#,
    ] {
        assert_eq!(request::decode(bad.as_bytes()).unwrap_err().code(), "malformed", "{bad}");
    }
}

#[test]
fn a_grant_that_could_never_admit_anything_is_told_so() {
    let terms = |text: &str| -> Terms { GrantSpec::parse(text.as_bytes()).unwrap().terms() };
    for good in [
        r#"{"cap":"net"}"#,
        r#"{"cap":"net","subjects":["*","a.test:443","*.a.test:*","[::1]:80","private:127.0.0.1:80"]}"#,
        r#"{"cap":"net","rules":[{"argument":"/path","starts_with":"/v1"},{"argument":"/method","one_of":["GET"]}]}"#,
    ] {
        assert_eq!(crate::judge_terms(Cap::Net, &terms(good)), Ok(()), "{good}");
    }
    for (bad, want) in [
        (r#"{"cap":"net","subjects":["a.test"]}"#, "write host:port"),
        (r#"{"cap":"net","subjects":["a.test:0"]}"#, "write host:port"),
        (r#"{"cap":"net","subjects":["https://a.test"]}"#, "write host:port"),
        (r#"{"cap":"net","subjects":["private:*"]}"#, "opened by itself"),
        (r#"{"cap":"net","subjects":["private:127.1:80"]}"#, "opened by itself"),
        (r#"{"cap":"net","rules":[{"argument":"/query","equal":"x"}]}"#, "/method, /scheme and /path"),
        (r#"{"cap":"net","rules":[{"argument":"/path","starts_with":"v1"}]}"#, "begins with a slash"),
    ] {
        let told = crate::judge_terms(Cap::Net, &terms(bad)).unwrap_err();
        assert!(told.contains(want), "{bad}: {told}");
    }
}

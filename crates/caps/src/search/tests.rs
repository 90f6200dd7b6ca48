//! Proofs for `search`: who may search, what a provider is asked with, and what one that answers, refuses, talks nonsense or
//! is nowhere makes of it. The provider is a socket of this process that speaks the real formats.
#![expect(clippy::disallowed_types, reason = "the server of these tests is a socket of this process")]

use std::{
    io::{Read as _, Write as _},
    net::{SocketAddr, TcpListener},
    sync::Arc,
    time::Duration,
};

use drydock_abi::broker::Answer;
use drydock_contract::{Call, CallError, Denial, GrantSpec, Streams};
use drydock_egress::{Egress, Parts, QuotaLimits, Secret, SystemResolver, TcpDialler, Trust, WorldRoots};
use drydock_gate::{Gate, GateSettings, Grant, HeldGrants, SessionSpec};
use drydock_testkit::{FixedClock, MemoryJournal, principal};
use parking_lot::Mutex;
use serde_json::json;

use super::{Found, Provider, ProviderKind, SEARCH, Search};
use crate::broker::Brokered;

const KEY: &str = "bs-not-for-anybody";
const GRANT: &str = r#"{"cap":"search"}"#;

/// Answers every connection with this, and keeps what it read.
fn server(answer: String) -> (SocketAddr, Arc<Mutex<String>>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    let heard: Arc<Mutex<String>> = Arc::default();
    let kept = Arc::clone(&heard);
    std::thread::spawn(move || {
        for mut stream in listener.incoming().map_while(Result::ok) {
            let (mut bytes, mut one) = (Vec::new(), [0]);
            while !is_whole(&bytes) && stream.read_exact(&mut one).is_ok() {
                bytes.push(one[0]);
            }
            kept.lock().push_str(&String::from_utf8_lossy(&bytes));
            let _ = stream.write_all(answer.as_bytes());
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

fn says(status: &str, more: &str, body: &str) -> String {
    format!("HTTP/1.1 {status}\r\ncontent-length: {}\r\n{more}\r\n{body}", body.len())
}

struct Room {
    gate: Arc<Gate>,
    journal: Arc<MemoryJournal>,
}

fn room(provider: Result<Option<Provider>, String>) -> Room {
    let (journal, clock) = (Arc::new(MemoryJournal::default()), Arc::new(FixedClock::default()));
    let egress = Egress::new(Parts {
        resolver: Arc::new(SystemResolver::default()),
        dialler: Arc::new(TcpDialler),
        trust: Trust::new(WorldRoots::Nobody, Vec::new()),
        quota: QuotaLimits::default(),
    });
    let provider = provider.map(|it| it.map(Arc::new));
    let search = Search::new(Arc::new(egress), Arc::new(move || provider.clone()));
    let gate = Gate::new(GateSettings::default(), Arc::clone(&clock) as _, Arc::clone(&journal) as _)
        .with(Brokered::new(search, clock));
    Room { gate: Arc::new(gate), journal }
}

fn at(kind: ProviderKind, base_url: String) -> Provider {
    let key = Some(Arc::new(|| Secret::new(KEY.into()).map_err(|error| error.to_string())) as _);
    Provider { kind, base_url, key, total_max: Duration::from_secs(20) }
}

fn room_at(kind: ProviderKind, answer: String) -> (Room, Arc<Mutex<String>>) {
    let (address, heard) = server(answer);
    (room(Ok(Some(at(kind, format!("http://{address}/v1/"))))), heard)
}

fn held(text: &str) -> HeldGrants {
    [Grant::from_spec(&GrantSpec::parse(text.as_bytes()).unwrap(), None)].into_iter().collect()
}

impl Room {
    fn ask(&self, grants: HeldGrants, request: &str) -> Result<Answer<Found>, CallError> {
        let session = self.gate.open(SessionSpec { grants, ..SessionSpec::new(principal("me")) }).unwrap();
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        let call = Call::new(SEARCH, request.as_bytes(), Streams::default()).answered_typed();
        let answer = runtime.block_on(self.gate.dispatch(&session, call));
        self.gate.flush().unwrap();
        answer.map(|mut reply| reply.value().unwrap())
    }

    fn search(&self) -> Answer<Found> {
        self.ask(held(GRANT), r#"{"query":"wasm sandbox","count":2}"#).unwrap()
    }

    fn denied(&self, grants: HeldGrants, request: &str) -> Denial {
        let Err(CallError::Denied(denial)) = self.ask(grants, request) else { panic!("it was let through") };
        denial
    }
}

fn results(snippet: &str) -> serde_json::Value {
    json!([
        { "title": "One", "url": "https://a.test/1", snippet: "the <strong>first</strong>" },
        { "title": "Two", "url": "https://a.test/2", snippet: KEY },
        { "title": "Three", "url": "https://a.test/3", snippet: "" },
    ])
}

#[test]
fn every_provider_is_asked_with_its_key_which_is_nowhere_else() {
    for kind in ProviderKind::ALL {
        let answer = match kind {
            ProviderKind::Brave => json!({ "web": { "results": results("description") } }),
            ProviderKind::Searxng | ProviderKind::Tavily => json!({ "results": results("content") }),
        };
        let (room, heard) =
            room_at(*kind, says("200 OK", "content-type: application/json\r\n", &answer.to_string()));
        let found = room.search().unwrap();
        assert_eq!((found.provider.as_str(), found.results.len(), found.is_cut), (kind.as_str(), 2, true));
        let [one, two] = &found.results[..] else { panic!("{found:?}") };
        assert_eq!((one.title.as_str(), one.url.as_str()), ("One", "https://a.test/1"));
        assert_eq!((one.snippet.as_str(), two.snippet.as_str()), ("the first", "[redacted]"));
        let heard = heard.lock().clone();
        let line = heard.lines().next().unwrap();
        let (want, words) = match kind {
            ProviderKind::Brave => ("GET /v1/web/search?q=wasm%20sandbox&count=2 HTTP/1.1", ""),
            ProviderKind::Searxng => ("GET /v1/search?q=wasm%20sandbox&format=json HTTP/1.1", ""),
            ProviderKind::Tavily => ("POST /v1/search HTTP/1.1", r#""query":"wasm sandbox""#),
        };
        assert!(line == want && heard.contains(words) && heard.contains(KEY), "{heard}");
        let records = format!("{:?}", room.journal.records());
        assert!(!records.contains(KEY) && !records.contains("wasm sandbox"), "{records}");
        assert!(records.contains("127.0.0.1"), "the connection is on record: {records}");
    }
}

#[test]
fn only_who_was_granted_it_searches_and_the_refusal_says_which_grant_it_takes() {
    let (room, heard) = room_at(ProviderKind::Searxng, says("200 OK", "", "{}"));
    let denial = room.denied(HeldGrants::default(), r#"{"query":"x"}"#);
    let smallest = r#"{"cap":"search","subjects":["web"]}"#;
    assert_eq!((denial.code(), denial.remedy().unwrap().to_json().as_str()), ("denied", smallest));
    let denial = room.denied(held(r#"{"cap":"search","review":true}"#), r#"{"query":"x"}"#);
    assert_eq!((denial.code(), denial.remedy().unwrap().to_json().as_str()), ("review_needed", smallest));
    for request in ["{}", r#"{"query":" "}"#, r#"{"query":"x","count":0}"#, r#"{"query":"x","count":21}"#] {
        assert_eq!(room.denied(held(GRANT), request).code(), "malformed", "{request}");
    }
    let long = json!({ "query": "x".repeat(2049) }).to_string();
    assert_eq!(room.denied(held(GRANT), &long).code(), "malformed");
    assert!(heard.lock().is_empty(), "nobody was asked for what is refused");
    assert_eq!(room.ask(held(smallest), r#"{"query":"x"}"#).unwrap().unwrap().results, []);
}

#[test]
fn without_a_provider_the_answer_says_what_to_configure() {
    let failure = room(Ok(None)).search().unwrap_err();
    assert_eq!(failure.code, "no_search_provider");
    assert!(failure.message.contains("[search]") && failure.message.contains("base-url"), "{failure:?}");
    for kind in ProviderKind::ALL {
        assert!(failure.message.contains(kind.as_str()), "{failure:?}");
    }
    assert_eq!(room(Err("its `key` is none".into())).search().unwrap_err().code, "search_config");
}

#[test]
fn what_a_provider_does_wrong_has_a_name() {
    let (ok, html) = ("200 OK", "content-type: text/html\r\n");
    for (answer, want) in [
        (says("401 Unauthorized", "", KEY), "search_unauthorized"),
        (says("429 Too Many Requests", "", ""), "search_rate_limited"),
        (says("422 Unprocessable", "", ""), "search_bad_request"),
        (says("500 Oh", "", ""), "search_failed"),
        (says("302 Found", "location: http://127.0.0.1:1/\r\n", ""), "search_failed"),
        (says(ok, html, "<html>"), "bad_answer"),
        (says(ok, "", r#"{"results":7}"#), "bad_answer"),
        (says(ok, "", &"[".repeat(100_000)), "bad_answer"),
        (says(ok, "", &" ".repeat(5 << 20)), "answer_too_large"),
    ] {
        let (room, _) = room_at(ProviderKind::Tavily, answer);
        let failure = room.search().unwrap_err();
        assert!(failure.code == want && !failure.message.contains(KEY), "{want}: {failure:?}");
    }
    let nowhere = |base: &str| room(Ok(Some(at(ProviderKind::Searxng, base.into())))).search().unwrap_err();
    assert_eq!(nowhere("search.example.com").code, "search_config");
    // A name that leads to loopback was not opened by whoever wrote it.
    let (address, _) = server(says(ok, "", "{}"));
    let keyless =
        Provider { key: None, ..at(ProviderKind::Searxng, format!("http://localhost:{}", address.port())) };
    assert_eq!(room(Ok(Some(keyless))).search().unwrap_err().code, "address_forbidden");
    let unread = Provider {
        key: Some(Arc::new(|| Err("there is no variable K".into()))),
        ..at(ProviderKind::Brave, format!("http://{address}"))
    };
    let failure = room(Ok(Some(unread))).search().unwrap_err();
    assert!(failure.code == "search_key" && failure.message.contains("variable K"), "{failure:?}");
}

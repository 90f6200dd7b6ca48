//! Proofs for `browse`: which pages may be asked for, that every hop of a redirect is judged, and what the guest that reads
//! a page is given. That guest itself is not here: whoever has an engine proves what it makes of a page.
#![expect(clippy::disallowed_types, reason = "the server of these tests is a socket of this process")]

use std::{
    io::{self, Read as _, Write as _},
    net::{IpAddr, Ipv4Addr, SocketAddr, TcpListener},
    sync::{
        Arc,
        atomic::{AtomicU64, AtomicUsize, Ordering::SeqCst},
    },
};

use drydock_abi::{
    broker::Answer,
    browse::{BROWSE, Page},
};
use drydock_contract::{
    BoxFuture, Call, CallError, Cap, Denial, Fault, GrantSpec, LiveError, LiveSpec, RunReport, RunRequest,
    Streams, Terms,
    port::{LiveInstance, Runner},
};
use drydock_egress::{Egress, HostName, Parts, Pending, QuotaLimits, Resolve, TcpDialler, Trust, WorldRoots};
use drydock_gate::{Gate, GateSettings, Grant, HeldGrants, SessionSpec};
use drydock_testkit::{EchoRunner, FixedClock, MemoryJournal, TinyRegistry, principal};
use parking_lot::Mutex;
use serde_json::json;

use super::Browse;
use crate::{
    broker::{Brokered, Policy},
    reader::READERS_MAX,
};

/// Every name is at home here.
#[derive(Debug)]
struct Home;

impl Resolve for Home {
    fn resolve<'a>(&'a self, _: &'a HostName, _: usize) -> Pending<'a, io::Result<Vec<IpAddr>>> {
        Box::pin(async { Ok(vec![Ipv4Addr::LOCALHOST.into()]) })
    }
}

/// Answers each path with what is written for it, and keeps what it read.
fn server(answer: impl Fn(&str) -> String + Send + 'static) -> (SocketAddr, Arc<Mutex<Vec<String>>>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    let heads: Arc<Mutex<Vec<String>>> = Arc::default();
    let kept = Arc::clone(&heads);
    std::thread::spawn(move || {
        for mut stream in listener.incoming().map_while(Result::ok) {
            let (mut bytes, mut one) = (Vec::new(), [0]);
            while !bytes.ends_with(b"\r\n\r\n") && stream.read_exact(&mut one).is_ok() {
                bytes.push(one[0]);
            }
            let head = String::from_utf8_lossy(&bytes).into_owned();
            let path = head.split(' ').nth(1).unwrap_or_default().to_owned();
            kept.lock().push(head);
            let _ = stream.write_all(answer(&path).as_bytes());
        }
    });
    (address, heads)
}

fn page(kind: &str, body: &str) -> String {
    format!("HTTP/1.1 200 OK\r\ncontent-type: {kind}\r\ncontent-length: {}\r\n\r\n{body}", body.len())
}

fn elsewhere(location: &str) -> String {
    format!("HTTP/1.1 302 Found\r\nlocation: {location}\r\ncontent-length: 0\r\n\r\n")
}

struct Room<R = EchoRunner> {
    gate: Arc<Gate>,
    journal: Arc<MemoryJournal>,
    runner: Arc<R>,
}

fn room() -> Room {
    room_of(EchoRunner::default())
}

fn room_of<R: Runner + 'static>(runner: R) -> Room<R> {
    let (journal, clock) = (Arc::new(MemoryJournal::default()), Arc::new(FixedClock::default()));
    let egress = Egress::new(Parts {
        resolver: Arc::new(Home),
        dialler: Arc::new(TcpDialler),
        trust: Trust::new(WorldRoots::Nobody, Vec::new()),
        quota: QuotaLimits::default(),
    });
    let runner = Arc::new(runner);
    let registry = Arc::new(TinyRegistry::of(&["html-to-json"]));
    let policy = Policy { clock: Arc::clone(&clock) as _ };
    let browse = Browse::new(Arc::new(egress), registry, Arc::clone(&runner) as _, policy);
    let gate = Gate::new(GateSettings::default(), Arc::clone(&clock) as _, Arc::clone(&journal) as _)
        .with(Brokered::new(browse, clock));
    Room { gate: Arc::new(gate), journal, runner }
}

/// Grants for these names on the server's port, and for its address.
fn grants(address: SocketAddr, names: &[&str]) -> HeldGrants {
    let hosts = names.iter().map(|it| format!("{it}:{}", address.port()));
    let subjects: Vec<String> = hosts.chain([format!("private:{address}")]).collect();
    held(&json!({ "cap": "browse", "subjects": subjects }).to_string())
}

fn held(text: &str) -> HeldGrants {
    [Grant::from_spec(&GrantSpec::parse(text.as_bytes()).unwrap(), None)].into_iter().collect()
}

impl Room {
    fn browse(&self, grants: HeldGrants, request: &str) -> Result<Answer<Page>, CallError> {
        let session = self.gate.open(SessionSpec { grants, ..SessionSpec::new(principal("me")) }).unwrap();
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        let call = Call::new(BROWSE, request.as_bytes(), Streams::default()).answered_typed();
        let answer = runtime.block_on(self.gate.dispatch(&session, call));
        self.gate.flush().unwrap();
        answer.map(|mut reply| reply.value().unwrap())
    }

    fn code(&self, grants: HeldGrants, url: &str) -> String {
        match self.browse(grants, &json!({ "url": url }).to_string()) {
            Ok(Ok(page)) => page.text,
            Ok(Err(failure)) => failure.code.into_owned(),
            Err(error) => error.code().to_owned(),
        }
    }

    fn denied(&self, grants: HeldGrants, request: &str) -> Denial {
        let Err(CallError::Denied(denial)) = self.browse(grants, request) else {
            panic!("it was let through")
        };
        denial
    }
}

#[test]
fn a_page_is_read_from_a_host_that_a_grant_names_and_the_refusal_says_which_it_takes() {
    let (address, heads) = server(|_| page("text/html", "<p>hi"));
    let (room, url) = (room(), format!("http://a.test:{}/x?secret", address.port()));
    let request = json!({ "url": url }).to_string();
    let denial = room.denied(HeldGrants::default(), &request);
    assert_eq!(denial.code(), "denied");
    let remedy = format!(r#"{{"cap":"browse","subjects":["a.test:{}"]}}"#, address.port());
    assert_eq!(denial.remedy().unwrap().to_json(), remedy);
    assert_eq!(room.denied(grants(address, &["b.test"]), &request).code(), "host_not_granted");
    let denial = room.denied(held(&remedy), &request);
    let private = format!(r#"{{"cap":"browse","subjects":["private:{address}"]}}"#);
    assert_eq!((denial.code(), denial.remedy().unwrap().to_json()), ("host_not_granted", private));
    assert!(heads.lock().is_empty(), "nothing is dialled for what is refused");
    // Nobody reads the page here, and so it cannot be read.
    assert_eq!(room.code(grants(address, &["a.test"]), &url), "bad_page");
    let head = heads.lock().concat().to_lowercase();
    assert!(head.starts_with("get /x?secret ") && head.contains("user-agent: drydock"), "{head}");
    assert!(!head.contains("cookie") && !head.contains("authorization"), "{head}");
    let records = format!("{:?}", room.journal.records());
    assert!(records.contains("127.0.0.1") && !records.contains("secret"), "{records}");
}

#[test]
fn each_hop_of_a_redirect_is_judged_as_if_it_were_the_first() {
    let (address, heads) = server(|path| match path {
        "/ok" => elsewhere("/page"),
        "/page" => page("text/html", "<p>hi"),
        "/loop" => elsewhere("/loop"),
        "/meta" => elsewhere("http://169.254.169.254/latest"),
        "/far" => elsewhere("//c.test/page"),
        "/script" => elsewhere("javascript:alert(1)"),
        _ => elsewhere("http://u:p@a.test/"),
    });
    let room = room();
    let at = |path: &str| {
        room.code(grants(address, &["a.test"]), &format!("http://a.test:{}{path}", address.port()))
    };
    assert_eq!(at("/ok"), "bad_page");
    assert_eq!(room.runner.last().stdin, b"<p>hi");
    for (path, want) in [
        ("/loop", "too_many_redirects"),
        ("/meta", "host_not_granted"),
        ("/far", "host_not_granted"),
        ("/script", "url_scheme"),
        ("/userinfo", "url_userinfo"),
    ] {
        assert_eq!(at(path), want, "{path}");
    }
    assert_eq!(heads.lock().iter().filter(|it| it.starts_with("GET /loop ")).count(), 6);
    let starred = held(&json!({"cap":"browse","subjects":["*",format!("private:{address}")]}).to_string());
    let url = format!("http://a.test:{}/meta", address.port());
    assert_eq!(room.code(starred, &url), "host_not_granted", "a star opens no address that is not public");
}

#[test]
fn what_is_no_page_is_not_handed_to_the_reader_and_what_is_comes_with_its_bounds() {
    let (address, _) = server(|path| match path {
        "/picture" => page("image/png", "PNG"),
        "/long" => page("text/html", &"x".repeat(9 << 20)),
        "/text" => page("text/plain; charset=latin1", "words"),
        _ => "no HTTP".into(),
    });
    let room = room();
    let at = |path: &str| {
        room.code(grants(address, &["a.test"]), &format!("http://a.test:{}{path}", address.port()))
    };
    assert_eq!(at("/picture"), "not_a_page");
    assert_eq!(at("/long"), "page_too_large");
    assert_eq!(at("/broken"), "protocol_error");
    assert!(room.runner.last().argv.is_empty(), "none of these was read");
    let url = format!("http://a.test:{}/text", address.port());
    let request = json!({"url":url,"text_bytes_max":9_999_999,"links_max":7}).to_string();
    room.browse(grants(address, &["a.test"]), &request).unwrap().unwrap_err();
    let argv: Vec<String> =
        room.runner.last().argv.into_iter().map(|it| String::from_utf8(it).unwrap()).collect();
    assert_eq!(
        argv,
        [
            "html-to-json",
            "--plain",
            "--type=text/plain; charset=latin1",
            "--text-max=262144",
            "--links-max=14"
        ]
    );
}

/// Whose runs end only once every page has been asked for.
struct Slow {
    echo: EchoRunner,
    asked: Arc<Mutex<Vec<String>>>,
    running: AtomicUsize,
    most: AtomicUsize,
    memory_bytes: AtomicU64,
}

const PAGES: usize = 16;

impl Runner for Slow {
    fn run(&self, request: RunRequest) -> BoxFuture<'_, Result<(RunReport, Streams), Fault>> {
        Box::pin(async move {
            self.most.fetch_max(self.running.fetch_add(1, SeqCst) + 1, SeqCst);
            self.memory_bytes.fetch_max(request.limits.memory_bytes_max, SeqCst);
            while self.asked.lock().len() < PAGES {
                tokio::task::yield_now().await;
            }
            for _ in 0..100 {
                tokio::task::yield_now().await;
            }
            let done = self.echo.run(request).await;
            self.running.fetch_sub(1, SeqCst);
            done
        })
    }

    fn open(&self, spec: LiveSpec) -> BoxFuture<'_, Result<Box<dyn LiveInstance>, LiveError>> {
        self.echo.open(spec)
    }
}

#[test]
fn many_pages_at_once_are_read_by_a_few_readers_of_little_memory_and_all_are_read() {
    let (address, asked) = server(|_| page("text/html", "<p>hi"));
    let room = room_of(Slow {
        echo: EchoRunner::default(),
        asked,
        running: AtomicUsize::new(0),
        most: AtomicUsize::new(0),
        memory_bytes: AtomicU64::new(0),
    });
    let spec = SessionSpec { grants: grants(address, &["a.test"]), ..SessionSpec::new(principal("me")) };
    let session = room.gate.open(spec).unwrap();
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    runtime.block_on(async {
        let mut all = tokio::task::JoinSet::new();
        for number in 0..PAGES {
            let (gate, session) = (Arc::clone(&room.gate), session.clone());
            let request = json!({ "url": format!("http://a.test:{}/{number}", address.port()) }).to_string();
            all.spawn(async move {
                let call = Call::new(BROWSE, request.as_bytes(), Streams::default()).answered_typed();
                let mut reply = gate.dispatch(&session, call).await.unwrap();
                reply.value::<Answer<Page>>().unwrap().unwrap_err()
            });
        }
        // The runner writes nothing, which is no page: so each has been to a reader.
        for told in all.join_all().await {
            assert_eq!((&*told.code, &*told.message), ("bad_page", "the page cannot be read"));
        }
    });
    assert_eq!(room.runner.most.load(SeqCst), READERS_MAX);
    assert!(READERS_MAX as u64 * room.runner.memory_bytes.load(SeqCst) <= 256 << 20);
}

#[test]
fn bad_requests_and_grants_are_told_so() {
    let room = room();
    let all = || [Grant::of(Cap::Browse)].into_iter().collect::<HeldGrants>();
    for (request, want) in [
        ("", "malformed"),
        ("{}", "malformed"),
        (r#"{"url":"a.test"}"#, "malformed"),
        (r#"{"url":"ftp://a.test/"}"#, "host_not_granted"),
        (r#"{"url":"http://me:pw@a.test/"}"#, "host_not_granted"),
        (r#"{"url":"http://127.0.0.1/"}"#, "host_not_granted"),
    ] {
        assert_eq!(room.denied(all(), request).code(), want, "{request}");
    }
    let long = format!(r#"{{"url":"{}"}}"#, "x".repeat(70_000));
    assert_eq!(room.denied(all(), &long).code(), "too_large");
    let terms = |text: &str| -> Terms { GrantSpec::parse(text.as_bytes()).unwrap().terms() };
    for (grant, good) in [
        (r#"{"cap":"browse"}"#, true),
        (r#"{"cap":"browse","subjects":["*.a.test:443","private:127.0.0.1:80"]}"#, true),
        (r#"{"cap":"browse","subjects":["a.test"]}"#, false),
        (r#"{"cap":"browse","rules":[{"argument":"/path","starts_with":"/v1"}]}"#, false),
    ] {
        assert_eq!(crate::judge_terms(Cap::Browse, &terms(grant)).is_ok(), good, "{grant}");
    }
}

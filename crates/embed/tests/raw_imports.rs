//! The imports that send bytes, sign and fetch whole answers, from core modules: what they answer, what they refuse and by
//! which code, and that a run with them can be replayed. And that a secret which is kept is in no file and no output.
#![allow(clippy::unwrap_used, clippy::panic)]

mod web_room;

use std::{
    collections::BTreeMap,
    fmt::Write as _,
    future::poll_fn,
    io::{Read as _, Write as _},
    net::{SocketAddr, TcpListener, UdpSocket},
    path::Path,
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
    thread,
};

use drydock_abi::{
    broker::Blob,
    exec::encode_request,
    parallel::{MapRequest, encode_map},
};
use drydock_embed::{
    Dock, DockSettings, Network, Setup, WorkerProgram,
    contract::{ArgMode, Cap, Limits, Outcome, SecretName, Tenant, Terms, port::Signer as _},
    egress::{QuotaLimits, Rules},
    gate::Grant,
    store::{Filter, ReadDecision, read_audit},
    tape::{Deck, Player, RecordSettings, Recorder},
};
use drydock_testkit::loopback::{Authority, serve_tls};
use web_room::{serve, trusting};
use zeroize::Zeroizing;

const CANARY: &[u8] = b"canary-value-0123456789";

/// One call of an import: its name and its arguments. Room for the answer comes after them by itself.
type Called<'a> = (&'a str, Vec<Given<'a>>);

enum Given<'a> {
    Bytes(&'a [u8]),
    Number(i64),
}

use Given::{Bytes, Number};

/// How much room there is for an answer, and where.
const ROOM: usize = 1 << 20;
const OUT: usize = 1 << 20;
/// Where the code of a refusal goes.
const CODE: usize = OUT + ROOM;
/// What stands where answers go before there is one.
const UNTOUCHED: &str = "untouched";

/// Imports that have nothing to write. They are made, and what they answer is not shown.
const WITHOUT_ROOM: [&str; 4] = ["host_kv_put", "host_kv_call", "host_publish", "host_vfs_write"];

/// A module that makes these calls in turn and writes what each answers as a line: the bytes, or `-` and the code.
fn module(calls: &[Called<'_>]) -> Vec<u8> {
    module_with(calls, ROOM as i64)
}

/// The same with as much room as it says it has. What stands in the place of answers is written last.
fn module_with(calls: &[Called<'_>], room: i64) -> Vec<u8> {
    let (mut imports, mut data, mut body) = (String::new(), String::new(), String::new());
    let mut imported = Vec::new();
    let mut at = 4096;
    for (name, given) in calls {
        let mut arguments = String::new();
        let has_room = !WITHOUT_ROOM.contains(name);
        let mut count = if has_room { 2 } else { 0 };
        for one in given {
            match one {
                Bytes(bytes) => {
                    let escaped: String = bytes.iter().map(|byte| format!("\\{byte:02x}")).collect();
                    writeln!(data, "(data (i32.const {at}) \"{escaped}\")").unwrap();
                    write!(arguments, "(i32.const {at}) (i32.const {}) ", bytes.len()).unwrap();
                    (at, count) = (at + bytes.len(), count + 2);
                }
                Number(number) => {
                    write!(arguments, "(i32.const {number}) ").unwrap();
                    count += 1;
                }
            }
        }
        if !imported.contains(name) {
            imported.push(name);
            let parameters = "i32 ".repeat(count);
            writeln!(imports, r#"(import "env" "{name}" (func ${name} (param {parameters}) (result i32)))"#)
                .unwrap();
        }
        match has_room {
            true => {
                writeln!(body, "(call $tell (call ${name} {arguments} (i32.const {OUT}) (i32.const {room})))")
            }
            false => writeln!(body, "(drop (call ${name} {arguments}))"),
        }
        .unwrap();
    }
    let last = match room < 0 {
        true => format!("(call $say (i32.const {OUT}) (i32.const {}))", UNTOUCHED.len()),
        false => String::new(),
    };
    let wat = format!(
        r#"(module
          (import "env" "host_error" (func $error (param i32 i32) (result i32)))
          (import "wasi_snapshot_preview1" "fd_write" (func $fd_write (param i32 i32 i32 i32) (result i32)))
          {imports}
          (memory (export "memory") 40)
          (data (i32.const 512) "-\n")
          (data (i32.const {OUT}) "{UNTOUCHED}")
          {data}
          (func $say (param i32 i32)
            (i32.store (i32.const 0) (local.get 0))
            (i32.store (i32.const 4) (local.get 1))
            (drop (call $fd_write (i32.const 1) (i32.const 0) (i32.const 1) (i32.const 8))))
          (func $tell (param $n i32)
            (if (i32.lt_s (local.get $n) (i32.const 0))
              (then
                (local.set $n (call $error (i32.const {CODE}) (i32.const 1024)))
                (call $say (i32.const 512) (i32.const 1))
                (call $say (i32.const {CODE}) (local.get $n)))
              (else (call $say (i32.const {OUT}) (local.get $n))))
            (call $say (i32.const 513) (i32.const 1)))
          (func (export "_start") {body} {last}))"#
    );
    wat::parse_str(&wat).unwrap()
}

struct Yard {
    dock: Dock,
    home: tempfile::TempDir,
    added: AtomicUsize,
}

fn yard() -> Yard {
    yard_trusting(Vec::new())
}

fn yard_trusting(roots: Vec<Vec<u8>>) -> Yard {
    let home = tempfile::tempdir().unwrap();
    let worker = Some(WorkerProgram::new(env!("CARGO_BIN_EXE_drydock-compile-worker"), [""; 0]));
    let quota = QuotaLimits { requests_max: 100_000, ..QuotaLimits::default() };
    let egress = Some(trusting(quota, roots).0);
    let dock =
        Dock::open_with(home.path(), DockSettings { worker, egress, ..DockSettings::default() }).unwrap();
    Yard { dock, home, added: AtomicUsize::new(0) }
}

fn grant(cap: Cap, subjects: &[String]) -> Arc<Grant> {
    Arc::new(Grant::of(cap).within(Terms::of(subjects.iter().map(|it| it.parse().unwrap()))))
}

impl Yard {
    /// Registers the module, and says under which name.
    fn add(&self, calls: &[Called<'_>]) -> String {
        let name = format!("m{}", self.added.fetch_add(1, Ordering::Relaxed));
        self.dock.registry().add(&name, module(calls), ArgMode::Argv, None).unwrap();
        name
    }

    fn setup(&self, grants: Vec<Arc<Grant>>, rules: Rules) -> Setup {
        let limits = Limits { memory_bytes_max: 128 << 20, ..Limits::default() };
        let network = Network { rules, injected: Vec::new() };
        Setup { grants, network, limits: Some(limits), ..Setup::profile("minimal") }
    }

    /// What the module writes with these grants.
    async fn told(&self, grants: Vec<Arc<Grant>>, rules: Rules, calls: &[Called<'_>]) -> Vec<u8> {
        let name = self.add(calls);
        let session = self.dock.session("me", self.setup(grants, rules)).unwrap();
        let run = session.run(&name, &[], "").await.unwrap();
        assert_eq!(run.outcome, Outcome::Exited(0), "{}", String::from_utf8_lossy(&run.stderr));
        run.stdout
    }

    fn keep(&self, name: &str, value: &[u8]) {
        let value = Zeroizing::new(value.to_vec());
        self.dock.vault().keep(&Tenant::default(), &name.parse().unwrap(), &value).unwrap();
    }
}

/// Sends back what it got, once it has all of these bytes, and closes.
fn tcp_echo(bytes: usize) -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    thread::spawn(move || {
        for mut stream in listener.incoming().map_while(Result::ok) {
            let mut all = vec![0; bytes];
            if stream.read_exact(&mut all).is_ok() {
                let _ = stream.write_all(&all);
            }
        }
    });
    address
}

/// Answers each datagram with how many there were.
fn udp_count() -> SocketAddr {
    let socket = UdpSocket::bind("127.0.0.1:0").unwrap();
    let address = socket.local_addr().unwrap();
    thread::spawn(move || {
        let mut datagram = [0; 70_000];
        let mut count = 0;
        while let Ok((_, from)) = socket.recv_from(&mut datagram) {
            count += 1;
            socket.send_to(format!("datagram {count}").as_bytes(), from).unwrap();
        }
    });
    address
}

fn none() -> Rules {
    Rules::default()
}

#[tokio::test]
async fn a_core_module_sends_over_tcp_and_udp_and_is_told_why_not() {
    let (yard, tcp, udp) = (yard(), tcp_echo(5), udp_count());
    let granted = || {
        let tls = grant(Cap::Tls, &[format!("private:{tcp}")]);
        vec![grant(Cap::Tcp, &[format!("private:{tcp}")]), grant(Cap::Udp, &[format!("private:{udp}")]), tls]
    };
    let call = |import: &'static str, host: &'static [u8], port: u16| -> Called<'static> {
        (import, vec![Bytes(host), Number(port.into()), Bytes(b"hello")])
    };
    let calls = [
        call("host_tcp", b"127.0.0.1", tcp.port()),
        call("host_udp", b"127.0.0.1", udp.port()),
        // Not granted: another port, another power, a name that leads home.
        call("host_tcp", b"127.0.0.1", udp.port()),
        call("host_udp", b"127.0.0.1", tcp.port()),
        call("host_tcp", b"home.test", 80),
        call("host_tcp", b"a/b", 80),
        call("host_tcp", b"\xff", 80),
        ("host_tcp", vec![Bytes(b"127.0.0.1"), Number(70_000), Bytes(b"")]),
        ("host_tcp", vec![Bytes(b"127.0.0.1"), Number(80), Number(-8), Number(16)]),
        ("host_tcp", vec![Bytes(b"127.0.0.1"), Number(80), Number(0), Number(-1)]),
        call("host_tls", b"127.0.0.1", tcp.port()),
    ];
    let told = yard.told(granted(), none(), &calls).await;
    let told = String::from_utf8(told).unwrap();
    let lines: Vec<_> = told.lines().collect();
    assert_eq!(
        lines[..10],
        [
            "hello",
            "datagram 1",
            "-host_not_granted",
            "-host_not_granted",
            "-host_not_granted",
            "-malformed",
            "-malformed",
            "-malformed",
            "-bad_pointer",
            "-too_large",
        ]
    );
    // It speaks no TLS.
    assert!(["-tls_failed", "-no_trust_store"].contains(&lines[10]), "{}", lines[10]);
}

#[tokio::test]
async fn what_is_not_granted_is_not_there_and_a_profile_without_it_does_not_link() {
    let yard = yard();
    let name = yard.add(&[("host_sign", vec![Bytes(b"KEY"), Bytes(b"data")])]);
    let session = yard.dock.session("me", yard.setup(Vec::new(), none())).unwrap();
    // Importable by its profile, and refused.
    assert_eq!(session.run(&name, &[], "").await.unwrap().stdout, b"-denied\n");
    let setup = Setup { allow: Some(vec![name.parse().unwrap()]), ..Setup::profile("compute") };
    let session = yard.dock.session("me", setup).unwrap();
    let refused = session.run(&name, &[], "").await.map(|run| run.outcome);
    assert_eq!(refused.unwrap_err().code(), "import_not_granted");
}

#[tokio::test]
async fn a_core_module_signs_with_a_secret_and_no_file_record_or_output_has_its_value() {
    let yard = yard();
    yard.keep("KEY", CANARY);
    yard.keep("OTHER", b"another-value");
    yard.dock.vault().generate(&Tenant::default(), &"IDENTITY".parse().unwrap()).unwrap();
    let granted = vec![grant(Cap::Secrets, &["KEY".into(), "IDENTITY".into(), "GONE".into()])];
    let sign = |name: &'static [u8]| -> Called<'static> { ("host_sign", vec![Bytes(name), Bytes(b"data")]) };
    let calls = [sign(b"GONE"), sign(b"OTHER"), sign(b"a-b"), sign(b"KEY"), sign(b"IDENTITY")];
    let told = yard.told(granted, none(), &calls).await;
    let name: SecretName = "KEY".parse().unwrap();
    let want = yard.dock.vault().sign(&Tenant::default(), &name, None, b"data").unwrap().bytes;
    let (refused, rest) = told.split_at(told.len() - 32 - 64 - 2);
    assert_eq!(refused, b"-unknown_secret\n-denied\n-malformed\n");
    assert_eq!(rest[..32], want);
    let name = "IDENTITY".parse().unwrap();
    assert_eq!(rest[33..97], yard.dock.vault().sign(&Tenant::default(), &name, None, b"data").unwrap().bytes);
    assert!(!told.windows(CANARY.len()).any(|it| it == CANARY));
    yard.dock.gate().flush().unwrap();
    let mut files = 0;
    each_file(yard.home.path(), &mut |path, bytes| {
        files += 1;
        assert!(!bytes.windows(CANARY.len()).any(|it| it == CANARY), "{}", path.display());
    });
    assert!(files > 5, "{files}");
}

fn each_file(folder: &Path, look: &mut dyn FnMut(&Path, &[u8])) {
    for entry in std::fs::read_dir(folder).unwrap().map(Result::unwrap) {
        let path = entry.path();
        match entry.file_type().unwrap() {
            it if it.is_dir() => each_file(&path, look),
            it if it.is_file() => look(&path, &std::fs::read(&path).unwrap()),
            _ => {}
        }
    }
}

/// A reply of many: each body, or nothing.
fn read_many(reply: &[u8]) -> Vec<Option<Vec<u8>>> {
    let word = |at: usize| i32::from_le_bytes(reply[at..at + 4].try_into().unwrap());
    let (mut at, mut bodies) = (4, Vec::new());
    for _ in 0..word(0) {
        let length = word(at);
        at += 4;
        bodies.push((length >= 0).then(|| reply[at..at + length as usize].to_vec()));
        at += length.max(0) as usize;
    }
    assert_eq!(at + 1, reply.len(), "and a line end of the test's");
    bodies
}

#[tokio::test]
async fn whole_answers_come_through_redirects_and_many_at_once_in_their_order() {
    let yard = yard();
    let server = serve(|head, to| {
        let path = head.split(' ').nth(1).unwrap_or_default();
        let (status, extra, body) = match path {
            "/moved" => ("302 Found", "location: /end\r\n", "not this"),
            "/away" => ("301 Moved Permanently", "location: http://away.test:1/\r\n", ""),
            "/loop" => ("302 Found", "location: loop\r\n", ""),
            "/end" => ("200 OK", "", "the end"),
            "/method" => ("200 OK", "", head.split(' ').next().unwrap_or_default()),
            "/header" => {
                ("200 OK", "", head.lines().find_map(|it| it.strip_prefix("x-a: ")).unwrap_or("none"))
            }
            path => ("404 Not Found", "", path),
        };
        let _ = write!(to, "HTTP/1.1 {status}\r\n{extra}content-length: {}\r\n\r\n{body}", body.len());
    });
    let url = |path: &str| server.url(path).into_bytes();
    let (moved, away, looped, method) = (url("/moved"), url("/away"), url("/loop"), url("/method"));
    let (header, nobody) = (url("/header"), b"http://127.0.0.1:1/".to_vec());
    let many: Vec<String> = (0..40)
        .map(|number| match number % 4 {
            0 => server.url("/moved"),
            1 => "http://127.0.0.1:1/".to_owned(),
            2 => server.url(&format!("/{number}")),
            _ => "no url".to_owned(),
        })
        .collect();
    let many = many.join("\n").into_bytes();
    let rules = || Rules::parse(&[], &[], &[server.address.to_string()]).unwrap();
    let http = |method: &'static [u8], url, headers: &'static [u8], body: &'static [u8]| -> Vec<Given<'_>> {
        vec![Bytes(method), Bytes(url), Bytes(headers), Bytes(body)]
    };
    let calls = [
        ("host_http_get", vec![Bytes(&moved)]),
        ("host_http_get", vec![Bytes(&away)]),
        ("host_http_get", vec![Bytes(&looped)]),
        ("host_http_get", vec![Bytes(&nobody)]),
        ("host_http", http(b"PUT", &method, b"", b"body")),
        ("host_http", http(b"", &header, b"X-A: one\nX-B: two\n", b"")),
        ("host_http", http(b"GET", &header, b"no header", b"")),
    ];
    let told = yard.told(Vec::new(), rules(), &calls).await;
    assert_eq!(
        String::from_utf8(told).unwrap(),
        "the end\n-host_not_granted\n-too_many_redirects\n-host_not_granted\nPUT\none\n-malformed\n"
    );
    let told = yard.told(Vec::new(), rules(), &[("host_http_get_many", vec![Bytes(&many)])]).await;
    let bodies = read_many(&told);
    assert_eq!(bodies.len(), 40);
    for (number, body) in bodies.iter().enumerate() {
        let want = match number % 4 {
            0 => Some(b"the end".to_vec()),
            2 => Some(format!("/{number}").into_bytes()),
            _ => None,
        };
        assert_eq!(*body, want, "{number}");
    }
    // Each of them was a call of its own, and is on record with its host.
    yard.dock.gate().flush().unwrap();
    let audit = yard.dock.home().tenant(yard.dock.tenant());
    let all = drydock_embed::store::read_audit(&audit, Default::default()).unwrap();
    let fetches = all.map(Result::unwrap).filter(|it| it.operation == "http.fetch").count();
    assert!(fetches > 40, "{fetches}");
}

#[tokio::test]
async fn what_is_no_request_is_refused_by_the_gate_and_is_on_record() {
    let yard = yard();
    let grants = vec![
        grant(Cap::Tcp, &["a.test:80".into()]),
        grant(Cap::Secrets, &["KEY".into()]),
        grant(Cap::Kv, &["*".into()]),
        grant(Cap::Queue, &["*".into()]),
    ];
    let large = Number(17 << 20);
    let calls = [
        ("host_sign", vec![Bytes(b"a-b"), Bytes(b"data")]),
        ("host_sign", vec![Bytes(b"\xff"), Bytes(b"data")]),
        ("host_kv_get", vec![Bytes(b"\xff")]),
        ("host_poll", vec![Bytes(b"\xff")]),
        ("host_tcp", vec![Bytes(b"\xff"), Number(80), Bytes(b"")]),
        ("host_http_get", vec![Bytes(b"\xff")]),
        ("host_http", vec![Bytes(b"G T"), Bytes(b"http://a.test/"), Bytes(b""), Bytes(b"")]),
        ("host_http_get_many", vec![Bytes(b"\xff")]),
        // Another power's, no operation at all, and one that is longer than any.
        ("host_kv_call", vec![Bytes(b"queue.poll"), Bytes(b"{}")]),
        ("host_error", Vec::new()),
        ("host_kv_call", vec![Bytes(b"get"), Bytes(b"{}")]),
        ("host_error", Vec::new()),
        ("host_kv_call", vec![Bytes(&[b'x'; 65]), Bytes(b"{}")]),
        ("host_error", Vec::new()),
        ("host_kv_call", vec![Bytes(b"kv.get"), Number(0), large]),
        ("host_error", Vec::new()),
    ];
    let rules = Rules::parse(&["a.test"], &[], &[]).unwrap();
    let told = yard.told(grants, rules, &calls).await;
    let want = "-malformed\n".repeat(8) + &"unknown_operation\n".repeat(3) + "too_large\n";
    assert_eq!(String::from_utf8_lossy(&told), want);
    yard.dock.gate().flush().unwrap();
    let audit = yard.dock.home().tenant(yard.dock.tenant());
    let denied = Filter { denied_only: true, limit: None };
    let mut records: BTreeMap<String, u64> = BTreeMap::new();
    for it in read_audit(&audit, denied).unwrap().map(Result::unwrap) {
        let ReadDecision::Denied(code) = it.decision else { panic!("{it:?}") };
        *records.entry(format!("{} {code}", it.operation)).or_default() += it.count;
    }
    let want = [
        ("http.fetch malformed", 3),
        ("kv.get malformed", 1),
        ("kv.get too_large", 1),
        ("queue.poll malformed", 1),
        ("secret.sign malformed", 2),
        ("tcp.request malformed", 1),
        ("unknown unknown_operation", 3),
    ];
    assert_eq!(records, want.map(|(what, count)| (what.to_owned(), count)).into());
}

#[tokio::test]
async fn whoever_says_that_it_has_less_than_no_room_is_written_nothing_and_loses_nothing() {
    let (yard, tcp, udp) = (yard(), tcp_echo(5), udp_count());
    yard.keep("KEY", CANARY);
    let server = serve(|_, to| {
        let _ = to.write_all(b"HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nhi");
    });
    let rules = || Rules::parse(&[], &[], &[server.address.to_string()]).unwrap();
    let session = || {
        let grants = vec![
            grant(Cap::Udp, &[format!("private:{udp}")]),
            grant(Cap::Tcp, &[format!("private:{tcp}")]),
            grant(Cap::Secrets, &["KEY".into()]),
            grant(Cap::Kv, &["*".into()]),
            grant(Cap::Queue, &["*".into()]),
        ];
        let setup = Setup { profile: Setup::profile("posix").profile, ..yard.setup(grants, rules()) };
        yard.dock.session("me", setup).unwrap()
    };
    let url = server.url("/").into_bytes();
    let exec = encode_request::<&str>("upper", &[], b"text").unwrap();
    let inputs = vec![Blob(b"text".to_vec())];
    let map = encode_map(&MapRequest { command: "upper".into(), args: Vec::new(), inputs }).unwrap();
    let get = br#"{"key":"k"}"#;
    let port = |it: SocketAddr| Number(it.port().into());
    let calls = [
        ("host_kv_put", vec![Bytes(b"k"), Bytes(b"value")]),
        ("host_publish", vec![Bytes(b"t"), Bytes(b"message")]),
        ("host_vfs_write", vec![Bytes(b"/tmp/f"), Bytes(b"content")]),
        ("host_kv_get", vec![Bytes(b"k")]),
        ("host_poll", vec![Bytes(b"t")]),
        ("host_vfs_read", vec![Bytes(b"/tmp/f")]),
        ("host_kv_call", vec![Bytes(b"kv.get"), Bytes(get)]),
        ("host_reply", Vec::new()),
        ("host_sign", vec![Bytes(b"KEY"), Bytes(b"data")]),
        ("host_tcp", vec![Bytes(b"127.0.0.1"), port(tcp), Bytes(b"hello")]),
        ("host_udp", vec![Bytes(b"127.0.0.1"), port(udp), Bytes(b"hello")]),
        ("host_http_get", vec![Bytes(&url)]),
        ("host_http", vec![Bytes(b"GET"), Bytes(&url), Bytes(b""), Bytes(b"")]),
        ("host_http_get_many", vec![Bytes(&url)]),
        ("host_exec", vec![Bytes(&exec)]),
        ("host_parallel_map", vec![Bytes(&map)]),
        ("host_commands", Vec::new()),
    ];
    yard.dock.registry().add("signed", module_with(&calls, -1), ArgMode::Argv, None).unwrap();
    let told = session().run("signed", &[], "").await.unwrap();
    let shown = calls.iter().filter(|it| !WITHOUT_ROOM.contains(&it.0));
    let want: String = shown.map(|_| "-reply_too_large\n").collect();
    assert_eq!(String::from_utf8_lossy(&told.stdout), want + UNTOUCHED, "{told:?}");
    // The code itself has no room either, and is the same when it is asked for again.
    let calls =
        [("host_kv_get", vec![Bytes(b"k")]), ("host_error", Vec::new()), ("host_poll", vec![Bytes(b"t")])];
    for (name, room, want) in [
        ("again", -1, format!("{}{UNTOUCHED}", "-reply_too_large\n".repeat(3))),
        ("roomy", ROOM as i64, "value\n\nmessage\n".to_owned()),
    ] {
        yard.dock.registry().add(name, module_with(&calls, room), ArgMode::Argv, None).unwrap();
        let told = session().run(name, &[], "").await.unwrap();
        assert_eq!(String::from_utf8_lossy(&told.stdout), want, "{name}");
    }
}

#[tokio::test]
async fn many_answers_that_do_not_fit_are_refused_whole() {
    let yard = yard();
    let server = serve(|_, to| {
        let body = "x".repeat(400_000);
        let _ = write!(to, "HTTP/1.1 200 OK\r\ncontent-length: {}\r\n\r\n{body}", body.len());
    });
    let rules = || Rules::parse(&[], &[], &[server.address.to_string()]).unwrap();
    let (two, three) = (
        [server.url("/"), server.url("/")].join("\n"),
        [server.url("/"), server.url("/"), server.url("/")].join("\n"),
    );
    let told = yard.told(Vec::new(), rules(), &[("host_http_get_many", vec![Bytes(two.as_bytes())])]).await;
    assert_eq!(read_many(&told), [Some(vec![b'x'; 400_000]), Some(vec![b'x'; 400_000])]);
    let told = yard.told(Vec::new(), rules(), &[("host_http_get_many", vec![Bytes(three.as_bytes())])]).await;
    assert_eq!(told, b"-reply_too_large\n");
    let lines = "\n".repeat(10) + &"http://a.test/\n".repeat(1_025);
    let told = yard.told(Vec::new(), rules(), &[("host_http_get_many", vec![Bytes(lines.as_bytes())])]).await;
    assert_eq!(told, b"-too_many_inputs\n");
    let told = yard.told(Vec::new(), rules(), &[("host_http_get_many", vec![Bytes(b"")])]).await;
    assert_eq!(told, b"\0\0\0\0\n");
}

#[tokio::test]
async fn a_run_with_sockets_and_secrets_is_replayed_without_a_network_and_without_secrets() {
    let (yard, tcp, udp) = (yard(), tcp_echo(5), udp_count());
    yard.keep("KEY", CANARY);
    let port = |it: SocketAddr| Number(it.port().into());
    let name = yard.add(&[
        ("host_udp", vec![Bytes(b"127.0.0.1"), port(udp), Bytes(b"one")]),
        ("host_udp", vec![Bytes(b"127.0.0.1"), port(udp), Bytes(b"two")]),
        ("host_tcp", vec![Bytes(b"127.0.0.1"), port(tcp), Bytes(b"hello")]),
        ("host_tcp", vec![Bytes(b"127.0.0.1"), Number(1), Bytes(b"hello")]),
        ("host_sign", vec![Bytes(b"KEY"), Bytes(b"data")]),
        ("host_sign", vec![Bytes(b"GONE"), Bytes(b"data")]),
        ("host_tls", vec![Bytes(b"127.0.0.1"), port(tcp), Bytes(b"hello")]),
    ]);
    let run = async |deck: &dyn Deck, dock: &Dock| {
        let grants = vec![
            grant(Cap::Udp, &[format!("private:{udp}")]),
            grant(Cap::Tcp, &[format!("private:{tcp}"), "private:127.0.0.1:1".into()]),
            grant(Cap::Tls, &[format!("private:{tcp}")]),
            grant(Cap::Secrets, &["*".into()]),
        ];
        let mut setup = yard.setup(grants, none());
        deck.prepare(&mut setup);
        dock.session("me", setup).unwrap().run(&name, &[], "").await.unwrap().stdout
    };
    let recorder = Recorder::begin(RecordSettings::default());
    let told = run(&recorder, &yard.dock).await;
    assert!(told.starts_with(b"datagram 1\ndatagram 2\nhello\n-connect_failed\n"), "{told:?}");
    let body = recorder.finish("ended", &[&told]).unwrap();
    yard.dock.secrets().remove(&"KEY".parse().unwrap()).unwrap();
    let player = Player::new(body.frames(), body.frames()).unwrap();
    let (dock, _) = yard.dock.replaying(&player);
    assert_eq!(run(&player, &dock).await, told);
    player.finish("ended", &[&told]).unwrap();
}

#[tokio::test]
async fn a_name_stands_for_one_secret_kept_or_referred_to() {
    let yard = yard();
    let source = yard.dock.secrets();
    yard.keep("KEY", CANARY);
    let listed = source.all().unwrap();
    assert_eq!(listed.len(), 1);
    assert_eq!((listed[0].from.to_string().as_str(), listed[0].kept.is_some()), ("kept", true));
    // In the place of a reference, and the other way round.
    assert!(source.put(&"KEY".parse().unwrap(), &"env:KEY".parse().unwrap()).unwrap());
    assert_eq!(source.find(&"KEY".parse().unwrap()).unwrap().unwrap().to_string(), "env:KEY");
    yard.keep("KEY", CANARY);
    assert_eq!(source.find(&"KEY".parse().unwrap()).unwrap().unwrap().to_string(), "kept");
    assert!(source.remove(&"KEY".parse().unwrap()).unwrap());
    assert!(source.all().unwrap().is_empty());
}

#[tokio::test]
async fn an_embedder_connects_in_a_sessions_name_and_only_where_it_was_granted() {
    let (yard, tcp) = (yard(), tcp_echo(5));
    let granted = vec![grant(Cap::Tcp, &[format!("private:{tcp}"), "private:127.0.0.1:1".into()])];
    let session = yard.dock.session("me", yard.setup(granted, none())).unwrap();
    let mut connected = session.connect_tcp("127.0.0.1", tcp.port()).await.unwrap();
    assert_eq!(poll_fn(|cx| connected.sink.poll_write(cx, b"hello")).await.unwrap(), 5);
    let mut back = [0; 16];
    let count = poll_fn(|cx| connected.source.poll_read(cx, &mut back)).await.unwrap();
    assert_eq!(&back[..count], b"hello");
    let told = |error: Option<drydock_embed::ConnectError>| error.unwrap().to_string();
    let nobody = told(session.connect_tcp("127.0.0.1", 1).await.err());
    assert_eq!(nobody, "no connection to 127.0.0.1:1: nobody takes it, or its certificate is refused");
    let refused = told(session.connect_tcp("10.0.0.1", 80).await.err());
    assert_eq!(refused, "host `private:10.0.0.1:80` is not granted");
    // A grant of one power is none of another.
    // What would come over it is on no tape.
    let mut taped = yard.setup(vec![grant(Cap::Tcp, &[format!("private:{tcp}")])], none());
    Recorder::begin(RecordSettings::default()).prepare(&mut taped);
    let taped = yard.dock.session("me", taped).unwrap();
    let not_taped = told(taped.connect_tcp("127.0.0.1", tcp.port()).await.err());
    assert!(not_taped.contains("on no tape"), "{not_taped}");
    let other = told(session.connect_tls("127.0.0.1", tcp.port()).await.err());
    assert!(other.contains("`tls`"), "{other}");
    session.cancel();
    let ended = poll_fn(|cx| connected.source.poll_read(cx, &mut back)).await;
    assert_eq!(ended.unwrap_err().kind(), std::io::ErrorKind::BrokenPipe);
}

#[tokio::test]
async fn whoever_proves_its_name_is_spoken_to_over_tls_by_a_core_module_and_by_an_embedder() {
    let authority = Authority::new();
    let yard = yard_trusting(vec![authority.root.clone()]);
    let server = serve_tls(authority.config("home.test", (2020, 2090)), |asked, to| {
        to.write_all(format!("you said {asked}").as_bytes()).unwrap();
    });
    let port = server.address.port();
    let granted = || {
        let named = |host: &str| format!("{host}:{port}");
        vec![grant(
            Cap::Tls,
            &[named("home.test"), named("other.test"), format!("private:{}", server.address)],
        )]
    };
    let call = |host: &'static [u8]| -> Called<'static> {
        ("host_tls", vec![Bytes(host), Number(port.into()), Bytes(b"hello\r\n\r\n")])
    };
    let told = yard.told(granted(), none(), &[call(b"home.test"), call(b"other.test")]).await;
    assert_eq!(String::from_utf8(told).unwrap(), "you said hello\r\n\r\n\n-certificate_refused\n");
    assert_eq!(server.heads.lock().unwrap()[..], ["sni home.test\r\nhello\r\n\r\n"]);

    let session = yard.dock.session("me", yard.setup(granted(), none())).unwrap();
    let mut connected = session.connect_tls("home.test", port).await.unwrap();
    assert_eq!(poll_fn(|cx| connected.sink.poll_write(cx, b"again\r\n\r\n")).await.unwrap(), 9);
    poll_fn(|cx| connected.sink.poll_flush(cx)).await.unwrap();
    let (mut all, mut piece) = (Vec::new(), [0; 7]);
    loop {
        match poll_fn(|cx| connected.source.poll_read(cx, &mut piece)).await.unwrap() {
            0 => break,
            count => all.extend_from_slice(&piece[..count]),
        }
    }
    assert_eq!(all, b"you said again\r\n\r\n");
    assert!(session.connect_tls("other.test", port).await.is_err(), "it proves another name");
    let mut left = session.connect_tls("home.test", port).await.unwrap();
    session.cancel();
    let ended = poll_fn(|cx| left.source.poll_read(cx, &mut piece)).await;
    assert_eq!(ended.unwrap_err().kind(), std::io::ErrorKind::BrokenPipe);
}

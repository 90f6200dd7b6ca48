//! What a connection carries while it is open: bodies that come in pieces, output that is told before its run is over, callers
//! that hang up, TLS.
#![allow(clippy::unwrap_used, clippy::panic)]

mod common;

use std::{
    io::{BufRead as _, BufReader, Read as _, Write as _},
    net::TcpStream,
    sync::Arc,
    time::{Duration, Instant},
};

use common::{
    Shell,
    server::{Server, answers, guest, install, read, shown, shows, token},
};
use rustls::{
    ClientConfig, ClientConnection, RootCertStore, StreamOwned,
    pki_types::{CertificateDer, ServerName},
};
use serde_json::json;

/// No test waits that long; one that does hangs.
const HANGS: Duration = Duration::from_secs(60);

#[test]
fn a_body_that_comes_in_chunks_reaches_its_extension_whole() {
    let shell = Shell::new();
    install(&shell, "shows", &shows(), &[]);
    let server = Server::start(&shell, &[]);
    let mut stream = server.connect();
    let head = server.head("POST", "/x/shows/p?q=1", &[("transfer-encoding", "chunked")], None);
    stream.write_all(&head).unwrap();
    // A piece of one byte, one with an extension, a large one, and the end with a trailer.
    let large = vec![b'x'; 300_000];
    let size = format!("{:X}\r\n", large.len());
    for piece in [&b"1\r\n"[..], b"a\r\n", b"3;note=1\r\nbcd\r\n", size.as_bytes(), &large, b"\r\n"] {
        stream.write_all(piece).unwrap();
        stream.flush().unwrap();
    }
    stream.write_all(b"0\r\nx-trailer: 1\r\n\r\n").unwrap();
    let seen = shown(&read(&mut stream).unwrap());
    let body = decoded(seen["http"]["body_b64"].as_str().unwrap());
    assert_eq!((body.len(), &body[..5]), (4 + large.len(), &b"abcdx"[..]));
    assert_eq!((&seen["http"]["method"], &seen["http"]["path"]), (&json!("POST"), &json!("/p")));
    for name in ["transfer-encoding", "content-length", "x-trailer"] {
        assert!(seen["http"]["headers"].get(name).is_none(), "{name}: {}", seen["http"]["headers"]);
    }
    // At the cap it passes as one that said its length does.
    let mut stream = server.connect();
    stream.write_all(&server.head("POST", "/x/shows/", &[("transfer-encoding", "chunked")], None)).unwrap();
    let piece = [b"100000\r\n".as_slice(), &vec![b'x'; 1 << 20], b"\r\n"].concat();
    for _ in 0..7 {
        stream.write_all(&piece).unwrap();
    }
    stream.write_all(b"0\r\n\r\n").unwrap();
    let seen = shown(&read(&mut stream).unwrap());
    assert_eq!(decoded(seen["http"]["body_b64"].as_str().unwrap()).len(), 7 << 20);
}

fn decoded(text: &str) -> Vec<u8> {
    use base64::Engine as _;
    base64::engine::general_purpose::STANDARD.decode(text).unwrap()
}

/// Asks for events of a run, and reads until this line has come.
fn follow(server: &Server, path: &str, body: &serde_json::Value, until: &str) -> BufReader<TcpStream> {
    let mut stream = server.connect();
    let body = body.to_string();
    let headers = [("accept", "text/event-stream"), ("content-type", "application/json")];
    stream.write_all(&server.head("POST", path, &headers, Some(body.len()))).unwrap();
    stream.write_all(body.as_bytes()).unwrap();
    let mut events = BufReader::new(stream);
    let mut line = String::new();
    while line.trim_end() != until {
        line.clear();
        let read =
            events.read_line(&mut line).unwrap_or_else(|error| panic!("`{until}` did not come: {error}"));
        assert!(read > 0, "it ended without `{until}`");
    }
    events
}

#[test]
fn what_was_written_is_told_while_its_run_still_waits() {
    let shell = Shell::sharing();
    let server = Server::start(&shell, &[]);
    let key = format!("go-{}", std::process::id());
    let script = format!("echo one; until kv get {key} >/dev/null 2>&1; do sleep 0.02; done; echo two");
    let mut events = follow(&server, "/v1/sh", &json!({ "script": script }), r#"data: {"text":"one\n"}"#);
    // It goes on only now: an answer that is gathered first would never have come.
    assert_eq!(server.ask("PUT", &format!("/v1/kv/{key}"), &[], b"1").status, 200);
    let mut rest = String::new();
    events.read_to_string(&mut rest).unwrap();
    assert!(rest.contains(r#"data: {"text":"two\n"}"#) && rest.contains("event: result"), "{rest}");
    assert_eq!(server.ask("DELETE", &format!("/v1/kv/{key}"), &[], b"").status, 200);
}

/// A figure of the server.
fn figure(server: &Server, name: &str) -> u64 {
    let text = server.get("/metrics").text();
    let line = text.lines().find_map(|it| it.strip_prefix(name)?.strip_prefix(' '));
    line.map_or(0, |it| it.parse().unwrap())
}

/// Waits until so many requests run.
fn until_in_flight(server: &Server, count: u64) {
    let began = Instant::now();
    while figure(server, "drydock_http_in_flight") != count {
        assert!(began.elapsed() < HANGS, "there are never {count} in flight");
        std::thread::sleep(Duration::from_millis(5));
    }
}

#[test]
fn whoever_hangs_up_ends_the_run() {
    let shell = Shell::new();
    install(&shell, "loop", &guest("", "", "(loop $on (br $on)) (i32.const 0)"), &[]);
    let server = Server::start(&shell, &[]);
    let endless = json!({ "script": "while :; do :; done" });
    let program = json!({ "code": "for (;;) {}" });
    // Its own time is far beyond that of this test.
    let envelope = json!({ "context": { "extension_id": "loop" }, "limits": { "timeout_ms": 60_000 } });
    for (path, body) in [("/v1/sh", &endless), ("/v1/js", &program), ("/v1/execute", &envelope)] {
        let mut stream = server.connect();
        let body = body.to_string();
        stream.write_all(&server.head("POST", path, &[], Some(body.len()))).unwrap();
        stream.write_all(body.as_bytes()).unwrap();
        until_in_flight(&server, 1);
        let began = Instant::now();
        drop(stream);
        until_in_flight(&server, 0);
        assert!(began.elapsed() < HANGS / 3, "{path}: {:?}", began.elapsed());
    }
    // One that is followed, too, though nothing is written any more.
    let script = json!({ "script": "echo one; while :; do :; done" });
    let events = follow(&server, "/v1/sh", &script, r#"data: {"text":"one\n"}"#);
    drop(events);
    until_in_flight(&server, 0);
}

#[test]
fn whoever_hangs_up_ends_the_request_to_an_extension() {
    let shell = Shell::new();
    install(&shell, "loop", &guest("", "", "(loop $on (br $on)) (i32.const 0)"), &[]);
    install(&shell, "fine", &answers("fine"), &[]);
    let server = Server::start(&shell, &[]);
    let mut stream = server.connect();
    stream.write_all(&server.head("GET", "/x/loop/", &[], None)).unwrap();
    until_in_flight(&server, 1);
    drop(stream);
    until_in_flight(&server, 0);
    // Neither had it an answer, nor was its time over.
    assert_eq!(figure(&server, "drydock_extension_failures_total{kind=\"timeout\"}"), 0);
    assert_eq!(figure(&server, "drydock_extension_answers_total"), 0);
    assert_eq!(server.get("/x/fine/").text(), "fine");
    let records = server.get("/v1/audit?limit=1000").json();
    let ended = records["records"].as_array().unwrap().iter().find(|it| {
        it["operation"] == "handler.invoke" && it["subject"] == "loop" && it["decision"] == "ended"
    });
    assert_eq!(ended.unwrap()["reason"], "dropped", "{records}");
}

/// A certificate for this name and its key, as PEM files, and what a client has to trust.
fn certificate(shell: &Shell, name: &str) -> (String, String, CertificateDer<'static>) {
    use base64::Engine as _;
    let made = rcgen::generate_simple_self_signed([name.to_owned()]).unwrap();
    let pem = |label: &str, der: &[u8]| {
        let text = base64::engine::general_purpose::STANDARD.encode(der);
        format!("-----BEGIN {label}-----\n{text}\n-----END {label}-----\n")
    };
    let chain = shell.file("chain.pem", pem("CERTIFICATE", made.cert.der()));
    let key = shell.file("key.pem", pem("PRIVATE KEY", &made.signing_key.serialize_der()));
    (chain, key, made.cert.der().clone())
}

#[test]
fn with_a_certificate_it_answers_over_tls_and_not_in_the_clear() {
    let shell = Shell::new();
    install(&shell, "fine", &answers("fine"), &[]);
    let (chain, key, trusted) = certificate(&shell, "localhost");
    let server = Server::start(&shell, &["--tls-cert", &chain, "--tls-key", &key]);
    let mut roots = RootCertStore::empty();
    roots.add(trusted).unwrap();
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let config = ClientConfig::builder_with_provider(provider).with_safe_default_protocol_versions().unwrap();
    let config = Arc::new(config.with_root_certificates(roots).with_no_client_auth());
    let name = ServerName::try_from("localhost").unwrap();
    let mut stream = StreamOwned::new(ClientConnection::new(config, name).unwrap(), server.connect());
    stream.write_all(&server.head("GET", "/x/fine/", &[], None)).unwrap();
    let mut answer = String::new();
    // Whoever says `connection: close` may close without saying so in TLS.
    let _ = stream.read_to_string(&mut answer);
    assert!(answer.starts_with("HTTP/1.1 200 OK\r\n") && answer.ends_with("fine"), "{answer}");
    let mut plain = server.connect();
    plain.write_all(&server.head("GET", "/x/fine/", &[], None)).unwrap();
    let mut answer = Vec::new();
    let _ = plain.read_to_end(&mut answer);
    assert!(!answer.starts_with(b"HTTP"), "{}", String::from_utf8_lossy(&answer));
}

#[test]
fn behind_a_proxy_it_speaks_plain_http_beyond_loopback_to_whoever_has_a_token() {
    let shell = Shell::new();
    install(&shell, "fine", &answers("fine"), &["--tenant", "acme"]);
    let acme = token(&shell, "acme", &[]);
    // Only loopback reaches it, and the server takes it for an address that others reach.
    let server =
        Server::start_as(&shell, &["serve", "--listen", "[::ffff:127.0.0.1]:0"], &["--behind-proxy"]);
    assert_eq!(server.ask_as(&acme, "GET", "/x/fine/", b"").text(), "fine");
    assert_eq!(server.get("/x/fine/").status, 401);
    // The proxy's name for it is not one of this machine.
    let bearer = format!("Bearer {acme}");
    let headers = [("host", "dock.example.com"), ("authorization", &bearer)];
    assert_eq!(server.ask("GET", "/x/fine/", &headers, b"").text(), "fine");
}

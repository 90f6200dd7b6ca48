//! What strangers send: too much, too slowly, or no HTTP at all. Each gets its answer, and everybody else goes on.
#![allow(clippy::unwrap_used, clippy::panic)]

mod common;

use std::{
    io::{Read as _, Write as _},
    time::{Duration, Instant},
};

use common::{
    Shell,
    server::{Server, answers, guest, install, read, shown, shows, token},
};
use serde_json::json;

/// A server with an extension, in a home that is gone afterwards.
fn room(more: &[&str]) -> (Shell, Server) {
    let shell = Shell::new();
    install(&shell, "shows", &shows(), &[]);
    install(&shell, "fine", &answers("fine"), &[]);
    let server = Server::start(&shell, more);
    (shell, server)
}

#[test]
fn bodies_at_their_cap_pass_and_one_byte_more_is_refused_before_it_is_read() {
    let (_shell, server) = room(&[]);
    let most = 10 << 20;
    let answer = server.ask("POST", "/x/fine/", &[], &vec![b'x'; most]);
    assert_eq!((answer.status, answer.text().as_str()), (200, "fine"));
    // Of a body that says how long it is, nothing is read.
    for (path, method, length) in [
        ("/x/fine/", "POST", most + 1),
        ("/v1/run", "POST", (16 << 20) + 1),
        ("/v1/execute", "POST", (16 << 20) + 1),
        ("/v1/extensions/new", "PUT", 500 << 20),
        ("/v1/workspaces/w/files/workspace/a", "PUT", (64 << 20) + 1),
    ] {
        let mut stream = server.connect();
        let headers: &[(&str, &str)] = &[("content-type", "application/wasm")];
        let began = Instant::now();
        stream.write_all(&server.head(method, path, headers, Some(length))).unwrap();
        let answer = read(&mut stream).unwrap();
        assert_eq!((answer.status, answer.code().as_str()), (413, "too_large"), "{path}");
        assert!(began.elapsed() < Duration::from_secs(5), "nobody waits for the body");
    }
    // At its cap each passes.
    let padded = |text: &str, length: usize| [text.as_bytes(), &vec![b' '; length - text.len()]].concat();
    let run = padded(r#"{"name":"upper","stdin":"a"}"#, 16 << 20);
    assert_eq!(server.ask("POST", "/v1/run", &[], &run).json()["stdout"], "A");
    let execute = padded(r#"{"context":{"extension_id":"fine"}}"#, 16 << 20);
    assert_eq!(server.ask("POST", "/v1/execute", &[], &execute).json()["body_b64"], "ZmluZQ==");
    assert_eq!(server.ask("PUT", "/v1/workspaces/w", &[], b"").status, 200);
    let file = "/v1/workspaces/w/files/workspace/a";
    assert_eq!(server.ask("PUT", file, &[], &vec![b'x'; 64 << 20]).json()["bytes"], 64 << 20);
    // One that does not say is counted as it comes, however much it would be.
    let mut stream = server.connect();
    stream.write_all(&server.head("POST", "/x/fine/", &[("transfer-encoding", "chunked")], None)).unwrap();
    let chunk = [b"100000\r\n".as_slice(), &vec![b'x'; 1 << 20], b"\r\n"].concat();
    for _ in 0..500 {
        if stream.write_all(&chunk).is_err() {
            break;
        }
    }
    let answer = read(&mut stream).unwrap();
    assert_eq!((answer.status, answer.code().as_str()), (413, "too_large"));
    assert_eq!(server.get("/x/fine/").text(), "fine");
}

#[test]
fn who_sends_slowly_is_cut_off_and_others_are_answered_meanwhile() {
    let (_shell, server) = room(&["--header-timeout", "1s", "--body-timeout", "2s"]);
    // Headers that never end, byte by byte; a connection that says nothing; a body that stops.
    let mut drips = server.connect();
    let mut silent = server.connect();
    let mut stops = server.connect();
    stops.write_all(&server.head("POST", "/x/fine/", &[], Some(100))).unwrap();
    stops.write_all(b"some").unwrap();
    drips.write_all(b"GET / HTTP/1.1\r\nhost: localhost\r\nx: ").unwrap();
    let began = Instant::now();
    while began.elapsed() < Duration::from_millis(1500) {
        let _ = drips.write_all(b"a");
        assert_eq!(server.get("/x/fine/").text(), "fine");
    }
    let answer = read(&mut stops).unwrap();
    assert_eq!((answer.status, answer.code().as_str()), (408, "slow_body"));
    for stream in [&mut drips, &mut silent] {
        let mut rest = Vec::new();
        let _ = stream.read_to_end(&mut rest);
        assert!(rest.is_empty() || rest.starts_with(b"HTTP/1.1 408"), "{}", String::from_utf8_lossy(&rest));
    }
    assert!(began.elapsed() < Duration::from_secs(30));
    assert_eq!(
        server
            .get("/metrics")
            .text()
            .lines()
            .filter(|it| it.starts_with("drydock_http_body_bytes 0"))
            .count(),
        1
    );
}

#[test]
fn what_is_no_http_is_refused_and_the_next_is_answered() {
    let (_shell, server) = room(&[]);
    let huge = format!("GET / HTTP/1.1\r\nhost: localhost\r\nx: {}\r\n\r\n", "a".repeat(1 << 20));
    let many = format!("GET / HTTP/1.1\r\nhost: localhost\r\n{}\r\n", "x: y\r\n".repeat(200));
    let cases: &[(&[u8], &[u16])] = &[
        (huge.as_bytes(), &[431]),
        (many.as_bytes(), &[431]),
        (b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03", &[400]),
        (b"GET\r\n\r\n", &[400]),
        (b"GET / HTTP/9.9\r\n\r\n", &[400]),
        (b"GET /x/fine/ HTTP/1.1\r\nhost: localhost\r\nx: a\0b\r\n\r\n", &[400]),
        (b"POST /x/fine/ HTTP/1.1\r\nhost: localhost\r\ncontent-length: -1\r\n\r\n", &[400]),
        (b"POST /x/fine/ HTTP/1.1\r\nhost: localhost\r\ncontent-length: 1\r\ncontent-length: 2\r\n\r\nx", &[400]),
        (b"POST /x/fine/ HTTP/1.1\r\nhost: localhost\r\ntransfer-encoding: chunked\r\n\r\nzz\r\nno\r\n", &[400]),
        (b"POST /x/fine/ HTTP/1.1\r\nhost: localhost\r\ntransfer-encoding: chunked\r\n\r\nffffffffffffffffff\r\n", &[400, 413]),
        (b"POST /x/fine/ HTTP/1.1\r\nhost: localhost\r\ntransfer-encoding: gzip\r\n\r\n", &[400]),
        (b"GET /x/fine/ HTTP/1.0\r\n\r\n", &[400]),
    ];
    for (bytes, wanted) in cases {
        let mut stream = server.connect();
        // What is refused early may close before all of it is sent.
        let _ = stream.write_all(bytes);
        let answer = read(&mut stream);
        let shown = String::from_utf8_lossy(&bytes[..bytes.len().min(80)]).into_owned();
        // Of what is refused before all of it was sent the answer may be lost, and of nothing else.
        let may_be_lost = bytes.len() > 64 << 10;
        let is_refused = answer.as_ref().map_or(may_be_lost, |it| wanted.contains(&it.status));
        assert!(is_refused, "{shown:?}: {answer:?}");
        assert_eq!(server.get("/x/fine/").text(), "fine", "after {shown:?}");
    }
}

#[test]
fn odd_paths_reach_a_guest_as_they_were_sent_and_never_a_file() {
    let (_shell, server) = room(&[]);
    assert_eq!(server.ask("PUT", "/v1/workspaces/w", &[], b"").status, 200);
    for path in ["/%00", "/..", "/../../etc/passwd", "//", "/%2e%2e/", "/a//b", "/%ff", "/%", "/;x=1"] {
        let answer = server.get(&format!("/x/shows{path}"));
        assert_eq!(shown(&answer)["http"]["path"], path, "{path}");
    }
    for path in [
        "workspace/%00",
        "workspace/../../x",
        "../x",
        "etc/passwd",
        "workspace//",
        "%2e%2e/x",
        "proc/self/environ",
        "%ff",
    ] {
        for method in ["GET", "PUT", "DELETE"] {
            let answer = server.ask(method, &format!("/v1/workspaces/w/files/{path}"), &[], b"x");
            assert!([400, 403, 404].contains(&answer.status), "{method} {path}: {answer:?}");
        }
    }
    for path in [
        "/x/../healthz",
        "/x//",
        "/x/%2e%2e/",
        "/v1/extensions/..%2fx",
        "/v1/workspaces/..",
        "/v1/workspaces/%00",
    ] {
        let answer = server.get(path);
        assert!([400, 404].contains(&answer.status), "{path}: {answer:?}");
    }
}

#[test]
fn json_that_is_too_deep_or_none_is_refused_where_it_is_read() {
    let (_shell, server) = room(&[]);
    let deep =
        |levels: usize| format!("{}{}", r#"{"a":"#.repeat(levels), "1".to_owned() + &"}".repeat(levels));
    for path in ["/v1/execute", "/v1/run", "/v1/sh", "/v1/js"] {
        let answer = server.ask("POST", path, &[], deep(100).as_bytes());
        assert_eq!((answer.status, answer.code().as_str()), (400, "json_too_deep"), "{path}");
        let answer = server.ask("POST", path, &[], b"{\"a\":");
        assert_eq!((answer.status, answer.code().as_str()), (400, "bad_json"), "{path}");
    }
    let args = serde_json::from_str::<serde_json::Value>(&deep(60)).unwrap();
    let ran = server.post("/v1/js", &json!({ "code": "JSON.stringify(args).length", "args": args }));
    assert_eq!(ran.json()["result"], deep(60).len(), "{}", ran.text());
}

#[test]
fn many_connections_that_do_nothing_leave_the_server_to_others() {
    let (_shell, server) = room(&["--header-timeout", "60s"]);
    let idle: Vec<_> = (0..400).map(|_| server.connect()).collect();
    for _ in 0..20 {
        assert_eq!(server.get("/x/fine/").text(), "fine");
    }
    // Those that were answered are closed in a moment; the one that asks is there, too.
    let began = Instant::now();
    while !server.get("/metrics").text().contains("drydock_http_connections 401\n") {
        assert!(began.elapsed() < Duration::from_secs(20), "{}", server.get("/metrics").text());
    }
    drop(idle);
    let (_shell, server) = room(&["--connections-max", "4", "--header-timeout", "1s"]);
    let _idle: Vec<_> = (0..12).map(|_| server.connect()).collect();
    // The places are theirs until their time to say something is over.
    assert_eq!(server.get("/x/fine/").text(), "fine");
}

/// A guest with a long answer.
fn long() -> String {
    let body = "(local $at i32) (local.set $at (call $alloc (i32.const 9437184)))
      (call $answer (local.get $out) (local.get $at) (i32.const 9437184)) (i32.const 0)";
    guest("", "", body)
}

/// Bytes of answers that are on their way.
fn on_the_way(server: &Server) -> u64 {
    let text = server.get("/metrics").text();
    let line = text.lines().find_map(|it| it.strip_prefix("drydock_http_answer_bytes "));
    line.unwrap_or_else(|| panic!("{text}")).parse().unwrap()
}

#[test]
fn who_reads_no_answer_loses_its_connection_and_who_reads_slowly_has_all_of_it() {
    let (shell, mut server) = room(&["--connections-max", "4", "--answer-timeout", "2s"]);
    install(&shell, "long", &long(), &[]);
    assert_eq!(server.ask("PUT", "/v1/workspaces/w", &[], b"").status, 200);
    let (file, length) = ("/v1/workspaces/w/files/workspace/a", 4 << 20);
    assert_eq!(server.ask("PUT", file, &[], &vec![b'x'; length]).status, 200);
    // Reads all the time, and takes several times as long as nobody may read nothing.
    let mut slow = server.connect();
    slow.write_all(&server.head("GET", file, &[], None)).unwrap();
    let slow = std::thread::spawn(move || {
        let (mut all, mut piece) = (0, vec![0; 64 << 10]);
        loop {
            match slow.read(&mut piece) {
                Ok(0) => break all,
                Ok(read) => all += read,
                Err(error) => panic!("after {all} bytes: {error}"),
            }
            std::thread::sleep(Duration::from_millis(100));
        }
    });
    // These ask, and read nothing: more than the system keeps for them.
    let requests = server.head("GET", "/openapi.json", &[], None);
    let requests = String::from_utf8(requests).unwrap().replace("connection: close\r\n", "").repeat(300);
    let mut silent: Vec<_> = (0..3).map(|_| server.connect()).collect();
    for stream in &mut silent[..2] {
        stream.write_all(requests.as_bytes()).unwrap();
    }
    silent[2].write_all(&server.head("GET", "/x/long/", &[], None)).unwrap();
    let began = Instant::now();
    assert_eq!(server.get("/healthz").status, 200, "as soon as one of them is closed");
    assert!(began.elapsed() < Duration::from_secs(20), "{:?}", began.elapsed());
    assert!(slow.join().unwrap() > length, "the head, and all of the file");
    while on_the_way(&server) > 0 {
        assert!(began.elapsed() < Duration::from_secs(60), "what nobody read is given back");
    }
    // Nor does one that reads nothing hold the end back.
    let mut last = server.connect();
    last.write_all(&server.head("GET", "/x/long/", &[], None)).unwrap();
    while on_the_way(&server) < 9 << 20 {
        assert!(began.elapsed() < Duration::from_secs(60), "an answer on its way is counted");
    }
    let began = Instant::now();
    server.signal("-TERM");
    assert_eq!(server.wait(), 0);
    assert!(began.elapsed() < Duration::from_secs(20), "{:?}", began.elapsed());
}

#[test]
fn whoever_leaves_its_answers_unread_is_refused_more_of_them_and_others_are_answered() {
    let shell = Shell::new();
    install(&shell, "long", &long(), &["--tenant", "greedy"]);
    install(&shell, "fine", &answers("fine"), &["--tenant", "modest"]);
    let (greedy, modest) = (token(&shell, "greedy", &[]), token(&shell, "modest", &[]));
    let watches = token(&shell, "greedy", &["--power", "metrics"]);
    let server = Server::start(&shell, &["--answer-timeout", "60s"]);
    let bearer = format!("Bearer {greedy}");
    // 9 MiB each, of the 128 that a tenant's answers may hold.
    let mut unread: Vec<_> = (0..15).map(|_| server.connect()).collect();
    for stream in &mut unread {
        stream.write_all(&server.head("GET", "/x/long/", &[("authorization", &bearer)], None)).unwrap();
    }
    let began = Instant::now();
    let refused = loop {
        let answer = server.ask_as(&greedy, "GET", "/v1/workspaces", b"");
        if answer.status != 200 {
            break answer;
        }
        assert!(began.elapsed() < Duration::from_secs(60), "what is on its way is counted");
    };
    assert_eq!((refused.status, refused.code().as_str()), (503, "overloaded"), "{refused:?}");
    assert_eq!(refused.header("retry-after"), Some("1"));
    assert_eq!(server.ask_as(&modest, "GET", "/x/fine/", b"").text(), "fine");
    let told = server.ask_as(&watches, "GET", "/metrics", b"");
    assert_eq!(told.status, 200, "whoever runs the server sees its figures all the same");
    // Nothing that was done is lost: who reads has it.
    let mut first = unread.remove(0);
    assert_eq!(read(&mut first).unwrap().body.len(), 9 << 20);
    drop(unread);
    while server.ask_as(&greedy, "GET", "/v1/workspaces", b"").status != 200 {
        assert!(began.elapsed() < Duration::from_secs(120), "what is gone is given back");
    }
}

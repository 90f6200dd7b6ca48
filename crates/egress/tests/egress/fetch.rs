//! A request and its answer over loopback: what is sent, what is passed on, what is counted and recorded.

use std::{io::Write, sync::Arc};

use drydock_egress::{
    Decoding, Egress, FailureKind, HeaderMap, HeaderName, HeaderValue, Method, NotRecorded, Observation,
    Observe, Parts, Policy, QuotaLimits, Request, Response, StatusCode, Target,
};

use crate::support::{
    LoopbackOnly, Records, Scripted, caller, local, policy_for, run,
    server::{Server, serve},
};

fn headers(lines: &[(&str, &str)]) -> HeaderMap {
    let line = |(name, value): &(&str, &str)| {
        (name.parse::<HeaderName>().unwrap(), HeaderValue::from_str(value).unwrap())
    };
    lines.iter().map(line).collect()
}

fn request(server: &Server, path: &str) -> Request {
    let target: Target = format!("http://served.test:{}{path}", server.address.port()).parse().unwrap();
    Request::new(Method::GET, target)
}

fn hello() -> Server {
    serve(|_, out| {
        let head = "HTTP/1.1 201 Fine\r\nContent-Length: 5\r\nSet-Cookie: a=1\r\nSet-Cookie: b=2\r\n\
                    Connection: close, X-Hop\r\nX-Hop: 1\r\nKeep-Alive: 1\r\nProxy-Authenticate: x\r\n\r\nhello";
        out.write_all(head.as_bytes()).unwrap();
    })
}

#[test]
fn a_request_arrives_with_the_name_as_host_and_without_what_is_not_the_guests_to_write() {
    let server = hello();
    let records = Arc::new(Records::default());
    run(async {
        let mut request = request(&server, "/path?query=1");
        request.method = Method::POST;
        request.body = "body".into();
        request.headers = headers(&[
            ("host", "evil.test"),
            ("connection", "x-smuggled"),
            ("x-smuggled", "1"),
            ("transfer-encoding", "chunked"),
            ("content-length", "999"),
            ("proxy-authorization", "x"),
            ("accept", "text/plain"),
        ]);
        let egress = local(Scripted::always(&["127.0.0.1"]), Vec::new());
        let Response { status, headers, body, hops, .. } =
            egress.fetch(&caller(&records), &policy_for(server.address), request).await.unwrap();
        assert_eq!((status, hops), (StatusCode::CREATED, 0));
        let mut names: Vec<&str> = headers.keys().map(HeaderName::as_str).collect();
        names.sort_unstable();
        assert_eq!(names, ["content-length", "set-cookie"]);
        assert_eq!(headers.get_all("set-cookie").iter().count(), 2);
        assert_eq!(body.read_all().await.unwrap().as_ref(), b"hello");
    });
    let port = server.address.port();
    let head = server.heads.lock().unwrap()[0].replace(&port.to_string(), "PORT");
    insta::assert_snapshot!(head.replace("\r\n", "\n"), @"
    POST /path?query=1 HTTP/1.1
    accept: text/plain
    user-agent: drydock/0.1.0
    host: served.test:PORT
    content-length: 4

    body
    ");
    insta::assert_snapshot!(records.lines().join("\n"), @"
    began served.test 127.0.0.1
    ended served.test 201 5 ok
    ");
    let kept = serde_json::to_string(&*records.0.lock().unwrap()).unwrap();
    assert!(!kept.contains("path") && !kept.contains("query") && !kept.contains("text/plain"), "{kept}");
}

#[test]
fn an_answer_that_nobody_reads_is_recorded_as_abandoned() {
    let server = hello();
    let records = Arc::new(Records::default());
    run(async {
        let egress = local(Scripted::always(&["127.0.0.1"]), Vec::new());
        let fetched =
            egress.fetch(&caller(&records), &policy_for(server.address), request(&server, "/")).await;
        drop(fetched.unwrap());
    });
    assert_eq!(records.lines()[1], "ended served.test 201 0 abandoned");
}

/// Refuses to keep anything.
#[derive(Debug)]
struct Full;

impl Observe for Full {
    fn observe(&self, _: &Observation) -> Result<(), NotRecorded> {
        Err(NotRecorded)
    }
}

#[test]
fn what_cannot_be_recorded_is_not_dialled() {
    let server = hello();
    let records = Arc::new(Records::default());
    run(async {
        let egress = local(Scripted::always(&["127.0.0.1"]), Vec::new());
        let caller = drydock_egress::Caller { observer: Arc::new(Full), ..caller(&records) };
        let error =
            egress.fetch(&caller, &policy_for(server.address), request(&server, "/")).await.unwrap_err();
        assert_eq!(error.code(), "audit_unavailable");
    });
    assert!(server.heads.lock().unwrap().is_empty());
}

#[test]
fn caps_of_requests_are_caps_to_the_byte() {
    let server = hello();
    run(async {
        let egress = local(Scripted::always(&["127.0.0.1"]), Vec::new());
        let records = Arc::new(Records::default());
        for (length, want) in [(100, None), (101, Some("request_too_large"))] {
            let mut request = request(&server, "/");
            request.body = vec![b'x'; length].into();
            request.limits.request_bytes_max = 100;
            let fetched = egress.fetch(&caller(&records), &policy_for(server.address), request).await;
            assert_eq!(fetched.err().map(|error| error.code()), want, "{length}");
        }
        let mut request = request(&server, "/");
        request.headers = headers(&[("x-long", &"x".repeat(70_000))]);
        let error = egress.fetch(&caller(&records), &policy_for(server.address), request).await.unwrap_err();
        assert_eq!((error.code(), error.kind()), ("request_too_large", FailureKind::TooLarge));
    });
}

#[test]
fn a_principal_is_bounded_at_once_in_rate_and_in_bytes() {
    let server = hello();
    run(async {
        let quota = QuotaLimits { in_flight_max: 1, requests_max: 2, bytes_max: 7, ..QuotaLimits::default() };
        let (resolver, dialler) = (Scripted::always(&["127.0.0.1"]), Arc::new(LoopbackOnly::default()));
        let egress = Egress::new(Parts { resolver, dialler, quota, ..Parts::default() });
        let (records, policy) = (Arc::new(Records::default()), policy_for(server.address));
        let caller = caller(&records);
        let held = egress.fetch(&caller, &policy, request(&server, "/")).await.unwrap();
        let second = egress.fetch(&caller, &policy, request(&server, "/")).await.unwrap_err();
        assert_eq!((second.code(), second.kind()), ("quota_in_flight", FailureKind::Quota));
        held.body.read_all().await.unwrap();
        let next = egress.fetch(&caller, &policy, request(&server, "/")).await.unwrap();
        assert_eq!(next.body.read_all().await.unwrap_err().code(), "quota_bytes");
        let third = egress.fetch(&caller, &policy, request(&server, "/")).await.unwrap_err();
        assert_eq!(third.code(), "quota_requests");
        let other = drydock_egress::Caller { principal: "other".parse().unwrap(), ..caller };
        egress.fetch(&other, &policy, request(&server, "/")).await.unwrap();
    });
}

#[test]
fn encoded_bodies_are_passed_on_or_decoded_as_the_caller_wishes() {
    let mut packer = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::default());
    packer.write_all(b"hello hello hello").unwrap();
    let packed = packer.finish().unwrap();
    let sent = packed.clone();
    let server = serve(move |_, out| {
        write!(out, "HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: {}\r\n\r\n", sent.len())
            .unwrap();
        out.write_all(&sent).unwrap();
    });
    run(async {
        let egress = local(Scripted::always(&["127.0.0.1"]), Vec::new());
        let records = Arc::new(Records::default());
        for (decoding, want, encoding) in [
            (Decoding::AsSent, packed.as_slice(), Some("gzip")),
            (Decoding::Decode, b"hello hello hello".as_slice(), None),
        ] {
            let mut request = request(&server, "/");
            request.decoding = decoding;
            let fetched =
                egress.fetch(&caller(&records), &policy_for(server.address), request).await.unwrap();
            assert_eq!(fetched.headers.get("content-encoding").map(|it| it.to_str().unwrap()), encoding);
            assert_eq!(fetched.body.read_all().await.unwrap().as_ref(), want);
        }
    });
}

#[test]
fn a_fetch_can_move_to_another_thread() {
    fn moves<T: Send>(_: T) {}
    let (egress, server) = (local(Scripted::always(&["127.0.0.1"]), Vec::new()), hello());
    let (records, policy) = (Arc::new(Records::default()), policy_for(server.address));
    let caller = caller(&records);
    moves(async move {
        egress.fetch(&caller, &policy, request(&server, "/")).await.unwrap().body.read_all().await
    });
}

#[test]
fn methods_that_make_a_server_something_else_are_refused() {
    run(async {
        let server = hello();
        let egress = local(Scripted::always(&["127.0.0.1"]), Vec::new());
        let records = Arc::new(Records::default());
        for method in [Method::CONNECT, Method::TRACE] {
            let request = Request { method, ..request(&server, "/") };
            let error =
                egress.fetch(&caller(&records), &policy_for(server.address), request).await.unwrap_err();
            assert_eq!(error.code(), "method_refused");
        }
        let error =
            egress.fetch(&caller(&records), &Policy::default(), request(&server, "/")).await.unwrap_err();
        assert_eq!(error.code(), "host_not_granted");
    });
}

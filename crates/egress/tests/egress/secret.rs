//! Credentials on the way: put in where they belong, left behind where they do not, and taken out of what comes back.

use std::{io::Write, sync::Arc};

use base64::Engine as _;
use drydock_egress::{
    FetchError, InjectedHeader, Method, Policy, Redirects, Request, Response, Rules, Secret, Secrets,
};

use crate::support::{
    Records, Scripted, caller, local, rules_for, run,
    server::{Authority, Server, serve, serve_tls},
};

const CANARY: &str = "canary/0+ne-tw0?three";

/// A policy that puts the canary into a header for `place`, and may reach these servers.
fn policy(place: &str, header: &str, servers: &[&Server]) -> Policy {
    let mut secrets = Secrets::default();
    secrets.put("KEY", Secret::new(CANARY.as_bytes().to_vec()).unwrap());
    let hosts: Vec<String> = servers.iter().map(|it| format!("served.test:{}", it.address.port())).collect();
    let privates: Vec<String> = servers.iter().map(|it| it.address.to_string()).collect();
    let rules = Rules::parse(&hosts, &[], &privates).unwrap();
    Policy::new(rules, vec![InjectedHeader::parse(place, header, &secrets).unwrap()])
}

fn get(server: &Server, scheme: &str) -> Request {
    let target = format!("{scheme}://served.test:{}/start", server.address.port()).parse().unwrap();
    Request::new(Method::GET, target)
}

async fn fetch(
    policy: &Policy,
    request: Request,
    roots: Vec<Vec<u8>>,
) -> Result<(Response, Arc<Records>), FetchError> {
    let records = Arc::new(Records::default());
    let egress = local(Scripted::always(&["127.0.0.1"]), roots);
    let response = egress.fetch(&caller(&records), policy, request).await?;
    Ok((response, records))
}

/// Echoes the authorization that it got, in the disguise that the path of the server's table asks for.
fn echo(
    write: impl Fn(&str, &mut dyn Write) + Send + Sync + 'static,
) -> impl Fn(&str, &mut dyn Write) + Send + Sync {
    move |head, out| {
        let line = head.lines().find_map(|line| line.strip_prefix("authorization: ")).unwrap_or("none");
        write(line, out);
    }
}

#[test]
fn a_secret_replaces_the_guests_header_and_goes_over_tls() {
    let authority = Authority::new();
    let server = serve_tls(authority.config("served.test", (2020, 2090)), |_, out| {
        out.write_all(b"HTTP/1.1 204 No Content\r\n\r\n").unwrap();
    });
    let place = format!("served.test:{}", server.address.port());
    let policy = policy(&place, "Authorization: Bearer {{secret:KEY}}", &[&server]);
    let mut request = get(&server, "https");
    for (name, value) in [
        ("authorization", "Bearer guest"),
        ("authorization", "two"),
        ("range", "bytes=0-3"),
        ("accept-encoding", "br"),
    ] {
        request.headers.append(name, value.parse().unwrap());
    }
    let (response, records) = run(fetch(&policy, request, vec![authority.root])).unwrap();
    assert_eq!(response.status, 204);
    drop(response);
    let heads = server.heads.lock().unwrap();
    assert!(heads[0].contains(&format!("authorization: Bearer {CANARY}\r\n")), "{}", heads[0]);
    assert!(!heads[0].contains("guest") && !heads[0].contains("range"), "{}", heads[0]);
    assert!(heads[0].contains("accept-encoding: identity"), "{}", heads[0]);
    let shown = format!("{:?} {policy:?}", records.0.lock().unwrap());
    assert!(!shown.contains("canary"), "{shown}");
}

#[test]
fn a_secret_goes_in_the_clear_to_an_opened_address_only() {
    let server = serve(|_, out| out.write_all(b"HTTP/1.1 204 No Content\r\n\r\n").unwrap());
    let place = format!("served.test:{}", server.address.port());
    let policy = policy(&place, "X-Key: {{secret:KEY}}", &[&server]);
    run(fetch(&policy, get(&server, "http"), Vec::new())).unwrap();
    assert!(server.heads.lock().unwrap()[0].contains("x-key: canary"));
    // The same to a public address: refused, and the dialler of this test would fail it.
    let mut secrets = Secrets::default();
    secrets.put("KEY", Secret::new(CANARY.as_bytes().to_vec()).unwrap());
    let header = InjectedHeader::parse("served.test:80", "X-Key: {{secret:KEY}}", &secrets).unwrap();
    let policy = Policy::new(Rules::parse(&["served.test"], &[], &[]).unwrap(), vec![header]);
    let egress = local(Scripted::always(&["93.184.216.34"]), Vec::new());
    let request = Request::new(Method::GET, "http://served.test/".parse().unwrap());
    let records = Arc::new(Records::default());
    let error = run(egress.fetch(&caller(&records), &policy, request)).unwrap_err();
    assert_eq!(error.code(), "secret_needs_tls");
    assert_eq!(records.lines(), ["refused served.test:80 secret_needs_tls"]);
}

type Disguise = Arc<dyn Fn(&str) -> String + Send + Sync>;

#[test]
fn a_secret_that_comes_back_is_redacted_in_headers_and_body_in_every_disguise() {
    let base64 = |text: &str| base64::engine::general_purpose::STANDARD.encode(text);
    let disguises: [(&str, Disguise); 4] = [
        ("plain", Arc::new(|line| line.to_owned())),
        ("percent", Arc::new(|line| line.bytes().map(|b| format!("%{b:02X}")).collect())),
        ("base64", Arc::new(move |line| base64(line))),
        ("json", Arc::new(|line| serde_json::to_string(&line).unwrap().replace('/', "\\/"))),
    ];
    for (name, disguise) in disguises {
        let server = serve(echo(move |line, out| {
            let text = disguise(line);
            write!(out, "HTTP/1.1 200 OK\r\nX-Echo: {text}\r\nTransfer-Encoding: chunked\r\n\r\n").unwrap();
            for piece in text.as_bytes().chunks(3) {
                write!(out, "{:x}\r\n{}\r\n", piece.len(), String::from_utf8_lossy(piece)).unwrap();
                out.flush().unwrap();
            }
            out.write_all(b"0\r\n\r\n").unwrap();
        }));
        let place = format!("served.test:{}", server.address.port());
        let policy = policy(&place, "Authorization: Bearer {{secret:KEY}}", &[&server]);
        run(async {
            let (response, _) = fetch(&policy, get(&server, "http"), Vec::new()).await.unwrap();
            let header = response.headers["x-echo"].to_str().unwrap().to_owned();
            let body = String::from_utf8(response.body.read_all().await.unwrap().to_vec()).unwrap();
            for text in [header, body] {
                assert!(text.contains("[redacted]") && text.len() < 40, "{name}: {text}");
            }
        });
    }
}

#[test]
fn a_header_that_is_called_like_a_secret_is_left_out() {
    let server = serve(echo(|line, out| {
        let secret = line.rsplit(' ').next().unwrap();
        write!(out, "HTTP/1.1 200 OK\r\nX-{secret}-Y: 1\r\nX-Other: 2\r\nContent-Length: 0\r\n\r\n").unwrap();
    }));
    let place = format!("served.test:{}", server.address.port());
    let mut secrets = Secrets::default();
    secrets.put("KEY", Secret::new(b"Canary-7f3A9c2E5b81".to_vec()).unwrap());
    let injected = InjectedHeader::parse(&place, "Authorization: Bearer {{secret:KEY}}", &secrets).unwrap();
    let policy = Policy::new(rules_for(server.address), vec![injected]);
    run(async {
        let (response, _) = fetch(&policy, get(&server, "http"), Vec::new()).await.unwrap();
        let names: Vec<&str> = response.headers.keys().map(|it| it.as_str()).collect();
        assert_eq!(names, ["x-other"], "its length went too: it is the length of what came");
    });
}

#[test]
fn a_packed_answer_is_unpacked_to_look_into_it_and_one_that_cannot_be_is_refused() {
    let server = serve(echo(|line, out| {
        let mut packer = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::default());
        packer.write_all(line.as_bytes()).unwrap();
        out.write_all(b"HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\n\r\n").unwrap();
        out.write_all(&packer.finish().unwrap()).unwrap();
    }));
    let place = format!("served.test:{}", server.address.port());
    let header = "Authorization: Bearer {{secret:KEY}}";
    run(async {
        let (response, _) =
            fetch(&policy(&place, header, &[&server]), get(&server, "http"), Vec::new()).await.unwrap();
        assert!(response.headers.get("content-encoding").is_none());
        assert_eq!(response.body.read_all().await.unwrap().as_ref(), b"Bearer [redacted]");
    });
    let server = serve(|_, out| {
        out.write_all(b"HTTP/1.1 200 OK\r\nContent-Encoding: br\r\nContent-Length: 1\r\n\r\nx").unwrap();
    });
    let place = format!("served.test:{}", server.address.port());
    let error =
        run(fetch(&policy(&place, header, &[&server]), get(&server, "http"), Vec::new())).unwrap_err();
    assert_eq!(error.code(), "unknown_encoding");
}

#[test]
fn a_redirect_carries_a_secret_neither_in_a_header_nor_in_its_address() {
    let end = serve(|_, out| out.write_all(b"HTTP/1.1 204 No Content\r\n\r\n").unwrap());
    let port = end.address.port();
    let server = serve(echo(move |line, out| {
        let key = line.trim_start_matches("Bearer ");
        write!(
            out,
            "HTTP/1.1 302 Found\r\nLocation: http://served.test:{port}/?{key}\r\nContent-Length: 0\r\n\r\n"
        )
        .unwrap();
    }));
    let place = format!("served.test:{}", server.address.port());
    let policy = policy(&place, "Authorization: Bearer {{secret:KEY}}", &[&server, &end]);
    let request = Request { redirects: Redirects::Follow { hops_max: 3 }, ..get(&server, "http") };
    let (response, _) = run(fetch(&policy, request, Vec::new())).unwrap();
    assert_eq!((response.status.as_u16(), response.hops), (204, 1));
    assert!(server.heads.lock().unwrap()[0].contains(CANARY));
    let heads = end.heads.lock().unwrap();
    assert!(!heads[0].contains("canary") && !heads[0].contains("authorization"), "{}", heads[0]);
    assert!(heads[0].starts_with("GET /?[redacted] HTTP/1.1"), "{}", heads[0]);
}

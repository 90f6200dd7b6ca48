//! Redirects: seen by default; followed hop by hop where a caller asks, each judged, without credentials for strangers.

use std::{net::SocketAddr, sync::Arc};

use drydock_egress::{
    FetchError, HeaderMap, InjectedHeader, Method, Policy, Redirects, Request, Response, Rules, Secret,
    Secrets,
};

use crate::support::{
    Records, Scripted, caller, local, run,
    server::{Authority, Server, serve, serve_either},
};

/// A server that sends every path but `/end` to `location`.
fn sends_to(status: u16, location: String) -> Server {
    serve(move |head, out| {
        let answer = if head.contains(" /end") {
            "HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\nend".to_owned()
        } else {
            format!("HTTP/1.1 {status} Moved\r\nLocation: {location}\r\nContent-Length: 0\r\n\r\n")
        };
        out.write_all(answer.as_bytes()).unwrap();
    })
}

async fn fetch(
    servers: &[SocketAddr],
    request: Request,
    records: &Arc<Records>,
) -> Result<Response, FetchError> {
    let hosts: Vec<String> = servers.iter().map(|it| format!("served.test:{}", it.port())).collect();
    let privates: Vec<String> = servers.iter().map(ToString::to_string).collect();
    let hosts: Vec<String> = hosts.into_iter().chain(["169.254.169.254".to_owned()]).collect();
    let policy = Policy::new(Rules::parse(&hosts, &[], &privates).unwrap(), Vec::new());
    let egress = local(Scripted::always(&["127.0.0.1"]), Vec::new());
    egress.fetch(&caller(records), &policy, request).await
}

fn request(server: &Server, redirects: Redirects) -> Request {
    let target = format!("http://served.test:{}/start", server.address.port()).parse().unwrap();
    let mut request = Request { redirects, ..Request::new(Method::POST, target) };
    request.body = "form".into();
    let lines =
        [("authorization", "Bearer guest"), ("cookie", "c=1"), ("content-type", "text/x"), ("x-own", "1")];
    request.headers = lines
        .iter()
        .map(|(name, value)| (name.parse().unwrap(), value.parse().unwrap()))
        .collect::<HeaderMap>();
    request
}

const FOLLOW: Redirects = Redirects::Follow { hops_max: 3 };

#[test]
fn by_default_the_caller_sees_the_redirect() {
    let server = sends_to(302, "http://169.254.169.254/latest/meta-data".to_owned());
    let records = Arc::new(Records::default());
    let response = run(fetch(&[server.address], request(&server, Redirects::Return), &records)).unwrap();
    assert_eq!((response.status.as_u16(), response.hops), (302, 0));
    assert_eq!(response.headers["location"], "http://169.254.169.254/latest/meta-data");
}

#[test]
fn a_redirect_to_the_metadata_address_is_refused_though_a_rule_names_it() {
    for location in
        ["http://169.254.169.254/", "http://0xa9fea9fe/", "//169.254.169.254/x", "http://[::ffff:a9fe:a9fe]/"]
    {
        let server = sends_to(302, location.to_owned());
        let records = Arc::new(Records::default());
        let error = run(fetch(&[server.address], request(&server, FOLLOW), &records)).unwrap_err();
        assert!(matches!(error.code(), "address_forbidden" | "host_not_granted"), "{location}: {error}");
        let lines = records.lines();
        assert!(lines[2].starts_with("refused"), "{lines:?}");
        assert_eq!(lines.len(), 3, "{lines:?}");
    }
}

#[test]
fn a_redirect_to_a_user_another_scheme_or_an_ungranted_host_is_refused() {
    for (location, code) in [
        ("http://user@served.test/", "url_userinfo"),
        ("file:///etc/passwd", "url_scheme"),
        ("http://other.test/", "host_not_granted"),
        ("http://served.test:1/", "port_not_granted"),
    ] {
        let server = sends_to(307, location.to_owned());
        let error = run(fetch(&[server.address], request(&server, FOLLOW), &Arc::default())).unwrap_err();
        assert_eq!(error.code(), code, "{location}");
    }
}

#[test]
fn a_hop_to_the_same_host_keeps_credentials_and_the_method_as_the_status_says() {
    for (status, line, has_body) in [
        (301, "GET /end ", false),
        (302, "GET /end ", false),
        (303, "GET /end ", false),
        (307, "POST /end ", true),
        (308, "POST /end ", true),
    ] {
        let server = sends_to(status, "/end".to_owned());
        let response = run(fetch(&[server.address], request(&server, FOLLOW), &Arc::default())).unwrap();
        assert_eq!((response.hops, response.target.path()), (1, "/end"));
        let heads = server.heads.lock().unwrap();
        let last = heads.last().unwrap();
        assert!(last.starts_with(line), "{status}: {last}");
        assert_eq!(
            (last.ends_with("form"), last.contains("content-type")),
            (has_body, has_body),
            "{status}: {last}"
        );
        assert!(
            last.contains("authorization: Bearer guest") && last.contains("cookie: c=1"),
            "{status}: {last}"
        );
    }
}

#[test]
fn credentials_stay_behind_when_the_port_or_the_host_changes() {
    let end = sends_to(302, "/end".to_owned());
    let port = end.address.port();
    for location in [format!("http://served.test:{port}/end"), format!("http://127.0.0.1:{port}/end")] {
        let server = sends_to(307, location.clone());
        let addresses = [server.address, end.address];
        let response = run(fetch(&addresses, request(&server, FOLLOW), &Arc::default())).unwrap();
        assert_eq!(response.status, 200);
        let heads = end.heads.lock().unwrap();
        let last = heads.last().unwrap();
        assert!(!last.contains("authorization") && !last.contains("cookie"), "{location}: {last}");
        assert!(last.contains("x-own: 1") && last.ends_with("form"), "{location}: {last}");
    }
}

/// Host and port stay, and so do rule and address: were it not for the scheme, each of these would go along, since secrets go
/// in the clear to an address that was opened.
#[test]
fn credentials_and_secrets_stay_behind_when_only_the_scheme_changes() {
    let authority = Authority::new();
    let config = authority.config("served.test", (2020, 2090));
    let server = serve_either(config, |head, out| {
        // By its port, which is the one that it was asked at.
        let port = head.lines().find_map(|it| it.strip_prefix("host: served.test:")).unwrap();
        let answer = match head.starts_with("sni ") {
            true => format!(
                "HTTP/1.1 307 Moved\r\nLocation: http://served.test:{port}/end\r\nContent-Length: 0\r\n\r\n"
            ),
            false => "HTTP/1.1 204 No Content\r\n\r\n".to_owned(),
        };
        out.write_all(answer.as_bytes()).unwrap();
    });
    let place = format!("served.test:{}", server.address.port());
    let mut secrets = Secrets::default();
    secrets.put("KEY", Secret::new(b"canary-0123456789".to_vec()).unwrap());
    let injected = InjectedHeader::parse(&place, "X-Key: {{secret:KEY}}", &secrets).unwrap();
    let rules = Rules::parse(&[&*place], &[], &[&*server.address.to_string()]).unwrap();
    let policy = Policy::new(rules, vec![injected]);
    let egress = local(Scripted::always(&["127.0.0.1"]), vec![authority.root.clone()]);
    let target = format!("https://{place}/start").parse().unwrap();
    let request = Request { target, ..request(&server, FOLLOW) };
    let response = run(egress.fetch(&caller(&Arc::default()), &policy, request)).unwrap();
    assert_eq!((response.status.as_u16(), response.hops), (204, 1));
    let heads = server.heads.lock().unwrap();
    let [first, second] = &heads[..] else { panic!("{heads:?}") };
    for sent in ["x-key: canary-0123456789", "authorization: Bearer guest", "cookie: c=1"] {
        assert!(first.contains(sent), "{first}");
    }
    assert!(second.starts_with("POST /end ") && second.contains("x-own: 1"), "{second}");
    for kept in ["x-key", "canary", "authorization", "cookie"] {
        assert!(!second.contains(kept), "{kept}: {second}");
    }
}

#[test]
fn a_circle_ends() {
    let server = sends_to(302, "/again".to_owned());
    let records = Arc::new(Records::default());
    let error = run(fetch(&[server.address], request(&server, FOLLOW), &records)).unwrap_err();
    assert_eq!(error.code(), "too_many_redirects");
    assert_eq!(server.heads.lock().unwrap().len(), 4);
}

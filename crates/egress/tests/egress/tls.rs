//! Certificates: the name that was asked for is the name that must be proven, and nothing else passes.

use std::sync::Arc;

use drydock_egress::{FetchError, Method, Request};
use rustls::ServerConfig;

use crate::support::{
    Records, Scripted, caller, local, policy_for, run,
    server::{Authority, self_signed, serve_tls},
};

const NOW: (i32, i32) = (2020, 2090);

/// What comes of asking `host` of a server with this certificate, and what the server saw.
fn fetch(
    config: ServerConfig,
    host: &str,
    roots: Vec<Vec<u8>>,
) -> (Result<String, FetchError>, Vec<String>, String) {
    let server = serve_tls(config, |_, out| {
        out.write_all(b"HTTP/1.1 200 OK\r\nContent-Length: 6\r\n\r\nsecret").unwrap();
    });
    let records = Arc::new(Records::default());
    let result = run(async {
        let egress = local(Scripted::always(&["127.0.0.1"]), roots);
        let target = format!("https://{host}:{}/", server.address.port()).parse().unwrap();
        let request = Request::new(Method::GET, target);
        let response = egress.fetch(&caller(&records), &policy_for(server.address), request).await?;
        let body = response.body.read_all().await?;
        Ok(String::from_utf8_lossy(&body).into_owned())
    });
    let heads = server.heads.lock().unwrap().clone();
    (result, heads, records.lines().pop().unwrap())
}

#[test]
fn a_server_that_proves_its_name_is_asked_with_that_name() {
    let authority = Authority::new();
    let roots = vec![authority.root.clone()];
    let (result, heads, record) = fetch(authority.config("served.test", NOW), "served.test", roots);
    assert_eq!(result.unwrap(), "secret");
    assert!(heads[0].starts_with("sni served.test\r\nGET / HTTP/1.1\r\n"), "{}", heads[0]);
    assert!(heads[0].contains("host: served.test:"), "{}", heads[0]);
    assert_eq!(record, "ended served.test 200 6 ok");
}

#[test]
fn an_address_is_proven_as_an_address() {
    let authority = Authority::new();
    let roots = vec![authority.root.clone()];
    let (result, heads, _) = fetch(authority.config("127.0.0.1", NOW), "127.0.0.1", roots.clone());
    assert_eq!(result.unwrap(), "secret");
    assert!(heads[0].starts_with("sni none"), "{}", heads[0]);
    let (result, ..) = fetch(authority.config("served.test", NOW), "127.0.0.1", roots);
    assert_eq!(result.unwrap_err().code(), "certificate_refused");
}

#[test]
fn another_name_an_expired_and_a_self_signed_certificate_are_refused_before_anything_is_sent() {
    let authority = Authority::new();
    let stranger = Authority::new();
    for (config, why) in [
        (authority.config("other.test", NOW), "it is for another name"),
        (authority.config("a.served.test", NOW), "it is for another name"),
        (authority.config("served.test", (2020, 2021)), "it has expired"),
        (authority.config("served.test", (2089, 2090)), "it is not valid yet"),
        (stranger.config("served.test", NOW), "nobody who is trusted has signed it"),
        (self_signed("served.test"), "nobody who is trusted has signed it"),
    ] {
        let (result, heads, record) = fetch(config, "served.test", vec![authority.root.clone()]);
        let error = result.unwrap_err();
        assert_eq!(error.to_string(), format!("the certificate of served.test is refused: {why}"));
        assert_eq!(record, "ended served.test 0 0 certificate_refused");
        assert!(heads.is_empty(), "{heads:?}");
    }
}

#[test]
fn without_a_root_nothing_is_believed_and_plain_http_is_no_tls() {
    let authority = Authority::new();
    let (result, heads, _) = fetch(authority.config("served.test", NOW), "served.test", Vec::new());
    assert_eq!(result.unwrap_err().code(), "certificate_refused");
    assert!(heads.is_empty());
    let server = crate::support::server::serve(|_, _| {});
    let code = run(async {
        let egress = local(Scripted::always(&["127.0.0.1"]), vec![authority.root.clone()]);
        let target = format!("https://served.test:{}/", server.address.port()).parse().unwrap();
        let mut request = Request::new(Method::GET, target);
        request.limits.total_max = std::time::Duration::from_millis(300);
        let records = Arc::new(Records::default());
        egress.fetch(&caller(&records), &policy_for(server.address), request).await.unwrap_err().code()
    });
    // It waits for more of a head that never comes.
    assert_eq!(code, "timeout");
}

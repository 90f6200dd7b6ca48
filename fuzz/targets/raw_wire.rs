//! Requests of `tcp`, `udp`, `tls` and `secrets`, redirects of whole answers, and cells of kept secrets: any bytes are read or
//! refused, and what reads is written as it was read.
#![no_main]

use drydock_abi::{
    broker::parse,
    exchange::{DatagramRequest, ExchangeRequest},
    fetch::{FetchRequest, Follow, WholeRequest},
    secret::SignRequest,
};
use drydock_store::Vault;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    if let Ok(request) = parse::<ExchangeRequest>("tcp.request", bytes) {
        let again = serde_json::to_vec(&request).unwrap();
        assert_eq!(parse::<ExchangeRequest>("tcp.request", &again).unwrap(), request);
    }
    if let Ok(request) = parse::<DatagramRequest>("udp.request", bytes) {
        let again = serde_json::to_vec(&request).unwrap();
        assert_eq!(parse::<DatagramRequest>("udp.request", &again).unwrap(), request);
    }
    if let Ok(request) = parse::<SignRequest>("secret.sign", bytes) {
        let again = serde_json::to_vec(&request).unwrap();
        assert_eq!(parse::<SignRequest>("secret.sign", &again).unwrap(), request);
    }
    let _ = Vault::describe(bytes);
    let Ok(text) = std::str::from_utf8(bytes) else { return };
    let (url, rest) = text.split_once('\n').unwrap_or((text, ""));
    let (location, headers) = rest.split_once('\n').unwrap_or((rest, ""));
    let Some(asked) = WholeRequest::new("POST", url.into(), headers, Vec::new(), 1, 1) else { return };
    let location = vec![("location".to_owned(), location.to_owned())];
    if let Follow::To(next) = asked.follow(301, &location) {
        // More headers than one request may have are refused, and nothing else is.
        assert!(FetchRequest::parse(&next.to_json()).is_ok() || headers.matches('\n').count() >= 127);
    }
});

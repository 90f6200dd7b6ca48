//! Proofs for `tls`: what is let through, and what is refused. Certificates are `egress`'s to prove.

use drydock_abi::tls::{CONNECT, REQUEST};
use drydock_contract::Cap;
use tokio::{
    io::{AsyncReadExt as _, AsyncWriteExt as _},
    net::TcpListener,
};

use super::TlsProtocol;
use crate::tcp::tests::{Yard, keeps_the_contract, to};

#[tokio::test]
async fn a_request_over_tls_keeps_the_contract_of_all_that_dial() {
    keeps_the_contract::<TlsProtocol>(REQUEST).await;
}

#[tokio::test]
async fn a_server_that_speaks_no_tls_is_told_nothing() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let server = tokio::spawn(async move {
        let (mut stream, _) = listener.accept().await.unwrap();
        stream.write_all(b"220 in the clear\r\n").await.unwrap();
        let mut all = Vec::new();
        let _ = stream.read_to_end(&mut all).await;
        all
    });
    let yard = Yard::new();
    let me = yard.session(Cap::Tls, &[format!("private:{address}")]);
    let failed = yard.exchange(&me, REQUEST, to(address, b"canary-payload")).await.unwrap();
    assert!(["tls_failed", "no_trust_store"].contains(&&*failed.as_ref().unwrap_err().code), "{failed:?}");
    let heard = server.await.unwrap();
    assert!(!heard.windows(6).any(|it| it == b"canary"), "nothing goes out in the clear");
    let in_bytes = yard.refusal(&me, CONNECT, b"x").await;
    assert_eq!(in_bytes.code(), "malformed");
    // A grant of another power opens nothing here.
    let other = yard.session(Cap::Tcp, &[format!("private:{address}")]);
    let refused = yard.exchange(&other, REQUEST, to(address, b"")).await;
    assert_eq!(refused.err().unwrap().code(), "denied");
}

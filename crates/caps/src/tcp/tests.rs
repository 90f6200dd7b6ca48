//! Proofs for `tcp`: what is let through, what is refused, and that a connection ends with what let it be made.

use std::{future::poll_fn, net::SocketAddr, sync::Arc, time::Duration};

use drydock_abi::tcp::{CONNECT, ConnectAnswer, ConnectFailure, ConnectRequest, Connected};
use drydock_contract::{Call, CallError, Cap, GrantSpec, Streams};
use drydock_egress::{Egress, Parts, QuotaLimits, SystemResolver, TcpDialler, Trust, WorldRoots};
use drydock_gate::{Gate, GateSettings, Grant, Session, SessionSpec};
use drydock_testkit::{FixedClock, MemoryJournal, principal};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};

use super::Tcp;

fn gate() -> Arc<Gate> {
    let clock = Arc::new(FixedClock::default());
    let egress = Egress::new(Parts {
        resolver: Arc::new(SystemResolver::default()),
        dialler: Arc::new(TcpDialler),
        trust: Trust::new(WorldRoots::Nobody, Vec::new()),
        quota: QuotaLimits::default(),
    });
    let tcp = Tcp::new(Arc::new(egress), Arc::clone(&clock) as _);
    let journal = Arc::new(MemoryJournal::default());
    Arc::new(Gate::new(GateSettings::default(), clock, journal).with(tcp))
}

fn session(gate: &Gate, subjects: &[String]) -> Session {
    let spec = serde_json::json!({ "cap": "tcp", "subjects": subjects }).to_string();
    let grant = Grant::from_spec(&GrantSpec::parse(spec.as_bytes()).unwrap(), None);
    let grants = [grant].into_iter().collect();
    gate.open(SessionSpec { grants, ..SessionSpec::new(principal("me")) }).unwrap()
}

async fn connect(
    gate: &Arc<Gate>,
    session: &Session,
    host: &str,
    port: u16,
) -> Result<ConnectAnswer, CallError> {
    let request = ConnectRequest { host: host.into(), port, prefer_ipv6: false, timeout_ms: 20_000 };
    let call = Call::typed(CONNECT, request, 9, Streams::default());
    Ok(gate.dispatch(session, call).await?.value().unwrap())
}

/// Sends back what it gets, to the end.
async fn echo() -> SocketAddr {
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    tokio::spawn(async move {
        while let Ok((mut stream, _)) = listener.accept().await {
            let mut all = Vec::new();
            let _ = stream.read_to_end(&mut all).await;
            let _ = stream.write_all(&all).await;
        }
    });
    address
}

#[tokio::test]
async fn bytes_go_both_ways_and_letting_the_sink_go_is_a_half_close() {
    let (gate, address) = (gate(), echo().await);
    let me = session(&gate, &[format!("private:{address}")]);
    let connected = connect(&gate, &me, "127.0.0.1", address.port()).await.unwrap();
    let Ok(Connected { mut source, mut sink }) = connected else { panic!("it is reached") };
    assert_eq!(poll_fn(|cx| sink.poll_write(cx, b"hello")).await.unwrap(), 5);
    drop(sink);
    let mut all = Vec::new();
    let mut piece = [0; 3];
    loop {
        match poll_fn(|cx| source.poll_read(cx, &mut piece)).await.unwrap() {
            0 => break,
            count => all.extend_from_slice(&piece[..count]),
        }
    }
    assert_eq!(all, b"hello");
}

#[tokio::test]
async fn only_what_a_grant_names_is_dialled_and_nobody_there_is_an_answer() {
    let (gate, address) = (gate(), echo().await);
    let free = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap().local_addr().unwrap();
    let me = session(&gate, &[format!("private:{free}"), "*:80".into(), "localhost:*".into()]);
    let refused = |host: &'static str, port| {
        let (gate, me) = (Arc::clone(&gate), me.clone());
        async move { connect(&gate, &me, host, port).await.err().map(|it| it.code()) }
    };
    assert_eq!(refused("127.0.0.1", address.port()).await, Some("host_not_granted"));
    // A name whose address is not public is no way around.
    assert_eq!(refused("localhost", address.port()).await, Some("host_not_granted"));
    assert_eq!(refused("169.254.169.254", 80).await, Some("host_not_granted"));
    for no_host in ["", "a b", "a/b", "u@a", "a:1", "a%20", "a#b"] {
        assert_eq!(refused(no_host, 80).await, Some("malformed"), "{no_host}");
    }
    let nobody = connect(&gate, &me, "127.0.0.1", free.port()).await.unwrap();
    assert_eq!(nobody.err(), Some(ConnectFailure::Unreachable));
    let in_bytes = gate.dispatch(&me, Call::new(CONNECT, b"x", Streams::default())).await;
    assert_eq!(in_bytes.err().unwrap().code(), "malformed");
}

#[tokio::test]
async fn a_connection_ends_with_its_session() {
    let (gate, address) = (gate(), echo().await);
    let me = session(&gate, &[format!("private:{address}")]);
    let Ok(Connected { mut source, sink: _sink }) =
        connect(&gate, &me, "127.0.0.1", address.port()).await.unwrap()
    else {
        panic!("it is reached")
    };
    let mut piece = [0; 3];
    let quiet =
        tokio::time::timeout(Duration::from_millis(1), poll_fn(|cx| source.poll_read(cx, &mut piece)));
    assert!(quiet.await.is_err());
    me.cancel();
    let broken = poll_fn(|cx| source.poll_read(cx, &mut piece)).await;
    assert_eq!(broken.unwrap_err().kind(), std::io::ErrorKind::BrokenPipe);
    assert!(Cap::ALL.contains(&Cap::Tcp));
}

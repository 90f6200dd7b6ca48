//! Proofs for `tcp`: what is let through, what is refused, what comes back, and that a connection ends with what let it be
//! made. And what the tests of `tls` and `udp` share with these: a gate over the machine's own sockets, sessions with grants
//! of one power, servers on loopback, and the contract that all that dial keep.

use std::{future::poll_fn, net::SocketAddr, sync::Arc, time::Duration};

use drydock_abi::{
    broker::Answer,
    exchange::{DatagramRequest, Ended, ExchangeRequest, Exchanged},
    tcp::{CONNECT, ConnectAnswer, ConnectFailure, ConnectRequest, Connected, REQUEST},
};
use drydock_contract::{Call, CallError, Cap, Denial, GrantSpec, Node, Streams, Tenant, port::AuditRecord};
use drydock_egress::{Egress, Parts, QuotaLimits, SystemResolver, TcpDialler, Trust, WorldRoots};
use drydock_gate::{Gate, GateSettings, Grant, Session, SessionSpec};
use drydock_testkit::{FixedClock, MemoryJournal, principal};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};

use super::TcpProtocol;
use crate::{
    dialled::{Dialled, Protocol},
    tls::TlsProtocol,
    udp::UdpProtocol,
};

/// A gate with all three, and its records.
pub(crate) struct Yard {
    pub(crate) gate: Arc<Gate>,
    pub(crate) journal: Arc<MemoryJournal>,
}

impl Yard {
    pub(crate) fn new() -> Self {
        Self::counting(GateSettings::default())
    }

    pub(crate) fn counting(settings: GateSettings) -> Self {
        let clock = Arc::new(FixedClock::default());
        let egress = Arc::new(Egress::new(Parts {
            resolver: Arc::new(SystemResolver::default()),
            dialler: Arc::new(TcpDialler),
            trust: Trust::new(WorldRoots::Nobody, Vec::new()),
            quota: QuotaLimits::default(),
        }));
        let journal = Arc::new(MemoryJournal::default());
        let gate = Gate::new(settings, Arc::clone(&clock) as _, Arc::clone(&journal) as _)
            .with(Dialled::<TcpProtocol>::new(Arc::clone(&egress), Arc::clone(&clock) as _))
            .with(Dialled::<TlsProtocol>::new(Arc::clone(&egress), Arc::clone(&clock) as _))
            .with(Dialled::<UdpProtocol>::new(egress, clock));
        Self { gate: Arc::new(gate), journal }
    }

    pub(crate) fn session(&self, cap: Cap, subjects: &[String]) -> Session {
        let spec = serde_json::json!({ "cap": cap.as_str(), "subjects": subjects }).to_string();
        let grant = Grant::from_spec(&GrantSpec::parse(spec.as_bytes()).unwrap(), None);
        let grants = [grant].into_iter().collect();
        self.gate.open(SessionSpec { grants, ..SessionSpec::new(principal("me")) }).unwrap()
    }

    pub(crate) async fn exchange(
        &self,
        me: &Session,
        operation: &'static str,
        request: ExchangeRequest,
    ) -> Result<Answer<Exchanged>, CallError> {
        let call = Call::typed(operation, request, 9, Streams::default());
        Ok(self.gate.dispatch(me, call).await?.value().unwrap())
    }

    pub(crate) async fn datagram(
        &self,
        me: &Session,
        request: DatagramRequest,
    ) -> Result<Answer<Exchanged>, CallError> {
        let call = Call::typed(drydock_abi::udp::REQUEST, request, 9, Streams::default());
        Ok(self.gate.dispatch(me, call).await?.value().unwrap())
    }

    /// Written behind the calls: all that there are so far.
    pub(crate) fn records(&self) -> Vec<AuditRecord> {
        self.gate.flush().unwrap();
        self.journal.records()
    }

    /// The code that a request in bytes is refused with.
    pub(crate) async fn refusal(&self, me: &Session, operation: &str, json: &[u8]) -> Denial {
        let refused = self.gate.dispatch(me, Call::new(operation, json, Streams::default())).await;
        match refused.err() {
            Some(CallError::Denied(denial)) => denial,
            other => panic!("{other:?}"),
        }
    }
}

pub(crate) fn to(address: SocketAddr, data: &[u8]) -> ExchangeRequest {
    let (host, port) = (address.ip().to_string(), address.port());
    ExchangeRequest { host, port, data: data.into(), half_close: true, ..ExchangeRequest::default() }
}

pub(crate) fn datagram_to(address: SocketAddr, data: &[u8]) -> DatagramRequest {
    let (host, port) = (address.ip().to_string(), address.port());
    DatagramRequest { host, port, data: data.into(), timeout_ms: None }
}

/// Sends each datagram back to whom it came from.
pub(crate) async fn udp_echo() -> SocketAddr {
    let socket = tokio::net::UdpSocket::bind("127.0.0.1:0").await.unwrap();
    let address = socket.local_addr().unwrap();
    tokio::spawn(async move {
        let mut datagram = vec![0; 70_000];
        while let Ok((count, from)) = socket.recv_from(&mut datagram).await {
            socket.send_to(&datagram[..count], from).await.unwrap();
        }
    });
    address
}

/// The contract that each of them keeps, whatever it speaks: who is refused, by which code and before what.
pub(crate) async fn keeps_the_contract<P: Protocol>(operation: &'static str) {
    let cap = P::SPEC.cap;
    let yard = Yard::new();
    let bytes = |host: &str, port: u16| serde_json::json!({ "host": host, "port": port }).to_string();
    let me = yard.session(cap, &["a.test:53".into(), "*:80".into(), "private:127.0.0.1:9".into()]);
    for (host, port, code, subject) in [
        ("b.test", 53, "host_not_granted", Some("b.test:53")),
        ("a.test", 54, "host_not_granted", Some("a.test:54")),
        ("127.0.0.1", 10, "host_not_granted", Some("private:127.0.0.1:10")),
        // A star names no address that is not public, in whatever spelling.
        ("169.254.169.254", 80, "host_not_granted", Some("private:169.254.169.254:80")),
        ("2852039166", 80, "host_not_granted", Some("private:169.254.169.254:80")),
        ("[::ffff:10.0.0.1]", 80, "host_not_granted", Some("private:10.0.0.1:80")),
        ("localhost", 80, "host_not_granted", None),
        ("", 53, "malformed", None),
        ("a.test/b", 53, "malformed", None),
        ("u@a.test", 53, "malformed", None),
        ("a.test:53", 53, "malformed", None),
        ("a.test", 0, "malformed", None),
    ] {
        let denial = yard.refusal(&me, operation, bytes(host, port).as_bytes()).await;
        assert_eq!(denial.code(), code, "{host} {port}");
        let Some(subject) = subject else { continue };
        // The grant that would help is for this power and no other.
        let want = GrantSpec::exactly(cap, [subject]).unwrap();
        assert_eq!(denial.remedy(), Some(want), "{host} {port}");
        assert_eq!(denial.flag(), Some(format!("--allow-{cap} {subject}")));
    }
    for junk in [&b""[..], b"{}", b"[]", b"\xff", br#"{"host":"a.test","port":53,"more":1}"#] {
        assert_eq!(yard.refusal(&me, operation, junk).await.code(), "malformed");
    }
    let long = vec![b' '; P::SPEC.operations[0].request_bytes_max as usize + 1];
    assert_eq!(yard.refusal(&me, operation, &long).await.code(), "too_large");
    let nobody = yard.gate.open(SessionSpec::new(principal("nobody"))).unwrap();
    assert_eq!(yard.refusal(&nobody, operation, bytes("a.test", 53).as_bytes()).await.code(), "denied");
    let before = yard.records().len();
    me.cancel();
    assert_eq!(yard.refusal(&me, operation, bytes("a.test", 53).as_bytes()).await.code(), "cancelled");
    assert_eq!(yard.records().len(), before + 1, "each refusal is one record");
    let slow = Yard::counting(GateSettings { calls_max: 1, ..GateSettings::default() });
    let me = slow.session(cap, &["a.test:53".into()]);
    slow.refusal(&me, operation, b"{}").await;
    assert_eq!(slow.refusal(&me, operation, b"{}").await.code(), "rate_limited");
}

fn gate() -> Arc<Gate> {
    Yard::new().gate
}

fn session(gate: &Arc<Gate>, subjects: &[String]) -> Session {
    Yard { gate: Arc::clone(gate), journal: Arc::default() }.session(Cap::Tcp, subjects)
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

#[tokio::test]
async fn whoever_waits_at_a_connection_hears_that_it_is_lost() {
    let ends: [fn(&Gate, &Session); 2] = [
        |_, me| me.cancel(),
        |gate, _| gate.revoke(&Node::Principal(Tenant::default(), principal("me"))).unwrap(),
    ];
    for end in ends {
        let (gate, address) = (gate(), echo().await);
        let me = session(&gate, &[format!("private:{address}")]);
        let Ok(Connected { mut source, sink: _sink }) =
            connect(&gate, &me, "127.0.0.1", address.port()).await.unwrap()
        else {
            panic!("it is reached")
        };
        // Nothing comes: the other side sends back what it has when it has all.
        let mut piece = [0; 3];
        let reading = poll_fn(|cx| source.poll_read(cx, &mut piece));
        let (read, ()) = tokio::join!(reading, async { end(&gate, &me) });
        assert_eq!(read.unwrap_err().kind(), std::io::ErrorKind::BrokenPipe);
    }
}

#[tokio::test]
async fn a_request_over_tcp_keeps_the_contract_of_all_that_dial() {
    keeps_the_contract::<TcpProtocol>(REQUEST).await;
}

#[tokio::test]
async fn what_a_host_sends_back_is_the_answer_and_its_addresses_and_bytes_are_on_record() {
    let (yard, address) = (Yard::new(), echo().await);
    let me = yard.session(Cap::Tcp, &[format!("private:{address}")]);
    let answer = yard.exchange(&me, REQUEST, to(address, b"canary-payload")).await.unwrap();
    assert_eq!(answer.unwrap(), Exchanged { data: b"canary-payload".into(), ended: Ended::Closed });
    let record = format!("{:?}", yard.records().last().unwrap());
    assert!(record.contains(&address.to_string()), "{record}");
    assert!(record.contains("bytes_sent: 14, bytes_received: 14"), "{record}");
    assert!(!record.contains("canary"), "{record}");
    let free = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap().local_addr().unwrap();
    let me = yard.session(Cap::Tcp, &[format!("private:{free}")]);
    let nobody = yard.exchange(&me, REQUEST, to(free, b"")).await.unwrap();
    assert_eq!(nobody.unwrap_err().code, "connect_failed");
    let too_much = yard.exchange(&me, REQUEST, to(free, &vec![0; (1 << 20) + 1])).await;
    assert_eq!(too_much.err().unwrap().code(), "too_large");
}

#[tokio::test]
async fn a_server_that_says_nothing_more_ends_the_reply_by_its_time() {
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    tokio::spawn(async move {
        let (mut stream, _) = listener.accept().await.unwrap();
        stream.write_all(b"so far").await.unwrap();
        std::future::pending::<()>().await;
    });
    let yard = Yard::new();
    let me = yard.session(Cap::Tcp, &[format!("private:{address}")]);
    let request = ExchangeRequest { timeout_ms: Some(300), ..to(address, b"") };
    let answer = yard.exchange(&me, REQUEST, request).await.unwrap().unwrap();
    assert_eq!(answer, Exchanged { data: b"so far".into(), ended: Ended::TimedOut });
    // The place is taken and nobody accepts: nothing comes at all.
    let request = ExchangeRequest { timeout_ms: Some(300), ..to(address, b"") };
    assert_eq!(yard.exchange(&me, REQUEST, request).await.unwrap().unwrap_err().code, "timed_out");
}

#[tokio::test]
async fn whoever_is_revoked_in_the_middle_of_a_request_is_answered_so_at_once() {
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let yard = Yard::new();
    let me = yard.session(Cap::Tcp, &[format!("private:{address}")]);
    let asking = yard.exchange(&me, REQUEST, to(address, b"hello"));
    let revoking = async {
        let (mut stream, _) = listener.accept().await.unwrap();
        let mut all = Vec::new();
        stream.read_to_end(&mut all).await.unwrap();
        yard.gate.revoke(&Node::Principal(Tenant::default(), "me".parse().unwrap())).unwrap();
        stream
    };
    let (answer, _stream) = tokio::join!(asking, revoking);
    assert_eq!(answer.err().unwrap().code(), "revoked");
}

//! Raw bytes over TCP, TLS and UDP go through the same funnel: no forbidden address is dialled by any of them, and what
//! came back, was counted and recorded is what there was.

use std::{
    io::{self, Read as _, Write as _},
    net::{IpAddr, SocketAddr, TcpListener, UdpSocket},
    sync::{Arc, Mutex, atomic::Ordering},
    thread,
    time::Duration,
};

use drydock_egress::{
    Connection, Datagrams, Dial, Egress, Limits, Parts, Pending, Pinned, QuotaLimits, RawEnd, Rules, Target,
    judge,
};
use proptest::prelude::*;

use crate::support::{
    Records, Scripted, caller, local, rules_for, run,
    server::{Authority, self_signed, serve_tls},
};

/// Writes down where it was sent by which way, and reaches nobody.
#[derive(Debug, Default)]
struct Both(Mutex<Vec<(&'static str, SocketAddr)>>);

impl Dial for Both {
    fn dial<'a>(&'a self, to: &'a Pinned) -> Pending<'a, io::Result<Box<dyn Connection>>> {
        self.0.lock().unwrap().push(("connection", to.address()));
        Box::pin(async { Err(io::ErrorKind::ConnectionRefused.into()) })
    }

    fn open<'a>(&'a self, to: &'a Pinned) -> Pending<'a, io::Result<Box<dyn Datagrams>>> {
        self.0.lock().unwrap().push(("datagram", to.address()));
        Box::pin(async { Err(io::ErrorKind::ConnectionRefused.into()) })
    }
}

fn target(text: &str) -> Target {
    text.parse().unwrap()
}

fn any_address() -> impl Strategy<Value = IpAddr> {
    // Half of them are where nothing public is: whether one is forbidden is another test's question.
    prop_oneof![
        any::<[u8; 4]>().prop_map(IpAddr::from),
        any::<[u8; 16]>().prop_map(IpAddr::from),
        any::<[u8; 14]>().prop_map(|it| {
            let mut all = [0x26; 16];
            all[2..].copy_from_slice(&it);
            IpAddr::from(all)
        }),
    ]
}

proptest! {
    #[test]
    fn no_forbidden_address_is_ever_dialled_by_tcp_tls_or_udp_rebinding_included(
        answers in prop::collection::vec(prop::collection::vec(any_address(), 1..4), 3..7),
    ) {
        let (resolver, dialler) = (Scripted::new(answers.clone()), Arc::new(Both::default()));
        let quota = QuotaLimits { requests_max: u32::MAX, ..QuotaLimits::default() };
        let parts = Parts { resolver: resolver.clone(), dialler: Arc::clone(&dialler) as _, quota, ..Parts::default() };
        let (egress, records) = (Egress::new(parts), Arc::new(Records::default()));
        let rules = Rules::parse(&["name.test:53"], &[], &[]).unwrap();
        let (limits, who) = (Limits::default(), caller(&records));
        run(async {
            for (at, _) in answers.iter().enumerate() {
                let (plain, secure) = (target("http://name.test:53/"), target("https://name.test:53/"));
                match at % 3 {
                    0 => drop(egress.exchange_raw(&who, &rules, &plain, b"x", false, &limits).await),
                    1 => drop(egress.exchange_raw(&who, &rules, &secure, b"x", false, &limits).await),
                    _ => drop(egress.exchange_datagram(&who, &rules, &plain, b"x", &limits).await),
                }
            }
        });
        let dialled = dialler.0.lock().unwrap().clone();
        prop_assert!(dialled.iter().all(|(_, to)| judge(to.ip()).is_ok()), "{dialled:?}");
        // One question a request, and only answers that were clean as a whole were dialled.
        prop_assert_eq!(resolver.asked.load(Ordering::SeqCst), answers.len());
        let mut want = Vec::new();
        for (at, answer) in answers.iter().enumerate().filter(|(_, it)| it.iter().all(|one| judge(*one).is_ok())) {
            // A datagram is sent once; a connection that nobody takes is tried at the next address.
            let tried = if at % 3 == 2 { &answer[..1] } else { answer };
            let way = if at % 3 == 2 { "datagram" } else { "connection" };
            want.extend(tried.iter().map(|it| (way, SocketAddr::new(*it, 53))));
        }
        prop_assert_eq!(dialled, want);
    }
}

/// Does this with the one connection it takes.
fn once(serve: impl FnOnce(std::net::TcpStream) + Send + 'static) -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    thread::spawn(move || serve(listener.accept().unwrap().0));
    address
}

/// What comes of sending this there, and the last record.
fn send(
    to: SocketAddr,
    data: &[u8],
    half_close: bool,
    limits: Limits,
) -> (Result<(Vec<u8>, RawEnd), &'static str>, String) {
    let records = Arc::new(Records::default());
    let answer = run(async {
        let egress = local(Scripted::always(&["127.0.0.1"]), Vec::new());
        let to_name = target(&format!("http://served.test:{}/", to.port()));
        let (who, rules) = (caller(&records), rules_for(to));
        let asking = egress.exchange_raw(&who, &rules, &to_name, data, half_close, &limits);
        asking.await.map(|it| (it.data, it.ended)).map_err(|error| error.code())
    });
    (answer, records.lines().pop().unwrap())
}

#[test]
fn a_reply_is_over_when_the_other_side_closes_time_is_up_or_it_is_full() {
    let usual = Limits { total_max: Duration::from_secs(20), ..Limits::default() };
    let echo = once(|mut it| {
        let mut all = Vec::new();
        it.read_to_end(&mut all).unwrap();
        it.write_all(&all).unwrap();
    });
    let (answer, record) = send(echo, b"hello", true, usual);
    assert_eq!(answer, Ok((b"hello".to_vec(), RawEnd::Closed)));
    assert_eq!(record, "ended served.test 0 5 ok");
    let flood = once(|mut it| while it.write_all(&[7; 4096]).is_ok() {});
    let full = Limits { response_bytes_max: 10_000, ..usual };
    assert_eq!(send(flood, b"", false, full).0, Ok((vec![7; 10_000], RawEnd::Full)));
    let short = Limits { total_max: Duration::from_millis(300), ..usual };
    let slow = once(|mut it| {
        it.write_all(b"part").unwrap();
        let _ = it.read_to_end(&mut Vec::new());
    });
    assert_eq!(send(slow, b"", false, short).0, Ok((b"part".to_vec(), RawEnd::TimedOut)));
    let silent = once(|mut it| drop(it.read_to_end(&mut Vec::new())));
    let (answer, record) = send(silent, b"", false, short);
    assert_eq!((answer, record.as_str()), (Err("timeout"), "ended served.test 0 0 timeout"));
    let closes = once(drop);
    assert_eq!(send(closes, b"", true, usual).0, Ok((Vec::new(), RawEnd::Closed)));
}

#[test]
fn a_server_that_answers_before_it_has_read_everything_holds_nobody_up() {
    let data = vec![1; 8 << 20];
    let both_ways = once(|it| {
        let (mut reads, mut writes) = (it.try_clone().unwrap(), it);
        // Writes more than any buffer holds before it reads a byte.
        writes.write_all(&[2; 4 << 20]).unwrap();
        let mut all = Vec::new();
        reads.read_to_end(&mut all).unwrap();
        writes.write_all(all.len().to_string().as_bytes()).unwrap();
    });
    let limits = Limits { total_max: Duration::from_secs(60), ..Limits::default() };
    let (answer, _) = send(both_ways, &data, true, limits);
    let (reply, ended) = answer.unwrap();
    assert_eq!((reply.len(), ended), ((4 << 20) + 7, RawEnd::Closed));
    assert!(reply.ends_with(b"8388608"));
}

#[test]
fn a_raw_reply_over_tls_is_that_of_the_host_that_proves_its_name() {
    let (authority, years) = (Authority::new(), (2020, 2090));
    for (config, host, want) in [
        (authority.config("served.test", years), "served.test", Ok("over tls")),
        (authority.config("other.test", years), "served.test", Err("certificate_refused")),
        (authority.config("served.test", (2020, 2021)), "served.test", Err("certificate_refused")),
        (self_signed("served.test"), "served.test", Err("certificate_refused")),
    ] {
        let server = serve_tls(config, |_, out| out.write_all(b"over tls").unwrap());
        let records = Arc::new(Records::default());
        let answer = run(async {
            let egress = local(Scripted::always(&["127.0.0.1"]), vec![authority.root.clone()]);
            let to = target(&format!("https://{host}:{}/", server.address.port()));
            let rules = Rules::parse(
                &[format!("https://served.test:{}", server.address.port())],
                &[],
                &[server.address.to_string()],
            );
            let (rules, limits) = (rules.unwrap(), Limits::default());
            let who = caller(&records);
            let asking = egress.exchange_raw(&who, &rules, &to, b"hi\r\n\r\n", false, &limits);
            asking.await.map(|it| it.data).map_err(|error| error.code())
        });
        assert_eq!(answer, want.map(|it| it.as_bytes().to_vec()));
        let heads = server.heads.lock().unwrap().clone();
        // The name is asked for, and nothing is sent to whoever does not prove it.
        assert_eq!(heads.len(), usize::from(want.is_ok()));
        assert!(heads.iter().all(|it| it.starts_with("sni served.test\r\nhi")), "{heads:?}");
    }
}

#[test]
fn a_datagram_comes_back_from_whom_it_was_sent_to_and_from_nobody_else() {
    let server = UdpSocket::bind("127.0.0.1:0").unwrap();
    let to = server.local_addr().unwrap();
    thread::spawn(move || {
        let mut datagram = [0; 70_000];
        let stranger = UdpSocket::bind("127.0.0.1:0").unwrap();
        while let Ok((count, from)) = server.recv_from(&mut datagram) {
            stranger.send_to(b"from somebody else", from).unwrap();
            server.send_to(&datagram[..count], from).unwrap();
        }
    });
    let free = UdpSocket::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let ask = |to: SocketAddr, data: &[u8]| {
        let records = Arc::new(Records::default());
        let limits = Limits { total_max: Duration::from_secs(20), ..Limits::default() };
        let answer = run(async {
            let egress = local(Scripted::always(&["127.0.0.1"]), Vec::new());
            let to_name = target(&format!("http://served.test:{}/", to.port()));
            let (who, rules) = (caller(&records), rules_for(to));
            let asking = egress.exchange_datagram(&who, &rules, &to_name, data, &limits);
            asking.await.map_err(|error| error.code())
        });
        (answer, records.lines().pop().unwrap())
    };
    let (answer, record) = ask(to, &[5; 60_000]);
    assert_eq!((answer, record.as_str()), (Ok(vec![5; 60_000]), "ended served.test 0 60000 ok"));
    assert_eq!(ask(to, b"").0, Ok(Vec::new()));
    // Nobody listens there, which the machine knows.
    assert_eq!(ask(free, b"x").0, Err("recv_failed"));
    assert_eq!(ask(to, &[0; 65_535]).0, Err("send_failed"));
}

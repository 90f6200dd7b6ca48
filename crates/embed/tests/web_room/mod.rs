//! A loopback server with a script, and a way out that knows every name and dials nothing but loopback.
#![allow(dead_code, clippy::unwrap_used)]

use std::{
    io::{self, Read, Write},
    net::{IpAddr, Ipv4Addr, SocketAddr, TcpListener},
    sync::{Arc, Mutex},
    thread,
};

use drydock_embed::egress::{
    Connection, Datagrams, Dial, Egress, HostName, Parts, Pending, Pinned, QuotaLimits, Resolve, TcpDialler,
    Trust, WorldRoots,
};

/// Where it listens, and the requests that it read.
pub(crate) struct Server {
    pub(crate) address: SocketAddr,
    pub(crate) heads: Arc<Mutex<Vec<String>>>,
}

impl Server {
    pub(crate) fn heads(&self) -> Vec<String> {
        self.heads.lock().unwrap().clone()
    }

    pub(crate) fn url(&self, path: &str) -> String {
        format!("http://{}{path}", self.address)
    }
}

/// Answers each connection with what `answer` writes. The thread ends with the test's process.
pub(crate) fn serve(answer: impl Fn(&str, &mut dyn Write) + Send + Sync + 'static) -> Server {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    let heads = Arc::new(Mutex::new(Vec::new()));
    let (kept, answer) = (Arc::clone(&heads), Arc::new(answer));
    thread::spawn(move || {
        for mut stream in listener.incoming().map_while(Result::ok) {
            let (answer, heads) = (Arc::clone(&answer), Arc::clone(&kept));
            thread::spawn(move || {
                if let Some(head) = read_request(&mut stream) {
                    heads.lock().unwrap().push(head.clone());
                    answer(&head, &mut stream);
                }
            });
        }
    });
    Server { address, heads }
}

/// Answers every request so.
pub(crate) fn serving(status: &str, headers: &str, body: &str) -> Server {
    let text = format!("HTTP/1.1 {status}\r\ncontent-length: {}\r\n{headers}\r\n{body}", body.len());
    serve(move |_, to| to.write_all(text.as_bytes()).unwrap())
}

fn read_request(stream: &mut impl Read) -> Option<String> {
    let mut bytes = Vec::new();
    let mut one = [0];
    while !bytes.ends_with(b"\r\n\r\n") {
        stream.read_exact(&mut one).ok()?;
        bytes.push(one[0]);
    }
    let head = String::from_utf8_lossy(&bytes).into_owned();
    let length = head.lines().find_map(|line| line.strip_prefix("content-length: ")?.parse::<usize>().ok());
    let mut body = vec![0; length.unwrap_or(0)];
    stream.read_exact(&mut body).ok()?;
    Some(head + &String::from_utf8_lossy(&body))
}

/// The name whose address is public. Nobody is dialled there: that somebody wanted to is written down.
pub(crate) const FAR: &str = "evil.test";
/// That address.
pub(crate) const FAR_ADDRESS: Ipv4Addr = Ipv4Addr::new(93, 184, 216, 34);

/// Every other name is at home here.
#[derive(Debug)]
struct Home;

impl Resolve for Home {
    fn resolve<'a>(&'a self, name: &'a HostName, _: usize) -> Pending<'a, io::Result<Vec<IpAddr>>> {
        let found = if name.as_str() == FAR { FAR_ADDRESS } else { Ipv4Addr::LOCALHOST };
        Box::pin(async move { Ok(vec![found.into()]) })
    }
}

/// Dials loopback, and writes down everything else.
#[derive(Debug, Default)]
pub(crate) struct Dialled {
    tcp: TcpDialler,
    pub(crate) to: Mutex<Vec<SocketAddr>>,
}

impl Dial for Dialled {
    fn dial<'a>(&'a self, to: &'a Pinned) -> Pending<'a, io::Result<Box<dyn Connection>>> {
        self.to.lock().unwrap().push(to.address());
        match to.address().ip().is_loopback() {
            true => self.tcp.dial(to),
            false => Box::pin(async { Err(io::ErrorKind::ConnectionRefused.into()) }),
        }
    }

    fn open<'a>(&'a self, to: &'a Pinned) -> Pending<'a, io::Result<Box<dyn Datagrams>>> {
        self.to.lock().unwrap().push(to.address());
        match to.address().ip().is_loopback() {
            true => self.tcp.open(to),
            false => Box::pin(async { Err(io::ErrorKind::ConnectionRefused.into()) }),
        }
    }
}

/// A way out to loopback, and what it dialled.
pub(crate) fn local(quota: QuotaLimits) -> (Arc<Egress>, Arc<Dialled>) {
    trusting(quota, Vec::new())
}

/// The same, which believes whoever these roots have signed.
pub(crate) fn trusting(quota: QuotaLimits, roots: Vec<Vec<u8>>) -> (Arc<Egress>, Arc<Dialled>) {
    let dialled = Arc::new(Dialled::default());
    let trust = Trust::new(WorldRoots::Nobody, roots);
    let parts = Parts { resolver: Arc::new(Home), dialler: Arc::clone(&dialled) as _, trust, quota };
    (Arc::new(Egress::new(parts)), dialled)
}

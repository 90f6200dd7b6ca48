//! What the tests share: resolvers with a script, a dialler that only writes down, records, and loopback servers.
#![allow(dead_code, reason = "each test file uses its own part")]

pub(crate) use drydock_testkit::loopback as server;

use std::{
    future::Future,
    io,
    net::{IpAddr, SocketAddr},
    sync::{
        Arc, Mutex,
        atomic::{AtomicUsize, Ordering},
    },
    time::Duration,
};

use drydock_egress::{
    Caller, Connection, Datagrams, Dial, Egress, HostName, NotRecorded, Observation, Observe, Parts, Pending,
    Pinned, Policy, QuotaLimits, Resolve, Rules, Trust, WorldRoots,
};

/// Answers what it was told to, one answer a question; the last one again and again.
#[derive(Debug, Default)]
pub(crate) struct Scripted {
    pub(crate) answers: Vec<Vec<IpAddr>>,
    pub(crate) asked: AtomicUsize,
}

impl Scripted {
    pub(crate) fn new(answers: Vec<Vec<IpAddr>>) -> Arc<Self> {
        Arc::new(Self { answers, asked: AtomicUsize::new(0) })
    }

    pub(crate) fn always(addresses: &[&str]) -> Arc<Self> {
        Self::new(vec![addresses.iter().map(|it| it.parse().unwrap()).collect()])
    }
}

impl Resolve for Scripted {
    fn resolve<'a>(&'a self, _: &'a HostName, _: usize) -> Pending<'a, io::Result<Vec<IpAddr>>> {
        let at = self.asked.fetch_add(1, Ordering::SeqCst);
        let answer = self.answers.get(at).or(self.answers.last()).cloned();
        Box::pin(async move { answer.ok_or_else(|| io::Error::other("no such name")) })
    }
}

/// Never answers.
#[derive(Debug)]
pub(crate) struct Hanging;

impl Resolve for Hanging {
    fn resolve<'a>(&'a self, _: &'a HostName, _: usize) -> Pending<'a, io::Result<Vec<IpAddr>>> {
        Box::pin(std::future::pending())
    }
}

/// Writes down where it was sent, and connects nowhere.
#[derive(Debug, Default)]
pub(crate) struct Recording(pub(crate) Mutex<Vec<SocketAddr>>);

impl Dial for Recording {
    fn dial<'a>(&'a self, to: &'a Pinned) -> Pending<'a, io::Result<Box<dyn Connection>>> {
        self.0.lock().unwrap().push(to.address());
        Box::pin(async { Err(io::ErrorKind::ConnectionRefused.into()) })
    }
}

/// Dials loopback, and fails the test that sends it elsewhere.
#[derive(Debug, Default)]
pub(crate) struct LoopbackOnly(drydock_egress::TcpDialler);

impl Dial for LoopbackOnly {
    fn dial<'a>(&'a self, to: &'a Pinned) -> Pending<'a, io::Result<Box<dyn Connection>>> {
        assert!(to.address().ip().is_loopback(), "a test dials {to:?}");
        self.0.dial(to)
    }

    fn open<'a>(&'a self, to: &'a Pinned) -> Pending<'a, io::Result<Box<dyn Datagrams>>> {
        assert!(to.address().ip().is_loopback(), "a test sends to {to:?}");
        self.0.open(to)
    }
}

/// Keeps records in memory.
#[derive(Debug, Default)]
pub(crate) struct Records(pub(crate) Mutex<Vec<Observation>>);

impl Observe for Records {
    fn observe(&self, observation: &Observation) -> Result<(), NotRecorded> {
        self.0.lock().unwrap().push(observation.clone());
        Ok(())
    }
}

impl Records {
    /// Each record in a few words.
    pub(crate) fn lines(&self) -> Vec<String> {
        let line = |it: &Observation| match it {
            Observation::Refused { host, port, code } => format!("refused {host}:{port} {code}"),
            Observation::Began { attempt } => format!("began {} {}", attempt.host, attempt.address),
            Observation::Ended { attempt, status, bytes_received, code, .. } => {
                format!("ended {} {:?} {bytes_received} {code}", attempt.host, status.unwrap_or_default())
            }
        };
        self.0.lock().unwrap().iter().map(line).collect()
    }
}

pub(crate) fn caller(records: &Arc<Records>) -> Caller {
    let observer: Arc<dyn Observe> = Arc::clone(records) as _;
    Caller { tenant: drydock_contract::Tenant::default(), principal: "tester".parse().unwrap(), observer }
}

/// Egress that can reach loopback only, with these roots for it.
pub(crate) fn local(resolver: Arc<dyn Resolve>, roots: Vec<Vec<u8>>) -> Egress {
    let trust = Trust::new(WorldRoots::Nobody, roots);
    Egress::new(Parts {
        resolver,
        dialler: Arc::new(LoopbackOnly::default()),
        trust,
        quota: QuotaLimits::default(),
    })
}

/// May reach the address, and `served.test` on its port.
pub(crate) fn policy_for(address: SocketAddr) -> Policy {
    Policy::new(rules_for(address), Vec::new())
}

pub(crate) fn rules_for(address: SocketAddr) -> Rules {
    let host = format!("served.test:{}", address.port());
    Rules::parse(&[host], &[], &[address.to_string()]).unwrap()
}

/// Runs the future, and fails a test that hangs.
pub(crate) fn run<T>(future: impl Future<Output = T>) -> T {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    runtime
        .block_on(async { tokio::time::timeout(Duration::from_secs(120), future).await.expect("it hangs") })
}

//! What listens, and who answers there: a serving guest, made anew for each request, or a registered command that reads the
//! request and writes the response.

use core::net::IpAddr;
use std::{collections::HashSet, sync::Arc};

use bytes::Bytes;
use drydock_abi::{
    broker::{Answer, Failure},
    exec::{START, encode_request, take_report},
    serve::{DISPATCH_WALL_MAX, Protocol, RESPONSE_BYTES_MAX},
};
use drydock_contract::{
    Artifact, Call, CallError, Cap, Denial, Digest, Dispatch, Exchange, Fault, GuestTime, Limits, Outcome,
    RunReport, RunRequest, Sink, Source, Streams, Switch, Tenant, WorkingDir,
    port::{Clock, Runner},
    text::printable,
};
use drydock_gate::{Lease, Permit};
use parking_lot::Mutex;

use crate::{
    clients::{Clients, Turned},
    exec::ExecStart,
    program::Held,
    serve::Serve,
};

/// Bytes of its log, and of what it writes to stdout, of one request.
const LOG_BYTES_MAX: u64 = 64 << 10;

/// Who answers.
#[derive(Debug, Clone)]
pub enum Handler {
    /// A serving guest that was handed over.
    Module(Digest),
    /// A command of the registry, by its name and arguments: the request is its stdin, the response its stdout.
    Command {
        /// Its name.
        name: String,
        /// Its arguments.
        args: Vec<Vec<u8>>,
    },
}

/// A handler that was looked up.
pub(crate) enum Found {
    Module(Artifact),
    Command { name: String, args: Vec<Vec<u8>> },
}

/// Names of what listens now, of all tenants of one machine.
#[derive(Debug, Default)]
pub(crate) struct Names(Mutex<HashSet<(Tenant, String)>>);

/// A name that is taken for as long as this lives.
pub(crate) struct Name {
    names: Arc<Names>,
    key: (Tenant, String),
}

impl Names {
    pub(crate) fn take(self: &Arc<Self>, tenant: &Tenant, serve_id: &str) -> Option<Name> {
        let key = (tenant.clone(), serve_id.to_owned());
        self.0.lock().insert(key.clone()).then(|| Name { names: Arc::clone(self), key })
    }
}

impl Drop for Name {
    fn drop(&mut self) {
        self.names.0.lock().remove(&self.key);
    }
}

/// A listener as its power sees it: what was granted, for as long as the lease holds. Whoever has the socket asks here.
pub struct Serving {
    pub(crate) protocol: Protocol,
    /// What a grant names: `http:127.0.0.1:8080`.
    pub(crate) subject: Arc<str>,
    pub(crate) serve_id: String,
    pub(crate) handler: Found,
    pub(crate) clients: Mutex<Clients>,
    pub(crate) clock: Arc<dyn Clock>,
    pub(crate) lease: Lease,
    #[expect(dead_code, reason = "held for as long as it listens, and given back by its own drop")]
    pub(crate) name: Name,
}

impl Serving {
    /// The gate for what comes in: each connection and each request is a call of its own there.
    pub fn door(&self) -> Arc<dyn Dispatch> {
        self.lease.door()
    }

    /// What ends it from outside.
    pub fn switches(&self) -> [Arc<Switch>; 2] {
        self.lease.switches()
    }

    /// Whether it may still listen. Once it may not it never may again.
    pub fn still_valid(&self) -> bool {
        self.lease.still_valid()
    }

    /// What is spoken there.
    pub fn protocol(&self) -> Protocol {
        self.protocol
    }

    pub(crate) fn ask(&self, client: IpAddr) -> Result<(), Denial> {
        let mut clients = self.clients.lock();
        let asked = clients.ask(client, self.clock.now());
        asked.map_err(|_| Denial::RateLimited {
            calls_max: clients.calls_max(),
            window_s: drydock_abi::serve::CLIENT_WINDOW_S,
        })
    }
}

/// A connection that was let in: its place is free when this is dropped.
pub struct Accepted {
    serving: Arc<Serving>,
    client: IpAddr,
    /// Its place among the principal's connections.
    lease: Option<Lease>,
}

impl Accepted {
    pub(crate) fn enter(serving: Arc<Serving>, client: IpAddr) -> Result<Self, Denial> {
        let entered = serving.clients.lock().enter(client, serving.clock.now());
        match entered {
            Ok(()) => {}
            Err(Turned::Connections) => {
                let why = "this client has as many connections as one may have; it has to close some".into();
                return Err(Denial::ByPower {
                    cap: Cap::Serve,
                    code: crate::serve::TOO_MANY_CONNECTIONS,
                    why,
                });
            }
            Err(Turned::Rate) => {
                let (calls_max, window_s) =
                    (serving.clients.lock().calls_max(), drydock_abi::serve::CLIENT_WINDOW_S);
                return Err(Denial::RateLimited { calls_max, window_s });
            }
        }
        // Given back from here on, also where a request too many is refused.
        let accepted = Self { serving, client, lease: None };
        if accepted.serving.protocol == Protocol::Tcp {
            // A raw connection is one request.
            accepted.serving.ask(client)?;
        }
        Ok(accepted)
    }

    #[must_use]
    pub(crate) fn with(self, lease: Lease) -> Self {
        let mut held = self;
        held.lease = Some(lease);
        held
    }

    /// Whom it is from.
    pub fn client(&self) -> IpAddr {
        self.client
    }
}

impl Drop for Accepted {
    fn drop(&mut self) {
        self.serving.clients.lock().leave(self.client);
    }
}

/// Has one request answered.
pub(crate) async fn answer(
    runner: &dyn Runner,
    permit: &Permit<'_, Serve>,
    serving: &Serving,
    request: Bytes,
) -> Result<(Answer<Bytes>, Outcome), CallError> {
    let bytes = request.len() as u64;
    let Ok(held) = Held::of(permit.session().spec().memory.as_ref(), bytes) else {
        let text = format!("a request of {bytes} bytes has no room in the session's memory");
        return Ok((Err(Failure::new("out_of_memory", text)), Outcome::OutOfMemory));
    };
    let done = match &serving.handler {
        Found::Module(artifact) => by_module(runner, permit, serving, artifact.clone(), request).await,
        Found::Command { name, args } => by_command(permit, name, args, request).await,
    };
    drop(held);
    done
}

async fn by_module(
    runner: &dyn Runner,
    permit: &Permit<'_, Serve>,
    serving: &Serving,
    artifact: Artifact,
    request: Bytes,
) -> Result<(Answer<Bytes>, Outcome), CallError> {
    let (session, spec) = (permit.session(), permit.session().spec());
    let wall_max = DISPATCH_WALL_MAX.min(spec.limits.wall_max);
    let limits = Limits {
        wall_max,
        stdin_bytes_max: 0,
        stdout_bytes_max: LOG_BYTES_MAX,
        stderr_bytes_max: LOG_BYTES_MAX,
        ..spec.limits
    };
    let exchange = Arc::new(Exchange::new(request, RESPONSE_BYTES_MAX));
    let request = RunRequest {
        artifact,
        argv: vec![serving.serve_id.clone().into_bytes()],
        env: Arc::clone(&spec.env),
        streams: Streams { stdout: Sink::capture(), stderr: Sink::capture(), ..Streams::default() },
        files: spec.files.clone(),
        trees: Vec::new(),
        working_dir: WorkingDir::Own,
        file_rules: permit.file_rules(),
        limits,
        memory: spec.memory.clone(),
        lane: None,
        compile: None,
        caps: permit.caps(),
        time: spec.clock.as_ref().map_or(spec.time, |clock| GuestTime::Fixed(clock.stands_at())),
        clock: spec.clock.clone(),
        entropy: permit.entropy(),
        door: permit.door_within(wall_max, None),
        switches: session.switches(),
        budget: spec.budget.clone(),
        preparing: Some(Arc::clone(session.preparing())),
        depth: session.depth(),
        tenant: spec.tenant.clone(),
        pays_for_code: false,
    };
    let (RunReport { outcome, .. }, streams) = runner.run_serving(request, Arc::clone(&exchange)).await?;
    tell(permit, serving, streams);
    let answer = match &outcome {
        // One that sets none has said all there is to say.
        Outcome::Exited(0) => Ok(exchange.take_response().unwrap_or_default()),
        Outcome::Exited(status) => {
            Err(Failure::new("guest_failed", format!("the guest said that it failed: {status}")))
        }
        other => Err(Failure::new(other.code(), other.to_string())),
    };
    Ok((answer, outcome))
}

async fn by_command(
    permit: &Permit<'_, Serve>,
    name: &str,
    args: &[Vec<u8>],
    request: Bytes,
) -> Result<(Answer<Bytes>, Outcome), CallError> {
    let wire = encode_request(name, args, b"").map_err(|it| Denial::TooLarge {
        what: "argv",
        bytes: it.0 as u64,
        max: u32::MAX.into(),
    })?;
    let streams = Streams { stdin: Source::Bytes(request), stdout: Sink::capture(), ..Streams::default() };
    let bytes = wire.len() as u64;
    let start = ExecStart::of_wire(wire, DISPATCH_WALL_MAX)?;
    let call = Call::typed(START, start, bytes, streams).with_file_rules(permit.file_rules());
    let mut reply = permit.door().dispatch(call).await?;
    let outcome = take_report(&mut reply).map_err(|bad| Fault::Internal(bad.to_string()))?.outcome;
    let response = reply.streams.stdout.into_captured();
    let answer = match &outcome {
        Outcome::Exited(_) if response.len() as u64 > RESPONSE_BYTES_MAX => {
            let text =
                format!("a response of {} bytes exceeds the limit of {RESPONSE_BYTES_MAX}", response.len());
            Err(Failure::new("response_too_large", text))
        }
        // What it says by its status is for whoever joins commands.
        Outcome::Exited(_) => Ok(response.into()),
        other => Err(Failure::new(other.code(), other.to_string())),
    };
    Ok((answer, outcome))
}

/// What a guest wrote is told to whoever watches the host.
fn tell(permit: &Permit<'_, Serve>, serving: &Serving, streams: Streams) {
    let (tenant, extension) = (permit.session().spec().tenant.as_str(), serving.serve_id.as_str());
    for written in [streams.stdout, streams.stderr] {
        for line in String::from_utf8_lossy(&written.into_captured()).lines() {
            tracing::info!(target: "drydock::extension", tenant, extension, "{}", printable(line));
        }
    }
}

//! What all requests share: the dock, the tokens, the queue, and what is remembered.

use std::{
    collections::HashMap,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    time::Duration,
};

use drydock_contract::Tenant;
use drydock_embed::{Dock, store::Tokens};
use parking_lot::{Mutex, RwLock};

use crate::{
    agents::Drivers,
    held::{Answers, BytesHeld},
    idempotency::Remembered,
    installed::InstalledCache,
    log::LogWriter,
    mcp::McpServers,
    metrics::Metrics,
    pace::Pace,
    queue::Queue,
};

/// The server. Clones are the same one.
#[derive(Clone)]
pub struct App(pub(crate) Arc<Shared>);

pub(crate) struct Shared {
    pub(crate) settings: ServeSettings,
    pub(crate) tokens: Tokens,
    pub(crate) queue: Queue,
    pub(crate) metrics: Metrics,
    pub(crate) remembered: Remembered,
    pub(crate) logs: LogWriter,
    /// What the bodies of all requests hold.
    pub(crate) held: Arc<BytesHeld>,
    /// What the answers hold that are on their way.
    pub(crate) answers: Arc<BytesHeld>,
    pub(crate) mcp: McpServers,
    pub(crate) drivers: Arc<Drivers>,
    dock: Dock,
    tenants: RwLock<HashMap<Tenant, Arc<TenantState>>>,
    draining: AtomicBool,
}

/// Who can reach the listener.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Reach {
    /// Programs of this machine, a browser among them: names of other hosts and other origins are refused.
    Loopback,
    /// Others, too.
    Network,
}

/// What a server is started with.
#[derive(Debug, Clone)]
pub struct ServeSettings {
    /// Who can reach the listener.
    pub reach: Reach,
    /// Further names that a request may call the server by.
    pub host_names: Vec<String>,
    /// What everything is bounded by.
    pub bounds: Bounds,
}

/// What everything is bounded by.
#[derive(Debug, Clone, Copy)]
pub struct Bounds {
    /// Connections at once.
    pub connections_max: usize,
    /// Bytes of a request's line and headers together.
    pub header_bytes_max: usize,
    /// Headers of a request.
    pub headers_max: usize,
    /// Time for a request's line and headers, and between two requests of a connection.
    pub header_read_max: Duration,
    /// Time for a whole body.
    pub body_read_max: Duration,
    /// Time without a byte of a body.
    pub body_pause_max: Duration,
    /// Bytes of the bodies of all requests that are held at once.
    pub bodies_bytes_max: u64,
    /// Time in which 32 KiB of an answer must be taken, from the moment that no more of it can be written.
    pub answer_pause_max: Duration,
    /// Bytes of the answers of all tenants that are on their way, beyond which requests are refused.
    pub answers_bytes_max: u64,
    /// Bytes of the answers of one tenant that are on their way, likewise.
    pub tenant_answers_bytes_max: u64,
    /// Requests of a tenant that run at once.
    pub tenant_in_flight_max: u32,
    /// Requests of a tenant that wait for that.
    pub tenant_waiting_max: u32,
    /// Requests of all tenants that run at once.
    pub in_flight_max: u32,
    /// How long a request waits for its turn.
    pub waiting_max: Duration,
    /// How long an answer is kept for a request that comes again.
    pub idempotency_max: Duration,
    /// How long requests in flight are waited for when the server ends.
    pub drain_max: Duration,
    /// Bytes of stdout and of stderr, each, after which a process ends.
    pub process_output_bytes_max: u64,
    /// Bytes of output of all processes of a tenant that are kept.
    pub process_spool_bytes_max: u64,
    /// Sessions of MCP of all callers at once.
    pub mcp_sessions_max: usize,
    /// Sessions of MCP of one caller at once.
    pub mcp_caller_sessions_max: usize,
    /// How long a session of MCP lives without a message.
    pub mcp_idle_max: Duration,
    /// Runs of agents of all tenants that are driven at once.
    pub agents_max: usize,
    /// Runs of agents of one tenant that are driven at once.
    pub tenant_agents_max: usize,
}

impl Default for Bounds {
    fn default() -> Self {
        Self {
            connections_max: 16_384,
            header_bytes_max: 64 << 10,
            headers_max: 100,
            header_read_max: Duration::from_secs(10),
            body_read_max: Duration::from_secs(60),
            body_pause_max: Duration::from_secs(10),
            bodies_bytes_max: 512 << 20,
            answer_pause_max: Duration::from_secs(10),
            answers_bytes_max: 512 << 20,
            tenant_answers_bytes_max: 128 << 20,
            tenant_in_flight_max: 64,
            tenant_waiting_max: 256,
            in_flight_max: 512,
            waiting_max: Duration::from_secs(10),
            idempotency_max: Duration::from_secs(60 * 60),
            drain_max: Duration::from_secs(30),
            process_output_bytes_max: 64 << 20,
            process_spool_bytes_max: 1 << 30,
            mcp_sessions_max: 256,
            mcp_caller_sessions_max: 64,
            mcp_idle_max: Duration::from_secs(10 * 60),
            agents_max: 64,
            tenant_agents_max: 16,
        }
    }
}

/// What must be taken of an answer in a pause, so that a byte now and then holds no connection.
const ANSWER_PAUSE_BYTES_MIN: usize = 32 << 10;

impl Bounds {
    /// How slowly an answer may be read. Downloads and streams have no end of their own.
    pub(crate) fn pace(&self) -> Pace {
        Pace { pause_max: self.answer_pause_max, pause_bytes_min: ANSWER_PAUSE_BYTES_MIN, write_max: None }
    }
}

impl Default for ServeSettings {
    fn default() -> Self {
        Self { reach: Reach::Loopback, host_names: Vec::new(), bounds: Bounds::default() }
    }
}

/// What is kept in memory for one tenant.
pub(crate) struct TenantState {
    pub(crate) dock: Arc<Dock>,
    pub(crate) installed: InstalledCache,
    pub(crate) answers: Answers,
}

impl App {
    /// A server over a dock, for the tenants of the tokens in its home.
    pub fn new(dock: Dock, settings: ServeSettings) -> Self {
        let bounds = &settings.bounds;
        Self(Arc::new(Shared {
            tokens: Tokens::of(dock.home()),
            queue: Queue::new(bounds),
            metrics: Metrics::default(),
            remembered: Remembered::new(bounds.idempotency_max),
            logs: LogWriter::start(),
            mcp: McpServers::new(bounds),
            drivers: Arc::new(Drivers::new(bounds)),
            held: Arc::new(BytesHeld::new(bounds.bodies_bytes_max)),
            answers: Arc::new(BytesHeld::new(bounds.answers_bytes_max)),
            settings,
            dock,
            tenants: RwLock::default(),
            draining: AtomicBool::new(false),
        }))
    }

    pub(crate) fn bounds(&self) -> Bounds {
        self.0.settings.bounds
    }

    /// From now on the server says that it is about to end.
    pub(crate) fn drain(&self) {
        self.0.draining.store(true, Ordering::Relaxed);
        self.0.mcp.end();
    }

    /// Writes what extensions logged and nobody wrote yet.
    pub fn flush(&self) {
        self.0.logs.flush();
    }
}

impl Shared {
    pub(crate) fn is_draining(&self) -> bool {
        self.draining.load(Ordering::Relaxed)
    }

    /// What is kept for a tenant that a token names.
    pub(crate) fn tenant(&self, tenant: &Tenant) -> Arc<TenantState> {
        if let Some(found) = self.tenants.read().get(tenant) {
            return Arc::clone(found);
        }
        let mut all = self.tenants.write();
        let made = || {
            let dock = Arc::new(self.dock.for_tenant(tenant.clone()));
            self.drivers.take_up(dock.agents(), tenant.clone());
            let own = BytesHeld::new(self.settings.bounds.tenant_answers_bytes_max);
            let answers = Answers::new(own, &self.answers);
            Arc::new(TenantState { dock, installed: InstalledCache::default(), answers })
        };
        Arc::clone(all.entry(tenant.clone()).or_insert_with(made))
    }

    /// What is kept for tenants, for those who look at all of them.
    pub(crate) fn tenants(&self) -> usize {
        self.tenants.read().len()
    }
}

/// A map that several requests look into at once.
pub(crate) type Locked<K, V> = Mutex<HashMap<K, V>>;

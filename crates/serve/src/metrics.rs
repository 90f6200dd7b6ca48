//! Figures about this process in the text form that Prometheus reads. Counters only ever grow; nothing names a tenant.

use std::{
    fmt::Write as _,
    sync::atomic::{AtomicU64, Ordering},
    time::Duration,
};

use axum::http::StatusCode;

use crate::{app::Shared, error::kind_name, route::ROUTES};
use drydock_embed::extension::runner::FailureKind;

/// Upper ends of the classes of durations, in microseconds.
const BUCKETS_US: [u64; 12] =
    [100, 250, 500, 1_000, 2_500, 5_000, 10_000, 25_000, 100_000, 500_000, 2_500_000, 10_000_000];
/// Of statuses: 1xx to 5xx.
const CLASSES: usize = 5;
const KINDS: [FailureKind; 11] = [
    FailureKind::Link,
    FailureKind::Abi,
    FailureKind::App,
    FailureKind::Trap,
    FailureKind::Timeout,
    FailureKind::Memory,
    FailureKind::Egress,
    FailureKind::TooLarge,
    FailureKind::Denied,
    FailureKind::Saturated,
    FailureKind::Internal,
];

/// A number that grows.
#[derive(Debug, Default)]
pub(crate) struct Count(AtomicU64);

impl Count {
    pub(crate) fn add(&self) {
        self.0.fetch_add(1, Ordering::Relaxed);
    }

    pub(crate) fn sub(&self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
    }

    pub(crate) fn get(&self) -> u64 {
        self.0.load(Ordering::Relaxed)
    }
}

/// What is counted.
#[derive(Debug)]
pub(crate) struct Metrics {
    routes: Vec<RouteMetrics>,
    /// Requests for which there is no route.
    pub(crate) unrouted: Count,
    /// Answers of extensions.
    pub(crate) answered: Count,
    failures: [Count; KINDS.len()],
    /// Refused because too many run or wait.
    pub(crate) rejected: Count,
    /// Connections that are open.
    pub(crate) connections: Count,
    /// All that ever were.
    pub(crate) accepted: Count,
}

#[derive(Debug, Default)]
struct RouteMetrics {
    by_class: [Count; CLASSES],
    buckets: [Count; BUCKETS_US.len() + 1],
    micros: AtomicU64,
}

impl Default for Metrics {
    fn default() -> Self {
        Self {
            routes: ROUTES.iter().map(|_| RouteMetrics::default()).collect(),
            unrouted: Count::default(),
            answered: Count::default(),
            failures: Default::default(),
            rejected: Count::default(),
            connections: Count::default(),
            accepted: Count::default(),
        }
    }
}

impl Metrics {
    /// One request was answered.
    pub(crate) fn request(&self, route: usize, status: StatusCode, took: Duration) {
        let Some(metrics) = self.routes.get(route) else { return };
        let class = usize::from(status.as_u16() / 100).clamp(1, CLASSES) - 1;
        metrics.by_class[class].add();
        let micros = u64::try_from(took.as_micros()).unwrap_or(u64::MAX);
        metrics.buckets[BUCKETS_US.partition_point(|it| *it < micros)].add();
        metrics.micros.fetch_add(micros, Ordering::Relaxed);
    }

    /// An extension had no answer.
    pub(crate) fn failure(&self, kind: FailureKind) {
        if let Some(at) = KINDS.iter().position(|it| *it == kind) {
            self.failures[at].add();
        }
    }
}

/// Everything, as text.
pub(crate) fn render(app: &Shared) -> String {
    let metrics = &app.metrics;
    let mut text = String::new();
    let mut put = |name: &str, kind: &str, help: &str, rows: &[(String, u64)]| {
        let _ = writeln!(text, "# HELP {name} {help}\n# TYPE {name} {kind}");
        for (labels, value) in rows {
            let _ = writeln!(text, "{name}{labels} {value}");
        }
    };
    let one = |value: u64| [(String::new(), value)];
    let queue = app.queue.facts();
    put("drydock_http_connections", "gauge", "Connections that are open.", &one(metrics.connections.get()));
    put(
        "drydock_http_connections_total",
        "counter",
        "Connections that were accepted.",
        &one(metrics.accepted.get()),
    );
    put("drydock_http_in_flight", "gauge", "Requests that run a guest now.", &one(queue.in_flight.into()));
    put("drydock_http_waiting", "gauge", "Requests that wait for their turn.", &one(queue.waiting));
    put(
        "drydock_http_rejected_total",
        "counter",
        "Requests refused because too many run or wait.",
        &one(metrics.rejected.get()),
    );
    put(
        "drydock_http_unrouted_total",
        "counter",
        "Requests for which there is no route.",
        &one(metrics.unrouted.get()),
    );
    put(
        "drydock_http_body_bytes",
        "gauge",
        "Bytes of bodies of requests that are read or worked on.",
        &one(app.held.held()),
    );
    put(
        "drydock_http_answer_bytes",
        "gauge",
        "Bytes of answers over 64 KiB that are on their way.",
        &one(app.answers.held()),
    );
    put(
        "drydock_idempotency_keys",
        "gauge",
        "Keys that are remembered.",
        &one(app.remembered.count() as u64),
    );
    put("drydock_tenants", "gauge", "Tenants that asked since the start.", &one(app.tenants() as u64));
    put(
        "drydock_extension_log_lines_dropped_total",
        "counter",
        "Lines of extensions that were not kept.",
        &one(app.logs.dropped()),
    );
    put(
        "drydock_extension_answers_total",
        "counter",
        "Requests that an extension answered.",
        &one(metrics.answered.get()),
    );
    let failures: Vec<_> = KINDS
        .iter()
        .zip(&metrics.failures)
        .map(|(kind, it)| (format!("{{kind=\"{}\"}}", kind_name(*kind)), it.get()))
        .collect();
    put(
        "drydock_extension_failures_total",
        "counter",
        "Requests that an extension did not answer.",
        &failures,
    );
    let mut requests = Vec::new();
    for (route, it) in ROUTES.iter().zip(&metrics.routes) {
        for (class, count) in it.by_class.iter().enumerate().filter(|(_, it)| it.get() > 0) {
            requests.push((format!("{{route=\"{}\",status=\"{}xx\"}}", route.id, class + 1), count.get()));
        }
    }
    put("drydock_http_requests_total", "counter", "Requests that were answered.", &requests);
    durations(&mut text, metrics);
    text
}

fn durations(text: &mut String, metrics: &Metrics) {
    const NAME: &str = "drydock_http_request_duration_seconds";
    let _ =
        writeln!(text, "# HELP {NAME} Time from a request's headers to its answer.\n# TYPE {NAME} histogram");
    for (route, it) in ROUTES.iter().zip(&metrics.routes) {
        let all: u64 = it.buckets.iter().map(Count::get).sum();
        if all == 0 {
            continue;
        }
        let mut so_far = 0;
        for (end, count) in BUCKETS_US.iter().zip(&it.buckets) {
            so_far += count.get();
            let _ = writeln!(
                text,
                "{NAME}_bucket{{route=\"{}\",le=\"{}\"}} {so_far}",
                route.id,
                *end as f64 / 1e6
            );
        }
        let _ = writeln!(text, "{NAME}_bucket{{route=\"{}\",le=\"+Inf\"}} {all}", route.id);
        let seconds = it.micros.load(Ordering::Relaxed) as f64 / 1e6;
        let _ = writeln!(
            text,
            "{NAME}_sum{{route=\"{}\"}} {seconds}\n{NAME}_count{{route=\"{}\"}} {all}",
            route.id, route.id
        );
    }
}

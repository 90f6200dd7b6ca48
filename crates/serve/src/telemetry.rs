//! Spans of the server told to a collector of OpenTelemetry, as OTLP over HTTP in JSON.
//!
//! The SDK batches and encodes; what it sends goes through `egress` like everything else that leaves, to the one place
//! that whoever starts the server named, and nowhere else. Only spans are told, never events: what guests log has a place
//! of its own. A collector that does not answer costs spans, which are dropped, and no request.

use std::{
    fmt,
    pin::Pin,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    time::Duration,
};

use bytes::Bytes;
use drydock_contract::{Principal, Tenant};
use drydock_embed::egress::{
    Caller, Egress, Limits, Parts, Policy, PrivateRule, QuotaLimits, Request, Rules, Target, Unobserved,
    judge,
};
use opentelemetry::trace::TracerProvider as _;
use opentelemetry_http::{HttpClient, HttpError, Request as Sent, Response as Received};
use opentelemetry_otlp::{Protocol, SpanExporter, WithExportConfig as _, WithHttpConfig as _};
use opentelemetry_sdk::{
    Resource,
    trace::{BatchConfigBuilder, BatchSpanProcessor, SdkTracer, SdkTracerProvider},
};
use tokio::runtime::Handle;
use tracing::{Subscriber, instrument::WithSubscriber as _, subscriber::NoSubscriber};
use tracing_subscriber::{Layer, filter::filter_fn, registry::LookupSpan};

/// Where spans go, below what was named.
const PATH: &str = "/v1/traces";
/// Spans that wait to be sent; more are dropped.
const WAITING_MAX: usize = 16_384;
/// Spans of one message.
const BATCH_MAX: usize = 512;
/// How long spans are gathered.
const GATHERED: Duration = Duration::from_secs(1);
/// How long a collector may take.
const SEND_MAX: Duration = Duration::from_secs(10);
/// How long the last spans may take.
const LAST_MAX: Duration = Duration::from_secs(2);
/// The largest message. A batch has less: names and numbers of some hundred bytes a span.
const MESSAGE_BYTES_MAX: u64 = 8 << 20;
/// The largest answer.
const ANSWER_BYTES_MAX: u64 = 64 << 10;

/// Why spans cannot be told.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum BadTelemetry {
    /// Where to is no URL that a request may have.
    #[error("`{url}` is no place for spans: {cause}")]
    Url {
        /// What was named.
        url: String,
        /// What is wrong with it.
        cause: String,
    },
    /// The SDK says no.
    #[error("spans cannot be told: {0}")]
    Sdk(String),
}

/// The way of spans to a collector. Ends with [`Telemetry::end`].
pub struct Telemetry {
    provider: SdkTracerProvider,
    tracer: SdkTracer,
}

impl Telemetry {
    /// Tells spans to the collector at this address, such as `http://127.0.0.1:4318`; requests are made on that runtime.
    pub fn to(url: &str, runtime: Handle) -> Result<Self, BadTelemetry> {
        let endpoint = format!("{}{PATH}", url.trim_end_matches('/'));
        let bad = |cause: String| BadTelemetry::Url { url: url.to_owned(), cause };
        let target: Target = endpoint.parse().map_err(|error| bad(format!("{error}")))?;
        let client = Client::new(target, runtime).map_err(bad)?;
        let exporter = SpanExporter::builder()
            .with_http()
            .with_http_client(client)
            .with_endpoint(endpoint)
            .with_protocol(Protocol::HttpJson)
            .with_timeout(SEND_MAX)
            .build()
            .map_err(|error| BadTelemetry::Sdk(error.to_string()))?;
        let config = BatchConfigBuilder::default()
            .with_max_queue_size(WAITING_MAX)
            .with_max_export_batch_size(BATCH_MAX)
            .with_scheduled_delay(GATHERED)
            .build();
        let processor = BatchSpanProcessor::builder(exporter).with_batch_config(config).build();
        let provider = SdkTracerProvider::builder()
            .with_span_processor(processor)
            .with_resource(Resource::builder_empty().with_service_name("drydock").build())
            .build();
        let tracer = provider.tracer("drydock");
        Ok(Self { provider, tracer })
    }

    /// What a subscriber is given: spans of our rooms.
    pub fn layer<S>(&self) -> impl Layer<S> + Send + Sync + use<S>
    where
        S: Subscriber + for<'span> LookupSpan<'span> + Send + Sync,
    {
        tracing_opentelemetry::layer()
            .with_tracer(self.tracer.clone())
            .with_location(false)
            .with_threads(false)
            .with_tracked_inactivity(false)
            .with_context_activation(false)
            .with_filter(filter_fn(|it| it.is_span() && it.target().starts_with("drydock")))
    }

    /// Sends what is left. Waits, though not for long.
    pub fn end(self) {
        // Whoever does not answer at the end has been told of already.
        let _ = self.provider.shutdown_with_timeout(LAST_MAX);
    }
}

/// The SDK's client: one place to reach, over egress.
struct Client {
    egress: Arc<Egress>,
    caller: Caller,
    target: Target,
    runtime: Handle,
    is_failing: Arc<AtomicBool>,
}

impl Client {
    fn new(target: Target, runtime: Handle) -> Result<Self, String> {
        // Its own, with quotas of its own: what tenants send out is no measure for it.
        let quota = QuotaLimits { requests_max: u32::MAX, bytes_max: u64::MAX, ..QuotaLimits::default() };
        let egress = Arc::new(Egress::new(Parts { quota, ..Parts::default() }));
        let principal: Principal = "telemetry".parse().map_err(|error| format!("{error}"))?;
        let caller = Caller { tenant: Tenant::default(), principal, observer: Arc::new(Unobserved) };
        Ok(Self { egress, caller, target, runtime, is_failing: Arc::default() })
    }

    /// That place, and no other: whoever starts the server may name an address that is not public, as a number.
    fn policy(&self) -> Result<Policy, HttpError> {
        let private = self.target.literal().filter(|it| judge(*it).is_err());
        let opened = private.map(|it| std::net::SocketAddr::new(it, self.target.port()).to_string().parse());
        let opened: Option<PrivateRule> = opened.transpose()?;
        Ok(Policy::new(Rules::only(&self.target, opened.into_iter().collect()), Vec::new()))
    }
}

impl fmt::Debug for Client {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Client").field("target", &self.target).finish_non_exhaustive()
    }
}

impl HttpClient for Client {
    fn send_bytes<'a, 'b>(
        &'a self,
        sent: Sent<Bytes>,
    ) -> Pin<Box<dyn Future<Output = Result<Received<Bytes>, HttpError>> + Send + 'b>>
    where
        'a: 'b,
        Self: 'b,
    {
        Box::pin(async move {
            let (parts, body) = sent.into_parts();
            let limits = Limits {
                request_bytes_max: MESSAGE_BYTES_MAX,
                response_bytes_max: ANSWER_BYTES_MAX,
                total_max: SEND_MAX,
                ..Limits::default()
            };
            // The target is ours, whatever the SDK made of it.
            let request = Request {
                headers: parts.headers,
                body,
                limits,
                ..Request::new(parts.method, self.target.clone())
            };
            let (egress, caller, policy) = (Arc::clone(&self.egress), self.caller.clone(), self.policy()?);
            let sending = async move {
                let answer = egress.fetch(&caller, &policy, request).await?;
                let (status, body) = (answer.status, answer.body.read_all().await?);
                let mut received = Received::new(body);
                *received.status_mut() = status;
                Ok::<_, HttpError>(received)
            };
            // On the server's runtime, since the SDK has a thread without one; and unseen, or each message would make another.
            let done = self.runtime.spawn(sending.with_subscriber(NoSubscriber::default())).await?;
            let failed = done.as_ref().map_or(true, |it| !it.status().is_success());
            if failed && !self.is_failing.swap(true, Ordering::Relaxed) {
                let why = done
                    .as_ref()
                    .map_or_else(ToString::to_string, |it| format!("it answered {}", it.status()));
                tracing::warn!(target: "drydock::serve", "spans are lost, the collector does not take them: {why}");
            } else if !failed {
                self.is_failing.store(false, Ordering::Relaxed);
            }
            done
        })
    }
}

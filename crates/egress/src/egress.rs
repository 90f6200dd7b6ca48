//! The room's one object: fetches what a policy allows, and explains what it would do.
//!
//! For each hop: the quota, the rules, one look-up, a verdict about every address; then a record that it begins; and only
//! then a connection, to one of those addresses.

use std::{collections::VecDeque, io, sync::Arc, time::Duration};

use hyper::{
    HeaderMap, Method, StatusCode,
    body::{Body as _, Incoming},
    header::{self, HeaderValue},
};
use tokio::time::{Instant, timeout_at};
use tracing::{Instrument as _, Span, field::Empty};

use crate::{
    body::{Body, Reading},
    decode::{Decoder, Encoding},
    dial::{Connection, Dial, TcpDialler},
    error::FetchError,
    exchange::{self, Driver},
    explain::{self, Explanation},
    header::{bytes_of, strip, strip_answer},
    limits::Limits,
    message::{location, message, outgoing},
    observe::{Observation, Watched},
    pin::{self, Findings, LookUp, Pinned},
    quota::{Place, QuotaLimits, Quotas},
    redirect::Hop,
    request::{Caller, Decoding, Policy, Redirects, Request, Response},
    resolve::{Resolve, SystemResolver},
    rule::Rules,
    secret::Redactor,
    target::Scheme,
    tls::{Trust, WorldRoots},
};

/// Nobody waits longer for an answer, whatever the limits say.
const TOTAL_MAX: Duration = Duration::from_secs(24 * 60 * 60);

/// What egress stands on. The default is the machine.
#[derive(Debug)]
pub struct Parts {
    /// Who knows addresses.
    pub resolver: Arc<dyn Resolve>,
    /// Who connects.
    pub dialler: Arc<dyn Dial>,
    /// Whom we believe.
    pub trust: Trust,
    /// What a principal may have.
    pub quota: QuotaLimits,
}

impl Default for Parts {
    fn default() -> Self {
        Self {
            resolver: Arc::new(SystemResolver::default()),
            dialler: Arc::new(TcpDialler),
            trust: Trust::new(WorldRoots::System, Vec::new()),
            quota: QuotaLimits::default(),
        }
    }
}

/// The way out.
#[derive(Debug)]
pub struct Egress {
    resolver: Arc<dyn Resolve>,
    pub(crate) dialler: Arc<dyn Dial>,
    pub(crate) trust: Trust,
    pub(crate) quotas: Quotas,
}

/// What one hop brought.
struct Answered {
    response: hyper::Response<Incoming>,
    watched: Watched,
    driver: Driver,
}

impl Egress {
    /// The way out over these parts.
    pub fn new(parts: Parts) -> Self {
        let Parts { resolver, dialler, trust, quota } = parts;
        Self { resolver, dialler, trust, quotas: Quotas::new(quota) }
    }

    /// Says what would be decided about a request. Looks names up, and connects nowhere.
    pub async fn explain(&self, rules: &Rules, method: &Method, url: &str, limits: &Limits) -> Explanation {
        explain::explain(rules, method, url, self.look_up(limits, limits.resolve_max)).await
    }

    /// Waits for a while of real time, for whoever is to ask again later.
    pub async fn pause(&self, time: Duration) {
        tokio::time::sleep(time.min(TOTAL_MAX)).await;
    }

    /// Makes the request in the caller's name. Runs on a runtime of tokio, with time and network.
    pub async fn fetch(
        &self,
        caller: &Caller,
        policy: &Policy,
        request: Request,
    ) -> Result<Response, FetchError> {
        // As in a record: no path, no query, no header. What is put in place of a secret's name is not known here yet.
        let span = tracing::info_span!(
            target: "drydock::egress", "fetch", scheme = request.target.scheme().as_str(), host = %request.target.host(),
            port = request.target.port(), status = Empty, result = Empty,
        );
        let fetching = async {
            let answered = self.fetch_hops(caller, policy, request).await;
            let span = Span::current();
            match &answered {
                Ok(response) => span.record("status", response.status.as_u16()).record("result", "answered"),
                Err(error) => span.record("result", error.code()),
            };
            answered
        };
        fetching.instrument(span).await
    }

    async fn fetch_hops(
        &self,
        caller: &Caller,
        policy: &Policy,
        request: Request,
    ) -> Result<Response, FetchError> {
        let Request { method, target, mut headers, body, redirects, decoding, limits } = request;
        let deadline = Instant::now() + limits.total_max.min(TOTAL_MAX);
        strip(&mut headers);
        let mut hop = Hop { method, target, headers, body, trusted: true };
        let entered = self.quotas.enter(&caller.tenant, &caller.principal, std::time::Instant::now());
        let place = entered.map_err(|error| refused(caller, &hop, error.into()))?;
        let mut hops = 0;
        loop {
            let answered = self.hop(caller, policy, &hop, &limits, decoding, deadline, &place).await?;
            let location = location(policy, &answered.response);
            let Some(location) = location.filter(|_| redirects != Redirects::Return) else {
                return answer(policy, hop, hops, &limits, decoding, deadline, place, answered);
            };
            hops += 1;
            let status = answered.response.status();
            end(answered);
            if let Redirects::Follow { hops_max } = redirects
                && hops > hops_max
            {
                return Err(FetchError::TooManyRedirects { hops_max });
            }
            let next = hop.follow(status, &location, policy);
            hop = next.map_err(|error| refused(caller, &hop, crate::Refusal::from(error).into()))?;
        }
    }

    pub(crate) fn look_up(&self, limits: &Limits, time_max: Duration) -> LookUp<'_> {
        LookUp { resolver: &*self.resolver, addresses_max: limits.addresses_max, time_max }
    }

    #[expect(
        clippy::too_many_arguments,
        reason = "what a hop needs, and nothing keeps it together for longer"
    )]
    async fn hop(
        &self,
        caller: &Caller,
        policy: &Policy,
        hop: &Hop,
        limits: &Limits,
        decoding: Decoding,
        deadline: Instant,
        place: &Place,
    ) -> Result<Answered, FetchError> {
        let prepared = self.prepare(policy, hop, limits, decoding, deadline, place).await;
        let (pinned, headers) = prepared.map_err(|error| refused(caller, hop, error))?;
        let mut last = FetchError::Timeout;
        for to in &pinned {
            let mut watched = Watched::begin(&caller.observer, &hop.target, to.address().ip())?;
            let connecting = timeout_at(deadline, self.connect(hop, to, limits));
            let sent = match connecting.await.unwrap_or(Err(FetchError::Timeout)) {
                Ok(connection) => {
                    watched.bytes_sent = hop.body.len() as u64;
                    let request = message(hop, &headers);
                    let sending = exchange::send(connection, hop.target.host(), request, limits);
                    let until = deadline.min(Instant::now() + limits.idle_max.min(TOTAL_MAX));
                    timeout_at(until, sending).await.unwrap_or(Err(FetchError::Timeout))
                }
                // Nothing was sent, so another address may be tried: all of them were judged.
                Err(error @ FetchError::Connect { .. }) => {
                    watched.ends(error.code());
                    last = error;
                    continue;
                }
                Err(error) => Err(error),
            };
            return match sent {
                Ok((response, driver)) => {
                    watched.status = Some(response.status().as_u16());
                    Ok(Answered { response, watched, driver })
                }
                Err(error) => {
                    watched.ends(error.code());
                    Err(error)
                }
            };
        }
        Err(last)
    }

    /// Everything that is decided before a connection.
    async fn prepare(
        &self,
        policy: &Policy,
        hop: &Hop,
        limits: &Limits,
        decoding: Decoding,
        deadline: Instant,
        place: &Place,
    ) -> Result<(Vec<Pinned>, HeaderMap), FetchError> {
        let now = std::time::Instant::now();
        place.count_request(now)?;
        let time_max = limits.resolve_max.min(deadline.saturating_duration_since(Instant::now()));
        let look_up = self.look_up(limits, time_max);
        let pinned =
            pin::pin(policy.rules(), &hop.method, &hop.target, look_up, &mut Findings::default()).await?;
        let headers = outgoing(policy, hop, decoding, &pinned)?;
        if bytes_of(&headers) > limits.header_bytes_max {
            return Err(FetchError::RequestTooLarge {
                what: "headers",
                bytes_max: limits.header_bytes_max as u64,
            });
        }
        if hop.body.len() as u64 > limits.request_bytes_max {
            return Err(FetchError::RequestTooLarge {
                what: "body bytes",
                bytes_max: limits.request_bytes_max,
            });
        }
        place.count_bytes(hop.body.len() as u64, now)?;
        Ok((pinned, headers))
    }

    async fn connect(
        &self,
        hop: &Hop,
        to: &Pinned,
        limits: &Limits,
    ) -> Result<Box<dyn Connection>, FetchError> {
        let host = hop.target.host();
        let failed = |cause: io::Error| FetchError::Connect { host: host.clone(), cause };
        let slow = || failed(io::ErrorKind::TimedOut.into());
        let until = Instant::now() + limits.connect_max.min(TOTAL_MAX);
        let dialled = timeout_at(until, self.dialler.dial(to)).await.map_err(|_| slow())?;
        let connection = dialled.map_err(failed)?;
        match hop.target.scheme() {
            Scheme::Http => Ok(connection),
            Scheme::Https => {
                let secured = timeout_at(until, self.trust.connect(host, to, connection)).await;
                secured.map_err(|_| slow())?
            }
        }
    }
}

/// Records a refusal, and passes it on.
fn refused(caller: &Caller, hop: &Hop, error: FetchError) -> FetchError {
    let (host, port, code) = (hop.target.host().clone(), hop.target.port(), error.code());
    // Nothing is done, so nothing hangs on the record.
    let _ = caller.observer.observe(&Observation::Refused { host, port, code });
    error
}

/// The answer of a hop that was followed is over.
fn end(mut answered: Answered) {
    answered.watched.ends("ok");
}

#[expect(
    clippy::too_many_arguments,
    reason = "all that a request was is taken apart into what is left of it"
)]
fn answer(
    policy: &Policy,
    hop: Hop,
    hops: u32,
    limits: &Limits,
    decoding: Decoding,
    deadline: Instant,
    place: Place,
    answered: Answered,
) -> Result<Response, FetchError> {
    let Answered { response, mut watched, driver } = answered;
    let (head, source) = response.into_parts();
    let (status, mut headers): (StatusCode, HeaderMap) = (head.status, head.headers);
    let bytes_max = limits.response_bytes_max;
    if source.size_hint().exact().is_some_and(|bytes| bytes > bytes_max) {
        watched.ends("body_too_large");
        return Err(FetchError::BodyTooLarge { bytes_max });
    }
    strip_answer(&mut headers);
    let encoding = Encoding::of(&headers);
    let decoder = match (encoding, policy.needles(), decoding) {
        (Encoding::None, _, _) | (_, None, Decoding::AsSent) | (Encoding::Unknown, None, _) => None,
        (Encoding::Unknown, Some(_), _) => {
            watched.ends("unknown_encoding");
            return Err(FetchError::UnknownEncoding);
        }
        (encoding, _, _) => Some(Decoder::new(encoding, bytes_max)),
    };
    if decoder.is_some() {
        headers.remove(header::CONTENT_ENCODING);
    }
    if decoder.is_some() || policy.needles().is_some() {
        headers.remove(header::CONTENT_LENGTH);
    }
    let redactor = policy.needles().map(|needles| {
        // A name cannot be replaced by another that means nothing, so the whole header goes.
        let telling = headers.keys().filter(|name| needles.is_in_name(name.as_str())).cloned();
        for name in telling.collect::<Vec<_>>() {
            headers.remove(name);
        }
        for value in headers.values_mut() {
            let cleared = Redactor::redact(needles, value.as_bytes());
            // What was a value and has brackets in it is one still.
            *value =
                HeaderValue::from_maybe_shared(cleared).unwrap_or(HeaderValue::from_static("[redacted]"));
        }
        Redactor::new(needles)
    });
    let host = hop.target.host().clone();
    let (state, ready) = (Reading::Open, VecDeque::new());
    let body = Body {
        source,
        host,
        deadline,
        idle_max: limits.idle_max.min(TOTAL_MAX),
        bytes_max,
        decoder,
        redactor,
        state,
        ready,
        watched,
        place,
        driver,
    };
    Ok(Response { status, headers, target: hop.target, hops, body })
}

//! Requests to extensions: as HTTP under `/x/`, and as the seed's envelope.

use std::sync::Arc;

use axum::{
    body::Body,
    http::{HeaderName, HeaderValue, Response, StatusCode, header, request::Parts},
};
use bytes::Bytes;
use drydock_contract::CommandName;
use drydock_embed::{
    DockSession, InstallationLimits,
    extension::runner::{
        AskedLimits, BadRequest, Context, ExecuteRequest, Failure, HttpAnswer, HttpParts, Invoked, LogLine,
        MEMORY_MB, PreparedRequest, REQUEST_BODY_BYTES_MAX, REQUEST_BYTES_MAX, TIMEOUT_MS,
    },
};
use serde::Deserialize;

#[cfg(feature = "native")]
use drydock_embed::extension::runner::EffectiveLimits;

use super::off_thread;
use crate::{
    ask::{Answer, Ask},
    caller,
    enter::{REQUEST_ID, Undone, is_for_later},
    error::{ApiError, FAILURE, of_failure},
    header as headers,
    idempotency::{KEY, REPLAYED},
    installed::Ready,
    json,
    queue::Place,
};

/// Bytes of a body that are encoded where the request is served: a millisecond's work.
const AT_ONCE_BYTES_MAX: usize = 256 << 10;

/// `ANY /x/{extension}/{path}`: a real request for a guest, and its answer as a real one.
pub(crate) async fn forward(mut ask: Ask) -> Answer {
    let (name, ready) = chosen(&ask, ask.found("extension")).await?;
    let body = ask.body(REQUEST_BODY_BYTES_MAX).await?;
    let context = Context {
        request_id: Some(ask.request_id.to_string()),
        version_id: Some(ready.installed.installation.version.clone()),
        ..Context::default()
    };
    let limits = limits(&ask, AskedLimits::default(), own_limits(&ready))?;
    let hides_token = ask.caller.token.is_some();
    let request = if body.len() <= AT_ONCE_BYTES_MAX {
        rendered(&ask.parts, hides_token, &body, context, limits)
    } else {
        let parts = ask.parts.clone();
        let rendering = move || Ok(rendered(&parts, hides_token, &body, context, limits));
        Box::pin(off_thread::<_, ApiError>(rendering)).await?
    };
    let (turn, session) = admitted(&ask, &ready).await?;
    let dock = &ask.caller.state.dock;
    let (answer, log) = dock.invoke_http(&session, &ready.installed.module, name.as_str(), request).await;
    drop(turn);
    told(&ask, &name, &log, answer.as_ref().err());
    response_of(&ask, answer.map_err(|failure| of_failure(&failure))?)
}

/// `ANY /native/{path}`: what a guest would be shown, answered without one: judged, rendered and given its turn as for a
/// guest. For the benches, which build it alone.
#[cfg(feature = "native")]
pub(crate) async fn native(mut ask: Ask) -> Answer {
    let body = ask.body(REQUEST_BODY_BYTES_MAX).await?;
    let context = Context { request_id: Some(ask.request_id.to_string()), ..Context::default() };
    let limits = limits(&ask, AskedLimits::default(), InstallationLimits::default())?;
    let request = rendered(&ask.parts, ask.caller.token.is_some(), &body, context, limits);
    let turn = ask.turn().await?;
    let shown = request.shown(
        ask.caller.tenant.as_str(),
        "native",
        EffectiveLimits {
            timeout_ms: limits.timeout_ms.unwrap_or(TIMEOUT_MS),
            memory_mb: limits.memory_mb.unwrap_or(MEMORY_MB),
            fuel: None,
        },
    );
    drop(turn);
    Ok(json::written(StatusCode::OK, shown.into()))
}

/// `POST /v1/execute`: the seed's own form. Once a guest was chosen the answer is an envelope, whatever came of it.
pub(crate) async fn execute(mut ask: Ask) -> Answer {
    let body = ask.body(REQUEST_BYTES_MAX).await?;
    let request: ExecuteRequest = {
        json::parse::<serde::de::IgnoredAny>(&body)?;
        ExecuteRequest::parse(&body).map_err(|bad| match bad {
            BadRequest::Malformed(_) => ApiError::bad("bad_input", bad.to_string()),
            BadRequest::BodyTooLarge(_) => {
                ApiError::new(StatusCode::PAYLOAD_TOO_LARGE, "too_large", bad.to_string())
            }
        })?
    };
    drop(body);
    let tenant = request.context.tenant_id.as_deref();
    if tenant.is_some_and(|it| it != ask.caller.tenant.as_str()) {
        let text = "`context.tenant_id` is not the tenant of the token; leave it out";
        return Err(ApiError::forbidden("wrong_tenant", text));
    }
    let Some(extension) = request.context.extension_id.clone() else {
        return Err(ApiError::bad("bad_input", "`context.extension_id` names the extension"));
    };
    let (name, ready) = chosen(&ask, &extension).await?;
    let mut request = request;
    request.context.request_id.get_or_insert_with(|| ask.request_id.to_string());
    let invoked = invoke(&ask, &name, &ready, request).await?;
    let mut response = json::ok(&invoked.envelope);
    if invoked.envelope.error.as_ref().is_some_and(|it| is_for_later(of_failure(it).status)) {
        response.extensions_mut().insert(Undone);
    }
    Ok(response)
}

/// The extension that an envelope names; `execute` says what is wrong with one that names none.
pub(crate) fn named_in(envelope: &[u8]) -> Option<CommandName> {
    #[derive(Deserialize)]
    struct Envelope {
        context: Named,
    }
    #[derive(Deserialize)]
    struct Named {
        extension_id: String,
    }
    // What can be no name is kept nowhere: it may be as long as a body.
    serde_json::from_slice::<Envelope>(envelope).ok()?.context.extension_id.parse().ok()
}

/// The extension that is meant. One that is not there and one that cannot be are the same to a caller.
async fn chosen(ask: &Ask, extension: &str) -> Result<(CommandName, Arc<Ready>), ApiError> {
    let absent = || ApiError::absent("extension");
    let name: CommandName = extension.parse().map_err(|_| absent())?;
    let state = &ask.caller.state;
    let ready = match state.installed.fresh(&name) {
        Some(ready) => ready,
        // Boxed, because it looks at the ledger, which few requests have to.
        None => Box::pin(state.installed.find(&state.dock, &name)).await?.ok_or_else(absent)?,
    };
    tracing::Span::current().record("extension", name.as_str());
    Ok((name, ready))
}

/// One call at the gate, in turn.
async fn invoke(
    ask: &Ask,
    name: &CommandName,
    ready: &Ready,
    mut request: ExecuteRequest,
) -> Result<Invoked, ApiError> {
    request.limits = Some(limits(ask, request.asked(), own_limits(ready))?);
    let installed = &ready.installed;
    request.context.version_id.get_or_insert_with(|| installed.installation.version.clone());
    let (turn, session) = admitted(ask, ready).await?;
    let dock = &ask.caller.state.dock;
    let invoked = dock.invoke_read(&session, &installed.module, name.as_str(), request).await;
    drop(turn);
    told(ask, name, &invoked.log, invoked.envelope.error.as_ref());
    Ok(invoked)
}

/// What the installation says, which is also what a request has that asks for nothing: under `/x/` none can ask.
fn own_limits(ready: &Ready) -> InstallationLimits {
    ready.installed.installation.settings.limits
}

/// What it may take: what was asked for, or else what the installation says or is usual, unless it is more than the token
/// may ask for.
fn limits(ask: &Ask, asked: AskedLimits, own: InstallationLimits) -> Result<AskedLimits, ApiError> {
    Ok(AskedLimits {
        timeout_ms: Some(ask.caller.timeout_ms(asked.timeout_ms, own.timeout_ms.unwrap_or(TIMEOUT_MS))?),
        memory_mb: Some(ask.caller.memory_mb(asked.memory_mb, own.memory_mb.unwrap_or(MEMORY_MB))?),
        fuel: asked.fuel,
    })
}

/// Its turn, and the session of whoever asks.
async fn admitted(ask: &Ask, ready: &Ready) -> Result<(Place, DockSession), ApiError> {
    let turn = ask.turn().await?;
    let session = ready.session(&ask.caller.state.dock, &ask.caller.principal);
    let session = session.map_err(|error| match error {
        drydock_embed::BadSetup::Denied(denial) => ApiError::from(drydock_contract::CallError::from(denial)),
        // Where it would be read is nobody's business over HTTP.
        drydock_embed::BadSetup::Secret { name, .. } => {
            let text = format!(
                "the secret `{name}` of this extension cannot be read: keep it, or install without it"
            );
            ApiError::new(StatusCode::CONFLICT, "secret_unavailable", text)
        }
        other => ApiError::internal(&other),
    })?;
    Ok((turn, session))
}

/// Keeps what it logged, and counts what came of it.
fn told(ask: &Ask, name: &CommandName, log: &[LogLine], failure: Option<&Failure>) {
    ask.app.logs.take(&ask.caller.state.dock, &ask.caller.tenant, name, &ask.request_id, log);
    match failure {
        None => ask.app.metrics.answered.add(),
        Some(failure) => ask.app.metrics.failure(failure.kind),
    }
}

/// The request as the guest is shown it. Its path is what follows the extension, as it was sent.
fn rendered(
    parts: &Parts,
    hides_token: bool,
    body: &Bytes,
    context: Context,
    limits: AskedLimits,
) -> PreparedRequest {
    let path = parts.uri.path();
    let rest = path.match_indices('/').nth(2).map_or("/", |(at, _)| &path[at..]);
    let kept = shown_headers(parts, hides_token);
    let headers: Vec<_> =
        kept.map(|(name, value)| (name.as_str(), String::from_utf8_lossy(value.as_bytes()))).collect();
    let query: Vec<_> = form_urlencoded::parse(parts.uri.query().unwrap_or_default().as_bytes()).collect();
    let body = (!body.is_empty()).then_some(&body[..]);
    let method = parts.method.as_str();
    let http = HttpParts { method, path: rest, query: &query, headers: &headers, body };
    PreparedRequest::of_http(context, limits, &http)
}

/// The headers of a request that a guest is shown: none that is between neighbours only, and not the token.
fn shown_headers(parts: &Parts, hides_token: bool) -> impl Iterator<Item = (&HeaderName, &HeaderValue)> {
    let dropped = headers::named_by_connection(&parts.headers);
    parts.headers.iter().filter(move |(name, value)| {
        let ours = hides_token && *name == header::AUTHORIZATION && caller::is_bearer(value.as_bytes());
        !headers::is_hop_by_hop(name) && !dropped.contains(name) && !ours
    })
}

/// Headers that say which attempt at a request this is and which way it came, so that they differ where one is sent again.
const OF_AN_ATTEMPT: [&str; 11] = [
    REQUEST_ID,
    KEY,
    "traceparent",
    "tracestate",
    "baggage",
    "forwarded",
    "via",
    "x-forwarded-for",
    "x-forwarded-host",
    "x-forwarded-port",
    "x-forwarded-proto",
];

/// The headers that make a request to an extension another one, in one text whatever their order.
pub(crate) fn headers_of_request(ask: &Ask) -> Vec<u8> {
    let shown = shown_headers(&ask.parts, ask.caller.token.is_some());
    let mut shown: Vec<_> = shown.filter(|(name, _)| !OF_AN_ATTEMPT.contains(&name.as_str())).collect();
    // Values of one name stay in their order, which says something.
    shown.sort_by_key(|(name, _)| name.as_str());
    let mut text = Vec::new();
    for (name, value) in shown {
        // Neither has a line break in it.
        text.extend_from_slice(name.as_str().as_bytes());
        text.extend_from_slice(b": ");
        text.extend_from_slice(value.as_bytes());
        text.push(b'\n');
    }
    text.push(0);
    text
}

/// Headers by which this server says something of an answer: whoever reads one believes it to be ours.
const OURS: [&str; 3] = [REQUEST_ID, FAILURE, REPLAYED];

/// The guest's answer as HTTP.
fn response_of(ask: &Ask, answer: HttpAnswer) -> Answer {
    let malformed = |text: &str| {
        let failure = Some("abi");
        ApiError { failure, ..ApiError::new(StatusCode::INTERNAL_SERVER_ERROR, "execute_failed", text) }
    };
    // A status below 200 announces an answer, and is none.
    let status = StatusCode::from_u16(answer.status).ok().filter(|it| !it.is_informational());
    let status = status.ok_or_else(|| malformed("malformed response: its status is no answer's"))?;
    let body = match status {
        StatusCode::NO_CONTENT | StatusCode::NOT_MODIFIED => Bytes::new(),
        _ => answer.body,
    };
    let mut response = Response::new(Body::from(body));
    *response.status_mut() = status;
    let sent = response.headers_mut();
    for (name, value) in answer.headers {
        let name = HeaderName::from_bytes(name.as_bytes())
            .map_err(|_| malformed("malformed response: a header's name"))?;
        if headers::is_hop_by_hop(&name) || OURS.contains(&name.as_str()) {
            continue;
        }
        let value = HeaderValue::from_bytes(value.as_bytes());
        sent.append(name, value.map_err(|_| malformed("malformed response: a header's value"))?);
    }
    if ask.caller.token.is_none() {
        // Who asks from loopback has no token, so a page of an extension must not be a page of this server.
        sent.append(
            header::CONTENT_SECURITY_POLICY,
            HeaderValue::from_static("sandbox allow-forms allow-scripts"),
        );
    }
    Ok(response)
}

//! Requests to extensions: as HTTP under `/x/`, and as the seed's envelope.

use std::sync::Arc;

use axum::{
    body::Body,
    http::{HeaderName, HeaderValue, Response, StatusCode, header},
};
use base64::{Engine as _, engine::general_purpose::STANDARD};
use bytes::Bytes;
use drydock_contract::CommandName;
use drydock_embed::extension::runner::{
    AskedLimits, BadRequest, Context, Envelope, ExecuteRequest, Http, Invoked, MEMORY_MB,
    REQUEST_BODY_BYTES_MAX, REQUEST_BYTES_MAX, TIMEOUT_MS,
};

use crate::{
    ask::{Answer, Ask},
    caller,
    enter::REQUEST_ID,
    error::{ApiError, of_failure},
    header as headers,
    installed::Ready,
    json,
};

/// `ANY /x/{extension}/{path}`: a real request for a guest, and its answer as a real one.
pub(crate) async fn forward(mut ask: Ask) -> Answer {
    let (name, ready) = chosen(&ask, ask.found("extension")).await?;
    let body = ask.body(REQUEST_BODY_BYTES_MAX).await?;
    let context = Context { request_id: Some(ask.request_id.to_string()), ..Context::default() };
    let request = ExecuteRequest { context, http: http_of(&ask, &body), limits: None };
    drop(body);
    let invoked = invoke(&ask, &name, &ready, request).await?;
    match &invoked.envelope.error {
        Some(failure) => Err(of_failure(failure)),
        None => response_of(&ask, &invoked.envelope),
    }
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
    Ok(json::ok(&invoked.envelope))
}

/// The extension that is meant. One that is not there and one that cannot be are the same to a caller.
async fn chosen(ask: &Ask, extension: &str) -> Result<(CommandName, Arc<Ready>), ApiError> {
    let absent = || ApiError::absent("extension");
    let name: CommandName = extension.parse().map_err(|_| absent())?;
    let state = &ask.caller.state;
    let ready = state.installed.find(&state.dock, &name).await?.ok_or_else(absent)?;
    Ok((name, ready))
}

/// One call at the gate, in turn.
async fn invoke(
    ask: &Ask,
    name: &CommandName,
    ready: &Ready,
    mut request: ExecuteRequest,
) -> Result<Invoked, ApiError> {
    let asked = request.asked();
    request.limits = Some(AskedLimits {
        timeout_ms: Some(ask.caller.timeout_ms(asked.timeout_ms, TIMEOUT_MS)?),
        memory_mb: Some(ask.caller.memory_mb(asked.memory_mb, MEMORY_MB)?),
        fuel: asked.fuel,
    });
    let installed = &ready.installed;
    request.context.version_id.get_or_insert_with(|| installed.installation.version.clone());
    let turn = ask.turn().await?;
    let dock = &ask.caller.state.dock;
    let session = ready.session(dock, &ask.caller.principal);
    let session = session.map_err(|error| match error {
        drydock_embed::BadSetup::Denied(denial) => ApiError::from(drydock_contract::CallError::from(denial)),
        other => ApiError::internal(&other),
    })?;
    let invoked = dock.invoke_read(&session, &installed.module, name.as_str(), request).await;
    drop(turn);
    ask.app.logs.take(dock, &ask.caller.tenant, name, &ask.request_id, &invoked.log);
    match &invoked.envelope.error {
        None => ask.app.metrics.answered.add(),
        Some(failure) => ask.app.metrics.failure(failure.kind),
    }
    Ok(invoked)
}

/// The request as the guest is shown it. Its path is what follows the extension, as it was sent.
fn http_of(ask: &Ask, body: &Bytes) -> Http {
    let parts = &ask.parts;
    let path = parts.uri.path();
    let rest = path.match_indices('/').nth(2).map_or("/", |(at, _)| &path[at..]);
    let dropped = headers::named_by_connection(&parts.headers);
    let kept = parts.headers.iter().filter(|(name, value)| {
        let ours = *name == header::AUTHORIZATION
            && ask.caller.token.is_some()
            && caller::is_bearer(value.as_bytes());
        !headers::is_hop_by_hop(name) && !dropped.contains(name) && !ours
    });
    let list = kept.map(|(name, value)| (name.as_str().to_owned(), headers::text(value))).collect();
    let body = (!body.is_empty()).then_some(&body[..]);
    Http::of_lists(parts.method.as_str().to_owned(), rest.to_owned(), ask.query(), list, body)
}

/// The guest's answer as HTTP.
fn response_of(ask: &Ask, envelope: &Envelope) -> Answer {
    let malformed = |text: &str| {
        let failure = Some("abi");
        ApiError { failure, ..ApiError::new(StatusCode::INTERNAL_SERVER_ERROR, "execute_failed", text) }
    };
    // A status below 200 announces an answer, and is none.
    let status = StatusCode::from_u16(envelope.status).ok().filter(|it| !it.is_informational());
    let status = status.ok_or_else(|| malformed("malformed response: its status is no answer's"))?;
    let body = match (&envelope.body_b64, status) {
        (_, StatusCode::NO_CONTENT | StatusCode::NOT_MODIFIED) | (None, _) => Vec::new(),
        // It was read once already, so it is base64.
        (Some(text), _) => STANDARD.decode(text).map_err(|error| malformed(&error.to_string()))?,
    };
    let mut response = Response::new(Body::from(body));
    *response.status_mut() = status;
    let sent = response.headers_mut();
    for (name, value) in envelope.sent_headers() {
        let name = HeaderName::from_bytes(name.as_bytes())
            .map_err(|_| malformed("malformed response: a header's name"))?;
        if headers::is_hop_by_hop(&name) || name == REQUEST_ID {
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

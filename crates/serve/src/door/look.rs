//! What can be looked at: whether the server lives and is ready, its figures, its document, commands, records.

use std::sync::OnceLock;

use axum::{
    body::Body,
    http::{HeaderValue, Response, StatusCode, header},
};
use bytes::Bytes;
use drydock_embed::store::{Filter, Origin, ReadDecision, ReadRecord, read_audit};
use serde_json::{Value, json};

use super::{manage::number, off_thread};
use crate::{
    app::Shared,
    ask::{Answer, Ask},
    error::ApiError,
    json, metrics as figures,
};

/// Records that are told at once.
const RECORDS_MAX: usize = 1_000;

/// `GET /healthz`: the process lives.
pub(crate) fn healthz(_: &Shared) -> Answer {
    Ok(json::ok(&json!({ "status": "ok" })))
}

/// `GET /readyz`: it takes requests.
pub(crate) fn readyz(app: &Shared) -> Answer {
    let unready = |code, text| Err(ApiError::new(StatusCode::SERVICE_UNAVAILABLE, code, text));
    if app.is_draining() {
        return unready("draining", "the server is about to end");
    }
    if app.tokens.any().is_err() {
        return unready("tokens_damaged", "the tokens cannot be read, so nobody is let in");
    }
    Ok(json::ok(&json!({ "status": "ready" })))
}

/// `GET /openapi.json`. Anybody may ask, so it is made once, and all answers have the same bytes.
pub(crate) fn openapi(_: &Shared) -> Answer {
    static TEXT: OnceLock<Bytes> = OnceLock::new();
    let text = TEXT.get_or_init(|| crate::openapi::document().to_string().into());
    Ok(json::written(StatusCode::OK, text.clone()))
}

/// `GET /metrics`.
pub(crate) async fn metrics(ask: Ask) -> Answer {
    let mut response = Response::new(Body::from(figures::render(&ask.app)));
    let kind = HeaderValue::from_static("text/plain; version=0.0.4; charset=utf-8");
    response.headers_mut().insert(header::CONTENT_TYPE, kind);
    Ok(response)
}

/// `GET /v1/commands`.
pub(crate) async fn commands(ask: Ask) -> Answer {
    ask.parameters([])?;
    let dock = std::sync::Arc::clone(&ask.caller.state.dock);
    let all = off_thread(move || Ok::<_, ApiError>(dock.registry().list())).await?;
    let told = all.iter().map(|it| {
        let origin = match &it.origin {
            Origin::Builtin => "builtin",
            Origin::Applet { .. } => "applet",
            Origin::Registered { .. } => "registered",
        };
        json!({
            "name": it.entry.name, "sha256": it.entry.digest, "mode": it.entry.mode.as_str(), "size": it.size,
            "origin": origin,
        })
    });
    Ok(json::ok(&json!({ "commands": told.collect::<Vec<_>>() })))
}

/// `GET /v1/audit?denied=true&limit=N`: the tenant's own records.
pub(crate) async fn audit(ask: Ask) -> Answer {
    let [denied, limit] = ask.parameters(["denied", "limit"])?;
    let denied_only = match denied.as_deref() {
        None | Some("false") => false,
        Some("true") => true,
        Some(_) => return Err(ApiError::bad("bad_parameter", "`denied` is true or false")),
    };
    let limit = Some(number(limit, 100, RECORDS_MAX)?);
    let dock = std::sync::Arc::clone(&ask.caller.state.dock);
    let home = dock.home().tenant(&ask.caller.tenant);
    let records = off_thread(move || {
        let broken = |error: &dyn std::fmt::Display| ApiError::internal(error);
        // What was answered is on record for whoever asks next.
        dock.gate().flush().map_err(|error| broken(&error))?;
        let read = read_audit(&home, Filter { denied_only, limit }).map_err(|error| broken(&error))?;
        read.map(|it| it.map(|record| told(&record)).map_err(|error| broken(&error)))
            .collect::<Result<Vec<_>, _>>()
    });
    Ok(json::ok(&json!({ "records": records.await? })))
}

fn told(record: &ReadRecord) -> Value {
    let (decision, reason) = match &record.decision {
        ReadDecision::Allowed => ("allowed", None),
        ReadDecision::Denied(reason) => ("denied", Some(reason.as_str())),
        ReadDecision::Ended(reason) => ("ended", reason.as_deref()),
        ReadDecision::Failed(reason) => ("failed", Some(reason.as_str())),
    };
    json!({
        "at": record.at_text(), "tenant": record.tenant, "principal": record.principal, "trace": record.trace,
        "call": record.call, "parent": record.parent, "operation": record.operation, "subject": record.subject,
        "subjects": record.more_subjects, "decision": decision, "reason": reason, "grant": record.grant,
        "outcome": record.outcome, "status": record.status, "count": record.count, "attempts": record.attempts,
    })
}

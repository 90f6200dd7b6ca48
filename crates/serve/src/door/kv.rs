//! Values that the tenant's guests keep by key, for whoever may manage them. Each request is a call at the gate, on record
//! under the caller's name.

use axum::{
    body::Body,
    http::{HeaderValue, Response, header},
};
use drydock_embed::{
    kv::{DELETE, Delete, Deleted, GET, Get, KvRequest, KvValue, LIST, PUT, Put, VALUE_BYTES_MAX},
    listing::{Listing, ROWS_MAX},
};

use super::kept::{asked, kept, long, whole};
use crate::{
    ask::{Answer, Ask},
    error::ApiError,
    json,
};

/// Asks once it is the tenant's turn.
async fn asked_for(ask: &Ask, operation: &str, request: KvRequest) -> Result<KvValue, ApiError> {
    let _turn = ask.turn().await?;
    asked(kept(ask)?.ask_kv(operation, request).await)
}

/// `GET /v1/kv?prefix=P&after=K&limit=N`.
pub(crate) async fn list(ask: Ask) -> Answer {
    let [prefix, after, limit] = ask.parameters(["prefix", "after", "limit"])?;
    let limit = whole("limit", limit, u64::from(ROWS_MAX))?.unwrap_or(u64::from(ROWS_MAX));
    let listing = Listing::new(prefix.unwrap_or_default(), after, u32::try_from(limit).unwrap_or(ROWS_MAX));
    long(asked_for(&ask, LIST, KvRequest::List(listing)).await?).await
}

/// `GET /v1/kv/{key}`: the bytes of a value, and its version as the entity's tag.
pub(crate) async fn get(ask: Ask) -> Answer {
    ask.parameters([])?;
    let get = Get { key: ask.found("key").into() };
    let KvValue::Value(found) = asked_for(&ask, GET, KvRequest::Get(get)).await? else {
        return Err(ApiError::internal(&"kv.get answered something else"));
    };
    let mut response = Response::new(Body::from(found.value.0));
    let headers = response.headers_mut();
    headers.insert(header::CONTENT_TYPE, HeaderValue::from_static("application/octet-stream"));
    headers.insert(header::X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff"));
    headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("no-store"));
    if let Ok(tag) = HeaderValue::from_str(&format!("\"{}\"", found.version)) {
        headers.insert(header::ETAG, tag);
    }
    Ok(response)
}

/// `PUT /v1/kv/{key}?if_version=N&ttl_ms=N`: the body is the value.
pub(crate) async fn put(mut ask: Ask) -> Answer {
    let [if_version, ttl_ms] = ask.parameters(["if_version", "ttl_ms"])?;
    let (if_version, ttl_ms) =
        (whole("if_version", if_version, u64::MAX)?, whole("ttl_ms", ttl_ms, u64::MAX)?);
    let value = ask.body(VALUE_BYTES_MAX as u64).await?;
    let put = Put { key: ask.found("key").into(), value: value.to_vec().into(), if_version, ttl_ms };
    Ok(json::ok(&asked_for(&ask, PUT, KvRequest::Put(put)).await?))
}

/// `DELETE /v1/kv/{key}?if_version=N`.
pub(crate) async fn delete(ask: Ask) -> Answer {
    let [if_version] = ask.parameters(["if_version"])?;
    let if_version = whole("if_version", if_version, u64::MAX)?;
    let delete = Delete { key: ask.found("key").into(), if_version };
    match asked_for(&ask, DELETE, KvRequest::Delete(delete)).await? {
        KvValue::Deleted(Deleted { deleted: false }) => Err(ApiError::absent("key")),
        deleted => Ok(json::ok(&deleted)),
    }
}

//! A body, read whole: up to its cap, within its time, and counted against what all bodies together may hold.

use axum::{
    body::Body,
    http::{HeaderMap, StatusCode, header},
};
use bytes::{Bytes, BytesMut};
use http_body_util::BodyExt as _;
use hyper::body::Body as _;

use crate::{app::Shared, error::ApiError, held::HeldBytes};

/// Whether there is nothing to read: most requests have none, and need no timer for it.
pub(crate) fn is_empty(headers: &HeaderMap, body: &Body) -> bool {
    said(headers) == Some(0) || body.is_end_stream()
}

/// How long it says that it is.
fn said(headers: &HeaderMap) -> Option<u64> {
    headers.get(header::CONTENT_LENGTH).and_then(|it| it.to_str().ok()?.parse().ok())
}

/// Reads all of it. One that says that it is too large is refused before a byte of it is read. What it holds stays counted
/// in `held`, until whoever asked for it is done.
pub(crate) async fn read(
    app: &Shared,
    headers: &HeaderMap,
    mut body: Body,
    bytes_max: u64,
    held: &mut HeldBytes,
) -> Result<Bytes, ApiError> {
    if said(headers).is_some_and(|it| it > bytes_max) {
        return Err(too_large(bytes_max));
    }
    let bounds = &app.settings.bounds;
    let reading = async {
        let mut first = Bytes::new();
        let mut all = BytesMut::new();
        loop {
            let Ok(next) = tokio::time::timeout(bounds.body_pause_max, body.frame()).await else {
                return Err(slow());
            };
            let frame = match next {
                None => break,
                Some(Ok(frame)) => frame,
                Some(Err(error)) => {
                    return Err(ApiError::bad("bad_body", format!("the body cannot be read: {error}")));
                }
            };
            // Trailers say nothing here.
            let Ok(data) = frame.into_data() else { continue };
            let length = (first.len() + all.len() + data.len()) as u64;
            if length > bytes_max {
                return Err(too_large(bytes_max));
            }
            if !held.grow(data.len() as u64) {
                let text = "the bodies of all requests hold as much as they may; try again in a moment";
                return Err(ApiError::new(StatusCode::SERVICE_UNAVAILABLE, "overloaded", text));
            }
            // Most bodies come in one piece, which is not copied.
            if first.is_empty() && all.is_empty() {
                first = data;
                continue;
            }
            if all.is_empty() {
                all.extend_from_slice(&std::mem::take(&mut first));
            }
            all.extend_from_slice(&data);
        }
        Ok(if all.is_empty() { first } else { all.freeze() })
    };
    tokio::time::timeout(bounds.body_read_max, reading).await.unwrap_or_else(|_| Err(slow()))
}

fn too_large(bytes_max: u64) -> ApiError {
    let text = format!("the body is larger than the {bytes_max} bytes that it may have");
    ApiError::new(StatusCode::PAYLOAD_TOO_LARGE, "too_large", text)
}

fn slow() -> ApiError {
    ApiError::new(StatusCode::REQUEST_TIMEOUT, "slow_body", "the body took longer than it may")
}

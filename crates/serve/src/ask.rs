//! One request on its way through: who asks, for what, and with which bytes.

use std::sync::Arc;

use axum::{
    body::Body,
    http::{Request, Response, StatusCode, request::Parts},
};
use bytes::Bytes;
use parking_lot::Mutex;
use serde::de::DeserializeOwned;

use crate::{app::Shared, body, caller::Caller, error::ApiError, held::HeldBytes, json, queue::Place};

/// What a handler answers.
pub(crate) type Answer = Result<Response<Body>, ApiError>;

/// One request.
pub(crate) struct Ask {
    pub(crate) app: Arc<Shared>,
    pub(crate) caller: Caller,
    pub(crate) parts: Parts,
    /// Behind a lock, so that what waits here may go on in another thread.
    body: Mutex<Body>,
    /// What of its body is counted, as long as it is under way.
    held: HeldBytes,
    /// What the pattern of the route found in the path, decoded.
    pub(crate) found: Vec<(&'static str, String)>,
    /// The caller's own id of the request, or one of ours.
    pub(crate) request_id: Arc<str>,
}

impl Ask {
    pub(crate) fn new(
        app: Arc<Shared>,
        caller: Caller,
        request: Request<Body>,
        found: Vec<(&'static str, String)>,
        request_id: Arc<str>,
    ) -> Self {
        let (parts, body) = request.into_parts();
        let (body, held) = (Mutex::new(body), app.held.share());
        Self { app, caller, parts, body, held, found, request_id }
    }

    /// What the pattern of the route found under that name.
    pub(crate) fn found(&self, name: &str) -> &str {
        self.found.iter().find(|(it, _)| *it == name).map_or("", |(_, value)| value)
    }

    /// The body, whole.
    pub(crate) async fn body(&mut self, bytes_max: u64) -> Result<Bytes, ApiError> {
        let body = std::mem::take(self.body.get_mut());
        if body::is_empty(&self.parts.headers, &body) {
            return Ok(Bytes::new());
        }
        // Boxed, because most requests have none, and its timers are larger than all the rest of a request.
        Box::pin(body::read(&self.app, &self.parts.headers, body, bytes_max, &mut self.held)).await
    }

    /// The body as JSON.
    pub(crate) async fn json<T: DeserializeOwned>(&mut self, bytes_max: u64) -> Result<T, ApiError> {
        json::parse(&self.body(bytes_max).await?)
    }

    /// The body, put back for the handler.
    pub(crate) fn set_body(&mut self, bytes: Bytes) {
        *self.body.get_mut() = Body::from(bytes);
    }

    /// The parameters of the query, decoded, in their order.
    pub(crate) fn query(&self) -> Vec<(String, String)> {
        let query = self.parts.uri.query().unwrap_or_default();
        form_urlencoded::parse(query.as_bytes())
            .map(|(name, value)| (name.into_owned(), value.into_owned()))
            .collect()
    }

    /// The parameters, none of which is there twice or is none of these.
    pub(crate) fn parameters<const N: usize>(
        &self,
        names: [&str; N],
    ) -> Result<[Option<String>; N], ApiError> {
        let mut values = [const { None }; N];
        for (name, value) in self.query() {
            let bad = |why: &str| {
                ApiError::bad("bad_parameter", format!("parameter `{}` {why}", name.escape_debug()))
            };
            let at = names.iter().position(|it| *it == name).ok_or_else(|| bad("is not known here"))?;
            if values[at].replace(value).is_some() {
                return Err(bad("is there twice"));
            }
        }
        Ok(values)
    }

    /// A turn to run something, waited for among the tenant's own requests and in turn with other tenants.
    pub(crate) async fn turn(&self) -> Result<Place, ApiError> {
        if self.app.is_draining() {
            let text = "the server is about to end; ask another one";
            return Err(ApiError::new(StatusCode::SERVICE_UNAVAILABLE, "draining", text));
        }
        let caller = &self.caller;
        self.app.queue.turn(&self.app, &caller.tenant, caller.in_flight_max()).await
    }

    /// Whether the caller wants to be told while it goes on.
    pub(crate) fn wants_events(&self) -> bool {
        let accepted = self.parts.headers.get_all(axum::http::header::ACCEPT).iter();
        accepted.filter_map(|it| it.to_str().ok()).any(|it| it.contains("text/event-stream"))
    }
}

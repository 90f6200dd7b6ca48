//! The way in, the same for every route: by which name, from which page, who asks, what the route takes of them; then the
//! handler; then what is told of it.

use std::{
    future::ready,
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
    time::Instant,
};

use axum::{
    body::Body,
    http::{HeaderMap, HeaderValue, Request, Response, StatusCode},
};
use drydock_contract::Digest;
use http_body_util::BodyExt as _;
use tracing::{Instrument as _, Span, field::Empty};

use crate::{
    app::{Reach, Shared, TenantState},
    ask::{Answer, Ask},
    caller::{self, Power},
    cross,
    door::extension,
    error::ApiError,
    idempotency::{self, ANSWER_BYTES_MAX, Begun},
    route::{Answering, ROUTES, Route},
};

/// The header of a request's id, accepted and returned.
pub(crate) const REQUEST_ID: &str = "x-request-id";
/// The longest id that is accepted.
const REQUEST_ID_BYTES_MAX: usize = 128;

/// The route whose body names an extension.
const EXECUTE: &str = "execute";

/// What the path said.
pub(crate) type Found = Result<Vec<(&'static str, String)>, ApiError>;

/// Takes one request through. What takes no time is done here and now: a request's future is moved on its way to the
/// connection, with all that it holds.
pub(crate) fn enter(
    at: usize,
    app: Arc<Shared>,
    request: Request<Body>,
    found: Found,
) -> impl Future<Output = Response<Body>> + Send {
    let (began, route) = (Instant::now(), &ROUTES[at]);
    let id = request_id(request.headers());
    // Neither path nor query nor headers: there may be secrets in them.
    let span = tracing::info_span!(
        target: "drydock::serve", "request", otel.kind = "server", http.request.method = %request.method(),
        http.route = route.path, http.response.status_code = Empty, request_id = %id, tenant = Empty, extension = Empty,
    );
    let answering = span.in_scope(|| answer(route, &app, request, found, Arc::clone(&id)));
    async move {
        let (done, state) = match answering {
            Ok((answering, state)) => (answering.instrument(span.clone()).await, state),
            Err(error) => (Err(error), None),
        };
        let mut response = done.unwrap_or_else(ApiError::into_response);
        if let Some(state) = state {
            response = state.answers.count(response);
        }
        span.record("http.response.status_code", response.status().as_u16());
        if let Ok(value) = HeaderValue::from_str(&id) {
            response.headers_mut().insert(REQUEST_ID, value);
        }
        app.metrics.request(at, response.status(), began.elapsed());
        response
    }
}

/// Who asks, whether they may, and what answers them.
fn answer(
    route: &'static Route,
    app: &Arc<Shared>,
    request: Request<Body>,
    found: Found,
    id: Arc<str>,
) -> Result<(Answering, Option<Arc<TenantState>>), ApiError> {
    if app.settings.reach == Reach::Loopback {
        cross::check(&app.settings, request.uri(), request.headers())?;
    }
    let found = found?;
    if route.power == Power::Open {
        return Ok((Box::pin(ready((route.open)(app))), None));
    }
    let caller = caller::identify(app, request.headers(), request.extensions())?;
    Span::current().record("tenant", caller.tenant.as_str());
    caller.may(route.power)?;
    let state = Arc::clone(&caller.state);
    // Whoever runs the server sees its figures all the same.
    if route.power != Power::Metrics {
        state.answers.check()?;
    }
    let key = if route.once { idempotency::key_of(request.headers())? } else { None };
    let ask = Ask::new(Arc::clone(app), caller, request, found, id);
    let answering = match key {
        None => (route.handle)(ask),
        Some(key) => Box::pin(once(route, ask, key)),
    };
    Ok((answering, Some(state)))
}

/// Does it once for all who ask under this key.
async fn once(route: &'static Route, mut ask: Ask, key: String) -> Answer {
    if ask.wants_events() {
        let text =
            "an answer that is told while it goes on cannot be repeated: send no key, or accept no events";
        return Err(ApiError::bad("idempotency_events", text));
    }
    let body = ask.body(route.body_bytes_max).await?;
    let target = ask.parts.uri.path_and_query().map_or("/", |it| it.as_str());
    let head = format!("{} {target}\0", ask.parts.method);
    // Whose key it is, and what of its headers makes it another request: for an extension those that its guest is shown.
    let (scope, headers) = match ask.found("extension") {
        "" if route.id == EXECUTE => {
            (extension::named_in(&body).map(|it| of_extension(it.as_str())), Vec::new())
        }
        "" => (None, Vec::new()),
        extension => (Some(of_extension(extension)), extension::headers_of_request(&ask)),
    };
    let scope = scope.unwrap_or_else(|| route.id.to_owned());
    let hash = Digest::of(&[head.as_bytes(), &headers, &body].concat());
    ask.set_body(body);
    let (app, tenant) = (Arc::clone(&ask.app), ask.caller.tenant.clone());
    let running = loop {
        match idempotency::begin(&app, &tenant, (scope.clone(), key.clone()), hash)? {
            Begun::Run(running) => break running,
            Begun::Replay(response) => return Ok(response),
            // An error means that nothing came of it: then it is this one's to do.
            Begun::Wait(mut done) => drop(done.wait_for(|it| *it).await),
        }
    };
    // On a task of its own: whoever asks again must find an answer, though this caller may have gone.
    let work = tokio::spawn(
        async move {
            let done = (route.handle)(ask).await;
            // What was not done because of too many others may be done later. What a guest says is an answer, whatever its
            // status.
            let again = match &done {
                Ok(response) => response.extensions().get::<Undone>().is_some(),
                Err(error) => is_for_later(error.status),
            };
            let (parts, body) = done.unwrap_or_else(ApiError::into_response).into_parts();
            let bytes = body.collect().await.map(http_body_util::Collected::to_bytes).unwrap_or_default();
            if !again {
                let kept = (bytes.len() <= ANSWER_BYTES_MAX).then(|| bytes.clone());
                running.keep(parts.status, parts.headers.clone(), kept);
            }
            Response::from_parts(parts, Body::from(bytes))
        }
        .in_current_span(),
    );
    work.await.map_err(|error| ApiError::internal(&error))
}

/// With an answer that says that nothing was done, because of too many others: under its key it may be done later.
#[derive(Clone)]
pub(crate) struct Undone;

/// Whether an error of this status means that nothing was done, and that it may be later.
pub(crate) fn is_for_later(status: StatusCode) -> bool {
    matches!(status, StatusCode::TOO_MANY_REQUESTS | StatusCode::SERVICE_UNAVAILABLE)
}

/// The scope of the keys of an extension, by whichever route it is asked.
fn of_extension(name: &str) -> String {
    format!("x/{name}")
}

/// The caller's own id, if it is one, or a new one.
fn request_id(headers: &HeaderMap) -> Arc<str> {
    let given = headers.get(REQUEST_ID).and_then(|it| it.to_str().ok());
    let legal = |it: &&str| {
        (1..=REQUEST_ID_BYTES_MAX).contains(&it.len()) && it.bytes().all(|b| b.is_ascii_graphic())
    };
    given.filter(legal).map_or_else(new_id, Arc::from)
}

/// An id that this process gives once, and others most likely never.
fn new_id() -> Arc<str> {
    static NEXT: AtomicU64 = AtomicU64::new(0);
    static START: std::sync::OnceLock<u64> = std::sync::OnceLock::new();
    let start = *START.get_or_init(|| getrandom::u64().unwrap_or(0));
    let next = NEXT.fetch_add(1, Ordering::Relaxed);
    let mut text = [b'-'; 33];
    write_hex(start, &mut text[..16]);
    // Without its leading zeros.
    let digits = (16 - next.leading_zeros() as usize / 4).max(1);
    write_hex(next, &mut text[17..17 + digits]);
    String::from_utf8_lossy(&text[..17 + digits]).into()
}

/// The last digits of a number, as many as there is room for: formatting them would be a good part of a request's way in.
fn write_hex(number: u64, into: &mut [u8]) {
    for (place, digit) in into.iter_mut().rev().enumerate() {
        *digit = b"0123456789abcdef"[(number >> (4 * place) & 15) as usize];
    }
}

#[test]
fn a_number_is_written_as_formatting_would() {
    for number in [0, 1, 15, 16, 0xabc, u64::MAX] {
        let digits = (16 - number.leading_zeros() as usize / 4).max(1);
        let mut text = vec![b'-'; digits];
        write_hex(number, &mut text);
        assert_eq!(String::from_utf8_lossy(&text), format!("{number:x}"));
    }
}

//! What a run writes, told while it goes on, as server-sent events: `stdout`, `stderr`, then `result` or `error`.
//!
//! Whoever stops listening ends the run.

use std::{
    pin::Pin,
    sync::Arc,
    task::{Context, Poll},
};

use axum::{
    body::Body,
    http::{HeaderValue, Response, header},
};
use base64::{Engine as _, engine::general_purpose::STANDARD};
use bytes::Bytes;
use drydock_contract::Switch;
use drydock_embed::{OutputStream, Watch};
use futures_core::Stream;
use parking_lot::Mutex;
use serde_json::{Value, json};
use tokio::{
    sync::mpsc::{Receiver, UnboundedReceiver, UnboundedSender, unbounded_channel},
    task::JoinHandle,
    time::{Duration, Interval, MissedTickBehavior},
};
use tracing::Instrument as _;

use crate::{
    error::ApiError,
    held::{Answers, OnTheWay},
};

/// Between two signs of life, so that nobody in between takes the connection for dead.
pub(crate) const ALIVE: Duration = Duration::from_secs(15);

/// Who tells, and who is told.
pub(crate) struct Events {
    to: UnboundedSender<Event>,
    from: UnboundedReceiver<Event>,
    cancel: Arc<Switch>,
    answers: Answers,
}

/// What waits to be read, counted as long as it does.
struct Event {
    bytes: Bytes,
    _held: OnTheWay,
}

/// What an event takes besides its bytes.
const EVENT_BYTES: usize = 128;

impl Event {
    fn new(bytes: Bytes, answers: &Answers) -> Self {
        let _held = answers.hold((bytes.len() + EVENT_BYTES) as u64);
        Self { bytes, _held }
    }
}

impl Events {
    pub(crate) fn new(answers: &Answers) -> Self {
        let (to, from) = unbounded_channel();
        Self { to, from, cancel: Arc::default(), answers: answers.clone() }
    }

    /// What a run is watched with. How much it writes is bounded by its own limits, and by what its tenant leaves unread: then
    /// it ends, as if nobody listened any more.
    pub(crate) fn watch(&self) -> Watch {
        let (to, tails) = (self.to.clone(), Mutex::new([Vec::new(), Vec::new()]));
        let (answers, cancel) = (self.answers.clone(), Arc::clone(&self.cancel));
        let listener = move |stream, bytes: &[u8]| {
            let (name, at) = match stream {
                OutputStream::Stdout => ("stdout", 0),
                OutputStream::Stderr => ("stderr", 1),
            };
            let told = piece(&mut tails.lock()[at], bytes);
            if let Some(told) = told {
                let _ = to.send(Event::new(event(name, &told), &answers));
                if answers.is_full() {
                    cancel.trip();
                }
            }
        };
        Watch { cancel: Arc::clone(&self.cancel), output: Some(Arc::new(listener)) }
    }

    /// The answer, with the work that ends it.
    pub(crate) fn answer(
        self,
        work: impl Future<Output = Result<Value, ApiError>> + Send + 'static,
    ) -> Response<Body> {
        let Self { to, from, cancel, answers } = self;
        let telling = async move {
            let last = match work.await {
                Ok(value) => event("result", &value),
                Err(error) => {
                    let (code, message, retryable) = (error.code, error.message, error.retryable);
                    event(
                        "error",
                        &json!({ "error": { "code": code, "message": message, "retryable": retryable } }),
                    )
                }
            };
            let _ = to.send(Event::new(last, &answers));
        };
        let running = tokio::spawn(telling.in_current_span());
        let alive = alive();
        as_events(Body::from_stream(Told { from, cancel, _running: running, alive }))
    }
}

/// Events that somebody sends one by one, as an answer.
pub(crate) fn stream(from: Receiver<Bytes>) -> Response<Body> {
    as_events(Body::from_stream(Sent { from, alive: alive() }))
}

fn as_events(body: Body) -> Response<Body> {
    let mut response = Response::new(body);
    let headers = response.headers_mut();
    headers.insert(header::CONTENT_TYPE, HeaderValue::from_static("text/event-stream"));
    headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("no-store"));
    response
}

fn alive() -> Interval {
    let mut alive = tokio::time::interval(ALIVE);
    alive.set_missed_tick_behavior(MissedTickBehavior::Delay);
    alive.reset();
    alive
}

/// Text where it is text, and what is none in base64. A character that is cut is kept until its rest comes.
fn piece(tail: &mut Vec<u8>, bytes: &[u8]) -> Option<Value> {
    let mut all = std::mem::take(tail);
    all.extend_from_slice(bytes);
    match std::str::from_utf8(&all) {
        Ok("") => None,
        Ok(text) => Some(json!({ "text": text })),
        Err(error) if error.error_len().is_none() => {
            let (whole, rest) = all.split_at(error.valid_up_to());
            *tail = rest.to_vec();
            (!whole.is_empty()).then(|| json!({ "text": String::from_utf8_lossy(whole) }))
        }
        Err(_) => Some(json!({ "base64": STANDARD.encode(&all) })),
    }
}

/// JSON has no line ends of its own, so one line of data is enough.
pub(crate) fn event(name: &str, data: &Value) -> Bytes {
    format!("event: {name}\ndata: {data}\n\n").into()
}

/// The same with the cursor behind it, which a caller that comes back names as the last that it saw.
pub(crate) fn event_at(name: &str, id: u64, data: &Value) -> Bytes {
    format!("id: {id}\nevent: {name}\ndata: {data}\n\n").into()
}

struct Sent {
    from: Receiver<Bytes>,
    alive: Interval,
}

impl Stream for Sent {
    type Item = Result<Bytes, std::convert::Infallible>;

    fn poll_next(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        match self.from.poll_recv(cx) {
            Poll::Ready(next) => Poll::Ready(next.map(Ok)),
            Poll::Pending => self.alive.poll_tick(cx).map(|_| Some(Ok(sign_of_life()))),
        }
    }
}

/// A comment, which nobody takes for an event.
fn sign_of_life() -> Bytes {
    Bytes::from_static(b": alive\n\n")
}

struct Told {
    from: UnboundedReceiver<Event>,
    cancel: Arc<Switch>,
    _running: JoinHandle<()>,
    alive: Interval,
}

impl Drop for Told {
    fn drop(&mut self) {
        self.cancel.trip();
    }
}

impl Stream for Told {
    type Item = Result<Bytes, std::convert::Infallible>;

    fn poll_next(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        if let Poll::Ready(next) = self.from.poll_recv(cx) {
            return Poll::Ready(next.map(|it| Ok(it.bytes)));
        }
        self.alive.poll_tick(cx).map(|_| Some(Ok(sign_of_life())))
    }
}

#[test]
fn characters_that_are_cut_come_whole_and_what_is_no_text_comes_as_base64() {
    let mut tail = Vec::new();
    assert_eq!(piece(&mut tail, "a\u{e9}".as_bytes().split_last().unwrap().1), Some(json!({ "text": "a" })));
    assert_eq!(piece(&mut tail, &[0xa9, b'b']), Some(json!({ "text": "\u{e9}b" })));
    assert_eq!(piece(&mut tail, b""), None);
    assert_eq!(piece(&mut tail, &[0xff, 0x00]), Some(json!({ "base64": "/wA=" })));
    assert!(tail.is_empty());
}

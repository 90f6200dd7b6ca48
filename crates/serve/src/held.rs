//! Bytes that are held for others: bodies while they are read and worked on, answers until whoever asked has taken them.
//!
//! An answer that is there is never thrown away: what it came of may have had effects. So answers are counted and not
//! refused, and where as many bytes of them are on their way as may be, the next request is. What an answer of usual length
//! holds is bounded by the number of connections, and is not counted.

use std::{
    pin::Pin,
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
    task::{Context, Poll},
};

use axum::{
    body::Body,
    http::{Response, StatusCode},
};
use bytes::Bytes;
use http_body::{Body as Chunks, Frame, SizeHint};

use crate::error::ApiError;

/// Up to so much of an answer is not counted.
const UNCOUNTED_BYTES_MAX: u64 = 64 << 10;

/// How much is held together, and how much may be.
pub(crate) struct BytesHeld {
    held: AtomicU64,
    max: u64,
}

/// A share of it, given back when it is dropped.
pub(crate) struct HeldBytes {
    all: Arc<BytesHeld>,
    bytes: u64,
}

impl BytesHeld {
    pub(crate) fn new(max: u64) -> Self {
        Self { held: AtomicU64::new(0), max }
    }

    pub(crate) fn share(self: &Arc<Self>) -> HeldBytes {
        HeldBytes { all: Arc::clone(self), bytes: 0 }
    }

    pub(crate) fn held(&self) -> u64 {
        self.held.load(Ordering::Relaxed)
    }

    fn is_full(&self) -> bool {
        self.held() >= self.max
    }
}

impl HeldBytes {
    /// Takes so many more; false if there are not so many left.
    pub(crate) fn grow(&mut self, bytes: u64) -> bool {
        let before = self.all.held.fetch_add(bytes, Ordering::Relaxed);
        self.bytes += bytes;
        before.saturating_add(bytes) <= self.all.max
    }
}

impl Drop for HeldBytes {
    fn drop(&mut self) {
        self.all.held.fetch_sub(self.bytes, Ordering::Relaxed);
    }
}

/// The answers of one tenant that are on their way, among those of all. Clones count the same ones.
#[derive(Clone)]
pub(crate) struct Answers {
    own: Arc<BytesHeld>,
    all: Arc<BytesHeld>,
}

/// Bytes of an answer, counted until this is dropped.
pub(crate) struct OnTheWay {
    _own: HeldBytes,
    _all: HeldBytes,
}

impl Answers {
    pub(crate) fn new(own: BytesHeld, all: &Arc<BytesHeld>) -> Self {
        Self { own: Arc::new(own), all: Arc::clone(all) }
    }

    /// Whether nothing more is begun until somebody reads.
    pub(crate) fn is_full(&self) -> bool {
        self.own.is_full() || self.all.is_full()
    }

    /// Refuses to begin what would have one more answer, if there are too many.
    pub(crate) fn check(&self) -> Result<(), ApiError> {
        if !self.is_full() {
            return Ok(());
        }
        let text = "answers that nobody reads hold as much as they may; read those, or try again in a moment";
        Err(ApiError::new(StatusCode::SERVICE_UNAVAILABLE, "overloaded", text))
    }

    /// Counts so many bytes.
    pub(crate) fn hold(&self, bytes: u64) -> OnTheWay {
        let (mut own, mut all) = (self.own.share(), self.all.share());
        // Beyond the bound or not: it is there.
        own.grow(bytes);
        all.grow(bytes);
        OnTheWay { _own: own, _all: all }
    }

    /// The answer, with its pieces counted as long as they are not written. One of usual length stays as it is.
    pub(crate) fn count(&self, answer: Response<Body>) -> Response<Body> {
        match answer.body().size_hint().exact() {
            Some(bytes) if bytes <= UNCOUNTED_BYTES_MAX => answer,
            _ => answer.map(|body| Body::new(Counted { body, answers: self.clone() })),
        }
    }
}

struct Counted {
    body: Body,
    answers: Answers,
}

impl Chunks for Counted {
    type Data = Bytes;
    type Error = axum::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, axum::Error>>> {
        let frame = Pin::new(&mut self.body).poll_frame(cx);
        frame.map_ok(|it| it.map_data(|data| held(&self.answers, data)))
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}

/// A piece that is counted until the last of it is gone: a connection holds it longer than the body it is of.
fn held(answers: &Answers, data: Bytes) -> Bytes {
    struct Piece {
        data: Bytes,
        _held: OnTheWay,
    }
    impl AsRef<[u8]> for Piece {
        fn as_ref(&self) -> &[u8] {
            &self.data
        }
    }
    let bytes = data.len() as u64;
    if bytes <= UNCOUNTED_BYTES_MAX {
        return data;
    }
    Bytes::from_owner(Piece { data, _held: answers.hold(bytes) })
}

#[cfg(test)]
mod tests {
    use http_body_util::BodyExt as _;

    use super::*;

    #[tokio::test]
    async fn an_answer_is_counted_until_it_is_gone_and_beyond_the_bound_nothing_is_begun() {
        let all = Arc::new(BytesHeld::new(1 << 20));
        let tenant = |max| Answers::new(BytesHeld::new(max), &all);
        let (one, other) = (tenant(100 << 10), tenant(4 << 20));
        let take =
            |of: &Answers, bytes: usize| of.count(Response::new(Body::from(vec![7; bytes]))).into_body();
        let frame = async |mut body: Body| body.frame().await.unwrap().unwrap().into_data().unwrap();

        let small = frame(take(&one, 64 << 10)).await;
        assert_eq!((all.held(), small.len()), (0, 64 << 10), "most answers cost nothing");
        let large = frame(take(&one, 128 << 10)).await;
        assert_eq!(all.held(), 128 << 10, "the body is gone, and its bytes are not");
        assert!(one.check().is_err() && other.check().is_ok(), "a tenant is behind itself");
        let rest = large.slice(1..);
        drop(large);
        assert!(one.is_full());
        drop(rest);
        assert!(all.held() == 0 && !one.is_full());
        let _all = frame(take(&other, 1 << 20)).await;
        assert!(one.is_full() && other.is_full(), "all tenants have a bound together");
    }
}

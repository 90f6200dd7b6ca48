//! The body of an answer: read piece by piece, each piece counted, decoded, and cleared of secrets.
//!
//! It holds the connection, the principal's place and the end of the record; dropping it gives all three back.

use std::{collections::VecDeque, time::Duration};

use bytes::{Bytes, BytesMut};
use http_body_util::BodyExt as _;
use hyper::body::Incoming;
use tokio::time::Instant;

use crate::{
    decode::Decoder, error::FetchError, exchange::Driver, host::Host, observe::Watched, quota::Place,
    secret::Redactor,
};

/// What is left to read of an answer.
pub struct Body {
    pub(crate) source: Incoming,
    pub(crate) host: Host,
    pub(crate) deadline: Instant,
    pub(crate) idle_max: Duration,
    pub(crate) bytes_max: u64,
    pub(crate) decoder: Option<Decoder>,
    pub(crate) redactor: Option<Redactor>,
    pub(crate) state: Reading,
    /// Bytes of a body that was decoded or cleared, and is longer than a piece should be.
    pub(crate) ready: VecDeque<Bytes>,
    pub(crate) watched: Watched,
    pub(crate) place: Place,
    pub(crate) driver: Driver,
}

/// How far it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Reading {
    Open,
    Ended,
    Failed,
}

impl Body {
    /// The next piece, in its own time within the request's deadline; none after the end, and none after an error.
    pub async fn next(&mut self) -> Option<Result<Bytes, FetchError>> {
        loop {
            if let Some(bytes) = self.ready.pop_front() {
                return Some(Ok(bytes));
            }
            if self.state != Reading::Open {
                return None;
            }
            if let Err(error) = self.read().await {
                self.state = Reading::Failed;
                self.watched.ends(error.code());
                return Some(Err(error));
            }
        }
    }

    /// The whole body, which is never more than the request's limit.
    pub async fn read_all(mut self) -> Result<Bytes, FetchError> {
        let mut whole = BytesMut::new();
        while let Some(piece) = self.next().await {
            whole.extend_from_slice(&piece?);
        }
        Ok(whole.freeze())
    }

    async fn read(&mut self) -> Result<(), FetchError> {
        let until = self.deadline.min(Instant::now() + self.idle_max);
        let frame = tokio::time::timeout_at(until, self.source.frame());
        let frame = frame.await.map_err(|_| FetchError::Timeout)?;
        let Some(frame) = frame else { return self.end() };
        let frame = frame.map_err(|cause| self.broken(cause))?;
        // Trailers are no part of an answer here.
        let Ok(bytes) = frame.into_data() else { return Ok(()) };
        self.watched.bytes_received += bytes.len() as u64;
        if self.watched.bytes_received > self.bytes_max {
            return Err(FetchError::BodyTooLarge { bytes_max: self.bytes_max });
        }
        self.place.count_bytes(bytes.len() as u64, std::time::Instant::now())?;
        let bytes = match &mut self.decoder {
            Some(decoder) => decoder.push(&bytes)?,
            None => bytes,
        };
        let bytes = self.redactor.as_mut().map_or_else(|| bytes.clone(), |redactor| redactor.push(&bytes));
        self.keep(bytes);
        Ok(())
    }

    fn end(&mut self) -> Result<(), FetchError> {
        let last = self.decoder.as_mut().map_or_else(|| Ok(Bytes::new()), Decoder::finish)?;
        if let Some(redactor) = &mut self.redactor {
            let cleared = [redactor.push(&last), redactor.finish()];
            cleared.into_iter().for_each(|bytes| self.keep(bytes));
        } else {
            self.keep(last);
        }
        self.state = Reading::Ended;
        self.watched.ends("ok");
        self.driver.stop();
        Ok(())
    }

    fn keep(&mut self, bytes: Bytes) {
        if !bytes.is_empty() {
            self.ready.push_back(bytes);
        }
    }

    fn broken(&self, cause: hyper::Error) -> FetchError {
        FetchError::Protocol { host: self.host.clone(), cause }
    }
}

impl std::fmt::Debug for Body {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Body({:?}, {} bytes read)", self.state, self.watched.bytes_received)
    }
}

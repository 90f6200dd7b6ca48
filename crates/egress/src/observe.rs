//! What there is to put on record about each attempt: a value for whoever asked, and no record of ours.
//!
//! Host, port, address, status and bytes, and how it ended. There is no field for a path, a query, a header or a body, so
//! none of them gets into a record.

use std::{fmt, net::IpAddr, sync::Arc};

use crate::{
    host::Host,
    target::{Scheme, Target},
};

/// What happened.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize)]
#[serde(tag = "event", rename_all = "snake_case")]
pub enum Observation {
    /// A request was refused, and nothing was dialled for it.
    Refused {
        /// Whom it was for.
        host: Host,
        /// The port.
        port: u16,
        /// The code of the refusal.
        code: &'static str,
    },
    /// An address is about to be dialled.
    Began {
        /// Where it leads.
        attempt: Attempt,
    },
    /// It is over: the answer was read to its end, or failed, or nobody wanted the rest.
    Ended {
        /// Where it led.
        attempt: Attempt,
        /// What the server answered, if it did.
        status: Option<u16>,
        /// Bytes of the request's body.
        bytes_sent: u64,
        /// Bytes of the answer's body, as they came.
        bytes_received: u64,
        /// `ok`, `abandoned` where the caller dropped it, or the code of the error.
        code: &'static str,
    },
}

/// One connection.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize)]
pub struct Attempt {
    /// How it is spoken to.
    pub scheme: Scheme,
    /// The host as the request named it.
    pub host: Host,
    /// The port.
    pub port: u16,
    /// The address that was judged.
    pub address: IpAddr,
}

/// The record could not be kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("the attempt could not be recorded")]
pub struct NotRecorded;

/// Whoever keeps records.
pub trait Observe: fmt::Debug + Send + Sync {
    /// Takes one. Where a beginning is not recorded, nothing is dialled; an end that is not changes nothing any more.
    fn observe(&self, observation: &Observation) -> Result<(), NotRecorded>;
}

/// Nobody keeps records.
#[derive(Debug, Default)]
pub struct Unobserved;

impl Observe for Unobserved {
    fn observe(&self, _: &Observation) -> Result<(), NotRecorded> {
        Ok(())
    }
}

/// An attempt that was recorded as begun, and will be as ended, whatever becomes of it.
#[derive(Debug)]
pub(crate) struct Watched {
    observer: Arc<dyn Observe>,
    attempt: Attempt,
    pub(crate) status: Option<u16>,
    pub(crate) bytes_sent: u64,
    pub(crate) bytes_received: u64,
    code: &'static str,
}

impl Watched {
    pub(crate) fn begin(
        observer: &Arc<dyn Observe>,
        target: &Target,
        address: IpAddr,
    ) -> Result<Self, NotRecorded> {
        let attempt =
            Attempt { scheme: target.scheme(), host: target.host().clone(), port: target.port(), address };
        observer.observe(&Observation::Began { attempt: attempt.clone() })?;
        let observer = Arc::clone(observer);
        Ok(Self { observer, attempt, status: None, bytes_sent: 0, bytes_received: 0, code: "abandoned" })
    }

    /// Says how it ended; the record is written when this is dropped.
    pub(crate) fn ends(&mut self, code: &'static str) {
        self.code = code;
    }
}

impl Drop for Watched {
    fn drop(&mut self) {
        let (attempt, status, code) = (self.attempt.clone(), self.status, self.code);
        let (bytes_sent, bytes_received) = (self.bytes_sent, self.bytes_received);
        let end = Observation::Ended { attempt, status, bytes_sent, bytes_received, code };
        // It has happened; nothing is left that could be refused.
        let _ = self.observer.observe(&end);
    }
}

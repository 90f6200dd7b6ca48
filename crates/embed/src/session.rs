//! Running commands in a session.

use std::sync::Arc;

use bytes::Bytes;
use drydock_abi::exec::{START, encode_request, take_report};
use drydock_contract::{Call, CallError, CallId, Fault, Outcome, Reply, RunReport, Sink, Source, Streams};
use drydock_gate::{DenialLog, Gate, Session};

/// A session of a [`Dock`](crate::Dock). Cheap to clone; clones are the same session.
#[derive(Clone)]
pub struct DockSession {
    pub(crate) gate: Arc<Gate>,
    pub(crate) session: Session,
}

/// What a command did.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Run {
    /// How it ended.
    pub outcome: Outcome,
    /// What it wrote to stdout.
    pub stdout: Vec<u8>,
    /// What it wrote to stderr.
    pub stderr: Vec<u8>,
    /// What it cost.
    pub report: RunReport,
}

impl Run {
    /// Whether it exited with 0.
    pub fn success(&self) -> bool {
        self.outcome == Outcome::Exited(0)
    }
}

impl DockSession {
    /// Runs a command over bytes in memory.
    pub async fn run(&self, name: &str, args: &[&str], stdin: impl Into<Bytes>) -> Result<Run, CallError> {
        let streams = Streams {
            stdin: Source::Bytes(stdin.into()),
            stdout: Sink::capture(),
            stderr: Sink::capture(),
            ..Streams::default()
        };
        let (report, streams) = self.run_with(name, args, streams).await?;
        Ok(Run {
            outcome: report.outcome.clone(),
            stdout: streams.stdout.into_captured(),
            stderr: streams.stderr.into_captured(),
            report,
        })
    }

    /// Runs a command with any bytes as arguments over any streams, and hands the streams back.
    pub async fn run_with(
        &self,
        name: &str,
        args: &[impl AsRef<[u8]>],
        streams: Streams,
    ) -> Result<(RunReport, Streams), CallError> {
        tracing::trace!(target: "drydock::hop", "embed: a name, a list of arguments and streams become a call");
        let payload = match encode_request(name, args, b"") {
            Ok(payload) => payload,
            // Longer than the wire can say, so the gate need not see it to refuse it.
            Err(too_long) => {
                let call = Call::oversized(START, too_long.0 as u64);
                return Err(self
                    .gate
                    .dispatch(&self.session, call)
                    .await
                    .err()
                    .unwrap_or_else(refused_nothing));
            }
        };
        let call = Call::new(START, &payload, streams).answered_typed();
        let mut reply = self.gate.dispatch(&self.session, call).await?;
        let report = take_report(&mut reply).map_err(|bad| Fault::Internal(bad.to_string()))?;
        tracing::trace!(target: "drydock::hop", "embed: {} and what it cost", report.outcome);
        Ok((report, reply.streams))
    }

    /// The same session for one program of several: what is refused to it is told to that log, if there is one.
    pub(crate) fn telling(&self, denials: Option<Arc<DenialLog>>) -> Self {
        let session = match denials {
            Some(log) => self.session.telling(log),
            None => self.session.clone(),
        };
        Self { gate: Arc::clone(&self.gate), session }
    }

    /// The same session for what belongs to a call elsewhere.
    pub(crate) fn at(&self, call: CallId, depth: u32) -> Self {
        Self { gate: Arc::clone(&self.gate), session: self.session.at(call, depth) }
    }

    /// Asks for anything else at the gate.
    pub(crate) async fn dispatch(&self, call: Call<'_>) -> Result<Reply, CallError> {
        self.gate.dispatch(&self.session, call).await
    }

    /// Ends every run of this session in flight.
    pub fn cancel(&self) {
        self.session.cancel();
    }

    /// The session as the gate sees it.
    pub fn inner(&self) -> &Session {
        &self.session
    }
}

/// An oversized call that was answered: impossible, and so our fault.
fn refused_nothing() -> CallError {
    Fault::Internal("an oversized call was let through".into()).into()
}

//! Runs a verified module. Implemented by the engine, and by every stronger tier to come.

use std::sync::Arc;

use crate::{
    Artifact, BoxFuture, CallLimits, CapSet, Exchange, Fault, LiveError, LiveReply, LiveSpec, RunReport,
    RunRequest, SharedLembeh, Streams, Tenant,
};

/// Runs guests.
pub trait Runner: Send + Sync {
    /// Runs one guest to its end, on the calling thread, and hands its streams back.
    ///
    /// Dropping the future ends the guest; the request's budget is charged for what it burnt all the same.
    fn run(&self, request: RunRequest) -> BoxFuture<'_, Result<(RunReport, Streams), Fault>>;

    /// Runs one guest of the lembeh ABI to its end. Its streams and whatever it starts are the host's; of the request's
    /// own streams, arguments, environment and files it sees nothing.
    fn run_lembeh(
        &self,
        request: RunRequest,
        host: SharedLembeh,
    ) -> BoxFuture<'_, Result<(RunReport, Streams), Fault>> {
        drop((request, host));
        Box::pin(std::future::ready(Err(Fault::Internal("this runner has no lembeh guests".into()))))
    }

    /// Runs one guest that serves to the end of one request: its `handle` sets the response of the exchange. Everything else
    /// is as for a command.
    fn run_serving(
        &self,
        request: RunRequest,
        exchange: Arc<Exchange>,
    ) -> BoxFuture<'_, Result<(RunReport, Streams), Fault>> {
        drop((request, exchange));
        Box::pin(std::future::ready(Err(Fault::Internal("this runner has no serving guests".into()))))
    }

    /// Compiles a guest that is to serve with these powers, or says why it cannot.
    fn check_serving(
        &self,
        artifact: &Artifact,
        caps: CapSet,
        tenant: Tenant,
    ) -> BoxFuture<'_, Result<(), Fault>> {
        drop((artifact, caps, tenant));
        Box::pin(std::future::ready(Err(Fault::Internal("this runner has no serving guests".into()))))
    }

    /// Makes an instance that lives until it is closed, dropped or dies.
    ///
    /// While it is idle it takes no place of those that `run` needs.
    fn open(&self, spec: LiveSpec) -> BoxFuture<'_, Result<Box<dyn LiveInstance>, LiveError>>;
}

/// An instance that lives between calls. Dropping it closes it.
pub trait LiveInstance: Send + Sync {
    /// One call: bytes in, bytes out, on the calling thread.
    ///
    /// One at a time: whoever calls meanwhile is told that it is busy. A trap, a deadline, a breach of the contract and
    /// dropping the future kill the instance, and every later call is told why.
    fn call<'a>(&'a self, input: &'a [u8], limits: CallLimits)
    -> BoxFuture<'a, Result<LiveReply, LiveError>>;

    /// What making it burnt.
    fn opening_fuel(&self) -> u64;

    /// No call begins any more, and what the instance holds is given back: at once, or with the end of the call in
    /// flight.
    fn close(&self);
}

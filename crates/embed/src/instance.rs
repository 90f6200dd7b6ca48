//! Handlers and kernels over a dock: a module's bytes, a session, and the gate between them.

use std::{sync::Arc, time::Duration};

use bytes::Bytes;
use drydock_abi::kernel::{
    CALL, CallKernel, KernelFailure, OPEN, Open, Output, decode_opened, decode_output, encode_call,
    encode_open,
};
use drydock_caps::instance::Shelf;
pub use drydock_caps::instance::Shelved as HandedOver;
use drydock_contract::{Artifact, Call, CallError, Cap, Fault, Kernel, Limits, Streams};
use drydock_extension::{
    Invocation, envelope_of, http_answer_of,
    runner::{
        Answered, ContextFrom, ExecuteRequest, Failure, HttpAnswer, Invoked, LogLine, PreparedRequest,
        SentRequest,
    },
};
use drydock_gate::Grant;

use crate::{Dock, DockSession, Setup, code::handler::artifact_of};

/// The most that a handler's request may ask for, where the host says nothing else.
pub const HANDLER_LIMITS: Limits = instance_limits(60, 1 << 30);

/// What a kernel gets where the host says nothing else: a minute a call, as the seed has it, and 64 MiB.
pub const KERNEL_LIMITS: Limits = instance_limits(60, 64 << 20);

/// Bytes up to which reading, hashing and encoding are done on the async thread: a millisecond's work.
const AT_ONCE_BYTES_MAX: usize = 256 << 10;

const fn instance_limits(seconds: u64, memory_bytes_max: u64) -> Limits {
    Limits {
        memory_bytes_max,
        // Their clock and their memory bound them; whoever wants fuel counted too asks for it.
        fuel_max: u64::MAX,
        wall_max: Duration::from_secs(seconds),
        // They have no streams and no arguments.
        stdin_bytes_max: 0,
        argv_bytes_max: 0,
        stdout_bytes_max: 0,
        stderr_bytes_max: 0,
    }
}

impl Setup {
    /// A session that may make instances within these limits, and nothing else but see its own files.
    pub fn instances(limits: Limits) -> Self {
        Self { grants: vec![Arc::new(Grant::of(Cap::Instance))], limits: Some(limits), ..Self::default() }
    }
}

/// A kernel could not be opened, or has no output.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum KernelError {
    /// The gate refused it, or the module cannot be used.
    #[error(transparent)]
    Call(#[from] CallError),
    /// What came of it.
    #[error(transparent)]
    Failed(#[from] KernelFailure),
}

impl KernelError {
    /// The stable code.
    pub fn code(&self) -> &str {
        match self {
            Self::Call(error) => error.code(),
            Self::Failed(failure) => &failure.code,
        }
    }
}

/// A kernel that is open. Dropping it closes it.
pub struct DockKernel {
    session: DockSession,
    shelf: Arc<Shelf>,
    id: u64,
    module: Arc<HandedOver>,
}

impl Dock {
    /// Takes a module in, hashed, for as many requests and kernels as it lives.
    pub async fn hand_over(&self, module: impl Into<Bytes>) -> Arc<HandedOver> {
        let module = module.into();
        let artifact = off_thread_if(module.len(), move || Artifact::hash(module)).await;
        Arc::new(self.shelf.put(artifact))
    }

    /// The same for a script in JavaScript that has a function `handler`.
    pub async fn hand_over_script(&self, script: &str) -> Arc<HandedOver> {
        self.hand_over(artifact_of(script)).await
    }

    /// Answers one HTTP request with a fresh instance of a module of the Runner ABI that is this extension. The request is
    /// JSON: `context`, `http`, `limits`, each of which may be left out; a tenant or an extension that it names must be
    /// the session's and this one. Whatever comes of it is an envelope.
    pub async fn invoke(
        &self,
        session: &DockSession,
        module: &HandedOver,
        extension: &str,
        request: impl Into<Bytes>,
    ) -> Invoked {
        self.invoke_as(session, module, extension, ContextFrom::Host, request.into()).await
    }

    /// The same for a request that was never JSON, and whose body was bounded as it was read.
    pub async fn invoke_read(
        &self,
        session: &DockSession,
        module: &HandedOver,
        extension: &str,
        request: ExecuteRequest,
    ) -> Invoked {
        let bytes = request.http.body_b64.as_ref().map_or(0, String::len);
        let sent = off_thread_if(bytes, move || SentRequest::of(request.prepare())).await;
        self.send(session, module, extension, ContextFrom::Host, sent).await
    }

    /// The same for a request that came by HTTP, and whose answer goes on by HTTP; what the guest logged is beside it.
    pub async fn invoke_http(
        &self,
        session: &DockSession,
        module: &HandedOver,
        extension: &str,
        request: PreparedRequest,
    ) -> (Result<HttpAnswer, Failure>, Vec<LogLine>) {
        // Here or there, and not one future that could be either: what it would hold is moved with every request.
        let sent = match usize::try_from(request.bytes()) {
            Ok(..=AT_ONCE_BYTES_MAX) => SentRequest::of(request),
            _ => Box::pin(off_thread(move || SentRequest::of(request))).await,
        };
        let answered = self.ask(session, module, extension, ContextFrom::Host, sent).await;
        match answered.response.as_ref().map_or(0, Bytes::len) {
            ..=AT_ONCE_BYTES_MAX => http_answer_of(answered),
            _ => Box::pin(off_thread(move || http_answer_of(answered))).await,
        }
    }

    /// The same for a developer, whose requests may name the tenant and the extension that the guest is to see. What a
    /// grant is compared with is still `extension`; sessions of other tenants than the default one are not believed.
    pub async fn try_out(
        &self,
        session: &DockSession,
        module: &HandedOver,
        extension: &str,
        request: impl Into<Bytes>,
    ) -> Invoked {
        self.invoke_as(session, module, extension, ContextFrom::Request, request.into()).await
    }

    async fn invoke_as(
        &self,
        session: &DockSession,
        module: &HandedOver,
        extension: &str,
        context_from: ContextFrom,
        request: Bytes,
    ) -> Invoked {
        tracing::trace!(target: "drydock::hop", "embed: a request for a module that was handed over becomes a call");
        let sent = off_thread_if(request.len(), move || SentRequest::read(&request)).await;
        self.send(session, module, extension, context_from, sent).await
    }

    async fn send(
        &self,
        session: &DockSession,
        module: &HandedOver,
        extension: &str,
        context_from: ContextFrom,
        sent: SentRequest,
    ) -> Invoked {
        let answered = self.ask(session, module, extension, context_from, sent).await;
        let bytes = answered.response.as_ref().map_or(0, Bytes::len);
        let invoked = off_thread_if(bytes, move || envelope_of(answered)).await;
        tracing::trace!(target: "drydock::hop", "embed: an envelope with status {}", invoked.envelope.status);
        invoked
    }

    async fn ask(
        &self,
        session: &DockSession,
        module: &HandedOver,
        extension: &str,
        context_from: ContextFrom,
        sent: SentRequest,
    ) -> Answered {
        let invocation = Invocation { module: module.digest(), extension, context_from };
        invocation.send(sent, &*self.gate.door(session.inner())).await
    }

    /// Makes a kernel of a module: it lives, and keeps its memory, until it is dropped or dies.
    pub async fn open_kernel(
        &self,
        session: &DockSession,
        module: &Arc<HandedOver>,
        kernel: Kernel,
    ) -> Result<DockKernel, KernelError> {
        let module = Arc::clone(module);
        let payload = encode_open(&Open { module: module.digest(), kernel, memory_bytes_max: None });
        let reply = ask(session, OPEN, &payload).await?;
        let id = decode_opened(&reply).map_err(|bad| broken(&bad))??;
        Ok(DockKernel { session: session.clone(), shelf: Arc::clone(&self.shelf), id, module })
    }
}

impl DockKernel {
    /// One call. A trap, a deadline and dropping the future kill the kernel, and every later call is told so.
    pub async fn call(&self, input: &[u8], wall_max: Duration) -> Result<Output, KernelError> {
        let wall_ms = u64::try_from(wall_max.as_millis()).unwrap_or(u64::MAX);
        let call = CallKernel { id: self.id, module: self.module.digest(), wall_ms, input };
        let reply = ask(&self.session, CALL, &encode_call(&call)).await?;
        Ok(decode_output(&reply).map_err(|bad| broken(&bad))??)
    }
}

impl Drop for DockKernel {
    fn drop(&mut self) {
        self.shelf.close(self.id);
    }
}

/// Does it here if it is little, and on a thread that may take its time if it is not.
async fn off_thread_if<T: Send + 'static>(bytes: usize, work: impl FnOnce() -> T + Send + 'static) -> T {
    if bytes <= AT_ONCE_BYTES_MAX {
        return work();
    }
    off_thread(work).await
}

/// Does it on a thread that may wait.
pub(crate) async fn off_thread<T: Send + 'static>(work: impl FnOnce() -> T + Send + 'static) -> T {
    match tokio::task::spawn_blocking(work).await {
        Ok(done) => done,
        // Nobody cancels it: it can only have panicked, and goes on doing so here.
        Err(panicked) => std::panic::resume_unwind(panicked.into_panic()),
    }
}

async fn ask(session: &DockSession, operation: &str, payload: &[u8]) -> Result<Vec<u8>, CallError> {
    let call = Call::new(operation, payload, Streams::default());
    Ok(session.gate.dispatch(session.inner(), call).await?.payload)
}

fn broken(error: &impl std::fmt::Display) -> CallError {
    Fault::Internal(error.to_string()).into()
}

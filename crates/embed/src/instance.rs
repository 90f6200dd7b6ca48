//! Handlers and kernels over a dock: a module's bytes, a session, and the gate between them.

use std::{sync::Arc, time::Duration};

use bytes::Bytes;
use drydock_abi::kernel::{
    CALL, KernelFailure, OPEN, Open, Output, decode_opened, decode_output, encode_call, encode_open,
};
use drydock_caps::instance::{Shelf, Shelved};
use drydock_contract::{Artifact, Call, CallError, Cap, Fault, Kernel, Limits, Streams};
use drydock_extension::{Invocation, runner::Invoked};
use drydock_gate::Grant;

use crate::{Dock, DockSession, Setup};

/// The most that a handler's request may ask for, where the host says nothing else.
pub const HANDLER_LIMITS: Limits = instance_limits(60, 1 << 30);

/// What a kernel gets where the host says nothing else: a minute a call, as the seed has it, and 64 MiB.
pub const KERNEL_LIMITS: Limits = instance_limits(60, 64 << 20);

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
    _module: Shelved,
}

impl Dock {
    /// Answers one HTTP request with a fresh instance of a module of the Runner ABI. The request is JSON: `context`,
    /// `http`, `limits`, each of which may be left out. Whatever comes of it is an envelope.
    pub async fn invoke(
        &self,
        session: &DockSession,
        module: impl Into<Bytes>,
        extension: &str,
        request: &[u8],
    ) -> Invoked {
        tracing::trace!(target: "drydock::hop", "embed: a module is handed over by its hash, a request for it becomes a call");
        let module = self.shelf.put(Artifact::hash(module));
        let tenant = &session.inner().spec().tenant;
        let invocation = Invocation { module: module.digest(), tenant, extension, request };
        let invoked = invocation.send(&*self.gate.door(session.inner())).await;
        tracing::trace!(target: "drydock::hop", "embed: an envelope with status {}", invoked.envelope.status);
        invoked
    }

    /// Makes a kernel of a module: it lives, and keeps its memory, until it is dropped or dies.
    pub async fn open_kernel(
        &self,
        session: &DockSession,
        module: impl Into<Bytes>,
        kernel: Kernel,
    ) -> Result<DockKernel, KernelError> {
        let module = self.shelf.put(Artifact::hash(module));
        let payload = encode_open(&Open { module: module.digest(), kernel, memory_bytes_max: None });
        let reply = ask(session, OPEN, &payload).await?;
        let id = decode_opened(&reply).map_err(|bad| broken(&bad))??;
        Ok(DockKernel { session: session.clone(), shelf: Arc::clone(&self.shelf), id, _module: module })
    }
}

impl DockKernel {
    /// One call. A trap, a deadline and dropping the future kill the kernel, and every later call is told so.
    pub async fn call(&self, input: &[u8], wall_max: Duration) -> Result<Output, KernelError> {
        let wall_ms = u64::try_from(wall_max.as_millis()).unwrap_or(u64::MAX);
        let reply = ask(&self.session, CALL, &encode_call(self.id, wall_ms, input)).await?;
        Ok(decode_output(&reply).map_err(|bad| broken(&bad))??)
    }
}

impl Drop for DockKernel {
    fn drop(&mut self) {
        self.shelf.close(self.id);
    }
}

async fn ask(session: &DockSession, operation: &str, payload: &[u8]) -> Result<Vec<u8>, CallError> {
    let call = Call::new(operation, payload, Streams::default());
    Ok(session.gate.dispatch(session.inner(), call).await?.payload)
}

fn broken(error: &impl std::fmt::Display) -> CallError {
    Fault::Internal(error.to_string()).into()
}

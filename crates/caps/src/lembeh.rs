//! Runs one guest of the lembeh ABI to its end. It sees nothing of the session but what its host gives it; the door that
//! the host is handed is the session's, one level deeper, and ends with the guest's own time.

use std::sync::Arc;

use drydock_contract::{
    Artifact, CallError, CapSet, Entropy, GuestTime, Limits, Reply, RunRequest, SharedLembeh, Streams,
    WorkingDir, port::Runner,
};
use drydock_gate::Permit;

use crate::instance::Instance;

/// A guest that may run.
pub(crate) struct RunReady {
    pub(crate) artifact: Artifact,
    pub(crate) host: SharedLembeh,
    pub(crate) limits: Limits,
}

pub(crate) async fn run(
    runner: &dyn Runner,
    permit: &Permit<'_, Instance>,
    ready: RunReady,
    streams: Streams,
) -> Result<Reply, CallError> {
    let RunReady { artifact, host, limits } = ready;
    let (session, spec) = (permit.session(), permit.session().spec());
    tracing::trace!(target: "drydock::hop", "caps/instance: a lembeh guest, its streams and what it may start");
    let request = RunRequest {
        artifact,
        argv: Vec::new(),
        env: Arc::new([]),
        streams,
        files: None,
        trees: Vec::new(),
        working_dir: WorkingDir::Own,
        file_rules: permit.file_rules(),
        limits,
        memory: spec.memory.clone(),
        lane: None,
        compile: None,
        caps: CapSet::EMPTY,
        time: GuestTime::Real,
        clock: None,
        entropy: Entropy::Seeded(0),
        door: permit.door_within(limits.wall_max, None),
        switches: session.switches(),
        budget: spec.budget.clone(),
        preparing: Some(Arc::clone(session.preparing())),
        depth: session.depth(),
        tenant: spec.tenant.clone(),
        pays_for_code: false,
    };
    let (report, streams) = runner.run_lembeh(request, host).await?;
    let (outcome, carried) =
        (report.outcome.clone(), [report.stdin_bytes, report.stdout_bytes, report.stderr_bytes]);
    Ok(Reply::of_value(report, streams).ended(outcome, carried))
}

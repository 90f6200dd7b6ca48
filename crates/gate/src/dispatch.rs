//! The one function that answers calls.

use std::sync::Arc;

use drydock_contract::{
    BoxFuture, Call, CallError, Cap, Denial, Dispatch, Fault, Principal, Reply, Timestamp,
    port::{AuditRecord, Clock, Decision, Journal},
};

use crate::{
    Audited, CapSpec, Capability, Operation, Recording, Session, SessionSpec,
    audit::{Audit, AuditCounts},
    ladder::{self, Climb},
    rate::Rate,
    standing::Standings,
};

/// How the gate counts and records.
#[derive(Debug, Clone, Copy)]
pub struct GateSettings {
    /// Calls a principal may make in a window.
    pub calls_max: u32,
    /// The window.
    pub window_s: u32,
    /// Principals remembered at once.
    pub principals_max: usize,
    /// When the record of an allowed call is written.
    pub recording: Recording,
}

impl Default for GateSettings {
    fn default() -> Self {
        Self { calls_max: 120_000, window_s: 60, principals_max: 65_536, recording: Recording::Behind }
    }
}

/// The gate: every power behind it, everybody's standing, and the audit around both.
pub struct Gate {
    powers: Vec<Box<dyn Power>>,
    standings: Standings,
    audit: Audit,
    clock: Arc<dyn Clock>,
    rate: Rate,
    recording: Recording,
}

impl Gate {
    /// A gate with no powers behind it.
    pub fn new(settings: GateSettings, clock: Arc<dyn Clock>, journal: Arc<dyn Journal>) -> Self {
        let rate = Rate { calls_max: settings.calls_max, window_s: settings.window_s };
        Self {
            powers: Vec::new(),
            standings: Standings::new(settings.principals_max, rate),
            audit: Audit::new(journal),
            clock,
            rate,
            recording: settings.recording,
        }
    }

    /// The gate with one more power behind it.
    #[must_use]
    pub fn with<C: Capability>(mut self, capability: C) -> Self {
        self.powers.push(Box::new(capability));
        self
    }

    /// What is behind the gate.
    pub fn specs(&self) -> impl Iterator<Item = &'static CapSpec> {
        self.powers.iter().map(|power| power.spec())
    }

    /// Opens a session.
    pub fn open(&self, spec: SessionSpec) -> Result<Session, Denial> {
        let now = self.clock.now();
        match self.standings.of(&spec.principal, now) {
            Ok(standing) => Ok(Session::open(spec, standing)),
            Err(denial) => {
                let decision = Decision::Denied(denial.code());
                let subject = "".into();
                let principal = spec.principal;
                self.audit.refused(AuditRecord {
                    at: now,
                    principal,
                    operation: "session.open",
                    subject,
                    decision,
                });
                Err(denial)
            }
        }
    }

    /// Answers one call, or refuses it.
    pub async fn dispatch(self: &Arc<Self>, session: &Session, call: Call<'_>) -> Result<Reply, CallError> {
        tracing::trace!(target: "drydock::hop", "gate: Call{{{}}} climbs the ladder", call.operation);
        for power in &self.powers {
            if let Some(operation) = power.spec().operations.iter().find(|it| it.name == call.operation) {
                return power.answer(self, session, operation, call).await;
            }
        }
        let climb = Climb {
            session,
            spec: &NOWHERE,
            operation: &NOWHERE.operations[0],
            payload_bytes: 0,
            now: self.clock.now(),
            rate: self.rate,
        };
        let nobody = || Denial::UnknownOperation(ladder::shorten(call.operation).to_string());
        let denial = ladder::climb_to_nowhere(&climb).err().unwrap_or_else(nobody);
        Err(self.refuse(&climb, denial, "".into()).await)
    }

    /// The gate bound to a session, for a front end that is handed a door instead of the two. It gives
    /// nothing that [`Gate::dispatch`] with the same session would not.
    pub fn door(self: &Arc<Self>, session: &Session) -> Arc<dyn Dispatch> {
        Arc::new(Door { gate: Arc::clone(self), session: session.clone() })
    }

    /// Takes every power from a principal, runs in flight included.
    pub fn revoke(&self, principal: &Principal) -> Result<(), Denial> {
        self.standings.of(principal, self.clock.now())?.revoked.trip();
        Ok(())
    }

    /// Lets a revoked principal ask again. Runs that were ended stay ended.
    pub fn unrevoke(&self, principal: &Principal) -> Result<(), Denial> {
        self.standings.of(principal, self.clock.now())?.revoked.reset();
        Ok(())
    }

    /// Decisions since the start, counted.
    pub fn counts(&self) -> AuditCounts {
        self.audit.counts()
    }

    /// How many principals are remembered.
    pub fn principals(&self) -> usize {
        self.standings.len()
    }

    /// Writes every record out, and says if one could not be.
    pub fn flush(&self) -> Result<(), String> {
        self.audit.flush()
    }

    /// The gate's clock.
    pub fn now(&self) -> Timestamp {
        self.clock.now()
    }

    async fn refuse(&self, climb: &Climb<'_>, denial: Denial, subject: Arc<str>) -> CallError {
        self.audit.denied(self.record(climb, subject, Decision::Denied(denial.code()))).await;
        denial.into()
    }

    fn record(&self, climb: &Climb<'_>, subject: Arc<str>, decision: Decision) -> AuditRecord {
        let principal = climb.session.standing().principal.clone();
        AuditRecord { at: climb.now, principal, operation: climb.operation.name, subject, decision }
    }
}

/// Stands in for an operation nobody offers, so that its denial has a record like any other.
const NOWHERE: CapSpec = CapSpec {
    cap: Cap::Commands,
    operations: &[Operation {
        name: "unknown",
        request_bytes_max: 0,
        in_flight_max: None,
        audited: Audited::Denials,
        summary: "",
    }],
    imports: &[],
};

/// A capability with its types hidden, so that the gate can keep a list of them.
trait Power: Send + Sync {
    fn spec(&self) -> &'static CapSpec;

    fn answer<'a>(
        &'a self,
        gate: &'a Arc<Gate>,
        session: &'a Session,
        operation: &'static Operation,
        call: Call<'a>,
    ) -> BoxFuture<'a, Result<Reply, CallError>>;
}

impl<C: Capability> Power for C {
    fn spec(&self) -> &'static CapSpec {
        &C::SPEC
    }

    fn answer<'a>(
        &'a self,
        gate: &'a Arc<Gate>,
        session: &'a Session,
        operation: &'static Operation,
        call: Call<'a>,
    ) -> BoxFuture<'a, Result<Reply, CallError>> {
        Box::pin(async move {
            let payload_bytes = (call.payload.len() as u64).saturating_add(call.unread_bytes);
            let climb =
                Climb { session, spec: &C::SPEC, operation, payload_bytes, now: gate.now(), rate: gate.rate };
            let (permit, ready) = match ladder::climb(gate, self, &climb, call.payload) {
                Ok(through) => through,
                Err(refused) => return Err(gate.refuse(&climb, refused.denial, refused.subject).await),
            };
            if operation.audited == Audited::Everything {
                let record = gate.record(&climb, C::label(&ready), Decision::Allowed);
                // No record, no act: a full disk stops the work instead of hiding it.
                gate.audit.allowed(record, gate.recording).await.map_err(Fault::Unrecorded)?;
            }
            self.perform(permit.under(call.umask), ready, call.streams).await
        })
    }
}

/// The gate bound to a session: what a run is given as its only way to the world.
pub(crate) struct Door {
    pub(crate) gate: Arc<Gate>,
    pub(crate) session: Session,
}

impl Dispatch for Door {
    fn dispatch<'a>(&'a self, call: Call<'a>) -> BoxFuture<'a, Result<Reply, CallError>> {
        Box::pin(self.gate.dispatch(&self.session, call))
    }
}

//! The whole machine as one value.

use std::{path::Path, sync::Arc};

use drydock_caps::{instance::Shelf, llm::ModelSource, search::SearchSource};
use drydock_contract::{
    Denial, Fault, Node, Principal, Tenant, Tools,
    port::{Agents, EntryOptions, LedgerError},
};
use drydock_egress::Egress;
use drydock_engine::{CompileEvent, Engine, EngineSettings, Facts};
use drydock_gate::{Gate, GateSettings, SessionSpec};
use drydock_store::{
    BadBuiltin, CommandRegistry, Home, OpenHomeError, Registries, Shipped, SqliteLedger, Vault,
};

use crate::{
    BadSetup, CompileLimits, DockSession, ExtensionSettings, Provider, Setup, WorkerProgram,
    processes::RunningProcesses, wiring,
};

/// A gate, an engine, a registry and a data directory that belong together. Clones are the same machine.
#[derive(Clone)]
pub struct Dock {
    pub(crate) gate: Arc<Gate>,
    pub(crate) engine: Arc<Engine>,
    /// Whose principals, names, workspaces and contexts it is about.
    pub(crate) tenant: Tenant,
    /// That tenant's.
    pub(crate) registry: Arc<CommandRegistry>,
    pub(crate) registries: Arc<Registries>,
    pub(crate) ledger: Arc<SqliteLedger>,
    pub(crate) home: Home,
    pub(crate) provider: Option<Arc<dyn Provider>>,
    /// Modules and kernels that calls name.
    pub(crate) shelf: Arc<Shelf>,
    pub(crate) egress: Arc<Egress>,
    pub(crate) extensions: Arc<ExtensionSettings>,
    /// What all tenants keep secret.
    pub(crate) vault: Arc<Vault>,
    /// Those that go on by themselves.
    pub(crate) processes: Arc<RunningProcesses>,
    /// Runs of agents, of all tenants.
    pub(crate) agents: Arc<dyn Agents>,
    /// Somebody here answered what a run of an agent waits for.
    pub(crate) agents_answered: Arc<event_listener::Event>,
}

/// What an embedder may choose. The default runs built-in commands and no others: those need a worker.
#[derive(Clone, Default)]
pub struct DockSettings {
    /// How the gate counts and records.
    pub gate: GateSettings,
    /// How many instances, modules and compilations at once.
    pub engine: EngineSettings,
    /// Told when a module is being compiled, which may take a second or two.
    pub on_compile: Option<Arc<dyn Fn(CompileEvent) + Send + Sync>>,
    /// Compiles modules that are not built in, in a process of its own. Without one they are refused
    /// (`no_compile_worker`), unless the code is in the cache already.
    pub worker: Option<WorkerProgram>,
    /// What compiling one of those may take.
    pub compile: CompileLimits,
    /// Code of built-in modules that came with the program.
    pub shipped: Option<Shipped>,
    /// The way out, for sessions that were granted hosts; without one, the machine's own resolver, network and trust store.
    pub egress: Option<Arc<Egress>>,
    /// Knows programs that are not installed, and installs them where a session may.
    pub provider: Option<Arc<dyn Provider>>,
    /// What holds for all extensions.
    pub extensions: ExtensionSettings,
    /// Knows the models that sessions may be granted; without it there is none.
    pub models: Option<Arc<ModelSource>>,
    /// Knows who searches the web for sessions that may; without it nobody does.
    pub search: Option<Arc<SearchSource>>,
}

/// The machine could not be put together.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum OpenDockError {
    /// The data directory is not usable.
    #[error(transparent)]
    Home(#[from] OpenHomeError),
    /// The built-in commands contradict each other.
    #[error(transparent)]
    Builtins(#[from] BadBuiltin),
    /// Nobody can say what is revoked.
    #[error(transparent)]
    Ledger(#[from] LedgerError),
    /// The engine cannot run here.
    #[error(transparent)]
    Engine(Fault),
}

impl Dock {
    /// Opens, or makes, the data directory and everything on top of it.
    pub fn open(home: impl AsRef<Path>) -> Result<Self, OpenDockError> {
        Self::open_with(home, DockSettings::default())
    }

    /// The same with other settings.
    pub fn open_with(home: impl AsRef<Path>, settings: DockSettings) -> Result<Self, OpenDockError> {
        wiring::wire(Home::open(home)?, settings)
    }

    /// Opens a session for `principal`, with the powers and limits of `setup` and no others.
    pub fn session(&self, principal: &str, setup: Setup) -> Result<DockSession, BadSetup> {
        // By itself it waits for nobody else's code.
        self.session_beside(principal, Setup { preparing: Arc::default(), ..setup })
    }

    /// The same for the tools of a program, whose waits are the program's.
    pub(crate) fn session_beside(&self, principal: &str, setup: Setup) -> Result<DockSession, BadSetup> {
        self.session_with(principal, setup, None)
    }

    /// The same with tools of its own.
    pub(crate) fn session_with(
        &self,
        principal: &str,
        setup: Setup,
        tools: Option<Arc<dyn Tools>>,
    ) -> Result<DockSession, BadSetup> {
        let principal: Principal = principal.parse()?;
        let may_install = setup.install_missing;
        let mut spec = SessionSpec { tools, ..self.spec_of(setup, principal)? };
        let (files, grants) = (spec.files.clone(), spec.grants.clone());
        spec.inside = self.providing(spec.inside, may_install, files, grants);
        let session = self.gate.open(spec)?;
        Ok(DockSession { gate: Arc::clone(&self.gate), session })
    }

    /// The same machine for another tenant: its principals, names of commands, workspaces, contexts and grants.
    #[must_use]
    pub fn for_tenant(&self, tenant: Tenant) -> Self {
        Self { registry: self.registries.of(&tenant), tenant, ..self.clone() }
    }

    /// Whose machine this is.
    pub fn tenant(&self) -> &Tenant {
        &self.tenant
    }

    /// What a session of this tenant is opened with.
    pub(crate) fn spec_of(&self, setup: Setup, principal: Principal) -> Result<SessionSpec, BadSetup> {
        let registry = (self.tenant != Tenant::default()).then(|| Arc::clone(&self.registry) as _);
        Ok(SessionSpec { tenant: self.tenant.clone(), registry, ..setup.into_spec(principal)? })
    }

    /// Takes every power from a principal of the tenant, runs in flight included, here and in every process of the home.
    /// [`Gate::revoke`] does it for whole tenants and grants.
    pub fn revoke(&self, principal: &str) -> Result<(), BadSetup> {
        Ok(self.gate.revoke(&Node::Principal(self.tenant.clone(), principal.parse()?))?)
    }

    /// The names of commands of the tenant, and the way to add and remove them.
    pub fn registry(&self) -> &CommandRegistry {
        &self.registry
    }

    /// What every process of this home agrees on: revocations, counters, cells.
    pub fn ledger(&self) -> &Arc<SqliteLedger> {
        &self.ledger
    }

    /// Keeps secrets, and shows none.
    pub fn vault(&self) -> &Arc<Vault> {
        &self.vault
    }

    /// The way out.
    pub fn egress(&self) -> &Arc<Egress> {
        &self.egress
    }

    /// The gate.
    pub fn gate(&self) -> &Arc<Gate> {
        &self.gate
    }

    /// For a process that serves others: whatever is compiled from now on takes one core each. Otherwise a
    /// compilation takes all of them as long as no run is in flight (decision 0048).
    pub fn serve(&self) {
        self.engine.serve();
    }

    /// What this machine gives.
    pub fn facts(&self) -> Result<Facts, Fault> {
        self.engine.facts()
    }

    /// The data directory.
    pub fn home(&self) -> &Home {
        &self.home
    }

    /// Says if these bytes could not run as a command even with every power there is.
    pub async fn check(&self, bytes: impl Into<bytes::Bytes>) -> Result<(), Fault> {
        self.check_as(bytes, &EntryOptions::default()).await
    }

    /// Says if these bytes could not run as a command that is started so. They are compiled for its lane.
    pub async fn check_as(
        &self,
        bytes: impl Into<bytes::Bytes>,
        options: &EntryOptions,
    ) -> Result<(), Fault> {
        let artifact = drydock_contract::Artifact::hash(bytes);
        self.engine.lane(options.lane())?.warm(&artifact, options.compile_limits()).await
    }

    /// Compiles a command now, so that its first run need not.
    pub async fn warm(&self, name: &str) -> Result<(), drydock_contract::CallError> {
        use drydock_contract::port::Registry as _;
        let unknown = || Denial::UnknownCommand(name.into());
        let entry = self.registry.lookup(name, None).ok_or_else(unknown)?;
        let artifact = self.registry.load(&entry).map_err(Fault::from)?;
        let lane = self.engine.lane(entry.options.lane())?;
        Ok(lane.warm(&artifact, entry.options.compile_limits()).await?)
    }
}

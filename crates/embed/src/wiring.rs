//! Where every port meets its implementation. The whole machine is on this page.

use std::{
    hash::{BuildHasher as _, RandomState},
    sync::Arc,
};

use drydock_caps::{
    broker::{Brokered, Policy},
    browse::Browse,
    code::Code,
    commands::Commands,
    exec::Exec,
    instance::{Instance, Shelf},
    kv::Kv,
    llm::Llm,
    net::{Net, Played},
    parallel::Parallel,
    process::{Process, Tasks},
    queue::Queue,
    search::Search,
    secrets::Secrets,
    serve::Serve,
    tcp::Tcp,
    tls::Tls,
    tool::Tool,
    udp::Udp,
};
use drydock_contract::{
    ArgMode, Digest, Fault, Tenant,
    port::{Clock, Journal},
};
use drydock_egress::{Egress, Nowhere, Parts};
use drydock_engine::{Apart, Engine};
use drydock_gate::{Gate, GateSettings, Recording};
use drydock_store::{
    Builtin, CodeCache, FileJournal, Home, Part, Registries, SqliteAgents, SqliteKeyValues, SqliteLedger,
    SqliteQueues, Vault,
};

use crate::{
    Dock, DockSettings, OpenDockError, SystemClock, code::handler::WithScripts, revocations,
    worker::ChildCompiler,
};

pub(crate) fn wire(home: Home, settings: DockSettings) -> Result<Dock, OpenDockError> {
    let registries =
        Arc::new(Registries::open(&home, builtins()?, drydock_abi::shell::OWN_NAMES.iter().copied())?);
    let registry = registries.of(&Tenant::default());
    let ledger = Arc::new(SqliteLedger::of(&home));
    // Without a cache everything still runs; it only compiles more often.
    let cache = CodeCache::open(&home).ok().map(Arc::new);
    let worker = settings.worker.map(|program| ChildCompiler { program, limits: settings.compile });
    let mut engine =
        Engine::new(settings.engine, cache.clone()).map_err(OpenDockError::Engine)?.compiling_apart(Apart {
            built_in: drydock_commands::MODULES.iter().filter_map(|it| it.sha256.parse().ok()).collect(),
            worker: worker.map(|it| Arc::new(it) as _),
            shipped: settings.shipped,
        });
    if let Some(observer) = settings.on_compile {
        engine = engine.on_compile(move |event| observer(event));
    }
    let engine = Arc::new(engine);
    let journal = Arc::new(FileJournal::open(&home));
    let vault = Arc::new(Vault::new(&home, Arc::clone(&ledger) as _));
    let shelf = Arc::new(Shelf::default());
    let egress = settings.egress.unwrap_or_else(|| Arc::new(Egress::new(Parts::default())));
    let models = settings.models.unwrap_or_else(|| Arc::new(|_: &str| Ok(None)));
    let llm = Llm::new(Arc::clone(&egress), models);
    let search = settings.search.unwrap_or_else(|| Arc::new(|| Ok(None)));
    let search = Search::new(Arc::clone(&egress), search);
    let policy = Policy { clock: Arc::new(SystemClock) };
    let browse =
        Browse::new(Arc::clone(&egress), Arc::clone(&registry) as _, Arc::clone(&engine) as _, policy);
    let gate_settings = GateSettings { digest_key: digest_key(cache.as_deref()), ..settings.gate };
    let gate = Gate::new(gate_settings, Arc::new(SystemClock), journal)
        .with(Exec::new(Arc::clone(&registry) as _, Arc::clone(&engine) as _))
        .with(Commands::new(Arc::clone(&registry) as _))
        .with(Tool)
        .with(Code)
        .with(Parallel::default())
        .with(Net::new(Arc::clone(&egress), Arc::new(SystemClock)))
        .with(Brokered::new(
            Kv::new(Arc::new(SqliteKeyValues::of(&home)), Arc::new(SystemClock)),
            Arc::new(SystemClock),
        ))
        .with(Brokered::new(
            Queue::new(Arc::new(SqliteQueues::of(&home)), Arc::new(SystemClock)),
            Arc::new(SystemClock),
        ))
        .with(Brokered::new(llm, Arc::new(SystemClock)))
        .with(Brokered::new(browse, Arc::new(SystemClock)))
        .with(Brokered::new(search, Arc::new(SystemClock)))
        .with(Process::new(tasks(), Arc::new(SystemClock)))
        .with(Tcp::new(Arc::clone(&egress), Arc::new(SystemClock)))
        .with(Tls::new(Arc::clone(&egress), Arc::new(SystemClock)))
        .with(Udp::new(Arc::clone(&egress), Arc::new(SystemClock)))
        .with(Brokered::new(Secrets::new(Arc::clone(&vault) as _), Arc::new(SystemClock)))
        .with(Serve::new(Arc::clone(&engine) as _, Arc::clone(&shelf), Arc::new(SystemClock)))
        .with(Instance::new(Arc::new(WithScripts(Arc::clone(&engine))), Arc::clone(&shelf)));
    // Whoever cannot read what is revoked lets nobody in. Where nothing ever was, this is one look at a name.
    let gate = Arc::new(gate.agreeing_by(Arc::clone(&ledger) as _)?);
    revocations::hear(&gate, Arc::clone(&ledger) as _, &shelf)
        .map_err(|error| OpenDockError::Engine(Fault::Internal(format!("no thread: {error}"))))?;
    let agents = Arc::new(SqliteAgents::of(&home));
    let tenant = Tenant::default();
    let (provider, extensions) = (settings.provider, Arc::new(settings.extensions));
    Ok(Dock {
        gate,
        engine,
        tenant,
        registry,
        registries,
        ledger,
        home,
        provider,
        shelf,
        egress,
        extensions,
        vault,
        processes: Arc::default(),
        agents,
        agents_answered: Arc::default(),
    })
}

/// Processes are tasks of whichever runtime they are spawned from. Without one there is none, and they fail.
fn tasks() -> Tasks {
    Arc::new(|work| match tokio::runtime::Handle::try_current() {
        Ok(runtime) => drop(runtime.spawn(work)),
        Err(_) => drop(work),
    })
}

/// The gate of a replay: the powers of this machine over the same commands and engine, and a tape in the place of the
/// network. No ledger: nothing that other processes do reaches into it.
pub(crate) fn gate_of_replay(
    dock: &Dock,
    way: Arc<Played>,
    clock: Arc<dyn Clock>,
    journal: Arc<dyn Journal>,
) -> Gate {
    let cache = CodeCache::open(&dock.home).ok();
    let settings = GateSettings {
        digest_key: digest_key(cache.as_ref()),
        // What was refused for its rate is on the tape.
        calls_max: u32::MAX,
        recording: Recording::Ahead,
        ..GateSettings::default()
    };
    Gate::new(settings, Arc::clone(&clock), journal)
        .with(Exec::new(Arc::clone(&dock.registry) as _, Arc::clone(&dock.engine) as _))
        .with(Commands::new(Arc::clone(&dock.registry) as _))
        .with(Tool)
        .with(Code)
        .with(Brokered::<Kv, Played>::over(way.as_ref().clone(), Arc::clone(&clock)))
        .with(Brokered::<Queue, Played>::over(way.as_ref().clone(), Arc::clone(&clock)))
        .with(Net::new(Arc::clone(&way), Arc::clone(&clock)))
        .with(Tcp::new(Arc::clone(&way), Arc::clone(&clock)))
        .with(Tls::new(Arc::clone(&way), Arc::clone(&clock)))
        .with(Udp::new(Arc::clone(&way), Arc::clone(&clock)))
        .with(Brokered::<Secrets, Played>::over(way.as_ref().clone(), Arc::clone(&clock)))
        .with(Parallel::default())
        .with(Brokered::<Llm, _>::over(Played::clone(&way), Arc::clone(&clock)))
        .with(Brokered::<Browse, _>::over(Played::clone(&way), Arc::clone(&clock)))
        .with(Brokered::<Search, _>::over(Played::clone(&way), Arc::clone(&clock)))
        .with(Instance::new(Arc::new(WithScripts(Arc::clone(&dock.engine))), Arc::clone(&dock.shelf)))
}

/// The way out of a machine that has none.
pub(crate) fn no_way_out() -> Arc<Egress> {
    let (resolver, dialler) = (Arc::new(Nowhere) as _, Arc::new(Nowhere) as _);
    Arc::new(Egress::new(Parts { resolver, dialler, ..Parts::default() }))
}

/// What the digests in audit records are keyed with. Without a key of the installation, one of this process: then they
/// can be compared with each other, and with nothing else.
fn digest_key(cache: Option<&CodeCache>) -> [u8; 32] {
    if let Some(cache) = cache {
        return cache.key_for("drydock audit digests");
    }
    let mut key = [0; 32];
    for (index, word) in key.chunks_exact_mut(8).enumerate() {
        // A fresh hasher is keyed by the operating system.
        word.copy_from_slice(&RandomState::new().hash_one(index).to_le_bytes());
    }
    key
}

/// The built-in commands in the registry's terms.
fn builtins() -> Result<Vec<Builtin>, OpenDockError> {
    let broken =
        |name: &str| OpenDockError::Engine(Fault::Internal(format!("the lock has no sha256 for `{name}`")));
    let part = |module: &&'static drydock_commands::Module| -> Result<Part, OpenDockError> {
        let digest: Digest = module.sha256.parse().map_err(|_| broken(module.name))?;
        Ok(Part { digest, bytes: module.bytes, applets: module.applets })
    };
    let command = |(name, modules): (&'static str, Vec<_>)| -> Result<Builtin, OpenDockError> {
        Ok(Builtin { name, mode: ArgMode::Argv, parts: modules.iter().map(part).collect::<Result<_, _>>()? })
    };
    drydock_commands::commands().into_iter().map(command).collect()
}

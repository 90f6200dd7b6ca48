//! Where every port meets its implementation. The whole machine is on this page.

use std::sync::Arc;

use drydock_caps::{commands::Commands, exec::Exec, tool::Tool};
use drydock_contract::{ArgMode, Digest, Fault};
use drydock_engine::{Apart, Engine};
use drydock_gate::Gate;
use drydock_store::{Builtin, CodeCache, CommandRegistry, FileJournal, Home, Part};

use crate::{Dock, DockSettings, OpenDockError, SystemClock, worker::ChildCompiler};

pub(crate) fn wire(home: Home, settings: DockSettings) -> Result<Dock, OpenDockError> {
    let registry =
        Arc::new(CommandRegistry::reserving(&home, builtins()?, drydock_commands::shell::own_names())?);
    // Without a cache everything still runs; it only compiles more often.
    let cache = CodeCache::open(&home).ok().map(Arc::new);
    let worker = settings.worker.map(|program| ChildCompiler { program, limits: settings.compile });
    let mut engine =
        Engine::new(settings.engine, cache).map_err(OpenDockError::Engine)?.compiling_apart(Apart {
            built_in: drydock_commands::MODULES.iter().filter_map(|it| it.sha256.parse().ok()).collect(),
            worker: worker.map(|it| Arc::new(it) as _),
            shipped: settings.shipped,
        });
    if let Some(observer) = settings.on_compile {
        engine = engine.on_compile(move |event| observer(event));
    }
    let engine = Arc::new(engine);
    let journal = Arc::new(FileJournal::open(&home)?);
    let gate = Gate::new(settings.gate, Arc::new(SystemClock), journal)
        .with(Exec::new(Arc::clone(&registry) as _, Arc::clone(&engine) as _))
        .with(Commands::new(Arc::clone(&registry) as _))
        .with(Tool);
    Ok(Dock { gate: Arc::new(gate), engine, registry, home, provider: settings.provider })
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

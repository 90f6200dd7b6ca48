//! Imports: WASI for everybody, a power's own only where the power was granted.

use drydock_contract::{CapSet, Digest, Fault};
use wasmtime::{ExternType, InstancePre, Linker, Module, ModuleExport};

use crate::{guest::Guest, host, wasi};

/// A module linked for one set of powers, ready to be instantiated.
pub(crate) struct Prepared {
    pub(crate) pre: InstancePre<Guest>,
    pub(crate) start: Start,
    pub(crate) memory: Option<ModuleExport>,
    /// It goes to the directory that `PWD` names by itself.
    pub(crate) starts_in_pwd: bool,
}

/// Where a module begins.
pub(crate) enum Start {
    /// A command's `_start`, which ends the run itself if its status is not 0.
    Command(ModuleExport),
    /// A library that is made ready once and has a program's main function, whose result is the status.
    Main { initialize: Option<ModuleExport>, run: ModuleExport },
}

/// A module that exports this says that it starts in the directory that `PWD` names; what it stands for does not matter.
const STARTS_IN_PWD: &str = "drydock_starts_in_pwd";

/// The linker of one set of powers.
pub(crate) fn linker(engine: &wasmtime::Engine, caps: CapSet) -> wasmtime::Result<Linker<Guest>> {
    let mut linker = Linker::new(engine);
    wasi::link(&mut linker)?;
    host::link(&mut linker, caps)?;
    Ok(linker)
}

/// Links a module, or says which import stands in the way.
pub(crate) fn prepare(
    engine: &wasmtime::Engine,
    module: &Module,
    digest: Digest,
    caps: CapSet,
) -> Result<Prepared, Fault> {
    let internal = |error: wasmtime::Error| Fault::Internal(format!("{error:#}"));
    let mut linker = linker(engine, caps).map_err(internal)?;
    host::nobody::link(&mut linker, module).map_err(internal)?;
    let pre = linker.instantiate_pre(module).map_err(|error| cannot_link(digest, &error))?;
    let start = start_of(module).map_err(|reason| Fault::BadModule { digest, reason: reason.into() })?;
    let memory = module.get_export_index("memory");
    let memory = memory.filter(|_| matches!(module.get_export("memory"), Some(ExternType::Memory(_))));
    let starts_in_pwd = module.get_export(STARTS_IN_PWD).is_some();
    Ok(Prepared { pre, start, memory, starts_in_pwd })
}

fn start_of(module: &Module) -> Result<Start, &'static str> {
    let takes_nothing = |name: &str| match module.get_export(name) {
        Some(ExternType::Func(ty)) if ty.params().len() == 0 => Some(ty),
        _ => None,
    };
    let missing = "it exports no `_start` function, so it is a library and not a command";
    match module.get_export("_start") {
        Some(ExternType::Func(ty)) if ty.params().len() == 0 && ty.results().len() == 0 => {
            module.get_export_index("_start").map(Start::Command).ok_or(missing)
        }
        Some(ExternType::Func(_)) => Err("its `_start` takes or returns values; a command's does neither"),
        _ => {
            let status = |ty: &wasmtime::FuncType| {
                ty.results().len() == 1 && ty.results().all(|it| matches!(it, wasmtime::ValType::I32))
            };
            let run = takes_nothing("run").filter(status).and_then(|_| module.get_export_index("run"));
            let initialize = takes_nothing("_initialize").filter(|ty| ty.results().len() == 0);
            let initialize = initialize.and_then(|_| module.get_export_index("_initialize"));
            run.map(|run| Start::Main { initialize, run }).ok_or(missing)
        }
    }
}

/// Says which import stands in the way, and why, rather than leave it to the linker's words.
fn cannot_link(digest: Digest, error: &wasmtime::Error) -> Fault {
    let Some(unknown) = error.downcast_ref::<wasmtime::UnknownImportError>() else {
        return Fault::BadModule { digest, reason: format!("{error:#}") };
    };
    let (space, name) = (unknown.module(), unknown.name());
    let reason = match (host::cap_of(space, name), space) {
        (Some(cap), _) => format!("needs the capability `{cap}`; grant it, or use a module without it"),
        (None, "wasi_snapshot_preview1") => "is not a function of WASI preview 1".into(),
        (None, "wasi_unstable") => "belongs to a WASI older than preview 1; rebuild the module".into(),
        (None, _) => "is not offered here; a command may import WASI preview 1 and granted powers".into(),
    };
    Fault::Import { digest, import: format!("{space}.{name}"), reason }
}

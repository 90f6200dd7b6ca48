//! A command: a module that is started once and runs to its end.
//!
//! It exports `_start`, or is a library with a `run` whose result is the exit status, and has all of WASI preview 1.

use wasmtime::{Extern, ExternType, Func, Instance, Module, ModuleExport, Store, ValType};

use super::{Exports, Growth, Kind};
use crate::{guest::Guest, host, outcome::Stop};

pub(crate) static COMMAND: Kind = Kind {
    name: "command",
    wasi: true,
    growth: Growth::Ends,
    imports: |linker, module, _| host::nobody::link(linker, module),
    may_import: "WASI preview 1 and granted powers",
    exports: |module| start_of(module).map(Exports::Command),
};

/// Where a module begins.
pub(crate) enum Start {
    /// A command's `_start`, which ends the run itself if its status is not 0.
    Command(ModuleExport),
    /// A library that is made ready once and has a program's main function, whose result is the status.
    Main { initialize: Option<ModuleExport>, run: ModuleExport },
}

pub(super) fn start_of(module: &Module) -> Result<Start, String> {
    let takes_nothing = |name: &str| match module.get_export(name) {
        Some(ExternType::Func(ty)) if ty.params().len() == 0 => Some(ty),
        _ => None,
    };
    let missing = || "it exports no `_start` function, so it is a library and not a command".to_owned();
    match module.get_export("_start") {
        Some(ExternType::Func(ty)) if ty.params().len() == 0 && ty.results().len() == 0 => {
            module.get_export_index("_start").map(Start::Command).ok_or_else(missing)
        }
        Some(ExternType::Func(_)) => {
            Err("its `_start` takes or returns values; a command's does neither".into())
        }
        _ => {
            let status = |ty: &wasmtime::FuncType| {
                ty.results().len() == 1 && ty.results().all(|it| matches!(it, ValType::I32))
            };
            let run = takes_nothing("run").filter(status).and_then(|_| module.get_export_index("run"));
            let initialize = takes_nothing("_initialize").filter(|ty| ty.results().len() == 0);
            let initialize = initialize.and_then(|_| module.get_export_index("_initialize"));
            run.map(|run| Start::Main { initialize, run }).ok_or_else(missing)
        }
    }
}

/// Runs it to its end.
pub(crate) async fn drive(
    store: &mut Store<Guest>,
    instance: Instance,
    start: &Start,
) -> wasmtime::Result<()> {
    match start {
        Start::Command(start) => {
            let start = exported(store, instance, start)?;
            start.typed::<(), ()>(&*store)?.call_async(store, ()).await
        }
        Start::Main { initialize, run } => {
            if let Some(initialize) = initialize {
                let initialize = exported(store, instance, initialize)?;
                initialize.typed::<(), ()>(&*store)?.call_async(&mut *store, ()).await?;
            }
            let run = exported(store, instance, run)?;
            let status = run.typed::<(), i32>(&*store)?.call_async(store, ()).await?;
            if status == 0 { Ok(()) } else { Err(Stop::Exit(status).into()) }
        }
    }
}

/// A function that was found when the module was linked.
pub(super) fn exported(
    store: &mut Store<Guest>,
    instance: Instance,
    export: &ModuleExport,
) -> wasmtime::Result<Func> {
    let found = instance.get_module_export(store, export).and_then(Extern::into_func);
    found.ok_or_else(|| wasmtime::Error::msg("an export that was there is gone"))
}

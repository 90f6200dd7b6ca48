//! A guest that serves: it exports `handle`, is made anew for each request, and has all that a command has, WASI and granted
//! powers, and beside it the request and the place for the response.
//!
//! `handle` takes nothing. It answers nothing, or a number that is not 0 where it failed. `_initialize`, if there is one, is
//! called before it; `_start` is not.

mod imports;

use std::sync::Arc;

use drydock_contract::Exchange;
use wasmtime::{ExternType, Instance, Module, ModuleExport, Store, ValType};

use super::{Exports, Growth, Kind, command::exported, exports_memory};
use crate::{
    guest::{Guest, Held},
    host,
    outcome::Stop,
};

pub use imports::SERVING_IMPORTS;

pub(crate) static SERVING: Kind = Kind {
    name: "serving guest",
    wasi: true,
    growth: Growth::Ends,
    imports: |linker, module, _| {
        host::nobody::link(linker, module)?;
        imports::link(linker)
    },
    may_import: "WASI preview 1, granted powers, and `host_request_len`, `host_request_get` and `host_response_set` of `env`",
    exports: |module| functions_of(module).map(Exports::Serving),
};

/// What the driver found.
pub(crate) struct Functions {
    initialize: Option<ModuleExport>,
    handle: ModuleExport,
    /// Whether `handle` says how it went.
    answers: bool,
}

/// The host's side of one request.
pub(crate) struct State {
    exchange: Arc<Exchange>,
    /// The bill for the response that is set.
    held: Option<Held>,
}

impl State {
    pub(crate) const fn new(exchange: Arc<Exchange>) -> Self {
        Self { exchange, held: None }
    }
}

fn functions_of(module: &Module) -> Result<Functions, String> {
    exports_memory(module)?;
    let missing = || "it does not export `handle`, a function of type () -> () or () -> (i32)".to_owned();
    let (handle, answers) = match module.get_export("handle") {
        Some(ExternType::Func(ty)) if ty.params().len() == 0 => match ty.results().collect::<Vec<_>>()[..] {
            [] => (module.get_export_index("handle"), false),
            [ValType::I32] => (module.get_export_index("handle"), true),
            _ => return Err(missing()),
        },
        _ => return Err(missing()),
    };
    let initialize = match module.get_export("_initialize") {
        Some(ExternType::Func(ty)) if ty.params().len() == 0 && ty.results().len() == 0 => {
            module.get_export_index("_initialize")
        }
        _ => None,
    };
    Ok(Functions { initialize, handle: handle.ok_or_else(missing)?, answers })
}

/// One request.
pub(crate) async fn drive(
    store: &mut Store<Guest>,
    instance: Instance,
    functions: &Functions,
) -> wasmtime::Result<()> {
    if let Some(initialize) = &functions.initialize {
        let initialize = exported(store, instance, initialize)?;
        initialize.typed::<(), ()>(&*store)?.call_async(&mut *store, ()).await?;
    }
    let handle = exported(store, instance, &functions.handle)?;
    if !functions.answers {
        return handle.typed::<(), ()>(&*store)?.call_async(store, ()).await;
    }
    match handle.typed::<(), i32>(&*store)?.call_async(store, ()).await? {
        0 => Ok(()),
        status => Err(Stop::Exit(status).into()),
    }
}

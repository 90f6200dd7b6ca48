//! A handler: one HTTP request in, one answer out (seed 001, the Runner guest ABI).
//!
//! It exports `memory`, `alloc`, `handler` and perhaps `dealloc`, and imports the functions of `alga` and nothing else;
//! those that keep values are there where it was granted `kv`.
//! What its bytes mean is the affair of `abi::runner`; here they are moved.

mod drive;
mod fetch;
mod imports;
mod place;
mod storage;

use drydock_contract::Cap;
use wasmtime::{Module, ModuleExport};

use super::{Exports, Growth, Kind, exports_memory, function};

pub(crate) use drive::Driver;
pub use imports::{LINE_BYTES_MAX, LINES_MAX, line};

pub(crate) static HANDLER: Kind = Kind {
    name: "handler",
    wasi: false,
    growth: Growth::Refused,
    imports: |linker, _, caps| {
        imports::link(linker)?;
        if caps.contains(Cap::Kv) { storage::link(linker) } else { Ok(()) }
    },
    may_import: "`log_info`, `log_error` and `http.fetch` of `alga`, and `storage_get`, `storage_put`, `storage_list` and \
                 `storage_delete` where it was granted `kv`",
    exports: |module| functions_of(module).map(Exports::Handler),
};

/// What the host calls.
pub(crate) struct Functions {
    alloc: ModuleExport,
    handler: ModuleExport,
    dealloc: Option<ModuleExport>,
}

fn functions_of(module: &Module) -> Result<Functions, String> {
    exports_memory(module)?;
    Ok(Functions {
        alloc: function(module, "alloc", 1, 1)?,
        handler: function(module, "handler", 3, 1)?,
        // Optional, so one of another type is a function of the guest's own.
        dealloc: function(module, "dealloc", 2, 0).ok(),
    })
}

//! A guest of the lembeh ABI (seed 004): it exports `lembeh_handle`, is called once with its request and response
//! streams, and has no WASI. Everything that it reaches is a stream by its number; what stands behind the numbers is the
//! affair of [`drydock_contract::LembehHost`].

mod heap;
mod imports;

use drydock_contract::SharedLembeh;
use wasmtime::{ExternType, Instance, Module, ModuleExport, Mutability, Store, ValType};

use super::{Exports, Growth, Kind, command::exported, exports_memory, function};
use crate::guest::Guest;

pub(crate) static LEMBEH: Kind = Kind {
    name: "lembeh guest",
    wasi: false,
    // `_alloc` answers -1 where there is no more.
    growth: Growth::Refused,
    imports: |linker, _, _| imports::link(linker),
    may_import: "`lembeh`: req_read, res_write, res_end, log, _alloc, _free, _ctl",
    exports: |module| functions_of(module).map(Exports::Lembeh),
};

/// The module of every import.
const SPACE: &str = "lembeh";
/// Where a guest begins.
const ENTRY: &str = "lembeh_handle";
/// The first byte after a guest's static data.
const HEAP_BASE: &str = "__heap_base";
/// The streams that the entry is called with.
const REQUEST: i32 = 0;
const RESPONSE: i32 = 1;

/// What the driver found.
pub(crate) struct Functions {
    entry: ModuleExport,
    heap_base: Option<ModuleExport>,
}

/// The host's side of one guest.
pub(crate) struct State {
    host: SharedLembeh,
    heap: heap::Heap,
}

impl State {
    pub(crate) fn new(host: SharedLembeh) -> Self {
        Self { host, heap: heap::Heap::default() }
    }
}

impl Drop for State {
    /// However the run ended, what it started ends with it.
    fn drop(&mut self) {
        self.host.lock().finish();
    }
}

fn functions_of(module: &Module) -> Result<Functions, String> {
    exports_memory(module)?;
    let entry = function(module, ENTRY, 2, 0)?;
    let heap_base = match module.get_export(HEAP_BASE) {
        Some(ExternType::Global(ty))
            if matches!(ty.content(), ValType::I32) && ty.mutability() == Mutability::Const =>
        {
            module.get_export_index(HEAP_BASE)
        }
        Some(_) => return Err(format!("its export `{HEAP_BASE}` is not a constant global of type i32")),
        None => None,
    };
    let allocates = |import: wasmtime::ImportType<'_>| {
        import.module() == SPACE && imports::ALLOC_NAMES.contains(&import.name())
    };
    if heap_base.is_none() && module.imports().any(allocates) {
        return Err(format!(
            "it imports `_alloc` and does not export `{HEAP_BASE}`, so nobody knows where its heap is"
        ));
    }
    Ok(Functions { entry, heap_base })
}

/// Runs it to its end.
pub(crate) async fn drive(
    store: &mut Store<Guest>,
    instance: Instance,
    functions: &Functions,
) -> wasmtime::Result<()> {
    if let Some(base) = &functions.heap_base {
        let global = instance.get_module_export(&mut *store, base).and_then(wasmtime::Extern::into_global);
        let base = global.and_then(|it| it.get(&mut *store).i32());
        if let (Some(base), Some(state)) = (base, &mut store.data_mut().lembeh) {
            state.heap = heap::Heap::at(base.cast_unsigned());
        }
    }
    let guest = store.data();
    if let Some(state) = &guest.lembeh {
        state.host.lock().begin(std::sync::Arc::clone(&guest.door), std::sync::Arc::clone(&guest.meter));
    }
    let entry = exported(store, instance, &functions.entry)?;
    entry.typed::<(i32, i32), ()>(&*store)?.call_async(store, (REQUEST, RESPONSE)).await
}

//! The shell's guest: it exports `call`, which runs one line and returns, and keeps its memory from line to line.

use wasmtime::{Instance, Module, Store, TypedFunc};

use super::{Exports, Growth, Kind, exports_memory, function};
use crate::{guest::Guest, host};

pub(crate) static SHELL: Kind = Kind {
    name: "shell",
    wasi: true,
    growth: Growth::Ends,
    imports: |linker, module, _| host::shell::link(linker, module),
    may_import: "WASI preview 1 and what a line has",
    exports: |module| exports_of(module).map(|()| Exports::Named),
};

const CALL: &str = "call";

fn exports_of(module: &Module) -> Result<(), String> {
    exports_memory(module)?;
    function(module, CALL, 1, 0).map(drop)
}

/// One that lives.
pub(crate) struct Driver(TypedFunc<u32, ()>);

impl Driver {
    pub(crate) fn new(store: &mut Store<Guest>, instance: Instance) -> wasmtime::Result<Self> {
        instance.get_typed_func(store, CALL).map(Self)
    }

    /// One call, with so many bytes of input to be taken.
    pub(crate) async fn call(&self, store: &mut Store<Guest>, bytes: u32) -> wasmtime::Result<()> {
        self.0.call_async(store, bytes).await
    }
}

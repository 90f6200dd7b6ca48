//! Shows wizer the state of an instance that has been initialised.

use std::future::{Future, ready};
use wasmtime::{Instance, Store, Val};
use wasmtime_wizer::{InstanceState, SnapshotVal, ValType};

/// The instance and what owns it.
pub struct Warmed {
    pub store: Store<()>,
    pub instance: Instance,
}

impl InstanceState for Warmed {
    fn global_get(&mut self, name: &str, _: ValType) -> impl Future<Output = SnapshotVal> + Send {
        let global = self.instance.get_global(&mut self.store, name).expect("wizer exports every global");
        ready(match global.get(&mut self.store) {
            Val::I32(bits) => SnapshotVal::I32(bits),
            Val::I64(bits) => SnapshotVal::I64(bits),
            Val::F32(bits) => SnapshotVal::F32(bits),
            Val::F64(bits) => SnapshotVal::F64(bits),
            Val::V128(bits) => SnapshotVal::V128(bits.as_u128()),
            _ => unreachable!("the guests have no global references"),
        })
    }

    fn memory_contents(
        &mut self,
        name: &str,
        contents: impl FnOnce(&[u8]) + Send,
    ) -> impl Future<Output = ()> + Send {
        let memory = self.instance.get_memory(&mut self.store, name).expect("wizer exports every memory");
        contents(memory.data(&self.store));
        ready(())
    }
}

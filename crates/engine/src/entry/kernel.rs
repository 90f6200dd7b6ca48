//! A kernel: bytes to bytes through a fixed arena in its memory (seed 002, "Kernel ABI").
//!
//! It exports `memory` and an entry of type (i32) -> (i32), imports nothing, and keeps its memory from call to call. A
//! negative answer of the entry is the kernel's own failure; an output that is not in its memory is a broken promise.

use drydock_contract::{Digest, Fault, Kernel, LiveError};
use wasmtime::{Instance, Memory, Module, Store, TypedFunc};

use super::{Exports, Growth, Kind, exports_memory, function};
use crate::{guest::Guest, live::Failure, memory::range};

pub(crate) static KERNEL: Kind = Kind {
    name: "kernel",
    wasi: false,
    growth: Growth::Refused,
    imports: |_, _, _| Ok(()),
    may_import: "nothing",
    exports: |module| exports_memory(module).map(|()| Exports::Named),
};

/// Says which entry is missing, before any code of the module runs. Which one it is, is the caller's choice.
pub(crate) fn check_entry(module: &Module, digest: Digest, kernel: &Kernel) -> Result<(), Fault> {
    let bad = |reason| Fault::Exports { digest, kind: KERNEL.name, reason };
    function(module, &kernel.entry, 1, 1).map(drop).map_err(bad)
}

/// One that lives.
pub(crate) struct Driver {
    kernel: Kernel,
    memory: Memory,
    entry: TypedFunc<i32, i32>,
}

impl Driver {
    pub(crate) fn new(
        store: &mut Store<Guest>,
        instance: Instance,
        kernel: Kernel,
    ) -> wasmtime::Result<Self> {
        let gone = || wasmtime::Error::msg("an export that was there is gone");
        let memory = store.data().memory.ok_or_else(gone)?;
        let entry = instance.get_typed_func(store, &kernel.entry)?;
        Ok(Self { kernel, memory, entry })
    }

    /// Two copies and a call.
    pub(crate) async fn call(
        &self,
        store: &mut Store<Guest>,
        input: &[u8],
        reply_bytes_max: u64,
    ) -> Result<Vec<u8>, Failure> {
        let Kernel { entry, in_offset, out_offset } = &self.kernel;
        let (bytes, max) = (input.len() as u64, self.kernel.input_bytes_max());
        let too_large = |what, bytes, max| Failure::Said(LiveError::TooLarge { what, bytes, max });
        if bytes > max {
            return Err(too_large("input", bytes, max));
        }
        let data = self.memory.data_mut(&mut *store);
        let size = data.len() as u64;
        let place = range(*in_offset, bytes).ok().and_then(|place| data.get_mut(place));
        let Some(place) = place else {
            return Err(too_large("input", bytes, size.saturating_sub((*in_offset).into())));
        };
        place.copy_from_slice(input);
        // The check above keeps it below 2^32; a kernel reads the word as it likes.
        let length = u32::try_from(bytes).unwrap_or(u32::MAX).cast_signed();
        let answered = self.entry.call_async(&mut *store, length).await?;
        let Ok(length) = u64::try_from(answered) else {
            return Err(Failure::Said(LiveError::Failed { function: entry.clone(), code: answered }));
        };
        let data = self.memory.data(&*store);
        let Some(output) = range(*out_offset, length).ok().and_then(|place| data.get(place)) else {
            let reason = format!(
                "`{entry}` answered {length} bytes of output at {out_offset}, and its memory ends at {}",
                data.len()
            );
            return Err(Failure::Said(LiveError::Contract { code: "out_of_range", reason }));
        };
        if length > reply_bytes_max {
            return Err(too_large("output", length, reply_bytes_max));
        }
        Ok(output.to_vec())
    }
}

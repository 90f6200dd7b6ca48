//! A program of code mode: a command that can be started again in the memory that an earlier run of it left.
//!
//! Besides `_start` it exports `again`, because libc's `_start` starts once in the life of a memory.

use wasmtime::{Instance, Memory, Module, ModuleExport, Store};

use super::{
    Exports, Growth, Kind,
    command::{self, Start, exported},
    function,
};
use crate::{
    guest::{AtInput, Guest},
    host,
    outcome::Stop,
    run::PIECE_BYTES,
};

pub(crate) static PROGRAM: Kind = Kind {
    name: "program",
    wasi: true,
    growth: Growth::Ends,
    imports: |linker, module, _| host::nobody::link(linker, module),
    may_import: "WASI preview 1 and granted powers",
    exports: |module| starts_of(module).map(Exports::Program),
};

/// Where it begins: in a memory of its own, and in another's.
pub(crate) struct Starts {
    fresh: Start,
    again: ModuleExport,
}

/// Memory that a run starts with instead of the module's own, and that it leaves.
#[derive(Debug, Default)]
pub(crate) struct Image {
    /// What a run left earlier.
    pub(crate) before: Option<Vec<u8>>,
    /// What this one leaves, if it ended by itself.
    pub(crate) after: Option<Vec<u8>>,
    /// Whether it is stopped where it asks for input; afterwards, whether it was.
    pub(crate) at_input: AtInput,
}

fn starts_of(module: &Module) -> Result<Starts, String> {
    super::exports_memory(module)?;
    Ok(Starts { fresh: command::start_of(module)?, again: function(module, "again", 0, 0)? })
}

/// Runs it to its end, in the memory that an earlier run left if there is one.
pub(crate) async fn drive(
    store: &mut Store<Guest>,
    instance: Instance,
    starts: &Starts,
    before: Option<&[u8]>,
) -> wasmtime::Result<()> {
    let (Some(before), Some(memory)) = (before, store.data().memory) else {
        return command::drive(store, instance, &starts.fresh).await;
    };
    restore(store, memory, before).await?;
    let again = exported(store, instance, &starts.again)?;
    again.typed::<(), ()>(&*store)?.call_async(store, ()).await
}

/// What is compared, and written if it differs: a page of the machine's.
const PAGE_BYTES: usize = 4096;

/// Puts an earlier run's memory in the place of the module's own. It grows as a guest's would, under the
/// same limit. A page that is the same already stays the module's: it is shared, and nobody has to put it back.
async fn restore(store: &mut Store<Guest>, memory: Memory, image: &[u8]) -> wasmtime::Result<()> {
    let page = usize::try_from(memory.page_size(&*store)).unwrap_or(usize::MAX);
    let missing = image.len().saturating_sub(memory.data_size(&*store)).div_ceil(page);
    if missing > 0 && memory.grow_async(&mut *store, missing as u64).await.is_err() {
        return Err(Stop::OutOfMemory.into());
    }
    for (index, piece) in image.chunks(PIECE_BYTES).enumerate() {
        let at = index * PIECE_BYTES;
        put(&mut memory.data_mut(&mut *store)[at..at + piece.len()], piece);
        drydock_contract::yield_now().await;
    }
    clear(&mut memory.data_mut(&mut *store)[image.len()..]);
    Ok(())
}

/// Makes memory the same as an image of its size, and says how many pages that took.
fn put(memory: &mut [u8], image: &[u8]) -> usize {
    let pages = memory.chunks_mut(PAGE_BYTES).zip(image.chunks(PAGE_BYTES));
    let differing = pages.filter(|(own, left)| **own != **left);
    differing.map(|(own, left)| own.copy_from_slice(left)).count()
}

/// Makes memory zero, and says how many pages that took.
fn clear(memory: &mut [u8]) -> usize {
    let used = memory.chunks_mut(PAGE_BYTES).filter(|own| own.iter().any(|byte| *byte != 0));
    used.map(|own| own.fill(0)).count()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_pages_that_differ_are_written() {
        let mut own = vec![0; 5 * PAGE_BYTES + 7];
        own[PAGE_BYTES] = 1;
        let mut left = own.clone();
        assert_eq!(put(&mut own, &left), 0, "what the module begins with");
        (left[3], left[PAGE_BYTES], left[5 * PAGE_BYTES + 6]) = (9, 0, 9);
        assert_eq!(put(&mut own, &left), 3);
        assert_eq!(own, left);
        assert_eq!((clear(&mut own), clear(&mut own)), (2, 0));
        assert_eq!(own, vec![0; own.len()]);
    }
}

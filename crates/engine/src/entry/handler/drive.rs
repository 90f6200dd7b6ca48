//! The steps of one request: two allocations, the call, the answer read, three deallocations.
//!
//! Pointers are unsigned, ranges are computed in 64 bits and compared with the memory as it is after each allocation,
//! because an allocation may grow it.

use drydock_contract::LiveError;
use wasmtime::{Instance, Memory, Store, TypedFunc};

use super::{super::command::exported, Functions};
use crate::{guest::Guest, live::Failure, memory::range};

/// The pair of words that the handler fills in.
const TUPLE_BYTES: u32 = 8;

/// One that lives.
pub(crate) struct Driver {
    memory: Memory,
    alloc: TypedFunc<u32, u32>,
    handler: TypedFunc<(u32, u32, u32), i32>,
    dealloc: Option<TypedFunc<(u32, u32), ()>>,
}

/// A region of the guest's memory.
#[derive(Debug, Clone, Copy)]
struct Region {
    at: u32,
    bytes: u32,
}

/// The regions of a request, in the order in which they are given back.
pub(crate) struct Used([Option<Region>; 3]);

impl Driver {
    pub(crate) fn new(
        store: &mut Store<Guest>,
        instance: Instance,
        functions: &Functions,
    ) -> wasmtime::Result<Self> {
        let gone = || wasmtime::Error::msg("an export that was there is gone");
        let memory = store.data().memory.ok_or_else(gone)?;
        let alloc: TypedFunc<u32, u32> = exported(store, instance, &functions.alloc)?.typed(&*store)?;
        store.data_mut().alloc = Some(*alloc.func());
        let handler = exported(store, instance, &functions.handler)?.typed(&*store)?;
        let dealloc = match &functions.dealloc {
            Some(dealloc) => Some(exported(store, instance, dealloc)?.typed(&*store)?),
            None => None,
        };
        Ok(Self { memory, alloc, handler, dealloc })
    }

    /// Hands the request over and reads the answer. A handler that said no has an answer of its own kind; what it wrote
    /// is not read.
    pub(crate) async fn call(
        &self,
        store: &mut Store<Guest>,
        input: &[u8],
        reply_bytes_max: u64,
    ) -> Result<(Result<Vec<u8>, LiveError>, Used), Failure> {
        let too_large = |what, bytes, max| LiveError::TooLarge { what, bytes, max };
        let Ok(bytes) = u32::try_from(input.len()) else {
            return Err(Failure::Said(too_large("request", input.len() as u64, u32::MAX.into())));
        };
        let request = self.allocate(store, bytes).await?;
        let tuple = self.allocate(store, TUPLE_BYTES).await?;
        self.place(store, request)?.copy_from_slice(input);
        self.place(store, tuple)?.fill(0);
        let status = self.handler.call_async(&mut *store, (request.at, request.bytes, tuple.at)).await?;
        if status != 0 {
            let failed = LiveError::Failed { function: "handler".into(), code: status };
            return Ok((Err(failed), Used([Some(request), None, Some(tuple)])));
        }
        let words = self.place(store, tuple)?;
        let word = |at: usize| u32::from_le_bytes([words[at], words[at + 1], words[at + 2], words[at + 3]]);
        let response = Region { at: word(0), bytes: word(4) };
        let memory_bytes = self.memory.data_size(&*store);
        let found = range(response.at, response.bytes.into()).ok();
        let Some(found) = found.and_then(|place| self.memory.data(&*store).get(place)) else {
            return Err(breach(format!(
                "the response of {} bytes at {} is not in the guest's memory of {memory_bytes} bytes",
                response.bytes, response.at
            )));
        };
        let used = Used([Some(request), Some(response).filter(|it| it.bytes > 0), Some(tuple)]);
        match found.len() as u64 {
            length if length > reply_bytes_max => {
                Ok((Err(too_large("response", length, reply_bytes_max)), used))
            }
            _ => Ok((Ok(found.to_vec()), used)),
        }
    }

    /// Gives everything back that the request took, if the guest wants it back. Stops at the first trap.
    pub(crate) async fn settle(&self, store: &mut Store<Guest>, used: Used) -> wasmtime::Result<()> {
        let Some(dealloc) = &self.dealloc else { return Ok(()) };
        for region in used.0.into_iter().flatten() {
            dealloc.call_async(&mut *store, (region.at, region.bytes)).await?;
        }
        Ok(())
    }

    async fn allocate(&self, store: &mut Store<Guest>, bytes: u32) -> Result<Region, Failure> {
        let at = self.alloc.call_async(&mut *store, bytes).await?;
        let region = Region { at, bytes };
        if at == 0 && bytes > 0 {
            return Err(breach(format!(
                "`alloc` answered 0 for {bytes} bytes: the guest has no room for them"
            )));
        }
        self.place(store, region)?;
        Ok(region)
    }

    fn place<'a>(&self, store: &'a mut Store<Guest>, region: Region) -> Result<&'a mut [u8], Failure> {
        let memory_bytes = self.memory.data_size(&*store);
        let place = range(region.at, region.bytes.into()).ok();
        place.and_then(|place| self.memory.data_mut(store).get_mut(place)).ok_or_else(|| {
            breach(format!(
                "`alloc` answered {} for {} bytes, which is not in the guest's memory of {memory_bytes} bytes",
                region.at, region.bytes
            ))
        })
    }
}

fn breach(reason: String) -> Failure {
    Failure::Said(LiveError::Contract { code: "out_of_range", reason })
}

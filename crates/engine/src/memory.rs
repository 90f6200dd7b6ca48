//! The guest's memory as the host sees it: every range is computed in 64 bits and checked.

use wasmtime::Caller;

use crate::{guest::Guest, wasi::Errno};

/// A borrowed view of the guest's memory.
pub(crate) struct Memory<'a>(pub(crate) &'a mut [u8]);

impl Memory<'_> {
    /// `count` bytes at `at`.
    pub(crate) fn bytes(&self, at: u32, count: u32) -> Result<&[u8], Errno> {
        self.0.get(range(at, u64::from(count))?).ok_or(Errno::Fault)
    }

    /// `count` bytes at `at`, to be written.
    pub(crate) fn bytes_mut(&mut self, at: u32, count: u32) -> Result<&mut [u8], Errno> {
        self.0.get_mut(range(at, u64::from(count))?).ok_or(Errno::Fault)
    }

    /// Copies `bytes` to `at`.
    pub(crate) fn put(&mut self, at: u32, bytes: &[u8]) -> Result<(), Errno> {
        let place = self.0.get_mut(range(at, bytes.len() as u64)?).ok_or(Errno::Fault)?;
        place.copy_from_slice(bytes);
        Ok(())
    }

    pub(crate) fn put_u8(&mut self, at: u32, value: u8) -> Result<(), Errno> {
        self.put(at, &[value])
    }

    pub(crate) fn put_u32(&mut self, at: u32, value: u32) -> Result<(), Errno> {
        self.put(at, &value.to_le_bytes())
    }

    pub(crate) fn put_u64(&mut self, at: u32, value: u64) -> Result<(), Errno> {
        self.put(at, &value.to_le_bytes())
    }

    pub(crate) fn u32(&self, at: u32) -> Result<u32, Errno> {
        self.bytes(at, 4).map(|b| u32::from_le_bytes([b[0], b[1], b[2], b[3]]))
    }

    /// The `index`th of the vectors at `at`: where its bytes are and how many.
    pub(crate) fn iovec(&self, at: u32, index: u32) -> Result<(u32, u32), Errno> {
        let place = u64::from(at) + u64::from(index) * 8;
        let place = u32::try_from(place).map_err(|_| Errno::Fault)?;
        let after = place.checked_add(4).ok_or(Errno::Fault)?;
        Ok((self.u32(place)?, self.u32(after)?))
    }
}

/// As a range of the view. Too large for this machine is past the end of any memory.
pub(crate) fn range(at: u32, count: u64) -> Result<std::ops::Range<usize>, Errno> {
    let end = u64::from(at).checked_add(count).ok_or(Errno::Fault)?;
    let end = usize::try_from(end).map_err(|_| Errno::Fault)?;
    Ok(at as usize..end)
}

/// The guest's exported memory and the host's side of the run, both at once.
pub(crate) fn split<'a>(caller: &'a mut Caller<'_, Guest>) -> Result<(Memory<'a>, &'a mut Guest), Errno> {
    let memory = match caller.data().memory {
        Some(memory) => memory,
        None => {
            let found = caller.get_export("memory").and_then(wasmtime::Extern::into_memory);
            let memory = found.ok_or(Errno::Fault)?;
            caller.data_mut().memory = Some(memory);
            memory
        }
    };
    let (bytes, guest) = memory.data_and_store_mut(caller);
    Ok((Memory(bytes), guest))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_range_that_leaves_memory_is_a_fault_and_never_wraps() {
        let mut bytes = [0u8; 16];
        let mut memory = Memory(&mut bytes);
        assert!(memory.bytes(0, 16).is_ok());
        assert!(memory.bytes(16, 0).is_ok());
        for (at, count) in [(0, 17), (16, 1), (17, 0), (u32::MAX, 1), (u32::MAX, u32::MAX), (1, u32::MAX)] {
            assert_eq!(memory.bytes(at, count).unwrap_err(), Errno::Fault, "{at} {count}");
            assert_eq!(memory.bytes_mut(at, count).unwrap_err(), Errno::Fault);
        }
        assert!(memory.put_u64(9, 1).is_err());
        assert!(memory.iovec(u32::MAX - 3, u32::MAX).is_err());
        assert!(memory.iovec(8, 0).is_ok());
        assert!(memory.iovec(8, 1).is_err());
    }
}

//! The guest's heap as the host keeps it: a pointer that rises from `__heap_base`. The same calls give the same offsets;
//! what is freed is not used again.

/// Offsets are multiples of this.
const ALIGNMENT: u64 = 4;

/// Where the next bytes are.
#[derive(Debug, Default)]
pub(super) struct Heap {
    next: Option<u64>,
}

impl Heap {
    /// A heap that begins there.
    pub(super) fn at(base: u32) -> Self {
        Self { next: Some(u64::from(base).next_multiple_of(ALIGNMENT)) }
    }

    /// Where `size` bytes would lie, and the size that memory must have for them. Nothing where no guest could address
    /// them: results are not negative.
    pub(super) fn place(&self, size: u32) -> Option<(i32, u64)> {
        let at = self.next?;
        let end = at + u64::from(size);
        let offset = i32::try_from(at).ok()?;
        (end <= 1 << 31).then_some((offset, end))
    }

    /// They lie there.
    pub(super) fn take(&mut self, end: u64) {
        self.next = Some(end.next_multiple_of(ALIGNMENT));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn offsets_rise_are_aligned_and_never_negative() {
        let mut heap = Heap::at(1_025);
        assert_eq!(heap.place(5), Some((1_028, 1_033)));
        heap.take(1_033);
        assert_eq!(heap.place(1), Some((1_036, 1_037)));
        assert_eq!(heap.place(u32::MAX), None);
        assert_eq!(heap.place((1 << 31) - 1_036), Some((1_036, 1 << 31)));
        heap.take(1 << 31);
        assert_eq!(heap.place(1), None);
        assert_eq!(Heap::default().place(1), None, "without a base there is none");
        assert_eq!(Heap::at(u32::MAX).place(0), None);
    }
}

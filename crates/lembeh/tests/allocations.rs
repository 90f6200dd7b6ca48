//! The hub in its steady state: a frame that is written, acknowledged, ended and read allocates nothing. Counted by this
//! program's own allocator, which is why the file has one test.
#![allow(clippy::unwrap_used)]
#![allow(unsafe_code)] // An allocator is one of the things that Rust has no safe form for.

use std::{
    alloc::{GlobalAlloc, Layout, System},
    cell::Cell,
};

use drydock_abi::lembeh::{
    CapSelector, Source, Trace, encode_source,
    zax::{Command, CommandIds, encode_command},
};
use drydock_lembeh::{Begun, Failure, Hub, HubLimits, Offer, Powers, Read};

/// Counts what this thread allocates, and leaves the rest to the system.
struct Counting;

thread_local! {
    static ALLOCATIONS: Cell<u64> = const { Cell::new(0) };
}

#[global_allocator]
static COUNTING: Counting = Counting;

// SAFETY: each call goes to the system's allocator as it came.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        let _ = ALLOCATIONS.try_with(|it| it.set(it.get() + 1));
        // SAFETY: the caller keeps the contract of `alloc`.
        unsafe { System.alloc(layout) }
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        let _ = ALLOCATIONS.try_with(|it| it.set(it.get() + 1));
        // SAFETY: the caller keeps the contract of `alloc_zeroed`.
        unsafe { System.alloc_zeroed(layout) }
    }

    unsafe fn dealloc(&self, at: *mut u8, layout: Layout) {
        // SAFETY: the caller keeps the contract of `dealloc`, and `alloc` above took it from there.
        unsafe { System.dealloc(at, layout) }
    }
}

/// A power whose futures are over at once.
struct Echo;

impl Powers for Echo {
    fn offer(&self, _: &str, _: &str, _: &str) -> Result<Offer, Trace> {
        Ok(Offer { value_bytes_max: 8 })
    }

    fn start(&mut self, _: u64, call: &CapSelector<'_>, value: &mut Vec<u8>) -> Result<Begun, Failure> {
        value.extend_from_slice(call.params);
        Ok(Begun::Done)
    }

    fn cancel(&mut self, _: u64) {}
}

#[test]
fn a_frame_through_the_hub_allocates_nothing_in_the_steady_state() {
    const BATCH: u64 = 50;
    let call =
        CapSelector { kind: "exec", name: "default", selector: "exec.status.v1", params: b"\x07\0\0\0" };
    let source = encode_source(&Source::Selector(call)).unwrap();
    let mut hub = Hub::new(HubLimits::default());
    let (mut frames, mut out) = (Vec::new(), vec![0; 64 << 10]);
    let mut round = |round: u64| {
        frames.clear();
        for at in 0..BATCH {
            let id = round * BATCH + at + 1;
            let ids = CommandIds { req_id: id, future_id: id, ..CommandIds::default() };
            encode_command(&mut frames, &ids, &Command::Register { source: &source }).unwrap();
        }
        let before = ALLOCATIONS.with(Cell::get);
        assert_eq!(hub.write(&frames, round, &mut Echo), Ok(frames.len()));
        let mut read = 0;
        while let Read::Bytes(count) = hub.read(&mut out, round, &mut Echo) {
            read += count;
        }
        assert!(read > 0);
        ALLOCATIONS.with(Cell::get) - before
    };
    let first: u64 = (0..10).map(&mut round).sum();
    assert!(first > 0, "its buffers are made once");
    let rest: u64 = (10..1_000).map(round).sum();
    assert_eq!(rest, 0, "of {} frames", 990 * BATCH * 3);
}

//! Texts of lembeh's host: transcripts and policies of any bytes are refused or read, and never panic; a replay of what
//! reads ends every call, however it is cut.
#![no_main]

use std::task::{Context, Poll, Waker};

use drydock_contract::{LembehFault, LembehHost};
use drydock_lembeh::{
    LembehPolicy,
    specimen::{Cut, Replay, Schedule, Transcript},
};

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    let _ = LembehPolicy::parse(bytes).map(|policy| policy.listed());
    let Ok(text) = std::str::from_utf8(bytes) else { return };
    let _ = text.parse::<Schedule>();
    let Ok(transcript) = Transcript::parse(text) else { return };
    drive(Replay::exact(transcript.clone()));
    drive(Cut::new(Replay::by_stream(transcript), Schedule::Random(bytes.len() as u64)));
});

fn drive(mut host: impl LembehHost) {
    let mut cx = Context::from_waker(Waker::noop());
    let mut buffer = [0; 64];
    for handle in -1..6 {
        let _ = host.ctl(&mut cx, b"ZCL1", 64);
        assert!(matches!(host.poll_read(&mut cx, handle, &mut buffer), Poll::Ready(_)));
        assert!(matches!(host.poll_write(&mut cx, handle, b"abc"), Poll::Ready(_)));
        let _ = host.end(&mut cx, handle);
        let _ = host.log(b"a", b"b");
        let _ = host.fault(LembehFault::Read(handle, -1));
    }
    host.finish();
}

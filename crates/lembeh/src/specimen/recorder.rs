//! Writes down every call of a guest and what came of it, as it happens.

use std::{
    io::Write,
    sync::Arc,
    task::{Context, Poll},
};

use base64::{Engine as _, engine::general_purpose::STANDARD};
use drydock_contract::{Dispatch, LembehEnd, LembehFault, LembehHost, Meter};

use super::event::{Chain, Line, TRANSCRIPT_VERSION, told};

/// Records the calls to another host. What cannot be written down is not done: the guest ends.
pub struct Recorder<H> {
    host: H,
    to: Box<dyn Write + Send>,
    chain: Chain,
    next: u64,
    left: u64,
    has_failed: bool,
    has_ended: bool,
}

impl<H: LembehHost> Recorder<H> {
    /// Records calls of the module with that hash, in at most so many bytes.
    pub fn new(host: H, to: Box<dyn Write + Send>, guest: &str, bytes_max: u64) -> Self {
        let (chain, next, left) = (Chain::default(), 0, bytes_max);
        let mut recorder = Self { host, to, chain, next, left, has_failed: false, has_ended: false };
        let first = Line::Specimen { v: TRANSCRIPT_VERSION, guest: guest.to_owned() };
        // Told with the first call.
        let _ = recorder.write(&first);
        recorder
    }

    /// What it records the calls of.
    pub const fn host_mut(&mut self) -> &mut H {
        &mut self.host
    }

    /// Whether every call was written down.
    pub const fn is_whole(&self) -> bool {
        self.has_ended && !self.has_failed
    }

    fn write(&mut self, line: &Line) -> Result<(), LembehEnd> {
        let written = self.chain.seal(line).ok().filter(|text| {
            let bytes = text.len() as u64 + 1;
            let fits = bytes <= self.left;
            self.left = self.left.saturating_sub(bytes);
            fits && self.to.write_all(text.as_bytes()).and_then(|()| self.to.write_all(b"\n")).is_ok()
        });
        self.has_failed |= written.is_none();
        if self.has_failed { Err(LembehEnd::Unrecorded) } else { Ok(()) }
    }

    /// The number of the call that is written down next.
    fn count(&mut self) -> u64 {
        self.next += 1;
        self.next - 1
    }
}

impl<H: LembehHost> LembehHost for Recorder<H> {
    fn begin(&mut self, door: Arc<dyn Dispatch>, meter: Arc<Meter>) {
        self.host.begin(door, meter);
    }

    fn ctl(&mut self, cx: &mut Context<'_>, request: &[u8], room: usize) -> Result<Vec<u8>, LembehEnd> {
        let i = self.count();
        self.write(&Line::CtlReq { i, b64: Some(STANDARD.encode(request)) })?;
        let response = self.host.ctl(cx, request, room);
        let b64 = response.as_ref().ok().map(|it| STANDARD.encode(it));
        self.write(&Line::CtlRes { i, ret: b64.is_none().then_some(-1), b64 })?;
        response
    }

    fn poll_read(
        &mut self,
        cx: &mut Context<'_>,
        handle: i32,
        buffer: &mut [u8],
    ) -> Poll<Result<usize, LembehEnd>> {
        let result = std::task::ready!(self.host.poll_read(cx, handle, buffer));
        let i = self.count();
        let (ret, stop) = told(result);
        let b64 = result.ok().and_then(|count| buffer.get(..count)).map(|it| STANDARD.encode(it));
        let cap = i64::try_from(buffer.len()).unwrap_or(i64::MAX);
        Poll::Ready(self.write(&Line::Read { i, h: handle, cap, ret, b64, stop }).and(result))
    }

    fn poll_write(
        &mut self,
        cx: &mut Context<'_>,
        handle: i32,
        bytes: &[u8],
    ) -> Poll<Result<usize, LembehEnd>> {
        let result = std::task::ready!(self.host.poll_write(cx, handle, bytes));
        let i = self.count();
        let (ret, stop) = told(result);
        let b64 = Some(STANDARD.encode(bytes));
        Poll::Ready(self.write(&Line::Write { i, h: handle, ret, b64, stop }).and(result))
    }

    fn end(&mut self, cx: &mut Context<'_>, handle: i32) -> Result<(), LembehEnd> {
        self.host.end(cx, handle)?;
        let i = self.count();
        self.write(&Line::End { i, h: handle })
    }

    fn log(&mut self, topic: &[u8], message: &[u8]) -> Result<(), LembehEnd> {
        self.host.log(topic, message)?;
        let i = self.count();
        self.write(&Line::Log { i, topic_b64: STANDARD.encode(topic), msg_b64: STANDARD.encode(message) })
    }

    fn fault(&mut self, fault: LembehFault) -> Result<(), LembehEnd> {
        self.host.fault(fault)?;
        let i = self.count();
        match fault {
            LembehFault::Read(h, cap) => {
                self.write(&Line::Read { i, h, cap: cap.into(), ret: -1, b64: None, stop: None })
            }
            LembehFault::Write(h, _) => self.write(&Line::Write { i, h, ret: -1, b64: None, stop: None }),
            LembehFault::Ctl => {
                self.write(&Line::CtlReq { i, b64: None })?;
                self.write(&Line::CtlRes { i, ret: Some(-1), b64: None })
            }
        }
    }

    fn finish(&mut self) {
        self.host.finish();
        if !self.has_ended {
            let i = self.count();
            let _ = self.write(&Line::Exit { i });
            self.has_failed |= self.to.flush().is_err();
            self.has_ended = true;
        }
    }
}

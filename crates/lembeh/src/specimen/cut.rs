//! Cuts what a guest reads by a schedule, whoever it reads from.

use std::{
    collections::BTreeMap,
    sync::Arc,
    task::{Context, Poll},
};

use drydock_contract::{Dispatch, LembehEnd, LembehFault, LembehHost, Meter};

use super::Schedule;

/// Bytes that are read ahead of the guest, at most, for each handle.
const AHEAD_BYTES_MAX: usize = 16 << 10;

/// A host whose bytes come in other pieces.
pub struct Cut<H> {
    host: H,
    schedule: Schedule,
    /// What was read and not handed over yet, and what pays for it.
    ahead: BTreeMap<i32, Vec<u8>>,
    meter: Option<Arc<Meter>>,
    turn: u64,
}

impl<H: LembehHost> Cut<H> {
    /// The same host by that schedule.
    pub const fn new(host: H, schedule: Schedule) -> Self {
        Self { host, schedule, ahead: BTreeMap::new(), meter: None, turn: 0 }
    }

    /// What is cut.
    pub const fn host_mut(&mut self) -> &mut H {
        &mut self.host
    }

    /// What was cut.
    pub fn into_host(self) -> H {
        self.host
    }

    fn release(&self, bytes: usize) {
        if let Some(meter) = &self.meter {
            meter.release(bytes as u64);
        }
    }
}

impl<H: LembehHost> LembehHost for Cut<H> {
    fn begin(&mut self, door: Arc<dyn Dispatch>, meter: Arc<Meter>) {
        self.meter = Some(Arc::clone(&meter));
        self.host.begin(door, meter);
    }

    fn ctl(&mut self, cx: &mut Context<'_>, request: &[u8], room: usize) -> Result<Vec<u8>, LembehEnd> {
        self.host.ctl(cx, request, room)
    }

    fn poll_read(
        &mut self,
        cx: &mut Context<'_>,
        handle: i32,
        buffer: &mut [u8],
    ) -> Poll<Result<usize, LembehEnd>> {
        if self.schedule == Schedule::All || buffer.is_empty() {
            return self.host.poll_read(cx, handle, buffer);
        }
        if !self.ahead.contains_key(&handle) {
            let mut read = vec![0; AHEAD_BYTES_MAX];
            let count = match std::task::ready!(self.host.poll_read(cx, handle, &mut read)) {
                Ok(0) => return Poll::Ready(Ok(0)),
                Ok(count) => count.min(read.len()),
                Err(end) => return Poll::Ready(Err(end)),
            };
            if self.meter.as_ref().is_some_and(|it| !it.try_hold(count as u64)) {
                return Poll::Ready(Err(LembehEnd::InputLimit));
            }
            read.truncate(count);
            self.ahead.insert(handle, read);
        }
        let Some(ahead) = self.ahead.get_mut(&handle) else { return Poll::Ready(Ok(0)) };
        let most = ahead.len().min(buffer.len());
        let count = self.schedule.cut(&ahead[..most], self.turn).min(most);
        self.turn += 1;
        buffer[..count].copy_from_slice(&ahead[..count]);
        ahead.drain(..count);
        if ahead.is_empty() {
            self.ahead.remove(&handle);
        }
        self.release(count);
        Poll::Ready(Ok(count))
    }

    fn poll_write(
        &mut self,
        cx: &mut Context<'_>,
        handle: i32,
        bytes: &[u8],
    ) -> Poll<Result<usize, LembehEnd>> {
        self.host.poll_write(cx, handle, bytes)
    }

    fn end(&mut self, cx: &mut Context<'_>, handle: i32) -> Result<(), LembehEnd> {
        self.host.end(cx, handle)
    }

    fn log(&mut self, topic: &[u8], message: &[u8]) -> Result<(), LembehEnd> {
        self.host.log(topic, message)
    }

    fn fault(&mut self, fault: LembehFault) -> Result<(), LembehEnd> {
        self.host.fault(fault)
    }

    fn finish(&mut self) {
        let held: usize = self.ahead.values().map(Vec::len).sum();
        self.release(held);
        self.ahead.clear();
        self.host.finish();
    }
}

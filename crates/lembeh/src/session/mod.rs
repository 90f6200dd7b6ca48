//! One guest's session: its handles, its hubs and what goes on beside it. The small async shell around [`Hub`].
//!
//! Whenever the guest calls, what goes on beside it is looked at: completions are handed to their hubs, deadlines are
//! kept. While it waits, it is woken by whatever can end the wait: bytes, a completion, the next deadline. A future is a
//! call at the gate in flight; dropping it cancels.

mod desk;
mod handle;
mod held;
mod process;
mod processes;
mod standard;
mod start;
mod view;
mod work;

use std::{
    collections::BTreeMap,
    sync::Arc,
    task::{Context, Poll, Waker},
};

use drydock_abi::lembeh::Trace;
use drydock_contract::{
    BoxFuture, Dispatch, LembehEnd, LembehFault, LembehHost, Meter, Streams, port::Files, text::printable,
};

pub(crate) use self::handle::HANDLES_MAX;
pub use self::standard::StreamLimits;
use self::{
    desk::{Asked, Desk, Done},
    handle::{Handle, Moved},
    held::Held,
    standard::Standard,
};
use crate::{
    Hub, Read,
    ctl::{self, Answer, Listed},
    policy::LembehPolicy,
    powers::Failure,
    timer::Timer,
};

/// Hubs of one guest.
pub(crate) const HUBS_MAX: usize = 8;
/// What a hub costs before it is used.
const HUB_BYTES: u64 = 4 << 10;
/// Standard streams: the request, the response and the log.
const STDIN: i32 = 0;
const LOG: i32 = 2;

/// What a session is made of.
pub struct LembehParts {
    /// What it has.
    pub policy: LembehPolicy,
    /// Its standard streams.
    pub streams: Streams,
    /// What they may carry.
    pub limits: StreamLimits,
    /// The files behind `file/view`.
    pub files: Option<Arc<dyn Files>>,
    /// The way to the gate of its connections: a session that holds nothing else, because what a guest starts has the
    /// guest's own session, and no network. None where it connects to nobody.
    pub net: Option<Arc<dyn Dispatch>>,
    /// Its time.
    pub timer: Arc<dyn Timer>,
}

/// A session that runs for real.
pub struct LembehSession {
    listed: Vec<Listed>,
    standard: Standard,
    /// Each with what is on the guest's bill for as long as it is open.
    hubs: BTreeMap<u32, (Hub, Held)>,
    desk: Desk,
    alarm: Option<(u64, BoxFuture<'static, ()>)>,
}

impl LembehSession {
    /// A session without handles but the first three.
    pub fn new(parts: LembehParts) -> Self {
        let LembehParts { policy, streams, limits, files, net, timer } = parts;
        let listed = policy.listed();
        let desk = Desk {
            policy: Arc::new(policy),
            files,
            door: None,
            net,
            meter: Arc::new(Meter::new(0)),
            timer,
            handles: handle::Handles::default(),
            processes: processes::Processes::default(),
            work: work::Work::default(),
            pending: BTreeMap::new(),
            hub: 0,
            is_fresh: false,
            now_ms: 0,
        };
        let standard = Standard::new(streams, limits);
        Self { listed, standard, hubs: BTreeMap::new(), desk, alarm: None }
    }

    /// The standard streams, with what was captured.
    pub fn take_streams(&mut self) -> Streams {
        self.standard.take()
    }

    /// Looks at everything that goes on beside the guest, until nothing of it can go on by itself.
    fn go_on(&mut self, cx: &mut Context<'_>) {
        loop {
            self.desk.now_ms = self.desk.timer.now_ms();
            self.desk.is_fresh = false;
            while let Some(done) = self.desk.work.next(cx) {
                self.settle(done);
            }
            for (number, (hub, _)) in &mut self.hubs {
                self.desk.hub = *number;
                hub.advance(self.desk.now_ms, &mut self.desk);
            }
            if !self.desk.is_fresh && !self.rings(cx) {
                return;
            }
        }
    }

    /// Whether the next deadline has come. If not, `cx` is woken when it does.
    fn rings(&mut self, cx: &mut Context<'_>) -> bool {
        let Some(due) = self.hubs.values().filter_map(|(hub, _)| hub.next_deadline_ms()).min() else {
            self.alarm = None;
            return false;
        };
        let alarm = match &mut self.alarm {
            Some((at, alarm)) if *at == due => alarm,
            other => &mut other.insert((due, self.desk.timer.at(due))).1,
        };
        if alarm.as_mut().poll(cx).is_pending() {
            return false;
        }
        self.alarm = None;
        // A clock that wakes early would be asked again and again.
        self.desk.timer.now_ms() >= due
    }

    /// Tells whoever asked what came of it.
    fn settle(&mut self, done: Done) {
        let (asked, result) = match done {
            Done::Exited(exec_id, status) => {
                if let Some(stdin) = self.desk.processes.end(exec_id, status, self.desk.now_ms)
                    && self.desk.handles.close_stdin(stdin)
                {
                    self.desk.processes.close(exec_id);
                }
                return;
            }
            Done::Started(asked, started) => {
                (asked, started.and_then(|(running, streamed)| self.desk.started(running, streamed)))
            }
            Done::Connected(asked, connected) => (asked, connected.and_then(|it| self.desk.connected(it))),
        };
        self.desk.pending.remove(&asked);
        let Asked { hub, future_id } = asked;
        if let Some((hub, _)) = self.hubs.get_mut(&hub) {
            match result {
                Ok(value) => hub.complete(future_id, Ok(&value)),
                Err(trace) => hub.complete(future_id, Err(Failure::from(trace))),
            };
        }
    }

    /// Opens one more hub: its handle, or why there is none.
    fn open_hub(&mut self) -> Result<u32, Trace> {
        if self.hubs.len() >= HUBS_MAX {
            return Err(Trace::CtlOverflow);
        }
        let limits = self.desk.policy.hub;
        // All that it can ever hold of the guest's making.
        let held = Held::take(&self.desk.meter, HUB_BYTES + limits.held_bytes_max());
        let held = held.ok_or(Trace::CtlOverflow)?;
        let number = self.desk.handles.add(Handle::Hub, &self.desk.meter).ok_or(Trace::CtlOverflow)?;
        self.hubs.insert(number, (Hub::new(limits), held));
        Ok(number)
    }

    /// The guest has seen the end of a handle, or made it.
    fn moved(&mut self, moved: Moved) -> Result<usize, LembehEnd> {
        if let Some(exec_id) = moved.closed {
            self.desk.processes.close(exec_id);
        }
        moved.result
    }
}

impl LembehHost for LembehSession {
    fn begin(&mut self, door: Arc<dyn Dispatch>, meter: Arc<Meter>) {
        self.desk.door = Some(door);
        self.desk.meter = meter;
    }

    fn ctl(&mut self, cx: &mut Context<'_>, request: &[u8], room: usize) -> Result<Vec<u8>, LembehEnd> {
        self.go_on(cx);
        let answer = match ctl::judge(request, &self.listed) {
            // An answer that does not fit opens nothing: the guest will ask again.
            Answer::OpenHub { rid, .. }
                if !fits(&ctl::opened(rid, u32::MAX, &self.desk.policy.hub), room) =>
            {
                Answer::None
            }
            Answer::OpenHub { rid, .. } => match self.open_hub() {
                Ok(handle) => ctl::opened(rid, handle, &self.desk.policy.hub),
                Err(trace) => ctl::refused(drydock_abi::lembeh::ctl::CAPS_OPEN, rid, trace),
            },
            answer => answer,
        };
        answer.fitting(room).map(<[u8]>::to_vec).ok_or(LembehEnd::Refused)
    }

    fn poll_read(
        &mut self,
        cx: &mut Context<'_>,
        handle: i32,
        buffer: &mut [u8],
    ) -> Poll<Result<usize, LembehEnd>> {
        self.go_on(cx);
        if handle == STDIN {
            return self.standard.poll_read(cx, buffer);
        }
        let Some(number) = self.desk.handles.is_hub(handle) else {
            let moved = std::task::ready!(self.desk.handles.poll_read(cx, handle, buffer));
            return Poll::Ready(self.moved(moved));
        };
        loop {
            let Some((hub, _)) = self.hubs.get_mut(&number) else { return Poll::Ready(Ok(0)) };
            self.desk.hub = number;
            match hub.read(buffer, self.desk.now_ms, &mut self.desk) {
                Read::Bytes(count) => return Poll::Ready(Ok(count)),
                Read::End => return Poll::Ready(Ok(0)),
                Read::Never => return Poll::Ready(Err(LembehEnd::Refused)),
                // A command that waited for room began something: look at that first.
                Read::Pending if self.desk.is_fresh => self.go_on(cx),
                Read::Pending => return Poll::Pending,
            }
        }
    }

    fn poll_write(
        &mut self,
        cx: &mut Context<'_>,
        handle: i32,
        bytes: &[u8],
    ) -> Poll<Result<usize, LembehEnd>> {
        self.go_on(cx);
        if (STDIN..=LOG).contains(&handle) {
            return self.standard.poll_write(cx, handle, bytes, &self.desk.meter);
        }
        let Some(number) = self.desk.handles.is_hub(handle) else {
            let moved = std::task::ready!(self.desk.handles.poll_write(cx, handle, bytes));
            return Poll::Ready(self.moved(moved));
        };
        let Some((hub, _)) = self.hubs.get_mut(&number) else { return Poll::Ready(Err(LembehEnd::Refused)) };
        self.desk.hub = number;
        let taken = hub.write(bytes, self.desk.now_ms, &mut self.desk).map_err(|_| LembehEnd::Refused);
        if self.desk.is_fresh {
            // What was begun is on its way when this returns, whether or not anybody ever waits for it.
            self.go_on(cx);
        }
        Poll::Ready(taken)
    }

    fn end(&mut self, cx: &mut Context<'_>, handle: i32) -> Result<(), LembehEnd> {
        self.go_on(cx);
        if (STDIN..=LOG).contains(&handle) {
            self.standard.end(handle);
        } else if let Some(number) = self.desk.handles.is_hub(handle) {
            if let Some((mut hub, _held)) = self.hubs.remove(&number) {
                self.desk.hub = number;
                hub.end(&mut self.desk);
            }
        } else if let Some(exec_id) = self.desk.handles.end(handle) {
            self.desk.processes.close(exec_id);
        }
        Ok(())
    }

    fn log(&mut self, topic: &[u8], message: &[u8]) -> Result<(), LembehEnd> {
        let text = |bytes: &[u8]| printable(&String::from_utf8_lossy(bytes)).to_string();
        let line = format!("{}: {}\n", text(topic), text(message));
        // Best effort: what nobody takes at once is dropped, and so is what is too much.
        let mut cx = Context::from_waker(Waker::noop());
        let _ = self.standard.poll_write(&mut cx, LOG, line.as_bytes(), &self.desk.meter);
        Ok(())
    }

    fn fault(&mut self, _: LembehFault) -> Result<(), LembehEnd> {
        Ok(())
    }

    fn finish(&mut self) {
        for (number, (mut hub, _held)) in std::mem::take(&mut self.hubs) {
            self.desk.hub = number;
            hub.end(&mut self.desk);
        }
        self.alarm = None;
        self.desk.clear();
    }
}

fn fits(answer: &Answer, room: usize) -> bool {
    answer.fitting(room).is_some()
}

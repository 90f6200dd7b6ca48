//! Slots: how many runs of a lane are alive at once, and who waits for the next one.
//!
//! Where one is free it costs one atomic exchange. Where none is, runs wait: tenants take turns, and of a tenant's
//! runs the one goes first whose session holds most slots already, because it finishes what was begun. The queue is
//! bounded, for all and for each tenant; whoever comes then is refused as `saturated`. A wait is the run's own time:
//! it ends with its deadline or with its switches.
//!
//! A run keeps its slot while it waits for another one of its session: the command it started, or the next stage of
//! its pipeline. If slots were handed out in order of arrival, runs could hold all of them and wait for nothing but
//! each other. So some are reserved, and a run gets one of those only if its session holds more slots, or it is
//! nested deeper, than there are reserved ones in use. Whichever run that wait is deepest can then always go on,
//! until its session holds as many as are reserved (decision 0066 has the proof). Whoever is nested deeper than
//! that never waits: it gets a slot at once, or is refused.

use std::{
    cmp::Reverse,
    collections::{BTreeMap, HashMap, VecDeque},
    future::poll_fn,
    pin::Pin,
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
    task::Poll,
    time::Instant,
};

use drydock_contract::{
    Deadline, Fault, LiveSpec, Outcome, Preparing, RunRequest, ShellGuestSpec, Switch, Tenant,
};
use parking_lot::Mutex;
use tokio::sync::oneshot;

use crate::{
    config::Allocation,
    run::{Alarm, Why},
};

/// Runs that wait for a slot of one lane.
const WAITING_RUNS_MAX: u32 = 1024;

/// Those of one tenant, so that none fills the queue for everybody.
const WAITING_RUNS_PER_TENANT_MAX: usize = 512;

/// One slot in so many is reserved.
const RESERVED_ONE_IN: u32 = 4;

/// Most slots that are reserved: as many as a session has runs in flight.
const RESERVED_SLOTS_MAX: u32 = 64;

/// Runs alive at once where there is no pool: its instances are mapped one by one, and nothing else bounds them.
const ON_DEMAND_RUNS_MAX: u32 = 1024;

/// The slots of one lane.
pub(crate) struct Slots {
    /// What is free and how many wait, in one word: whoever gives a slot back sees whether somebody waits for it.
    word: AtomicU64,
    /// Of all slots.
    reserved: u32,
    queue: Mutex<Queue>,
}

/// What [`Slots::word`] says.
#[derive(Debug, Clone, Copy)]
struct Free {
    general: u32,
    reserved: u32,
    waiting: u32,
}

/// Most slots that the word can count, and more than fit into any address space.
const SLOTS_MAX: u32 = (1 << 20) - 1;
const FIELD: u64 = SLOTS_MAX as u64;
const GENERAL: u64 = 1;
const RESERVED: u64 = 1 << 20;
const WAITING: u64 = 1 << 40;

impl Free {
    fn of(word: u64) -> Self {
        // Each field has 20 bits.
        let field = |one: u64| ((word / one) & FIELD) as u32;
        Self { general: field(GENERAL), reserved: field(RESERVED), waiting: field(WAITING) }
    }
}

/// Who asks for a slot.
#[derive(Debug, Clone)]
pub(crate) struct Asked {
    tenant: Tenant,
    depth: u32,
    session: Session,
}

impl Asked {
    pub(crate) fn of(request: &RunRequest) -> Self {
        let session = Session(request.preparing.clone());
        Self { tenant: request.tenant.clone(), depth: request.depth, session }
    }

    /// For the opening of an instance and for each of its calls.
    pub(crate) fn for_live(spec: &LiveSpec) -> Self {
        let session = Session(spec.preparing.clone());
        Self { tenant: spec.tenant.clone(), depth: spec.depth, session }
    }

    /// For a shell of a session.
    pub(crate) fn for_shell(spec: &ShellGuestSpec) -> Self {
        let session = Session(spec.preparing.clone());
        Self { tenant: spec.tenant.clone(), depth: spec.depth, session }
    }

    /// How many runs may be waiting for this one, at the least.
    fn rank(&self) -> u32 {
        self.depth.max(self.session.0.as_ref().map_or(0, |it| it.slots_held()))
    }
}

/// The runs that may wait for each other; none where nobody else can.
#[derive(Debug, Clone)]
struct Session(Option<Arc<Preparing>>);

impl Session {
    /// What it is known by as long as it holds a slot.
    fn key(&self) -> usize {
        self.0.as_ref().map_or(0, |it| Arc::as_ptr(it).addr())
    }

    fn slot_taken(&self) {
        if let Some(session) = &self.0 {
            session.slot_taken();
        }
    }

    fn slot_returned(&self) {
        if let Some(session) = &self.0 {
            session.slot_returned();
        }
    }
}

impl Slots {
    pub(crate) fn new(allocation: Allocation) -> Self {
        let all = match allocation {
            Allocation::Pooling { slots } => slots,
            Allocation::OnDemand => ON_DEMAND_RUNS_MAX,
        };
        let all = all.min(SLOTS_MAX);
        let reserved = (all / RESERVED_ONE_IN).min(RESERVED_SLOTS_MAX);
        let word = u64::from(all - reserved) * GENERAL + u64::from(reserved) * RESERVED;
        Self { word: AtomicU64::new(word), reserved, queue: Mutex::default() }
    }

    /// A slot, if one is free and nobody waits for it.
    pub(crate) fn try_take(self: &Arc<Self>, request: &RunRequest) -> Option<Slot<'_>> {
        let session = || Session(request.preparing.clone());
        self.take_general(|free| free.waiting == 0).then(|| Slot::taken(self, session()))
    }

    /// The same for a request of a handler, which is of that session.
    pub(crate) fn try_take_for(self: &Arc<Self>, session: Option<&Arc<Preparing>>) -> Option<Slot<'_>> {
        self.take_general(|free| free.waiting == 0).then(|| Slot::taken(self, Session(session.cloned())))
    }

    fn take_general(&self, may: impl Fn(Free) -> bool) -> bool {
        let take = |word| {
            let free = Free::of(word);
            (free.general > 0 && may(free)).then(|| word - GENERAL)
        };
        self.word.fetch_update(Ordering::AcqRel, Ordering::Acquire, take).is_ok()
    }

    /// A slot at once if one is free, or as soon as there is one.
    pub(crate) async fn take(
        self: &Arc<Self>,
        asked: Asked,
        deadline: &Deadline,
        switches: &[Arc<Switch>; 2],
    ) -> Result<Result<Slot<'_>, Outcome>, Fault> {
        if self.take_general(|free| free.waiting == 0) {
            return Ok(Ok(Slot::taken(self, asked.session)));
        }
        Box::pin(self.wait(asked, deadline, switches)).await
    }

    /// A slot, as soon as there is one; how the run ended if it did before.
    pub(crate) async fn wait(
        self: &Arc<Self>,
        asked: Asked,
        deadline: &Deadline,
        switches: &[Arc<Switch>; 2],
    ) -> Result<Result<Slot<'_>, Outcome>, Fault> {
        let mut place = match self.enter(asked)? {
            Entered::Slot(slot) => return Ok(Ok(slot)),
            Entered::Queue(place) => place,
        };
        let mut alarm = Alarm::new(deadline, switches);
        poll_fn(|cx| {
            if Pin::new(&mut place.called).poll(cx).is_ready() {
                return Poll::Ready(Ok(place.slot()));
            }
            if switches.iter().any(|switch| switch.is_tripped()) {
                return Poll::Ready(Err(Outcome::Cancelled));
            }
            if deadline.is_over(Instant::now()) {
                return Poll::Ready(Err(Outcome::TimedOut));
            }
            alarm.poll(cx, deadline, switches).map(|why| match why {
                Why::Cancelled => Err(Outcome::Cancelled),
                Why::TimedOut => Err(Outcome::TimedOut),
            })
        })
        .await
        .map_or_else(|outcome| Ok(Err(outcome)), |slot| Ok(Ok(slot)))
    }

    /// Takes a slot, or a place in the queue.
    fn enter(self: &Arc<Self>, asked: Asked) -> Result<Entered<'_>, Fault> {
        let mut queue = self.queue.lock();
        // First those who wait already; what is left then is for nobody else.
        self.hand_out(&mut queue);
        if self.take_general(|_| true) {
            return Ok(Entered::Slot(Slot::taken(self, asked.session)));
        }
        let free = Free::of(self.word.load(Ordering::Acquire));
        if free.reserved > 0 && asked.rank() > self.reserved - free.reserved {
            self.word.fetch_sub(RESERVED, Ordering::AcqRel);
            *queue.reserved_by.entry(asked.session.key()).or_default() += 1;
            return Ok(Entered::Slot(Slot::taken(self, asked.session)));
        }
        if asked.depth > self.reserved {
            return Err(Fault::Saturated(format!("a run at depth {} cannot wait for one", asked.depth)));
        }
        let of_tenant = queue.lines.get(&asked.tenant).map_or(0, BTreeMap::len);
        if free.waiting >= WAITING_RUNS_MAX || of_tenant >= WAITING_RUNS_PER_TENANT_MAX {
            let (waiting, tenant) = (free.waiting, &asked.tenant);
            return Err(Fault::Saturated(format!(
                "{waiting} runs wait for one already, {of_tenant} of them of tenant {tenant}"
            )));
        }
        let (call, called) = oneshot::channel();
        let ticket = queue.push(asked.clone(), call);
        self.word.fetch_add(WAITING, Ordering::AcqRel);
        // A slot that was given back since we looked was given back to nobody.
        self.hand_out(&mut queue);
        Ok(Entered::Queue(Place { slots: self, asked, ticket, called, left: false }))
    }

    /// Gives what is free to those who wait. While somebody waits only this takes slots, under the queue's lock.
    fn hand_out(&self, queue: &mut Queue) {
        loop {
            let free = Free::of(self.word.load(Ordering::Acquire));
            if free.waiting == 0 || (free.general == 0 && free.reserved == 0) {
                return;
            }
            let (slot, rank_above) = match free.general {
                0 => (RESERVED, Some(self.reserved - free.reserved)),
                _ => (GENERAL, None),
            };
            let Some(next) = queue.pop(rank_above) else { return };
            self.word.fetch_sub(slot + WAITING, Ordering::AcqRel);
            if slot == RESERVED {
                *queue.reserved_by.entry(next.asked.session.key()).or_default() += 1;
            }
            next.asked.session.slot_taken();
            // Whoever stops waiting leaves the queue first, so somebody hears this.
            let _ = next.call.send(());
        }
    }

    /// A slot of this session's is free again. A reserved one is what it gives back first: what it keeps is then
    /// no more of the reserve than its place in it was worth.
    fn give_back(&self, session: &Session) {
        session.slot_returned();
        let untouched = |free: Free| free.waiting == 0 && free.reserved == self.reserved;
        let give = |word| untouched(Free::of(word)).then_some(word + GENERAL);
        if self.word.fetch_update(Ordering::AcqRel, Ordering::Acquire, give).is_ok() {
            return;
        }
        let mut queue = self.queue.lock();
        let slot = if queue.returns_reserved(session.key()) { RESERVED } else { GENERAL };
        self.word.fetch_add(slot, Ordering::AcqRel);
        self.hand_out(&mut queue);
    }
}

enum Entered<'a> {
    Slot(Slot<'a>),
    Queue(Place<'a>),
}

/// A slot, until it is dropped: after the instance that used it.
pub(crate) struct Slot<'a> {
    slots: &'a Arc<Slots>,
    session: Session,
}

impl<'a> Slot<'a> {
    fn taken(slots: &'a Arc<Slots>, session: Session) -> Self {
        session.slot_taken();
        Self { slots, session }
    }

    /// The same slot, for who outlives whoever took it.
    pub(crate) fn owned(mut self) -> OwnedSlot {
        let owned = OwnedSlot { slots: Arc::clone(self.slots), session: Session(self.session.0.take()) };
        // It is given back by the other one.
        std::mem::forget(self);
        owned
    }
}

impl Drop for Slot<'_> {
    fn drop(&mut self) {
        self.slots.give_back(&self.session);
    }
}

/// A slot that goes with the instance to another thread. Runs have the other one: it touches nothing that all share.
pub(crate) struct OwnedSlot {
    slots: Arc<Slots>,
    session: Session,
}

impl Drop for OwnedSlot {
    fn drop(&mut self) {
        self.slots.give_back(&self.session);
    }
}

/// A place in the queue. Dropped, it is left, or the slot that was given meanwhile is given back.
struct Place<'a> {
    slots: &'a Arc<Slots>,
    asked: Asked,
    ticket: u64,
    called: oneshot::Receiver<()>,
    left: bool,
}

impl<'a> Place<'a> {
    /// The slot that it was called for; it was counted then.
    fn slot(&mut self) -> Slot<'a> {
        self.left = true;
        Slot { slots: self.slots, session: self.asked.session.clone() }
    }
}

impl Drop for Place<'_> {
    fn drop(&mut self) {
        if self.left {
            return;
        }
        let was_waiting = {
            let mut queue = self.slots.queue.lock();
            let was_waiting = queue.remove(&self.asked.tenant, self.ticket).is_some();
            if was_waiting {
                self.slots.word.fetch_sub(WAITING, Ordering::AcqRel);
            }
            was_waiting
        };
        if !was_waiting {
            self.slots.give_back(&self.asked.session);
        }
    }
}

/// Who waits, and which sessions hold reserved slots.
#[derive(Default)]
struct Queue {
    tickets: u64,
    /// Tenants of whom somebody waits, the one whose turn it is first.
    turns: VecDeque<Tenant>,
    lines: HashMap<Tenant, BTreeMap<u64, Waiter>>,
    reserved_by: HashMap<usize, u32>,
}

struct Waiter {
    asked: Asked,
    call: oneshot::Sender<()>,
}

impl Queue {
    fn push(&mut self, asked: Asked, call: oneshot::Sender<()>) -> u64 {
        self.tickets += 1;
        let tenant = asked.tenant.clone();
        let line = self.lines.entry(tenant.clone()).or_default();
        if line.is_empty() {
            self.turns.push_back(tenant);
        }
        line.insert(self.tickets, Waiter { asked, call });
        self.tickets
    }

    /// The next one of the tenant whose turn it is, if it may have the slot; else of the next tenant.
    fn pop(&mut self, rank_above: Option<u32>) -> Option<Waiter> {
        let best = |tenant: &Tenant| {
            // Ranks change while runs wait, so they are looked at now.
            let ranked =
                self.lines.get(tenant)?.iter().map(|(ticket, it)| (it.asked.rank(), Reverse(*ticket)));
            ranked.max().filter(|(rank, _)| rank_above.is_none_or(|above| *rank > above))
        };
        let found = self.turns.iter().find_map(|tenant| Some((tenant.clone(), best(tenant)?.1.0)));
        let (tenant, ticket) = found?;
        let waiter = self.remove(&tenant, ticket)?;
        // It has had its turn.
        if self.lines.contains_key(&tenant) {
            self.turns.retain(|it| *it != tenant);
            self.turns.push_back(tenant);
        }
        Some(waiter)
    }

    fn remove(&mut self, tenant: &Tenant, ticket: u64) -> Option<Waiter> {
        let line = self.lines.get_mut(tenant)?;
        let waiter = line.remove(&ticket)?;
        if line.is_empty() {
            self.lines.remove(tenant);
            self.turns.retain(|it| it != tenant);
        }
        Some(waiter)
    }

    /// Whether this session had a reserved slot; it has one less now.
    fn returns_reserved(&mut self, session: usize) -> bool {
        let Some(count) = self.reserved_by.get_mut(&session) else { return false };
        *count -= 1;
        if *count == 0 {
            self.reserved_by.remove(&session);
        }
        true
    }
}

//! One schedule: a guest that writes and reads at random, powers that complete at random, and a model that knows what
//! may be read.

mod guest;
mod model;
mod powers;
mod random;

use drydock_lembeh::{Failure, Hub, HubLimits, Read};

pub(crate) use self::model::Tally;
use self::{
    guest::Guest,
    model::{Model, Sent},
    powers::Ledger,
    random::Random,
};

/// Everything of one schedule. It depends on its seed alone.
pub(crate) struct Schedule {
    random: Random,
    limits: HubLimits,
    hub: Hub,
    powers: Ledger,
    guest: Guest,
    model: Model,
    now_ms: u64,
}

impl Schedule {
    pub(crate) fn new(seed: u64) -> Self {
        let mut random = Random::new(seed);
        let limits = HubLimits {
            payload_bytes_max: 300,
            futures_max: random.below(6) as u32 + 1,
            joins_max: random.below(4) as u32,
            event_queue_bytes_max: [0, 2_000, 65_536][random.below(3) as usize],
            id_ranges_max: random.below(12) as u32 + 2,
            tasks_max: 2,
            owner_bytes_max: 8,
        };
        let hostile = random.one_in(8);
        Self {
            limits,
            hub: Hub::new(limits),
            powers: Ledger::default(),
            guest: Guest::new(hostile, limits.payload_bytes_max),
            model: Model::new(hostile),
            now_ms: 0,
            random,
        }
    }

    /// Runs to the end: the guest's own, or until nothing is left.
    pub(crate) fn run(mut self) -> Tally {
        for _ in 0..self.random.below(150) + 20 {
            match self.random.below(8) {
                0..=3 => self.write(),
                4 | 5 => {
                    self.read();
                }
                6 => self.complete(),
                _ => self.pass_time(),
            }
            self.check();
        }
        match self.random.one_in(3) {
            true => self.end(),
            false => self.drain(),
        }
        self.model.tally
    }

    fn write(&mut self) {
        if self.guest.is_empty() || self.random.one_in(3) {
            match self.guest.compose(&mut self.random) {
                Sent::Cancel { future_id, .. } => drop(self.powers.cancels.insert(future_id)),
                Sent::Break { .. } | Sent::Unknown => self.powers.may_break = true,
                _ => {}
            }
        }
        let length = 1 + self.random.below(self.guest.unwritten().len() as u64) as usize;
        self.powers.now_ms = self.now_ms;
        match self.hub.write(&self.guest.unwritten()[..length], self.now_ms, &mut self.powers) {
            Ok(count) => {
                assert!(count <= length);
                if count < length {
                    self.model.tally.short_writes += 1;
                }
                self.guest.wrote(count, &mut self.model);
            }
            Err(_) => {
                assert!(self.hub.is_broken(), "only what is no frame closes the stream");
                self.guest.forget();
            }
        }
    }

    fn read(&mut self) -> Read {
        let mut out = vec![0; 1 + self.random.below(200) as usize];
        self.powers.now_ms = self.now_ms;
        let read = self.hub.read(&mut out, self.now_ms, &mut self.powers);
        match read {
            Read::Bytes(count) => self.model.saw(&out[..count], &self.powers),
            Read::Pending => assert!(self.hub.pending_count() > 0, "a join has somebody to wait for"),
            Read::Never => {
                assert_eq!(self.hub.pending_count(), 0);
                assert_eq!(self.powers.pending().count(), 0);
            }
            Read::End => assert!(self.hub.is_broken()),
        }
        read
    }

    /// Completes something that is pending, or something that is over.
    fn complete(&mut self) {
        let pending: Vec<u64> = self.powers.pending().collect();
        let Some(id) = self.random.pick(&pending) else {
            let over: Vec<u64> = self.powers.over().collect();
            if let Some(id) = self.random.pick(&over) {
                assert!(!self.hub.complete(id, Ok(b"late")), "future {id} is over");
            }
            return;
        };
        let value = vec![b'v'; self.random.below(90) as usize];
        let queued = match self.random.one_in(3) {
            true => self.hub.complete(id, Err(Failure { cause: value, ..Ledger::failure() })),
            false => self.hub.complete(id, Ok(&value)),
        };
        assert!(queued, "future {id} is pending");
        self.powers.completed(id);
    }

    fn pass_time(&mut self) {
        self.now_ms += self.random.below(40);
        if self.random.one_in(2) {
            self.powers.now_ms = self.now_ms;
            self.hub.advance(self.now_ms, &mut self.powers);
            assert!(self.hub.next_deadline_ms().is_none_or(|due| due > self.now_ms));
        }
    }

    fn check(&self) {
        assert!(self.hub.held_bytes() <= self.limits.held_bytes_max());
        assert!(self.hub.pending_count() as u64 <= u64::from(self.limits.futures_max));
        assert_eq!(self.hub.pending_count(), self.powers.pending().count(), "nothing is lost or doubled");
    }

    /// The guest is gone.
    fn end(&mut self) {
        self.powers.ending = true;
        self.hub.end(&mut self.powers);
        assert_eq!((self.hub.held_bytes(), self.hub.pending_count()), (0, 0));
        assert_eq!(self.powers.pending().count(), 0, "what was pending is cancelled");
        assert_eq!(self.hub.read(&mut [0; 9], self.now_ms, &mut self.powers), Read::End);
        assert!(self.hub.write(b"x", self.now_ms, &mut self.powers).is_err());
        self.model.tally.ended += 1;
    }

    /// The guest writes what it has, completes everything and reads to the end: every account is settled.
    fn drain(&mut self) {
        loop {
            while !self.guest.is_empty() && !self.hub.is_broken() {
                let before = self.guest.unwritten().len();
                self.write();
                if self.guest.unwritten().len() >= before {
                    break;
                }
            }
            while self.powers.pending().count() > 0 {
                self.complete();
            }
            match self.read() {
                Read::Bytes(_) | Read::Pending => {}
                Read::Never if self.guest.is_empty() => break,
                Read::Never => {}
                Read::End => break,
            }
        }
        self.model.settle(&self.powers, self.hub.is_broken());
    }
}

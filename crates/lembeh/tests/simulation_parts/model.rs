//! What may be read: every command answered in its turn, every future ended once, every join told once.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use drydock_abi::lembeh::zax::{Event, next_event};

use super::powers::{Ledger, Standing};

/// A frame that was written whole.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Sent {
    Register {
        req_id: u64,
        future_id: u64,
    },
    Cancel {
        req_id: u64,
        future_id: u64,
    },
    Join {
        req_id: u64,
    },
    Other {
        req_id: u64,
    },
    /// No frame at all.
    Break {
        req_id: u64,
    },
    /// A frame with a byte changed: whatever it is now.
    Unknown,
}

/// How often what happened.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Tally {
    acks: u64,
    refusals: u64,
    values: u64,
    failures: u64,
    cancels: u64,
    joined: u64,
    join_limits: u64,
    broken: u64,
    pub(crate) short_writes: u64,
    pub(crate) ended: u64,
    settled: u64,
}

impl Tally {
    const fn all(&self) -> [u64; 11] {
        [
            self.acks,
            self.refusals,
            self.values,
            self.failures,
            self.cancels,
            self.joined,
            self.join_limits,
            self.broken,
            self.short_writes,
            self.ended,
            self.settled,
        ]
    }

    pub(crate) const fn add(&mut self, other: &Self) {
        self.acks += other.acks;
        self.refusals += other.refusals;
        self.values += other.values;
        self.failures += other.failures;
        self.cancels += other.cancels;
        self.joined += other.joined;
        self.join_limits += other.join_limits;
        self.broken += other.broken;
        self.short_writes += other.short_writes;
        self.ended += other.ended;
        self.settled += other.settled;
    }

    pub(crate) fn all_happened(&self) -> bool {
        self.all().iter().all(|count| *count > 0)
    }
}

#[derive(Debug, Default)]
pub(crate) struct Model {
    hostile: bool,
    unread: Vec<u8>,
    /// Commands that want an answer and have none.
    unanswered: VecDeque<Sent>,
    accepted: BTreeSet<u64>,
    /// Futures that were registered without a request.
    silent: BTreeSet<u64>,
    over: BTreeSet<u64>,
    /// Joins that are accepted and not told, by their requests.
    joins: BTreeMap<u64, u64>,
    silent_joins: u64,
    pub(crate) tally: Tally,
}

impl Model {
    pub(crate) fn new(hostile: bool) -> Self {
        Self { hostile, ..Self::default() }
    }

    /// A frame was written whole.
    pub(crate) fn sent(&mut self, sent: Sent) {
        let req_id = match sent {
            Sent::Register { req_id, future_id } => {
                if req_id == 0 {
                    self.silent.insert(future_id);
                }
                req_id
            }
            Sent::Join { req_id } => {
                self.silent_joins += u64::from(req_id == 0);
                req_id
            }
            Sent::Cancel { req_id, .. } | Sent::Other { req_id } | Sent::Break { req_id } => req_id,
            Sent::Unknown => 0,
        };
        if req_id != 0 {
            self.unanswered.push_back(sent);
        }
    }

    /// Bytes were read.
    pub(crate) fn saw(&mut self, bytes: &[u8], powers: &Ledger) {
        self.unread.extend_from_slice(bytes);
        let unread = std::mem::take(&mut self.unread);
        let mut rest = &unread[..];
        while let Some((event, length)) = next_event(rest).expect("a host writes events") {
            self.judge(&event, powers);
            rest = &rest[length..];
        }
        self.unread = rest.to_vec();
    }

    fn judge(&mut self, event: &Event<'_>, powers: &Ledger) {
        match *event {
            Event::Ack { req_id } => {
                self.tally.acks += 1;
                self.answered(req_id, true);
            }
            Event::Fail { req_id, code, .. } => {
                self.tally.refusals += 1;
                self.tally.broken += u64::from(code == "t_async_bad_frame");
                self.answered(req_id, false);
            }
            Event::FutureOk { future_id, .. } => {
                self.tally.values += 1;
                self.ended(future_id);
                assert_eq!(powers.futures.get(&future_id), Some(&Standing::Completed));
            }
            Event::FutureFail { future_id, .. } => {
                self.tally.failures += 1;
                self.ended(future_id);
                assert!(matches!(powers.futures.get(&future_id), None | Some(Standing::Completed)));
            }
            Event::FutureCancelled { future_id } => {
                self.tally.cancels += 1;
                self.ended(future_id);
                let standing = powers.futures.get(&future_id);
                assert_eq!(standing, Some(&Standing::Cancelled), "the hook of {future_id} ran before");
            }
            Event::JoinResult { req_id } => {
                self.tally.joined += 1;
                self.join_told(req_id);
            }
            Event::JoinLimit { req_id, .. } => {
                self.tally.join_limits += 1;
                self.join_told(req_id);
            }
            Event::Extension { .. } => panic!("we send no extensions"),
        }
    }

    /// One answer a command, in the order of commands.
    fn answered(&mut self, req_id: u64, accepted: bool) {
        assert_ne!(req_id, 0);
        if self.hostile {
            return;
        }
        let sent = self.unanswered.pop_front().expect("an answer has a command");
        let (asked, future_id, is_join) = match sent {
            Sent::Register { req_id, future_id } => (req_id, Some(future_id), false),
            Sent::Join { req_id } => (req_id, None, true),
            Sent::Cancel { req_id, .. } | Sent::Other { req_id } => (req_id, None, false),
            Sent::Break { req_id } => {
                assert!(!accepted);
                (req_id, None, false)
            }
            Sent::Unknown => unreachable!("only hostile guests send it"),
        };
        assert_eq!(asked, req_id, "answers come in the order of commands");
        if let Some(future_id) = future_id.filter(|_| accepted) {
            assert!(self.accepted.insert(future_id), "future {future_id} is accepted once");
            assert!(!self.over.contains(&future_id), "future {future_id} is acknowledged before it ends");
        }
        if is_join && accepted {
            *self.joins.entry(req_id).or_default() += 1;
        }
    }

    fn ended(&mut self, future_id: u64) {
        assert_ne!(future_id, 0);
        assert!(self.over.insert(future_id), "future {future_id} ends once");
        let known = self.accepted.contains(&future_id) || self.silent.contains(&future_id);
        assert!(self.hostile || known, "future {future_id} was accepted before it ended");
    }

    fn join_told(&mut self, req_id: u64) {
        if self.hostile {
            return;
        }
        if req_id == 0 {
            assert!(self.silent_joins > 0, "a join is told once");
            self.silent_joins -= 1;
            return;
        }
        assert!(self.joins.remove(&req_id).is_some(), "join {req_id} is told once, after its ACK");
    }

    /// Everything was read: nothing is owed.
    pub(crate) fn settle(&mut self, powers: &Ledger, broken: bool) {
        self.tally.settled += 1;
        assert!(self.unread.is_empty(), "no event is cut short");
        assert_eq!(powers.pending().count(), 0);
        for id in powers.futures.keys() {
            assert!(self.over.contains(id), "future {id} began, and has no end");
        }
        if self.hostile {
            return;
        }
        if !broken {
            assert!(self.unanswered.is_empty(), "{:?} have no answer", self.unanswered);
        }
        assert!(self.joins.is_empty(), "{:?} are not told", self.joins);
        for id in &self.accepted {
            assert!(self.over.contains(id), "future {id} was accepted, and has no end");
        }
    }
}

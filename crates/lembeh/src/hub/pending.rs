//! What is not over: futures by their ids, joins in the order in which they came.

/// A future that was accepted and has not ended.
#[derive(Debug, Clone, Copy)]
pub(super) struct Pending {
    pub(super) future_id: u64,
    pub(super) scope_id: u64,
    /// Room that is kept for its end.
    pub(super) kept: usize,
    /// The longest value that was promised.
    pub(super) value_bytes_max: u32,
    pub(super) due: Option<Due>,
}

/// A join that waits.
#[derive(Debug, Clone, Copy)]
pub(super) struct Join {
    pub(super) req_id: u64,
    pub(super) scope_id: u64,
    /// How many more futures of the scope may end with others still pending.
    pub(super) fuel: u64,
    pub(super) due: Option<Due>,
}

/// When time is over. What is due at the same moment ends in the order in which it was accepted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Due {
    pub(super) at_ms: u64,
    pub(super) turn: u64,
}

/// What is due next.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Next {
    Future(u64),
    Join(usize),
}

/// Everything that is not over.
#[derive(Debug, Default)]
pub(super) struct Table {
    /// Sorted by id.
    futures: Vec<Pending>,
    pub(super) joins: Vec<Join>,
    /// How many of both have a deadline.
    timed: usize,
    turns: u64,
}

impl Table {
    /// How many futures are pending.
    pub(super) const fn count(&self) -> usize {
        self.futures.len()
    }

    pub(super) const fn is_empty(&self) -> bool {
        self.futures.is_empty() && self.joins.is_empty()
    }

    pub(super) fn contains(&self, future_id: u64) -> bool {
        self.find(future_id).is_ok()
    }

    /// Whether a future of the scope is pending.
    pub(super) fn has_scope(&self, scope_id: u64) -> bool {
        self.futures.iter().any(|it| it.scope_id == scope_id)
    }

    /// The deadline of something that is accepted now; a timeout of 0 is none.
    pub(super) fn due(&mut self, now_ms: u64, timeout_ms: u16) -> Option<Due> {
        if timeout_ms == 0 {
            return None;
        }
        self.turns += 1;
        Some(Due { at_ms: now_ms.saturating_add(timeout_ms.into()), turn: self.turns })
    }

    pub(super) fn insert(&mut self, future: Pending) {
        if let Err(at) = self.find(future.future_id) {
            self.timed += usize::from(future.due.is_some());
            self.futures.insert(at, future);
        }
    }

    pub(super) fn remove(&mut self, future_id: u64) -> Option<Pending> {
        let at = self.find(future_id).ok()?;
        let future = self.futures.remove(at);
        self.timed -= usize::from(future.due.is_some());
        Some(future)
    }

    /// The pending future with the lowest id.
    pub(super) fn first(&self) -> Option<u64> {
        self.futures.first().map(|it| it.future_id)
    }

    pub(super) fn insert_join(&mut self, join: Join) {
        self.timed += usize::from(join.due.is_some());
        self.joins.push(join);
    }

    pub(super) fn remove_join(&mut self, at: usize) -> Join {
        let join = self.joins.remove(at);
        self.timed -= usize::from(join.due.is_some());
        join
    }

    /// What is due first, and when.
    pub(super) fn next(&self) -> Option<(Due, Next)> {
        if self.timed == 0 {
            return None;
        }
        let futures = self.futures.iter().filter_map(|it| Some((it.due?, Next::Future(it.future_id))));
        let joins = self.joins.iter().enumerate().filter_map(|(at, it)| Some((it.due?, Next::Join(at))));
        futures.chain(joins).min_by_key(|(due, _)| *due)
    }

    /// Lets go of everything.
    pub(super) fn release(&mut self) {
        *self = Self::default();
    }

    fn find(&self, future_id: u64) -> Result<usize, usize> {
        self.futures.binary_search_by_key(&future_id, |it| it.future_id)
    }
}

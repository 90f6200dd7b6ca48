//! What was spent in a run's name, by whichever of its session's callers: its own turns, those that broke off, what its
//! programs asked models. Events have to say all of it, or a run that is gone on with would spend it again.
//!
//! Sub-agents spend from the same budget, and say so in runs of their own: theirs is taken off.

use std::sync::{
    Arc,
    atomic::{AtomicBool, AtomicU64, Ordering::Relaxed},
};

use drydock_agent::{Event, Purse, Run, Spent, tools::AGENT};
use drydock_contract::{AgentId, AgentUsage, Budget};

use super::{AgentError, DockAgents, furnish::children_in, host::unit};

const PURSES: [Purse; 2] = [Purse::Tokens, Purse::CostMicros];

/// The book of a run whose session is open.
pub(super) struct SpendBook {
    budget: Arc<Budget>,
    /// What events said of the run when its session was opened.
    said: Spent,
    /// What the budget had then.
    had: [u64; 2],
    /// What people added to it since.
    added: [AtomicU64; 2],
    /// What its sub-agents had spent then.
    children: Spent,
    has_children: AtomicBool,
}

impl SpendBook {
    /// Of a budget that nobody else spends from, with an end to each purse.
    pub(super) fn open(
        budget: Arc<Budget>,
        (run, events): (&Run, &[Event]),
        children: &[AgentUsage],
        id: &AgentId,
    ) -> Self {
        let had = PURSES.map(|it| budget.left(unit(it)).unwrap_or(u64::MAX));
        let has_children = AtomicBool::new(!children_in(id, events).is_empty());
        let children = sum(children);
        Self { budget, said: run.spent(), had, added: Default::default(), children, has_children }
    }

    /// A person added to it.
    pub(super) fn more(&self, purse: Purse, amount: u64) {
        let [tokens, cost_micros] = &self.added;
        let added = match purse {
            Purse::Tokens => tokens,
            Purse::CostMicros => cost_micros,
        };
        added.fetch_add(amount, Relaxed);
    }

    /// These are kept.
    pub(super) fn on_events(&self, events: &[Event]) {
        if events.iter().any(|it| matches!(it, Event::Calling { tool, .. } if tool == AGENT)) {
            self.has_children.store(true, Relaxed);
        }
    }

    /// What events of the run ought to say together.
    pub(super) async fn spent(&self, agents: &DockAgents, run: &AgentId) -> Result<Spent, AgentError> {
        // First, so that what a sub-agent spends meanwhile is not taken for its parent's.
        let [tokens, cost_micros] = [0, 1].map(|at: usize| {
            let all = self.had[at].saturating_add(self.added[at].load(Relaxed));
            all.saturating_sub(self.budget.left(unit(PURSES[at])).unwrap_or(u64::MAX))
        });
        let taken = Spent { tokens, cost_micros };
        let children = match self.has_children.load(Relaxed) {
            true => sum(&agents.children_called(run, &agents.all_events(run).await?).await?),
            false => self.children,
        };
        let own = taken.beyond(children.beyond(self.children).unwrap_or_default()).unwrap_or_default();
        Ok(Spent {
            tokens: self.said.tokens.saturating_add(own.tokens),
            cost_micros: self.said.cost_micros.saturating_add(own.cost_micros),
        })
    }
}

fn sum(all: &[AgentUsage]) -> Spent {
    all.iter().fold(Spent::default(), |sum, it| Spent {
        tokens: sum.tokens.saturating_add(it.input_tokens).saturating_add(it.output_tokens),
        cost_micros: sum.cost_micros.saturating_add(it.cost_micros),
    })
}

//! What a turn of a model takes of its session's budget: as much as it may take is reserved before anybody is asked, and what
//! it took is settled after it.
//!
//! The reservation is an estimate. It only has to keep turns that begin together from passing on the same rest: whatever a turn
//! took beyond it is charged to what is left, down to nothing, and with nothing left no turn begins. A turn that was ended
//! from outside, or broke off, costs what is known of it.

use std::sync::{
    Arc,
    atomic::{AtomicU64, Ordering::Relaxed},
};

use drydock_abi::llm::{Asked, Completion, Usage};
use drydock_contract::{Budget, Denial, Unit};

use crate::models::Prices;

/// Bytes of a request or an answer to one token, about: what servers count for text and JSON is rarely less.
const BYTES_PER_TOKEN: u64 = 4;
/// What a turn is taken to write that nobody bounded.
const OUTPUT_TOKENS_USUAL: u64 = 1_024;

/// What is known of a turn while it lasts. Clones are the same.
#[derive(Debug, Clone, Default)]
pub(crate) struct Known(Arc<[AtomicU64; 2]>);

impl Known {
    /// A server begins to answer: it read a request of so many bytes.
    pub(crate) fn begun(&self, bytes: usize) {
        self.0[0].fetch_add(tokens(bytes), Relaxed);
    }

    /// So many bytes of its words came.
    pub(crate) fn heard(&self, bytes: usize) {
        self.0[1].fetch_add(bytes as u64, Relaxed);
    }

    /// That answer is whole, and says itself what it took: of the request of so many bytes, and of what was heard of it,
    /// nothing need be guessed.
    pub(crate) fn told(&self, bytes: usize, heard: usize) {
        self.0[0].fetch_sub(tokens(bytes), Relaxed);
        self.0[1].fetch_sub(heard as u64, Relaxed);
    }

    fn usage(&self) -> Usage {
        let [read, heard] = [0, 1].map(|at: usize| self.0[at].load(Relaxed));
        Usage { input_tokens: read, output_tokens: heard.div_ceil(BYTES_PER_TOKEN), ..Usage::default() }
    }
}

fn tokens(bytes: usize) -> u64 {
    (bytes as u64).div_ceil(BYTES_PER_TOKEN)
}

/// Reserved for one turn. What is not settled when it is dropped costs what is known.
#[derive(Debug)]
pub(crate) struct Charge {
    budget: Option<Arc<Budget>>,
    prices: Option<Prices>,
    tokens: u64,
    cost_micros: u64,
    known: Known,
    is_settled: bool,
}

impl Charge {
    /// Reserves what a turn may take, all of it or nothing.
    pub(crate) fn reserve(
        budget: Option<&Arc<Budget>>,
        prices: Option<Prices>,
        asked: &Asked,
    ) -> Result<Self, Denial> {
        let known = Known::default();
        let Some(budget) = budget else {
            return Ok(Self { budget: None, prices, tokens: 0, cost_micros: 0, known, is_settled: true });
        };
        let output_tokens = asked.request().max_tokens.map_or(OUTPUT_TOKENS_USUAL, u64::from);
        let input_tokens = tokens(asked.json().len());
        let usage = Usage { input_tokens, output_tokens, ..Usage::default() };
        // A request has bytes, and a price rounds up: neither is nothing, unless the model is free.
        let taken = input_tokens.saturating_add(output_tokens);
        let cost_micros = prices.map_or(0, |it| it.of(&usage));
        take(budget, Unit::Tokens, taken)?;
        take(budget, Unit::CostMicros, cost_micros).inspect_err(|_| budget.settle(Unit::Tokens, taken))?;
        let budget = Some(Arc::clone(budget));
        Ok(Self { budget, prices, tokens: taken, cost_micros, known, is_settled: false })
    }

    /// What whoever asks the server tells while it lasts.
    pub(crate) fn known(&self) -> &Known {
        &self.known
    }

    /// The turn is over: it took what its server counted, and what is known of tries before it. All of that is its usage:
    /// whoever keeps what turns took has what the budget was charged, and fills no budget again with what was spent.
    pub(crate) fn settle(mut self, turn: Usage) -> Usage {
        let tries = self.known.usage();
        let cost = |it: &Usage| self.prices.map(|prices| prices.of(it)).or(it.cost_micros);
        let costs = [cost(&turn), cost(&tries)];
        let taken = Usage {
            input_tokens: turn.input_tokens.saturating_add(tries.input_tokens),
            output_tokens: turn.output_tokens.saturating_add(tries.output_tokens),
            cost_micros: costs.into_iter().flatten().reduce(u64::saturating_add),
            ..turn
        };
        self.pay(&taken);
        taken
    }

    fn pay(&mut self, taken: &Usage) {
        self.is_settled = true;
        let Some(budget) = &self.budget else { return };
        for (unit, reserved, spent) in [
            (Unit::Tokens, self.tokens, taken.input_tokens.saturating_add(taken.output_tokens)),
            (Unit::CostMicros, self.cost_micros, taken.cost_micros.unwrap_or_default()),
        ] {
            match reserved.checked_sub(spent) {
                Some(rest) => budget.settle(unit, rest),
                None => budget.charge(unit, spent - reserved),
            }
        }
    }
}

impl Drop for Charge {
    fn drop(&mut self) {
        if !self.is_settled {
            let known = self.known.usage();
            let cost_micros = self.prices.map(|it| it.of(&known));
            self.pay(&Usage { cost_micros, ..known });
        }
    }
}

fn take(budget: &Budget, unit: Unit, needed: u64) -> Result<(), Denial> {
    match budget.reserve(unit, needed) {
        true => Ok(()),
        false => {
            let left = budget.left(unit).unwrap_or_default();
            Err(Denial::BudgetExceeded { what: unit.as_str(), needed, left })
        }
    }
}

/// What a turn of a server took: what it counted, or what it is taken to have counted if it says nothing.
pub(crate) fn counted(turn: &Completion, asked: &Asked) -> Usage {
    let Usage { input_tokens: 0, output_tokens: 0, .. } = turn.usage else { return turn.usage };
    let written = turn.tool_calls.iter().map(|it| {
        let arguments = serde_json::to_vec(&it.arguments).map_or(0, |it| it.len());
        it.name.len() + arguments + it.malformed.as_ref().map_or(0, String::len)
    });
    let bytes = turn.content.len() + written.sum::<usize>();
    Usage { input_tokens: tokens(asked.json().len()), output_tokens: tokens(bytes), ..turn.usage }
}

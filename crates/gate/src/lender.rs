//! Asks the ledger, away from whoever calls: the ladder counts in memory what was leased ahead, and a call that finds
//! nothing left waits for the answer without holding a thread.
//!
//! Threads are there only while there are questions. Those of one tenant are asked one after another, because its ledger
//! is one file: one that is locked or slow holds one thread, and nobody else's questions.

use std::{
    collections::VecDeque,
    panic::{AssertUnwindSafe, catch_unwind},
    sync::Arc,
    thread,
};

use drydock_contract::{Fault, Tenant, port::LedgerError};
use event_listener::Event;
use parking_lot::Mutex;

/// Tenants whose ledgers are asked at the same time.
const THREADS_MAX: usize = 8;

type Question = Box<dyn FnOnce() + Send>;

/// Whoever asks the ledger for others.
#[derive(Default)]
pub(crate) struct Lender(Mutex<Work>);

#[derive(Default)]
struct Work {
    waiting: VecDeque<(Tenant, Question)>,
    /// Each has a thread. While nobody is here, nothing waits.
    busy: Vec<Tenant>,
}

impl Lender {
    /// Has a question asked soon, after those that its tenant asked before. One that nobody can ask is dropped.
    pub(crate) fn ask(self: &Arc<Self>, tenant: &Tenant, question: Question) {
        let mut work = self.0.lock();
        work.waiting.push_back((tenant.clone(), question));
        if work.busy.len() >= THREADS_MAX {
            return;
        }
        let Some((tenant, question)) = work.next() else { return };
        drop(work);
        let (own, of) = (Arc::clone(self), tenant.clone());
        let spawned =
            thread::Builder::new().name("drydock-lender".into()).spawn(move || own.work(of, question));
        if let Err(error) = spawned {
            tracing::error!("no thread to ask the ledger with: {error}");
            let mut over = Some(tenant);
            while let Some(done) = over {
                over = self.after(&done).map(|(next, _)| next);
            }
        }
    }

    fn work(&self, tenant: Tenant, question: Question) {
        let mut next = Some((tenant, question));
        while let Some((tenant, question)) = next {
            // Whoever waits for it hears that it was dropped; the others are still to be asked.
            if catch_unwind(AssertUnwindSafe(question)).is_err() {
                tracing::error!("a question to the ledger of tenant `{tenant}` panicked");
            }
            next = self.after(&tenant);
        }
    }

    fn after(&self, done: &Tenant) -> Option<(Tenant, Question)> {
        let mut work = self.0.lock();
        work.busy.retain(|it| it != done);
        work.next()
    }
}

impl Work {
    /// The first question of a tenant whose ledger nobody asks now.
    fn next(&mut self) -> Option<(Tenant, Question)> {
        let at = self.waiting.iter().position(|(tenant, _)| !self.busy.contains(tenant))?;
        let (tenant, question) = self.waiting.remove(at)?;
        self.busy.push(tenant.clone());
        Some((tenant, question))
    }
}

/// One question at a time, however many want its answer.
#[derive(Debug, Default)]
pub(crate) struct Rounds {
    state: Mutex<State>,
    changed: Event,
}

#[derive(Debug, Default)]
struct State {
    is_asking: bool,
    over: u64,
    /// Why the last one has no answer.
    failed: Option<Fault>,
}

impl Rounds {
    /// Begins a round, unless one is under way.
    pub(crate) fn begin(self: &Arc<Self>) -> Option<Round> {
        let mut state = self.state.lock();
        let begins = !std::mem::replace(&mut state.is_asking, true);
        begins.then(|| Round(Some(Arc::clone(self))))
    }

    /// Waits for the round under way, or for one that `ask` is given.
    pub(crate) async fn answered(self: &Arc<Self>, ask: impl FnOnce(Round)) -> Result<(), Fault> {
        let before = self.state.lock().over;
        if let Some(round) = self.begin() {
            ask(round);
        }
        loop {
            let changed = self.changed.listen();
            {
                let state = self.state.lock();
                if state.over > before {
                    return state.failed.clone().map_or(Ok(()), Err);
                }
            }
            changed.await;
        }
    }

    fn finish(&self, failed: Option<Fault>) {
        let mut state = self.state.lock();
        *state = State { is_asking: false, over: state.over + 1, failed };
        drop(state);
        self.changed.notify(usize::MAX);
    }
}

/// A question under way. Whoever drops it without an answer says that there is none.
pub(crate) struct Round(Option<Arc<Rounds>>);

impl Round {
    /// Tells everybody who waits.
    pub(crate) fn finish(mut self, answer: Result<(), LedgerError>) {
        let failed = answer.err().map(|error| {
            tracing::error!("{error}");
            Fault::Ledger { code: error.code, problem: error.to_string() }
        });
        if let Some(rounds) = self.0.take() {
            rounds.finish(failed);
        }
    }
}

impl Drop for Round {
    fn drop(&mut self) {
        if let Some(rounds) = self.0.take() {
            let problem = "the ledger could not be asked: there was no thread for it; try again later".into();
            rounds.finish(Some(Fault::Ledger { code: "ledger_unavailable", problem }));
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc;

    use super::*;

    #[test]
    fn a_ledger_that_does_not_answer_holds_up_its_own_tenant_and_nobody_else() {
        let lender = Arc::new(Lender::default());
        let tenant = |name: &str| name.parse::<Tenant>().unwrap();
        let (answer, answers) = mpsc::channel();
        let (release, held) = mpsc::channel::<()>();
        let ask = |who: &str, said: &'static str| {
            let answer = answer.clone();
            lender.ask(&tenant(who), Box::new(move || answer.send(said).unwrap()));
        };
        lender.ask(&tenant("slow"), Box::new(move || held.recv().unwrap()));
        ask("slow", "slow");
        ask("quick", "quick");
        assert_eq!(answers.recv().unwrap(), "quick");
        release.send(()).unwrap();
        assert_eq!(answers.recv().unwrap(), "slow");
        lender.ask(&tenant("bad"), Box::new(|| panic!("on purpose")));
        ask("bad", "after a panic");
        assert_eq!(answers.recv().unwrap(), "after a panic");
    }

    #[test]
    fn a_question_that_was_dropped_is_an_error_and_the_next_one_is_asked() {
        let rounds = Arc::new(Rounds::default());
        let ask = |answer: Option<Result<(), LedgerError>>| {
            let ask = |round: Round| match answer {
                Some(answer) => round.finish(answer),
                None => drop(round),
            };
            drydock_testkit::block_on(rounds.answered(ask)).map_err(|it| it.code())
        };
        assert_eq!(ask(None), Err("ledger_unavailable"));
        assert_eq!(ask(Some(Ok(()))), Ok(()));
    }
}

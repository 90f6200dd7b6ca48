//! How often a grant may still be used: in memory, or, for a grant that is kept, in the ledger, where every process of
//! the home counts.
//!
//! Uses of the latter kind are leased in pieces. The first is one use, and each further one twice the last, up to a
//! bound and to a sixteenth of what is left: a process that runs one command takes one, and one that is killed
//! loses no more than it used. What is left over is given back.

use std::sync::{
    Arc, OnceLock,
    atomic::{AtomicBool, AtomicU64, Ordering},
};

use drydock_contract::{Fault, Tenant, port::Ledger};

use crate::lender::{Lender, Round, Rounds};

/// Uses that are leased at once, at most.
const PIECE_MAX: u64 = 64;
/// A piece is at most this part of what is left.
const PIECES_MIN: u64 = 16;

/// How often a grant may still be used.
#[derive(Debug)]
pub(crate) struct Uses {
    left: AtomicU64,
    kept: Option<Arc<KeptUses>>,
}

/// A count that every process of a home shares.
pub(crate) struct KeptUses {
    ledger: Arc<dyn Ledger>,
    tenant: Tenant,
    counter: String,
    max: u64,
    /// Leased and not used yet.
    pool: AtomicU64,
    /// What is leased the next time.
    piece: AtomicU64,
    /// The ledger has no more to give.
    is_used_up: AtomicBool,
    rounds: Arc<Rounds>,
    /// Who asked for a lease before, and so can give back what is left of it.
    lender: OnceLock<Arc<Lender>>,
}

impl std::fmt::Debug for KeptUses {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} of tenant {}", self.counter, self.tenant)
    }
}

impl Uses {
    pub(crate) const fn of(left: u64) -> Self {
        Self { left: AtomicU64::new(left), kept: None }
    }

    /// The same, counted where other processes count theirs.
    pub(crate) fn counted_in(mut self, ledger: Arc<dyn Ledger>, tenant: Tenant, counter: String) -> Self {
        let max = *self.left.get_mut();
        // If that cannot be read now, the first use finds out.
        let spent = ledger.leased(&tenant, &counter).unwrap_or(0);
        *self.left.get_mut() = max.saturating_sub(spent);
        self.kept = Some(Arc::new(KeptUses {
            ledger,
            tenant,
            counter,
            max,
            pool: AtomicU64::new(0),
            piece: AtomicU64::new(1),
            is_used_up: AtomicBool::new(false),
            rounds: Arc::default(),
            lender: OnceLock::new(),
        }));
        self
    }

    pub(crate) fn left(&self) -> u64 {
        self.left.load(Ordering::Relaxed)
    }

    /// Takes one, or says why not.
    pub(crate) fn take(&self) -> Result<(), NoUse> {
        one_less(&self.left).ok_or(NoUse::UsedUp)?;
        let Some(kept) = &self.kept else { return Ok(()) };
        if one_less(&kept.pool).is_some() {
            return Ok(());
        }
        if kept.is_used_up.load(Ordering::Acquire) {
            // Others have taken the rest.
            self.left.store(0, Ordering::Release);
            return Err(NoUse::UsedUp);
        }
        self.left.fetch_add(1, Ordering::AcqRel);
        Err(NoUse::Unleased(Arc::clone(kept)))
    }

    /// Gives back one that was taken.
    pub(crate) fn give_back(&self) {
        self.left.fetch_add(1, Ordering::AcqRel);
        if let Some(kept) = &self.kept {
            kept.pool.fetch_add(1, Ordering::AcqRel);
        }
    }
}

fn one_less(count: &AtomicU64) -> Option<u64> {
    count.fetch_update(Ordering::AcqRel, Ordering::Relaxed, |it| it.checked_sub(1)).ok()
}

/// Why a grant has no use now.
#[derive(Debug)]
pub(crate) enum NoUse {
    /// There is none left.
    UsedUp,
    /// Nothing that was leased is left, and the ledger may have more.
    Unleased(Arc<KeptUses>),
}

impl KeptUses {
    /// Waits until more were leased, or there are none. A ledger that cannot say is a fault, and uses nothing up.
    pub(crate) async fn lease(self: &Arc<Self>, lender: &Arc<Lender>) -> Result<(), Fault> {
        let _ = self.lender.set(Arc::clone(lender));
        let ask = |round: Round| {
            let own = Arc::clone(self);
            lender.ask(
                &self.tenant,
                Box::new(move || {
                    let leased = own.lease_now();
                    round.finish(leased);
                }),
            );
        };
        self.rounds.answered(ask).await
    }

    fn lease_now(&self) -> Result<(), drydock_contract::port::LedgerError> {
        let spent = self.ledger.leased(&self.tenant, &self.counter)?;
        let piece = self.piece.load(Ordering::Relaxed);
        let wanted = piece.min((self.max.saturating_sub(spent) / PIECES_MIN).max(1));
        let leased = self.ledger.lease(&self.tenant, &self.counter, wanted, self.max)?;
        self.piece.store((piece * 2).min(PIECE_MAX), Ordering::Relaxed);
        self.is_used_up.store(leased == 0, Ordering::Release);
        self.pool.fetch_add(leased, Ordering::AcqRel);
        Ok(())
    }
}

impl Drop for KeptUses {
    fn drop(&mut self) {
        let rest = *self.pool.get_mut();
        let Some(lender) = self.lender.get().filter(|_| rest > 0) else { return };
        let (ledger, tenant, counter) =
            (Arc::clone(&self.ledger), self.tenant.clone(), std::mem::take(&mut self.counter));
        let of = tenant.clone();
        lender.ask(
            &of,
            Box::new(move || {
                if let Err(error) = ledger.give_back(&tenant, &counter, rest) {
                    tracing::error!("{rest} uses of {counter} are lost: {error}");
                }
            }),
        );
    }
}

//! What one principal may have: requests at once, requests and bytes in a window of time.
//!
//! Counted in this process and in memory; what all processes of a home agree on is the gate's business, which asked before.
//! Nobody waits here: what is not there is refused, with the time after which it is worth another try.

use std::{
    collections::HashMap,
    sync::Arc,
    time::{Duration, Instant},
};

use drydock_contract::{Principal, Tenant};
use parking_lot::Mutex;

/// How many accounts are kept before those that nobody uses are forgotten.
const ACCOUNTS_KEPT: usize = 4096;

/// What each principal may have.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct QuotaLimits {
    /// Requests that are under way at once, answers that are still read included.
    pub in_flight_max: u32,
    /// Requests in a window, each hop of a redirect counted.
    pub requests_max: u32,
    /// Bytes of bodies in a window, both ways, as they are on the wire.
    pub bytes_max: u64,
    /// How long a window is.
    pub window: Duration,
}

impl Default for QuotaLimits {
    fn default() -> Self {
        Self { in_flight_max: 16, requests_max: 600, bytes_max: 1 << 30, window: Duration::from_secs(60) }
    }
}

/// A principal has had what it may have.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum QuotaError {
    /// Too many at once.
    #[error("{in_flight_max} requests of this principal are under way already")]
    InFlight {
        /// How many may be.
        in_flight_max: u32,
    },
    /// Too many in this window.
    #[error("this principal has sent its {requests_max} requests of this window: try again in {} s", retry_after.as_secs() + 1)]
    Requests {
        /// How many there may be.
        requests_max: u32,
        /// When the next window begins.
        retry_after: Duration,
    },
    /// Too many bytes in this window.
    #[error("this principal has moved its {bytes_max} bytes of this window: try again in {} s", retry_after.as_secs() + 1)]
    Bytes {
        /// How many there may be.
        bytes_max: u64,
        /// When the next window begins.
        retry_after: Duration,
    },
}

impl QuotaError {
    /// The stable code that guests, logs and tests match on.
    pub fn code(&self) -> &'static str {
        match self {
            Self::InFlight { .. } => "quota_in_flight",
            Self::Requests { .. } => "quota_requests",
            Self::Bytes { .. } => "quota_bytes",
        }
    }
}

/// A name of a principal is one only together with its tenant.
type Accounts = HashMap<(Tenant, Principal), Arc<Mutex<Account>>>;

/// The accounts of all principals.
#[derive(Debug)]
pub(crate) struct Quotas {
    limits: QuotaLimits,
    accounts: Mutex<Accounts>,
}

#[derive(Debug)]
struct Account {
    in_flight: u32,
    window_start: Instant,
    requests: u32,
    bytes: u64,
}

/// A request's place in its principal's account, until it is dropped.
#[derive(Debug)]
pub(crate) struct Place {
    limits: QuotaLimits,
    account: Arc<Mutex<Account>>,
}

impl Quotas {
    pub(crate) fn new(limits: QuotaLimits) -> Self {
        Self { limits, accounts: Mutex::default() }
    }

    /// Takes a place, if there is one. Its requests are counted by [`Place::count_request`].
    pub(crate) fn enter(
        &self,
        tenant: &Tenant,
        principal: &Principal,
        now: Instant,
    ) -> Result<Place, QuotaError> {
        let mut accounts = self.accounts.lock();
        if accounts.len() >= ACCOUNTS_KEPT {
            accounts.retain(|_, account| !account.lock().is_idle(now, &self.limits));
        }
        let fresh =
            || Arc::new(Mutex::new(Account { in_flight: 0, window_start: now, requests: 0, bytes: 0 }));
        let account = Arc::clone(accounts.entry((tenant.clone(), principal.clone())).or_insert_with(fresh));
        // Counted while the table is held: an account that is forgotten has nobody in flight.
        let mut counted = account.lock();
        if counted.in_flight >= self.limits.in_flight_max {
            return Err(QuotaError::InFlight { in_flight_max: self.limits.in_flight_max });
        }
        counted.in_flight += 1;
        drop(counted);
        Ok(Place { limits: self.limits, account })
    }
}

impl Account {
    fn is_idle(&self, now: Instant, limits: &QuotaLimits) -> bool {
        self.in_flight == 0 && now.saturating_duration_since(self.window_start) >= limits.window
    }

    /// Begins a new window if it is time, and says how long this one lasts.
    fn turn(&mut self, limits: &QuotaLimits, now: Instant) -> Duration {
        if now.saturating_duration_since(self.window_start) >= limits.window {
            (self.window_start, self.requests, self.bytes) = (now, 0, 0);
        }
        limits.window.saturating_sub(now.saturating_duration_since(self.window_start))
    }
}

impl Place {
    /// Counts one request of this window.
    pub(crate) fn count_request(&self, now: Instant) -> Result<(), QuotaError> {
        let mut account = self.account.lock();
        let retry_after = account.turn(&self.limits, now);
        if account.requests >= self.limits.requests_max {
            return Err(QuotaError::Requests { requests_max: self.limits.requests_max, retry_after });
        }
        account.requests += 1;
        Ok(())
    }

    /// Counts bytes that were moved, and fails once there were too many.
    pub(crate) fn count_bytes(&self, bytes: u64, now: Instant) -> Result<(), QuotaError> {
        let mut account = self.account.lock();
        let retry_after = account.turn(&self.limits, now);
        account.bytes = account.bytes.saturating_add(bytes);
        if account.bytes > self.limits.bytes_max {
            return Err(QuotaError::Bytes { bytes_max: self.limits.bytes_max, retry_after });
        }
        Ok(())
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        let mut account = self.account.lock();
        account.in_flight = account.in_flight.saturating_sub(1);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_principal_has_its_own_places_requests_and_bytes_and_gets_them_back() {
        let limits =
            QuotaLimits { in_flight_max: 2, requests_max: 2, bytes_max: 10, ..QuotaLimits::default() };
        let quotas = Quotas::new(limits);
        let (dev, one, now) = (Tenant::default(), "one".parse().unwrap(), Instant::now());
        let place = quotas.enter(&dev, &one, now).unwrap();
        let second = quotas.enter(&dev, &one, now).unwrap();
        assert_eq!(quotas.enter(&dev, &one, now).unwrap_err().code(), "quota_in_flight");
        // Another principal, and the same name of another tenant, are somebody else.
        quotas.enter(&dev, &"two".parse().unwrap(), now).unwrap();
        quotas.enter(&"other".parse().unwrap(), &one, now).unwrap();
        drop(second);
        quotas.enter(&dev, &one, now).unwrap();
        place.count_request(now).unwrap();
        place.count_request(now).unwrap();
        assert_eq!(place.count_request(now).unwrap_err().code(), "quota_requests");
        place.count_bytes(10, now).unwrap();
        assert_eq!(place.count_bytes(1, now).unwrap_err().code(), "quota_bytes");
        let later = now + limits.window;
        place.count_request(later).unwrap();
        place.count_bytes(10, later).unwrap();
    }

    #[test]
    fn accounts_that_nobody_uses_are_forgotten() {
        let (quotas, now) = (Quotas::new(QuotaLimits::default()), Instant::now());
        let kept = quotas.enter(&Tenant::default(), &"kept".parse().unwrap(), now).unwrap();
        for number in 0..ACCOUNTS_KEPT {
            quotas.enter(&Tenant::default(), &format!("p{number}").parse().unwrap(), now).unwrap();
        }
        let later = now + Duration::from_secs(61);
        quotas.enter(&Tenant::default(), &"last".parse().unwrap(), later).unwrap();
        assert_eq!(quotas.accounts.lock().len(), 2);
        drop(kept);
    }
}

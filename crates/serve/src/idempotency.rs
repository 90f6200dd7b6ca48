//! A request that comes again under the same key has the same answer: it runs once, whoever else asks meanwhile waits for
//! that, and the answer is kept for a while. Keys belong to a tenant and to what was asked; the same key with another
//! request is refused.
//!
//! In memory only: a server that starts anew knows no keys.

use std::{
    collections::HashMap,
    sync::Arc,
    time::{Duration, Instant},
};

use axum::{
    body::Body,
    http::{HeaderMap, HeaderValue, Response, StatusCode},
};
use bytes::Bytes;
use drydock_contract::{Digest, Tenant};
use parking_lot::Mutex;
use tokio::sync::watch;

use crate::error::ApiError;

/// Where a caller says its key.
pub(crate) const KEY: &str = "idempotency-key";
/// Says that an answer is not the first of its kind.
pub(crate) const REPLAYED: &str = "idempotency-replayed";
/// The longest key.
const KEY_BYTES_MAX: usize = 255;
/// Keys of one tenant.
const TENANT_KEYS_MAX: usize = 10_000;
/// Bytes of answers that are kept for one tenant.
const TENANT_BYTES_MAX: usize = 64 << 20;
/// Bytes of answers that are kept for all of them.
const ALL_BYTES_MAX: usize = 256 << 20;
/// A longer answer is not kept.
pub(crate) const ANSWER_BYTES_MAX: usize = 4 << 20;

/// An answer that is kept.
#[derive(Debug, Clone)]
pub(crate) struct Kept {
    status: StatusCode,
    headers: HeaderMap,
    /// None if it was too long to be kept.
    body: Option<Bytes>,
}

/// Everything that is remembered.
pub(crate) struct Remembered {
    kept_max: Duration,
    all: Mutex<All>,
}

#[derive(Default)]
struct All {
    tenants: HashMap<Tenant, HashMap<Scoped, Entry>>,
    bytes: HashMap<Tenant, usize>,
    total_bytes: usize,
}

/// What was asked for (an extension or an operation), and the key.
type Scoped = (String, String);

struct Entry {
    hash: Digest,
    state: State,
    until: Instant,
}

enum State {
    /// Whoever waits hears when it is done: `false` if nothing came of it.
    Running(watch::Receiver<bool>),
    Done(Arc<Kept>),
}

/// What to do with a request.
pub(crate) enum Begun {
    /// Do it.
    Run(Running),
    /// Somebody does it; ask again when they are done.
    Wait(watch::Receiver<bool>),
    /// It was done.
    Replay(Response<Body>),
}

/// A request that is being done. Dropped without an answer, the key is free again.
pub(crate) struct Running {
    all: Handle,
    done: watch::Sender<bool>,
}

struct Handle {
    app: Arc<crate::app::Shared>,
    tenant: Tenant,
    scoped: Scoped,
}

impl Remembered {
    pub(crate) fn new(kept_max: Duration) -> Self {
        Self { kept_max, all: Mutex::default() }
    }

    /// How many keys are remembered.
    pub(crate) fn count(&self) -> usize {
        self.all.lock().tenants.values().map(HashMap::len).sum()
    }

    fn put(&self, tenant: &Tenant, scoped: &Scoped, kept: Option<Kept>) {
        let mut all = self.all.lock();
        let all = &mut *all;
        let Some(keys) = all.tenants.get_mut(tenant) else { return };
        match (kept, keys.get_mut(scoped)) {
            (Some(mut kept), Some(entry)) => {
                let held = all.bytes.entry(tenant.clone()).or_default();
                let length = kept.body.as_ref().map_or(0, Bytes::len);
                if *held + length > TENANT_BYTES_MAX || all.total_bytes + length > ALL_BYTES_MAX {
                    kept.body = None;
                }
                let length = kept.body.as_ref().map_or(0, Bytes::len);
                *held += length;
                all.total_bytes += length;
                entry.until = Instant::now() + self.kept_max;
                entry.state = State::Done(Arc::new(kept));
            }
            _ => drop(keys.remove(scoped)),
        }
    }
}

impl All {
    /// Forgets what is over.
    fn sweep(&mut self, tenant: &Tenant, now: Instant) {
        let Some(keys) = self.tenants.get_mut(tenant) else { return };
        let held = self.bytes.entry(tenant.clone()).or_default();
        let total = &mut self.total_bytes;
        keys.retain(|_, entry| {
            let State::Done(kept) = &entry.state else { return true };
            let over = entry.until <= now;
            if over {
                let length = kept.body.as_ref().map_or(0, Bytes::len);
                *held = held.saturating_sub(length);
                *total = total.saturating_sub(length);
            }
            !over
        });
    }
}

/// The key that a request has, if it has one.
pub(crate) fn key_of(headers: &HeaderMap) -> Result<Option<String>, ApiError> {
    let Some(value) = headers.get(KEY) else { return Ok(None) };
    let text = value.to_str().ok().filter(|it| (1..=KEY_BYTES_MAX).contains(&it.len()));
    let bad = || {
        ApiError::bad(
            "bad_idempotency_key",
            format!("a key has 1 to {KEY_BYTES_MAX} printable ASCII characters"),
        )
    };
    text.map(|it| Some(it.to_owned())).ok_or_else(bad)
}

/// Begins a request under a key, or says what became of the one that had it first.
pub(crate) fn begin(
    app: &Arc<crate::app::Shared>,
    tenant: &Tenant,
    scoped: Scoped,
    hash: Digest,
) -> Result<Begun, ApiError> {
    let now = Instant::now();
    let mut all = app.remembered.all.lock();
    let expired = all
        .tenants
        .get(tenant)
        .and_then(|it| it.get(&scoped))
        .is_some_and(|entry| matches!(entry.state, State::Done(_)) && entry.until <= now);
    if expired || all.tenants.get(tenant).is_some_and(|it| it.len() >= TENANT_KEYS_MAX) {
        all.sweep(tenant, now);
    }
    let keys = all.tenants.entry(tenant.clone()).or_default();
    if let Some(entry) = keys.get(&scoped) {
        if entry.hash != hash {
            let text = "this key was used for another request; take a new one";
            return Err(ApiError::new(StatusCode::UNPROCESSABLE_ENTITY, "idempotency_mismatch", text));
        }
        return match &entry.state {
            State::Running(done) => Ok(Begun::Wait(done.clone())),
            State::Done(kept) => kept.replay().map(Begun::Replay),
        };
    }
    if keys.len() >= TENANT_KEYS_MAX {
        let text =
            format!("this tenant has {TENANT_KEYS_MAX} keys in use; wait until some are over, or send none");
        return Err(ApiError::new(StatusCode::TOO_MANY_REQUESTS, "too_many_keys", text));
    }
    let (done, waiting) = watch::channel(false);
    keys.insert(scoped.clone(), Entry { hash, state: State::Running(waiting), until: now });
    drop(all);
    let all = Handle { app: Arc::clone(app), tenant: tenant.clone(), scoped };
    Ok(Begun::Run(Running { all, done }))
}

impl Running {
    /// Keeps the answer for whoever asks again.
    pub(crate) fn keep(self, status: StatusCode, headers: HeaderMap, body: Option<Bytes>) {
        let Handle { app, tenant, scoped } = &self.all;
        app.remembered.put(tenant, scoped, Some(Kept { status, headers, body }));
        self.done.send_replace(true);
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        if !*self.done.borrow() {
            let Handle { app, tenant, scoped } = &self.all;
            app.remembered.put(tenant, scoped, None);
        }
    }
}

impl Kept {
    fn replay(&self) -> Result<Response<Body>, ApiError> {
        let Some(body) = &self.body else {
            let text = "the request was done, and its answer was too long to be kept";
            return Err(ApiError::new(StatusCode::CONFLICT, "answer_not_kept", text));
        };
        let mut response = Response::new(Body::from(body.clone()));
        *response.status_mut() = self.status;
        *response.headers_mut() = self.headers.clone();
        response.headers_mut().insert(REPLAYED, HeaderValue::from_static("true"));
        Ok(response)
    }
}

#[cfg(test)]
mod tests {
    use drydock_embed::Dock;

    use super::*;
    use crate::{App, Bounds, ServeSettings};

    #[test]
    fn an_answer_is_kept_for_its_time_and_then_the_key_is_free() {
        for (kept_max, is_replayed) in [(Duration::from_secs(60), true), (Duration::ZERO, false)] {
            let home = tempfile::tempdir().unwrap();
            let bounds = Bounds { idempotency_max: kept_max, ..Bounds::default() };
            let settings = ServeSettings { bounds, ..ServeSettings::default() };
            let app = App::new(Dock::open(home.path()).unwrap(), settings);
            let (tenant, hash) = (Tenant::default(), Digest::of(b"request"));
            let ask = || begin(&app.0, &tenant, ("x/shop".into(), "key".into()), hash).unwrap();
            let Begun::Run(given_up) = ask() else { panic!("nobody asked before") };
            assert!(matches!(ask(), Begun::Wait(_)), "somebody does it");
            drop(given_up);
            let Begun::Run(running) = ask() else { panic!("nothing came of the first") };
            running.keep(StatusCode::OK, HeaderMap::new(), Some("answer".into()));
            assert_eq!(matches!(ask(), Begun::Replay(_)), is_replayed, "{kept_max:?}");
            let kept = app.0.remembered.all.lock().total_bytes;
            assert_eq!(kept, if is_replayed { 6 } else { 0 }, "what is over holds no memory");
        }
    }

    #[test]
    fn a_tenant_has_so_many_keys_and_no_more_until_some_are_over_and_others_have_theirs() {
        for (kept_max, is_free) in [(Duration::from_secs(3600), false), (Duration::ZERO, true)] {
            let home = tempfile::tempdir().unwrap();
            let bounds = Bounds { idempotency_max: kept_max, ..Bounds::default() };
            let settings = ServeSettings { bounds, ..ServeSettings::default() };
            let app = App::new(Dock::open(home.path()).unwrap(), settings);
            let (one, other) = (Tenant::default(), "other".parse::<Tenant>().unwrap());
            let ask = |tenant: &Tenant, key: usize| {
                let scoped = ("x/shop".to_owned(), key.to_string());
                begin(&app.0, tenant, scoped, Digest::of(b"request"))
            };
            for key in 0..TENANT_KEYS_MAX {
                let Ok(Begun::Run(running)) = ask(&one, key) else { panic!("{key} is a new one") };
                running.keep(StatusCode::OK, HeaderMap::new(), Some("answer".into()));
            }
            match ask(&one, TENANT_KEYS_MAX) {
                Ok(_) => assert!(is_free),
                Err(error) => {
                    assert_eq!(
                        (error.status, &*error.code),
                        (StatusCode::TOO_MANY_REQUESTS, "too_many_keys")
                    );
                    assert!(!is_free);
                    assert!(matches!(ask(&one, 0), Ok(Begun::Replay(_))), "what is kept is answered");
                }
            }
            assert!(matches!(ask(&other, 0), Ok(Begun::Run(_))));
        }
    }
}

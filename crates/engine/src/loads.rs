//! Loads that are under way: each once however many wait for it, and for as long as anybody does.
//!
//! Whoever waits may stop at any time, by being dropped. The load goes on for the others, whoever asked first; when
//! the last one has gone it is dropped, and nothing of it stays.

use std::{collections::HashMap, hash::Hash};

use drydock_contract::{BoxFuture, Fault};
use futures_util::{
    FutureExt as _,
    future::{Shared, WeakShared},
};
use parking_lot::Mutex;

type Load<T> = BoxFuture<'static, Result<T, Fault>>;

/// The loads of things that are known by a `K`.
pub(crate) struct Loads<K, T: Clone>(Mutex<HashMap<K, WeakShared<Load<T>>>>);

impl<K, T: Clone> Default for Loads<K, T> {
    fn default() -> Self {
        Self(Mutex::default())
    }
}

impl<K: Clone + Eq + Hash, T: Clone> Loads<K, T> {
    /// Waits for the load of `key` that is under way, or begins one.
    pub(crate) async fn join(&self, key: K, begin: impl FnOnce() -> Load<T>) -> Result<T, Fault> {
        let load = {
            let mut under_way = self.0.lock();
            match under_way.get(&key).and_then(WeakShared::upgrade) {
                Some(load) => load,
                None => {
                    let load = begin().shared();
                    if let Some(weak) = load.downgrade() {
                        under_way.insert(key.clone(), weak);
                    }
                    load
                }
            }
        };
        let mut waiting = Waiting { loads: self, key, load: Some(load) };
        match &mut waiting.load {
            Some(load) => load.await,
            None => Err(Fault::Internal("a load was waited for twice".into())),
        }
    }

    #[cfg(test)]
    fn count(&self) -> usize {
        self.0.lock().len()
    }
}

/// One who waits. The last to go takes the entry along.
struct Waiting<'a, K: Clone + Eq + Hash, T: Clone> {
    loads: &'a Loads<K, T>,
    key: K,
    load: Option<Shared<Load<T>>>,
}

impl<K: Clone + Eq + Hash, T: Clone> Drop for Waiting<'_, K, T> {
    fn drop(&mut self) {
        // Outside of the lock: what is dropped with the load may be anything.
        drop(self.load.take());
        let mut under_way = self.loads.0.lock();
        if under_way.get(&self.key).is_some_and(|load| load.upgrade().is_none()) {
            under_way.remove(&self.key);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use futures_util::poll;

    use super::*;

    #[tokio::test]
    async fn a_cancelled_load_does_not_stay_pending() {
        let loads = Loads::<u8, u8>::default();
        let dropped = Arc::new(());
        let held = Arc::clone(&dropped);
        let mut load = Box::pin(loads.join(1, || {
            Box::pin(async move {
                let _held = held;
                std::future::pending().await
            })
        }));
        assert!(poll!(&mut load).is_pending());
        assert_eq!((loads.count(), Arc::strong_count(&dropped)), (1, 2));
        drop(load);
        assert_eq!((loads.count(), Arc::strong_count(&dropped)), (0, 1));
    }

    #[tokio::test]
    async fn a_load_goes_on_for_the_others_when_the_first_has_gone() {
        let loads = Loads::<u8, u8>::default();
        let (done, wait) = tokio::sync::oneshot::channel();
        let mut first = Box::pin(loads.join(1, || Box::pin(async { Ok(wait.await.unwrap_or(0)) })));
        let mut second = Box::pin(loads.join(1, || panic!("it is under way")));
        assert!(poll!(&mut first).is_pending() && poll!(&mut second).is_pending());
        drop(first);
        done.send(7).unwrap();
        assert_eq!(second.await.unwrap(), 7);
        assert_eq!(loads.count(), 0);
    }

    #[tokio::test]
    async fn who_waits_for_a_load_that_fails_is_told_and_the_next_one_tries_again() {
        let loads = Loads::<u8, u8>::default();
        let (fail, failed) = tokio::sync::oneshot::channel::<()>();
        let mut first = Box::pin(loads.join(1, || {
            Box::pin(async {
                let _ = failed.await;
                Err(Fault::Internal("no".into()))
            })
        }));
        let mut second = Box::pin(loads.join(1, || panic!("it is under way")));
        assert!(poll!(&mut first).is_pending() && poll!(&mut second).is_pending());
        fail.send(()).unwrap();
        assert_eq!(first.await.unwrap_err().to_string(), second.await.unwrap_err().to_string());
        assert_eq!(loads.join(1, || Box::pin(async { Ok(3) })).await.unwrap(), 3);
    }
}

//! Host calls that wait: a guest that stands in one burns nothing, and what it waits for pays for itself.
//!
//! A run is polled whenever anything of its task goes on: once for each slice of the command that it started, for each
//! tool that answers. Each of those polls would look like a turn of its own if nobody said that it waits. So whoever
//! lets a guest wait does it here (decision 0073).

use std::{
    future::poll_fn,
    pin::pin,
    sync::Arc,
    task::{Context, Poll},
};

use wasmtime::Caller;

use crate::{
    guest::Guest,
    spending::{Burnt, Waits},
};

/// Waits for what `poll` asks, which is not the guest.
pub(crate) async fn wait_for<T>(
    caller: &mut Caller<'_, Guest>,
    mut poll: impl FnMut(&mut Caller<'_, Guest>, &mut Context<'_>) -> Poll<T>,
) -> T {
    // Begun only if there is something to wait for: mostly there is not.
    let mut waits: Option<Waits> = None;
    poll_fn(|cx| {
        let polled = poll(caller, cx);
        if polled.is_pending() && waits.is_none() {
            waits = begin(caller);
        }
        polled
    })
    .await
}

/// Waits for work of others that goes on within the guest's own turns: what it started.
pub(crate) async fn wait_for_others<T>(
    caller: &mut Caller<'_, Guest>,
    work: impl Future<Output = T> + Send,
) -> T {
    let mut work = pin!(work);
    wait_for(caller, |caller, cx| beside(caller, |_| work.as_mut().poll(cx))).await
}

/// Work of others, done in a turn of the guest's. The time that it takes is not the guest's, and what the guest drew
/// ahead is there for them: how much that is, they ask when they begin.
pub(crate) fn beside<T>(caller: &mut Caller<'_, Guest>, work: impl FnOnce(&mut Caller<'_, Guest>) -> T) -> T {
    match begin(caller) {
        None => work(caller),
        Some(waits) => waits.beside(|| work(caller)),
    }
}

/// Tells what the run has burnt by now, for a budget that it draws from.
pub(crate) fn see_fuel(caller: &Caller<'_, Guest>) {
    if let Some((burnt, fuel)) = seen(caller) {
        burnt.see(fuel);
    }
}

fn begin(caller: &Caller<'_, Guest>) -> Option<Waits> {
    seen(caller).map(|(burnt, fuel)| {
        burnt.see(fuel);
        Waits::begin(burnt)
    })
}

fn seen<'a>(caller: &'a Caller<'_, Guest>) -> Option<(&'a Arc<Burnt>, u64)> {
    let (burnt, fuel_max) = caller.data().burnt.as_ref()?;
    // Where none is counted, none is seen, and asking for it would make an error.
    let left = if burnt.is_timed() { *fuel_max } else { caller.get_fuel().unwrap_or(*fuel_max) };
    Some((burnt, fuel_max.saturating_sub(left)))
}
